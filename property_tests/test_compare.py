"""What an edit changed, for any two texts with any findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from lspkit.diagnostics.compare import Before, changed_blocks, compare_findings, drop_reworded
from lspkit.protocol.text import Text
from lspkit.types import Diagnostic, Position, Range, Severity

# Few different lines and messages, so that texts and findings have much in common.
LINES = st.lists(st.sampled_from(["", "a", "b", "    a", "c", "d", "e"]), min_size=1, max_size=14)
SERVERS = st.sampled_from([("one",), ("two",), ("one", "two"), ()])
BOTH = ("one", "two")


def finding(line: int, column: int, message: str, servers: tuple[str, ...]) -> Diagnostic:
    place = Range(Position(line, column), Position(line, column + 1))
    return Diagnostic(
        Path("/a"), place, Severity.ERROR, message, "file:///a", "E1", "tool", servers
    )


def findings_on(lines: Iterable[int]) -> st.SearchStrategy[list[Diagnostic]]:
    """Findings on some of these lines, counted from 1."""
    one = st.builds(
        finding, st.sampled_from(list(lines)), st.integers(1, 4), st.sampled_from("xy"), SERVERS
    )
    return st.lists(one, max_size=10)


@st.composite
def states(draw: st.DrawFn) -> Before:
    """A text with findings."""
    lines = draw(LINES)
    found = draw(findings_on(range(1, len(lines) + 1)))
    return Before(Text("\n".join(lines)), tuple(found))


@st.composite
def states_with_blanks(draw: st.DrawFn) -> tuple[Before, Before]:
    """A text with findings on lines that are not blank, and the same with blank lines put in."""
    lines = draw(LINES.filter(any))
    written = [number for number, line in enumerate(lines, start=1) if line]
    found = draw(findings_on(written))
    wider: list[str] = []
    moved: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        wider += [""] * draw(st.integers(0, 3))
        wider.append(line)
        moved[number] = len(wider)
    wider += [""] * draw(st.integers(0, 3))
    shifted = [at_line(one, moved[one.range.start.line]) for one in found]
    return (
        Before(Text("\n".join(lines)), tuple(found)),
        Before(Text("\n".join(wider)), tuple(shifted)),
    )


def at_line(one: Diagnostic, line: int) -> Diagnostic:
    start, end = one.range.start, one.range.end
    place = Range(Position(line, start.column), Position(line, end.column))
    return msgspec.structs.replace(one, range=place)


def count(findings: Iterable[Diagnostic]) -> Counter[Diagnostic]:
    return Counter(findings)


@given(states(), states(), st.sets(st.sampled_from(BOTH)))
def test_every_new_finding_is_introduced_or_remains(before, after, answered):
    introduced, _, remaining = compare_findings(before, after.text, after.findings, answered)
    assert count(introduced + remaining) == count(after.findings)


@given(states(), states())
def test_every_old_finding_is_fixed_or_remains_when_all_have_answered(before, after):
    _, fixed, remaining = compare_findings(before, after.text, after.findings, BOTH)
    assert len(fixed) + len(remaining) == len(before.findings)
    assert not count(fixed) - count(before.findings)


@given(states(), states(), st.sets(st.sampled_from(BOTH)))
def test_who_has_answered_decides_only_what_is_fixed(before, after, answered):
    introduced, fixed, remaining = compare_findings(before, after.text, after.findings, answered)
    everything = compare_findings(before, after.text, after.findings, BOTH)
    assert (introduced, remaining) == (everything[0], everything[2])
    assert fixed == [one for one in everything[1] if set(one.servers) <= answered]


@given(states(), states())
def test_there_and_back_changes_places(before, after):
    introduced, fixed, remaining = compare_findings(before, after.text, after.findings, BOTH)
    back = compare_findings(after, before.text, before.findings, BOTH)
    assert (back[0], back[1], len(back[2])) == (fixed, introduced, len(remaining))


@given(states())
def test_all_remains_where_nothing_was_edited(before):
    introduced, fixed, remaining = compare_findings(before, before.text, before.findings, BOTH)
    assert (introduced, fixed) == ([], [])
    assert count(remaining) == count(before.findings)


@given(states_with_blanks())
def test_blank_lines_introduce_and_fix_nothing(pair):
    before, after = pair
    for one, other in ((before, after), (after, before)):
        introduced, fixed, remaining = compare_findings(one, other.text, other.findings, BOTH)
        assert (introduced, fixed) == ([], [])
        assert count(remaining) == count(other.findings)


@given(states(), states(), st.randoms(use_true_random=False))
def test_the_order_in_which_findings_came_does_not_matter(before, after, dice):
    old, new = list(before.findings), list(after.findings)
    expected = compare_findings(before, after.text, new, BOTH)
    dice.shuffle(old)
    dice.shuffle(new)
    assert compare_findings(Before(before.text, tuple(old)), after.text, new, BOTH) == expected


@given(states(), states(), st.sets(st.sampled_from("xy")))
def test_what_is_said_in_other_words_is_as_much_there_as_back(before, after, words):
    left = drop_reworded(after.findings, after.text, before, words)
    back = drop_reworded(before.findings, before.text, after, words)
    assert not count(left) - count(after.findings)
    paired = len(after.findings) - len(left)
    assert paired == len(before.findings) - len(back)


@given(states(), states())
def test_without_other_words_everything_introduced_stays_new(before, after):
    introduced, fixed, _ = compare_findings(before, after.text, after.findings, BOTH)
    gone = Before(before.text, tuple(fixed))
    assert drop_reworded(introduced, after.text, gone, ()) == introduced


@given(LINES, LINES)
@example(["a"], [])
def test_outside_of_the_blocks_the_texts_are_equal(old, new):
    old_at = new_at = 0
    for block in changed_blocks(old, new):
        assert old[old_at : block.old_start] == new[new_at : block.new_start]
        # Between two blocks, and around them, there is something that is equal.
        assert block.old_start > old_at or old_at == 0
        assert old[block.old_start : block.old_end] != new[block.new_start : block.new_end]
        old_at, new_at = block.old_end, block.new_end
    assert old[old_at:] == new[new_at:]
