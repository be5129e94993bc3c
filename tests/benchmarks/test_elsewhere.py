"""The judge of what an edit breaks elsewhere, and what counts as told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.elsewhere import Round, Said, _stands_for, tally_of
from benchmarks.elsewhere_judges import Broken, Mutation, checked_by_clang, judge
from tests import real_servers

EDIT = Mutation("base.h", "arity", "f", "int f(int);", "int f(int, int);")
FILES = {
    "base.h": "#pragma once\nint f(int);\nint g(int);\n",
    "user.h": '#pragma once\n#include "base.h"\ninline int h() { return f(1); }\n',
    "direct.cc": '#include "base.h"\nint a = f(1);\n',
    "through.cc": '#include "user.h"\nint b = h();\n',
    "other.cc": '#include "base.h"\nint c = g(1);\n',
    "middle.h": '#pragma once\n#include "user.h"\nint k();\n',
    "middle.cc": '#include "middle.h"\n',
    "lonely.h": '#pragma once\n#include "base.h"\ninline int d() { return f(1); }\n',
}


@pytest.mark.server
def test_an_error_in_a_header_is_one_of_the_header_and_its_units_fail(tmp_path: Path) -> None:
    real_servers.require("clangd")
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    [broken] = judge(folder, checked_by_clang, [(EDIT, frozenset({"middle.h"}))])
    assert broken.files == {"user.h", "direct.cc", "lonely.h"}
    assert broken.through_header == {"through.cc", "middle.cc", "middle.h"}
    assert (folder / "base.h").read_text() == FILES["base.h"]


def said(*told: str, counted: tuple[str, ...] = (), unsearched: bool = False) -> Said:
    return Said(frozenset(told), frozenset(counted), unsearched, 1.0)


def test_a_file_is_told_or_counted_or_missed() -> None:
    truth = Broken(frozenset({"a", "b", "c"}), frozenset({"d"}))
    found = tally_of([(Round(EDIT, said("a", "d", "e", counted=("b", "x")), said("f")), truth)])
    assert found == {
        "edits": 1,
        "told": 1,
        "counted": 1,
        "missed": 1,
        "through_header": 1,
        "wrong": 1,
        "wrong_after_undo": 1,
    }
    found = tally_of([(Round(EDIT, said("a", unsearched=True), said()), truth)])
    assert (found["told"], found["unsearched"], found["missed"]) == (1, 2, 0)


def test_a_text_stands_for_the_files_that_it_names_or_counts() -> None:
    text = 'LSP errors:\n<diagnostics file="a.py">\nx\n</diagnostics>\n... and 1 more file'
    assert _stands_for(text, {"a.py", "b.py"})
    assert not _stands_for(text, {"a.py", "b.py", "c.py"})
