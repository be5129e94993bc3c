"""The text of a file before an edit, by the arguments of the tool: the right one, or none."""

from __future__ import annotations

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
