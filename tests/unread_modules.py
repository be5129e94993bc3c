"""Modules and folders that a run leaves out: all their tests carry a mark that is not wanted.

`make check` wants no tests with the marks `server` and `slow`. To import what has only such tests,
and all that it imports, takes longer than many of the tests that are wanted.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

#: Too long for `make check`: tests that start processes, that wait for the file system, or that try
#: many examples. These folders and files, and whoever asks for one of the fixtures.
SLOW_PLACES = frozenset(
    {
        *("batch", "faults", "hosts", "mcp", "notebook", "panel", "service", "testing", "web"),
        *("test_launch.py", "test_guardian.py", "test_install_command.py"),
        *("test_query_failures.py", "test_warnings.py", "test_watcher.py", "test_tree_snapshot.py"),
        *("property_tests", "test_break_ins.py", "test_file_ownership.py"),
    }
)

#: A scripted server, and the command line with and without a server.
SLOW_FIXTURES = frozenset({"scripted", "bare", "with_ty"})

#: The statement that marks a whole module, with the lines that continue it.
PYTESTMARK = re.compile(r"^pytestmark = .*(?:\n[ \t]+.*)*", re.MULTILINE)
MARK = re.compile(r"\bpytest\.mark\.(\w+)")
NOT_WANTED = re.compile(r"not (\w+)")


def unwanted_marks(expression: str) -> frozenset[str]:
    """The marks of which one is enough for a test to be left out: the two of `not a and not b`."""
    if re.search(r"\bor\b|\(", expression):
        return frozenset()
    terms = [NOT_WANTED.fullmatch(term.strip()) for term in re.split(r"\band\b", expression)]
    return frozenset(term[1] for term in terms if term is not None)


@functools.cache
def marks_of_all(module: Path) -> frozenset[str]:
    """Marks that each test of a module carries, as far as they can be told without its import."""
    marks = {"slow"} if {module.parent.name, module.name} & SLOW_PLACES else set()
    statements = PYTESTMARK.findall(module.read_text(encoding="utf-8"))
    return frozenset(marks | {mark for statement in statements for mark in MARK.findall(statement)})


def is_unread(path: Path, expression: str) -> bool:
    """Whether nothing of a module or folder is wanted by a run with this expression of marks."""
    unwanted = unwanted_marks(expression)
    if path.name in SLOW_PLACES and "slow" in unwanted:
        return True
    is_module = path.name.startswith("test_") and path.suffix == ".py"
    return bool(unwanted) and is_module and bool(unwanted & marks_of_all(path))
