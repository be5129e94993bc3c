"""Edits of servers are taken back, if everything is still as they left it."""

from __future__ import annotations

import json
import pickle

import msgspec
import pytest

from lspkit.diagnostics.report import Change
from lspkit.edits.apply import apply, undo
from tests.edits.trees import (
    edits,
    everything,
    operation,
    refused,
    replaced,
    snapshot,
)


@pytest.fixture
def root(full_root):
    return full_root


@pytest.fixture
def boundary(full_boundary):
    return full_boundary


def test_what_was_changed_since_is_not_taken_back(root, boundary):
    applied = apply(everything(root), boundary)
    for name, spoil in (
        ("run.sh", lambda path: path.write_text("mine")),
        ("run.sh", lambda path: path.chmod(0o700)),
        ("new/er/f.py", lambda path: path.unlink()),
        ("a.py", lambda path: path.write_text("mine")),
        ("pkg", lambda path: path.write_text("mine")),
    ):
        path, after = root / name, snapshot(root)
        spoil(path)
        with refused(root, "ECHANGED", f"{name} is no longer as the change left it"):
            undo(applied, boundary)
        if name in after:
            path.write_bytes(after[name][2])
            path.chmod(after[name][1])
        else:
            path.unlink()
        assert snapshot(root) == after


def test_a_link_that_was_changed_since_is_not_taken_back(root, boundary):
    (root / "door").symlink_to("pkg")
    applied = apply(edits(operation("rename", root / "door", root / "gate")), boundary)
    (root / "gate").unlink()
    (root / "gate").symlink_to("old")
    with refused(root, "ECHANGED", "gate"):
        undo(applied, boundary)


def test_an_edit_is_taken_back_once(root, boundary):
    applied = apply(everything(root), boundary)
    undo(applied, boundary)
    with refused(root, "ECHANGED"):
        undo(applied, boundary)


def test_a_folder_that_the_edit_made_stays_if_somebody_uses_it(root, boundary):
    before = snapshot(root)
    applied = apply(edits(operation("create", root / "new" / "er" / "f.py")), boundary)
    (root / "new" / "mine.py").write_text("mine")
    undo(applied, boundary)
    after = snapshot(root)
    assert after.pop("new/mine.py")[2] == b"mine"
    assert after.pop("new")[0] == "folder"
    assert after == before


def test_a_folder_that_the_edit_made_may_be_gone(root, boundary):
    before, new = snapshot(root), root / "new"
    passing = (operation("create", new / "f.py"), operation("delete", new / "f.py"))
    applied = apply(edits(*passing, replaced(root / "a.py", "name", "x")), boundary)
    new.rmdir()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_a_file_that_is_reached_by_a_link_now_is_not_taken_back(root, boundary):
    applied = apply(edits(replaced(root / "pkg" / "b.py", "name", "x")), boundary)
    (root / "pkg").rename(root / "elsewhere")
    (root / "pkg").symlink_to("elsewhere")
    with refused(root, "ECHANGED", "pkg/b.py is no longer as the change left it"):
        undo(applied, boundary)


def test_a_file_comes_back_into_a_folder_that_is_gone(root, boundary):
    (root / "one").mkdir()
    (root / "one" / "x.py").write_text("mine")
    applied = apply(edits(operation("delete", root / "one" / "x.py")), boundary)
    (root / "one").rmdir()
    undo(applied, boundary)
    assert (root / "one" / "x.py").read_text() == "mine"


def test_a_forged_record_does_not_lead_outside(root, boundary):
    applied = apply(edits(replaced(root / "a.py", "name", "x")), boundary)
    (one,) = applied.touched
    (root / "door").symlink_to(root.parent / "work2")
    for path in (root.parent / "work2" / "x.py", root / "door" / "x.py", root / ".." / "work2"):
        forged = Change(applied.edit, (msgspec.structs.replace(one, path=path),))
        with refused(root.parent, "EOUTSIDE"):
            undo(forged, boundary)


def test_a_record_is_a_plain_value(root, boundary):
    before = snapshot(root)
    applied = apply(everything(root), boundary)
    assert "\n" not in str(applied)
    assert all("\n" not in str(one) for one in applied.touched)
    plain = json.loads(json.dumps(applied.to_dict()))
    found = {one["path"]: one["before"] for one in plain["touched"]}
    assert found[str(root / "run.sh")] == "bmFtZQ0KbmFtZQ=="
    back = msgspec.convert(plain, Change, dec_hook=lambda kind, value: kind(value))
    assert back == applied
    again = pickle.loads(pickle.dumps(back))
    assert again == applied
    undo(again, boundary)
    assert snapshot(root) == before
