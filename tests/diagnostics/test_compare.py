"""What an edit introduced, fixed and left."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from lspkit.diagnostics.compare import (
    Before,
    changed_blocks,
    changed_words,
    compare_findings,
    drop_reworded,
)
from lspkit.protocol.text import Text
from lspkit.types import Diagnostic, Position, Range, Severity


def finding(
    line: int,
    column: int = 1,
    message: str = "wrong",
    *,
    code: str = "",
    source: str = "",
    severity: Severity = Severity.ERROR,
    servers: tuple[str, ...] = ("ty",),
) -> Diagnostic:
    place = Range(Position(line, column), Position(line, column + 1))
    return Diagnostic(
        Path("/p/a.py"), place, severity, message, "file:///p/a.py", code, source, servers
    )


def places(findings: list[Diagnostic]) -> list[str]:
    return [f"{one.range.start} {one.message}" for one in findings]


def edited(
    old: str,
    old_findings: list[Diagnostic],
    new: str,
    new_findings: list[Diagnostic],
    answered: tuple[str, ...] = ("ty",),
) -> tuple[list[str], list[str], list[str]]:
    """Introduced, fixed and remaining, as text."""
    before = Before(Text(old), tuple(old_findings))
    introduced, fixed, remaining = compare_findings(before, Text(new), new_findings, answered)
    return places(introduced), places(fixed), places(remaining)


def test_nothing_changes_where_nothing_changed():
    found = [finding(1), finding(2, 3)]
    assert edited("a\nb c", found, "a\nb c", found) == ([], [], ["1:1 wrong", "2:3 wrong"])


def test_an_inserted_line_makes_no_old_error_new():
    old = [finding(1, message="x"), finding(3, message="y")]
    new = [finding(2, message="x"), finding(4, message="y")]
    assert edited("a\nb\nc", old, "top\na\nb\nc", new) == ([], [], ["2:1 x", "4:1 y"])


def test_a_deleted_line_takes_its_error_along_and_no_other():
    old = [finding(1, message="x"), finding(3, message="y")]
    new = [finding(2, message="y")]
    assert edited("a\nb\nc", old, "b\nc", new) == ([], ["1:1 x"], ["2:1 y"])


def test_a_fixed_finding_is_where_it_was_and_a_remaining_one_where_it_is():
    old = [finding(2, message="x"), finding(3, message="y")]
    new = [finding(4, message="y")]
    introduced, fixed, remaining = compare_findings(
        Before(Text("a\nb\nc"), tuple(old)), Text("1\n2\na\nc"), new, {"ty"}
    )
    assert introduced == []
    assert fixed[0] is old[0]
    assert remaining[0] is new[0]


def test_a_new_error_on_an_old_line_is_introduced():
    old = [finding(2, message="x")]
    new = [finding(1, message="y"), finding(2, message="x")]
    assert edited("a\nb", old, "a\nb", new) == (["1:1 y"], [], ["2:1 x"])


def test_an_edit_earlier_on_the_line_moves_the_column_of_what_remains():
    old, new = [finding(2, 5, "x is unknown")], [finding(2, 12, "x is unknown")]
    assert edited("a\nf = x\nb", old, "a\nlonger_f = x\nb", new) == ([], [], ["2:12 x is unknown"])


def test_another_column_on_an_untouched_line_is_the_same_finding():
    """A server may mark the name before, and the whole call after, something else was edited."""
    old, new = [finding(1, 5)], [finding(1, 1)]
    assert edited("a = b\nc", old, "a = b\nd", new) == ([], [], ["1:1 wrong"])


def test_of_equal_findings_on_one_line_the_nearest_remains():
    old = [finding(1, 10)]
    new = [finding(1, 2), finding(1, 11), finding(1, 30)]
    introduced, fixed, remaining = edited("a", old, "b", new)
    assert (introduced, fixed, remaining) == (["1:2 wrong", "1:30 wrong"], [], ["1:11 wrong"])


def test_of_equal_findings_on_an_untouched_line_the_same_column_remains():
    old = [finding(1, 10), finding(1, 20)]
    assert edited("a\nb", old, "a\nc", [finding(1, 20)]) == ([], ["1:10 wrong"], ["1:20 wrong"])


def test_each_of_several_equal_findings_counts():
    twice = [finding(1), finding(1)]
    assert edited("a", twice, "a", twice[:1]) == ([], ["1:1 wrong"], ["1:1 wrong"])
    assert edited("a", twice[:1], "a", twice) == (["1:1 wrong"], [], ["1:1 wrong"])
    assert edited("a", twice, "a", twice) == ([], [], ["1:1 wrong", "1:1 wrong"])


@pytest.mark.parametrize(
    "change",
    [
        {"message": "other"},
        {"code": "E1"},
        {"source": "ruff"},
        {"severity": Severity.WARNING},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_says_something_else_is_something_else(change):
    old, new = [finding(1)], [finding(1, **change)]
    introduced, fixed, remaining = compare_findings(
        Before(Text("a"), tuple(old)), Text("a"), new, {"ty"}
    )
    assert (introduced, fixed, remaining) == (new, old, [])


def test_a_line_number_in_the_message_may_move_with_the_text():
    old = [finding(2, message="`os` is defined on line 1 already")]
    new = [finding(3, message="`os` is defined on line 2 already")]
    assert edited("a\nb", old, "top\na\nb", new)[:2] == ([], [])


@pytest.mark.parametrize("suffix", [" (fix available)", " (fixes available)"])
@pytest.mark.parametrize("notes", ["", "\n\na.h:1:5:\nnote: it is here"])
def test_a_message_that_tells_of_a_fix_is_the_same_finding(suffix: str, notes: str):
    without = [finding(1, message=f"undeclared 'value'{notes}")]
    with_fix = [finding(1, message=f"undeclared 'value'{suffix}{notes}")]
    assert edited("a", without, "a", with_fix) == ([], [], places(with_fix))
    assert edited("a", with_fix, "a", without) == ([], [], places(without))


def test_only_at_its_end_does_a_message_tell_of_a_fix():
    old, new = [finding(1, message="no x")], [finding(1, message="no (fix available) x")]
    assert edited("a", old, "a", new) == (places(new), places(old), [])


def test_other_numbers_in_the_message_count():
    old, new = [finding(1, message="got 2 arguments")], [finding(1, message="got 3 arguments")]
    introduced, fixed, _ = edited("f(1, 2)", old, "f(1, 2, 3)", new)
    assert (introduced, fixed) == (["1:1 got 3 arguments"], ["1:1 got 2 arguments"])


def test_in_a_replaced_block_an_equal_message_is_the_same_finding():
    old = [finding(2, message="x"), finding(3, message="y")]
    new = [finding(4, message="x"), finding(2, message="z")]
    assert edited("a\nb\nc\nd", old, "a\n1\n2\n3\n4\nd", new) == (
        ["2:1 z"],
        ["3:1 y"],
        ["4:1 x"],
    )


def test_in_a_replaced_block_an_equal_line_goes_before_a_near_one():
    old = [finding(3)]
    new = [finding(3), finding(5)]
    # No line occurs once in both, so that nothing but the block is known.
    before = "top\none\n    bad()\none\nend"
    after = "top\n1\n1\n1\n  bad()\nend"
    assert edited(before, old, after, new) == (["3:1 wrong"], [], ["5:1 wrong"])


def test_an_equal_message_in_another_block_is_another_finding():
    old = [finding(1, message="x")]
    new = [finding(3, message="x")]
    assert edited("a\nmiddle\nb", old, "A\nmiddle\nB", new) == (["3:1 x"], ["1:1 x"], [])


def test_code_that_was_moved_keeps_its_findings():
    function = "def f():\n    return missing\n"
    rest = "import os\nx = 1\ny = 2\n"
    old, new = [finding(2, 12, "unknown")], [finding(5, 12, "unknown")]
    assert edited(function + rest, old, rest + function, new) == ([], [], ["5:12 unknown"])


def test_code_that_was_copied_introduces_its_findings_once_more():
    function = "def f():\n    return missing\n"
    rest = "import os\nx = 1\ny = 2\n"
    old = [finding(2, 12, "unknown")]
    new = [finding(2, 12, "unknown"), finding(7, 12, "unknown")]
    introduced, fixed, remaining = edited(function + rest, old, function + rest + function, new)
    assert (introduced, fixed, remaining) == (["7:12 unknown"], [], ["2:12 unknown"])


def test_a_line_that_is_put_beside_its_like_introduces_nothing():
    """The second of two calls was wrong, and so is the second of three's successor."""
    old, new = [finding(2)], [finding(3)]
    assert edited("f()\nf()", old, "f()\nf()\nf()", new) == ([], [], ["3:1 wrong"])


def test_an_error_that_went_from_one_old_line_to_another_is_new():
    old, new = [finding(1)], [finding(3)]
    introduced, fixed, remaining = edited("f()\na\nf()\nb", old, "f()\na\nf()\nc", new)
    assert (introduced, fixed, remaining) == (["3:1 wrong"], ["1:1 wrong"], [])


def test_nothing_is_fixed_by_a_server_that_did_not_answer():
    old = [finding(1, servers=("ty",)), finding(2, servers=("ruff",))]
    assert edited("a\nb", old, "c\nd", [], answered=("ruff",)) == ([], ["2:1 wrong"], [])


def test_a_finding_of_two_servers_is_fixed_when_both_have_answered():
    old = [finding(1, servers=("ruff", "ty"))]
    assert edited("a", old, "b", [], answered=("ruff",)) == ([], [], [])
    assert edited("a", old, "b", [], answered=("ty", "ruff")) == ([], ["1:1 wrong"], [])


def test_a_finding_that_one_of_its_servers_has_dropped_remains():
    old, new = [finding(1, servers=("ruff", "ty"))], [finding(1, servers=("ty",))]
    assert edited("a", old, "a", new, answered=("ruff", "ty")) == ([], [], ["1:1 wrong"])


def test_another_way_to_break_lines_changes_nothing():
    found = [finding(1), finding(3)]
    assert edited("a\nb\nc", found, "a\r\nb\r\nc", found)[:2] == ([], [])


def test_a_place_behind_the_end_of_the_text_counts_as_its_end():
    assert edited("a\nb", [finding(9)], "top\na\nb", [finding(8)]) == ([], [], ["8:1 wrong"])


def test_the_order_is_that_of_the_file_whatever_order_they_came_in():
    found = [finding(line, *more) for line in (1, 2) for more in ((1, "a"), (1, "b"), (2, "a"))]
    mixed = random.Random(4).sample(found, len(found))
    assert compare_findings(Before(Text("x\ny"), ()), Text("x\ny"), mixed, ())[0] == found
    assert (
        compare_findings(Before(Text("x\ny"), tuple(mixed)), Text("x\ny"), [], {"ty"})[1] == found
    )
    assert compare_findings(Before(Text("x\ny"), tuple(mixed)), Text("x\ny"), mixed, ())[2] == found


# The same in other words


def left(old: str, gone: list[Diagnostic], new: str, found: list[Diagnostic]) -> list[str]:
    """What is really new of what was found."""
    before = Before(Text(old), tuple(gone))
    return places(drop_reworded(found, Text(new), before, changed_words(old, new)))


def test_a_finding_that_only_names_what_was_renamed_is_no_new_one():
    old, new = [finding(2, 8, "`double` wants int")], [finding(2, 7, "`twice` wants int")]
    assert left("a\ndouble('x')", old, "a\ntwice('x')", new) == []


def test_it_need_not_be_on_a_line_that_was_edited():
    old, new = [finding(3, 1, "`double` is wrong")], [finding(4, 1, "`twice` is wrong")]
    assert left("double\n\nf()", old, "top\ntwice\n\nf()", new) == []


def test_a_finding_that_says_something_else_besides_is_new():
    old, new = [finding(1, message="`double` wants int")], [finding(1, message="`twice` wants str")]
    assert left("double", old, "twice", new) == ["1:1 `twice` wants str"]


@pytest.mark.parametrize(
    "change", [{"code": "E2"}, {"source": "x"}, {"severity": Severity.WARNING}]
)
def test_one_of_another_kind_is_new(change):
    new = finding(1, message="twice", **change)
    assert left("double", [finding(1, message="double")], "twice", [new]) == ["1:1 twice"]


def test_one_on_another_line_is_new():
    old, new = [finding(1, message="double")], [finding(2, message="twice")]
    assert left("double\ndouble", old, "twice\ntwice", new) == ["2:1 twice"]


def test_one_that_is_gone_stands_for_one_new_one():
    old, new = [finding(1, 5, "double")], [finding(1, 1, "twice"), finding(1, 6, "twice")]
    assert left("double", old, "twice", new) == ["1:1 twice"]
    assert left("double", old, "twice", [new[0], new[0]]) == ["1:1 twice"]


def test_where_lines_were_put_in_nobody_can_tell_which_line_it_was():
    old, new = [finding(1, message="double")], [finding(1, message="twice")]
    assert left("double", old, "twice\nmore", new) == ["1:1 twice"]


# Which lines differ


@pytest.mark.parametrize(
    ("old", "new", "blocks"),
    [
        ("", "", []),
        ("abc", "abc", []),
        ("abc", "aXbc", [(1, 1, 1, 2)]),
        ("abc", "ac", [(1, 2, 1, 1)]),
        ("abc", "Xbc", [(0, 1, 0, 1)]),
        ("abc", "", [(0, 3, 0, 0)]),
        ("aaa", "aaaa", [(3, 3, 3, 4)]),
        # Two places, with a line between them that occurs once.
        ("abcde", "XbcdYZ", [(0, 1, 0, 1), (4, 5, 4, 6)]),
        # The lines between are found only when the anchor `c` has cut the text in two.
        ("1xyc2xy3", "4xyc5xy6", [(0, 1, 0, 1), (4, 5, 4, 5), (7, 8, 7, 8)]),
        # Of two that changed places, one has moved.
        ("abcXYd", "aXYbcd", [(1, 1, 1, 3), (3, 5, 5, 5)]),
        # Nothing occurs once.
        ("xxyy", "yyxx", [(0, 4, 0, 4)]),
    ],
)
def test_the_blocks_in_which_texts_differ(old, new, blocks):
    def found(one: str, other: str) -> list[tuple[int, ...]]:
        return [
            (b.old_start, b.old_end, b.new_start, b.new_end)
            for b in changed_blocks(list(one), list(other))
        ]

    assert found(old, new) == blocks
    assert found(new, old) == [(c, d, a, b) for a, b, c, d in blocks]


def _hardest() -> list[tuple[list[str], list[str]]]:
    """Pairs of long texts that are hard to compare."""
    dice = random.Random(1)
    few = [dice.choice("ab") for _ in range(10_000)]
    numbered = [f"line {number}" for number in range(10_000)]
    return [
        (few, dice.sample(few, len(few))),
        (numbered, dice.sample(numbered, len(numbered))),
        (numbered, [dice.choice(("changed", line)) for line in numbered]),
        ([str(number // 2) for number in range(10_000)], [str(n % 5000) for n in range(10_000)]),
    ]


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer makes everything slow")
@pytest.mark.parametrize("pair", _hardest(), ids=["two lines", "shuffled", "halved", "doubled"])
def test_long_texts_take_milliseconds_whatever_they_look_like(pair):
    old, new = pair
    found = tuple(finding(line) for line in range(1, 10_000, 50))
    before = Before(Text("\n".join(old)), found)
    after = Text("\n".join(new))
    fastest = float("inf")
    for _ in range(5):
        began = time.thread_time()  # not what others take from the machine meanwhile
        compare_findings(before, after, found, {"ty"})
        fastest = min(fastest, time.thread_time() - began)
    # Some 15 ms on an idle machine; an algorithm that compares all with all takes seconds.
    assert fastest < 0.2
