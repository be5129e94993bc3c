"""Ctrl-C at any moment of a change: all or nothing is done, and nothing is left beside it."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import lspkit.edits
from lspkit.edits import apply as jail
from lspkit.runtime.files import Files
from tests.edits.trees import edits, operation, replaced, snapshot
from tests.interrupting import each_interrupt, open_descriptors

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc"),
]

#: Where to try every place would take too long: an edit of several files has some thousand.
STEPS = {"apply": 37, "write": 11, "make": 13, "delete": 11, "move": 17}
EDITS = os.path.dirname(lspkit.edits.__file__)


@pytest.fixture
def root(full_root):
    return full_root


@pytest.fixture
def boundary(full_boundary):
    return full_boundary


def many(root):
    """Files are edited, made, deleted and renamed."""
    return edits(
        replaced(root / "a.py", "name", "x"),
        operation("rename", root / "old", root / "new"),
        operation("delete", root / "run.sh"),
        operation("create", root / "made" / "f.py"),
    )


CHANGES = {
    "write": lambda root, boundary: lambda: jail.write("a.py", "new", boundary),
    "make": lambda root, boundary: lambda: jail.write("x/y/z.py", "", boundary),
    "delete": lambda root, boundary: lambda: jail.delete("a.py", boundary),
    "move": lambda root, boundary: lambda: jail.move("a.py", "x/b.py", boundary),
    "apply": lambda root, boundary: (
        lambda change: lambda: jail.apply(change, boundary)  # it was proposed before
    )(many(root)),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_an_interrupt_at_any_place_leaves_all_or_nothing(root, boundary, kind, tmp_path):
    kept = tmp_path / "kept"
    shutil.copytree(root, kept, symlinks=True)
    action = CHANGES[kind](root, boundary)
    before = snapshot(root)
    action()
    after = snapshot(root)
    put_back(kept, root)
    descriptors, rounds = open_descriptors(), 0
    for number in each_interrupt(action, EDITS, step=STEPS.get(kind, 1)):
        left = snapshot(root)
        assert left in (before, after), number
        assert open_descriptors() == descriptors, number
        if left == after:
            put_back(kept, root)
        rounds += 1
    assert rounds > 10
    assert snapshot(root) == after


def test_an_interrupted_undo_is_all_or_nothing(root, boundary):
    before, change = snapshot(root), many(root)
    applied = [jail.apply(change, boundary)]
    after, rounds = snapshot(root), 0
    for number in each_interrupt(
        lambda: jail.undo(applied[-1], boundary), EDITS, step=STEPS["apply"]
    ):
        assert snapshot(root) in (before, after), number
        if snapshot(root) == before:
            applied.append(jail.apply(change, boundary))
        rounds += 1
    assert rounds > 10
    assert snapshot(root) == before


def test_an_interrupted_look_at_a_file_leaves_no_descriptor(root, boundary):
    here = (EDITS, sys.modules[Files.__module__].__file__)
    descriptors, rounds = open_descriptors(), 0

    def look():
        files = Files(boundary)
        for _ in range(2):  # the second time it is known where it is
            files.read(files.locate("a.py"))

    for number in each_interrupt(look, *here):
        assert open_descriptors() == descriptors, number
        rounds += 1
    assert rounds > 10


def put_back(kept, root):
    shutil.rmtree(root)
    shutil.copytree(kept, root, symlinks=True)
