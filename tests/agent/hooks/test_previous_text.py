"""The text of a file before an edit, by the arguments of the tool: the right one, or none."""

from __future__ import annotations

import difflib
import random
from typing import Any

import pytest

from lspkit.agent.hooks.tool_files import touch_of


def before(tool: str, arguments: dict[str, Any], after: str, file: str = "x.py") -> str | None:
    touch = touch_of(tool, arguments)
    assert touch is not None
    assert file in touch.files
    return touch.text_before(file, after)


# Replacements


def replaced(after: str, old: str, new: str, **more: Any) -> str | None:
    arguments = {"file_path": "x.py", "old_string": old, "new_string": new, **more}
    return before("Edit", arguments, after)


def test_a_replacement_is_taken_back():
    assert replaced("a = 2\n", "1", "2") == "a = 1\n"
    assert replaced("a = 2\n", "1", "2", replace_all=True) == "a = 1\n"
    assert replaced("longer()\n", "long", "longer", replace_all=True) == "long()\n"


def test_the_text_before_several_replacements_in_one_call():
    edits = [{"old_string": "a", "new_string": "b"}, {"oldText": "b", "newText": "c"}]
    assert before("multi_edit", {"path": "x.py", "edits": edits}, "c = 1\n") == "a = 1\n"


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize(
    ("after", "old", "new"),
    [
        ("y = 1\ny = 2\nprint(y)\n", "x", "y"),  # the second `y` was there before
        ("aaa\n", "b", "aa"),  # from `ba` or from `ab`
        ("z\n", "x", "y"),
        ("x\n", "", "x"),
        ("x\n", "y", ""),
    ],
)
def test_a_place_that_is_not_certain_is_not_guessed(after, old, new, every):
    assert replaced(after, old, new, replace_all=every) is None


def test_a_text_that_has_changed_since_all_places_were_replaced_is_not_used():
    assert replaced("x = y\n", "x", "y", replace_all=True) is None


# Patches


def unpatched(patch: str, after: str, file: str = "x.py") -> str | None:
    return before("apply_patch", {"input": patch}, after, file)


def marked(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


OLD_LUA = "local a = 1\n-- the old comment\nlocal b = 2\nreturn a\n"
NEW_LUA = "local a = 1\nlocal b = 3\n++ b\nreturn a\n"
LUA_HUNK = (
    *(" local a = 1", "--- the old comment", "-local b = 2"),
    *("+local b = 3", "+++ b", " return a"),
)


@pytest.mark.parametrize(
    "head",
    [
        ("--- a/m.lua", "+++ b/m.lua", "@@ -1,4 +1,4 @@"),
        ("--- a/m.lua", "+++ b/m.lua", "@@ local a"),  # without counts
        ("--- a/m.lua", "+++ b/m.lua", "@@ -1,9 +1,9 @@"),  # with wrong ones
    ],
    ids=["counted", "uncounted", "miscounted"],
)
def test_content_that_looks_like_a_name_is_content(head):
    assert unpatched("\n".join([*head, *LUA_HUNK, ""]), NEW_LUA, "m.lua") == OLD_LUA


def test_content_that_looks_like_a_name_is_content_between_marks():
    patch = marked("*** Update File: m.lua", "@@", *LUA_HUNK)
    assert unpatched(patch, NEW_LUA, "m.lua") == OLD_LUA


def test_several_hunks_of_several_files_are_taken_back():
    lines = [str(number) for number in range(40)]
    old, new = "\n".join([*lines, ""]), "\n".join(["first", *lines[1:30], *lines[31:], ""])
    other = ("--- a/y.py", "+++ b/y.py", "@@ -1 +1 @@", "-0", "+first")
    own = (
        *("--- a/x.py", "+++ b/x.py", "@@ -1,2 +1,2 @@", "-0", "+first", " 1"),
        *("@@ -30,3 +30,2 @@", " 29", "-30", " 31"),
    )
    for patch in ((*other, *own), (*own, *other), (*own, "-- ", "2.39.0")):
        assert unpatched("\n".join([*patch, ""]), new) == old
        assert unpatched("\r\n".join([*patch, ""]), new.replace("\n", "\r\n")) == old.replace(
            "\n", "\r\n"
        )
    update = ("*** Update File: x.py", "@@", "-0", "+first", " 1", "@@ 29", " 29", "-30", " 31")
    assert (
        unpatched(marked("*** Delete File: z.py", *update, "*** Add File: y.py", "+x"), new) == old
    )


def test_the_text_before_a_renamed_file_is_that_of_the_old_name():
    patch = marked("*** Update File: y.py", "*** Move to: x.py", "@@", "-a", "+b")
    assert unpatched(patch, "b\n") == "a\n"
    diff = "diff --git a/y.py b/x.py\nrename from y.py\nrename to x.py\n"
    assert unpatched(f"{diff}--- a/y.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n", "b\n") == "a\n"


def test_a_line_break_at_the_end_that_both_texts_lack_is_no_change():
    note = "\\ No newline at end of file"
    head = ("--- a/x.py", "+++ b/x.py", "@@ -1,2 +1,2 @@")
    assert unpatched("\n".join([*head, "-a", "+b", " c", note]), "b\nc") == "a\nc"
    assert unpatched("\n".join([*head, " c", "-a", note, "+b", note]), "c\nb") == "c\na"
    assert unpatched("\n".join([*head, " c", "-a", note, "+b"]), "c\nb\n") is None
    assert unpatched("\n".join([*head, " c", "-a", "+b", note]), "c\nb") is None


def test_an_added_file_was_empty():
    assert unpatched(marked("*** Add File: x.py", "+a", "+b"), "a\nb\n") == ""


@pytest.mark.parametrize(
    ("after", "patch"),
    [
        ("b\nb\n", marked("*** Update File: x.py", "@@", "-a", "+b")),  # which of them?
        ("c\n", marked("*** Update File: x.py", "@@", "-a", "+b")),  # changed since
        ("b\n", marked("*** Update File: x.py", "@@", "-a")),  # where was it?
        # A context line that lacks its space: what comes after it belongs to the hunk.
        ("b\nc\ne\n", marked("*** Update File: x.py", "@@", "-a", "+b", "c", "-d", "+e")),
        ("b\ne\n", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n-d\n+e\n"),  # more than counted
        # Several steps may be in any order.
        (
            "b\nd\n",
            marked(
                *("*** Update File: x.py", "@@", "-a", "+b"),
                *("*** Update File: x.py", "@@", "-c", "+d"),
            ),
        ),
        ("b\n", marked("*** Delete File: x.py", "*** Add File: x.py", "+b")),
    ],
)
def test_what_a_patch_has_changed_is_not_guessed(after, patch):
    assert unpatched(patch, after) is None


def test_the_text_before_a_diff_is_the_right_one_or_none():
    """Lines occur several times, and look like parts of a diff."""
    kinds = ["-- a", "++ b", "- ", "+", "", "a", "@@ -1 +1 @@", "*** End", "diff --git a/x b/x"]
    found = 0
    for seed in range(300):
        choose = random.Random(seed)
        old = [choose.choice(kinds) + str(choose.randrange(9)) * (seed % 2) for _ in range(12)]
        new = list(old)
        for _ in range(choose.randrange(1, 4)):
            at = choose.randrange(len(new))
            new[at : at + choose.randrange(2)] = choose.choices(kinds, k=choose.randrange(3))
        size = choose.randrange(4)
        diff = [*difflib.unified_diff(old, new, "a/x.py", "b/x.py", lineterm="", n=size)]
        before, after = ("".join(f"{line}\n" for line in one) for one in (old, new))
        for patch in (diff, [*diff, ""], [*diff, "-- ", "2.39.0", ""]):
            touch = touch_of("apply_patch", {"patch": "\n".join(patch)})
            assert touch is not None
            told = touch.text_before("x.py", after)
            assert told in (None, before), (seed, patch)
            found += told is not None
    assert found > 300
