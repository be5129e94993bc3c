"""One file at a time: written, deleted and moved, and never outside."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import shutil
import threading

import pytest

import lspkit
from lspkit.edits.apply import delete, move, undo, write
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import (
    at_step,
    limited,
    refused,
    snapshot,
    swap_for_link,
    without_privileges,
)

pytestmark = pytest.mark.usefixtures("by_descriptor")


@pytest.fixture
def root(small_root):
    return small_root


@pytest.fixture
def boundary(small_boundary):
    return small_boundary


@pytest.mark.parametrize(
    "change",
    [
        lambda boundary: write("a.py", "new", boundary),
        lambda boundary: write("new/er/a.py", "new", boundary),
        lambda boundary: delete("a.py", boundary),
        lambda boundary: move("a.py", "new/er/a.py", boundary),
    ],
    ids=["write", "create", "delete", "move"],
)
def test_a_change_is_undone_and_so_is_the_undo(root, boundary, change):
    (root / "a.py").chmod(0o750)
    before = snapshot(root)
    made = change(boundary)
    after = snapshot(root)
    assert after != before
    undone = undo(made, boundary)
    assert snapshot(root) == before
    undo(undone, boundary)
    assert snapshot(root) == after


# Writing


def test_a_new_file_gets_the_mode_that_new_files_get(root, boundary):
    (root / "other.py").touch()
    assert write("new.py", "new\0", boundary).files == [root / "new.py"]
    assert (root / "new.py").read_bytes() == b"new\0"
    assert (root / "new.py").stat().st_mode == (root / "other.py").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o755])
def test_a_file_keeps_its_mode(root, boundary, mode):
    (root / "a.py").chmod(mode)
    write("a.py", "new", boundary)
    assert snapshot(root)["a.py"] == ("file", mode, b"new")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(root, boundary):
    os.chown(root / "a.py", 12345, 23456)
    write("a.py", "new", boundary)
    status = (root / "a.py").stat()
    assert (status.st_uid, status.st_gid) == (12345, 23456)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(root, boundary):
    before = snapshot(root)
    with open(root / "sub/b.py", "rb") as reader:
        write("sub/b.py", "2", boundary)
        assert reader.read() == before["sub/b.py"][2]
    after = snapshot(root)
    assert after.pop("sub/b.py")[2] == b"2"
    assert after == {name: facts for name, facts in before.items() if name != "sub/b.py"}


def test_a_link_stays_a_link(root, boundary):
    (root / "link.py").symlink_to("sub/b.py")
    (root / "door").symlink_to("sub")
    (root / "missing.py").symlink_to("new.py")
    assert write("link.py", "1", boundary).files == [root / "sub" / "b.py"]
    assert (root / "link.py").is_symlink() and (root / "sub" / "b.py").read_bytes() == b"1"
    write("door/b.py", "2", boundary)
    assert (root / "door").is_symlink() and (root / "sub" / "b.py").read_bytes() == b"2"
    write("missing.py", "3", boundary)
    assert (root / "missing.py").is_symlink() and (root / "new.py").read_bytes() == b"3"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("../work2/c.py", "EOUTSIDE"),
        ("sub/../../work2/new.py", "EOUTSIDE"),
        ("../work2/new/new.py", "EOUTSIDE"),
        ("/etc/lspkit-was-here", "EOUTSIDE"),
        ("out.py", "EOUTSIDE"),
        ("nowhere.py", "EOUTSIDE"),
        ("door/c.py", "EOUTSIDE"),
        ("door/new.py", "EOUTSIDE"),
        ("node_modules/x.js", "EEXCLUDED"),
        ("sub", "ENOENT"),
        (".", "ENOENT"),
        ("fifo", "ENOENT"),
        ("a.py/b.py", "EWRITE"),
        ("a\0.py", "ENOENT"),
        ("\ud800.py", "ENOENT"),
        ("", "ENOENT"),
    ],
)
def test_whatever_is_no_file_of_the_workspace_is_refused(root, boundary, given, code):
    (root / "out.py").symlink_to(root.parent / "work2" / "c.py")
    (root / "nowhere.py").symlink_to(root.parent / "work2" / "new.py")
    (root / "door").symlink_to(root.parent / "work2")
    os.mkfifo(root / "fifo")
    with refused(root.parent, code):
        write(given, "x", boundary)


def test_what_may_be_asked_about_outside_is_not_written(root):
    free = boundary_of(str(root), allow_external=True)
    for change in (
        lambda: write("../work2/c.py", "x", free),
        lambda: delete("../work2/c.py", free),
        lambda: move("../work2/c.py", "c.py", free),
        lambda: move("a.py", "../work2/new.py", free),
    ):
        with refused(root.parent, "EOUTSIDE"):
            change()


def test_the_work_tree_may_be_written_where_the_user_allows_it(root):
    (root.parent / ".git").mkdir()
    with refused(root.parent, "EOUTSIDE"):
        write("../work2/c.py", "x", boundary_of(str(root)))
    write("../work2/c.py", "x", boundary_of(str(root), edit_work_tree=True))
    assert (root.parent / "work2" / "c.py").read_bytes() == b"x"
    with refused(root.parent, "EOUTSIDE"):
        write("../../c.py", "x", boundary_of(str(root), edit_work_tree=True))


@pytest.mark.parametrize("home", [".", "work2"])
def test_a_work_tree_with_the_home_folder_in_it_is_never_written(root, home, monkeypatch):
    (root.parent / ".git").mkdir()
    monkeypatch.setenv("HOME", str(root.parent / home))
    with refused(root.parent, "EOUTSIDE"):
        write("../work2/c.py", "x", boundary_of(str(root), edit_work_tree=True))


def test_a_write_protected_file_is_left_alone(root, boundary):
    (root / "a.py").chmod(0o444)

    def attempt() -> None:
        with refused(root, "EWRITE", "write-protected", path="a.py"):
            write("a.py", "x", boundary)

    without_privileges(attempt)


# When the disk says no


@pytest.mark.parametrize("path", ["a.py", "new/er/a.py"])
def test_where_there_is_no_room_everything_is_as_it_was(root, boundary, path):
    with refused(root, "EWRITE", "File too large") as caught, limited(resource.RLIMIT_FSIZE, 1000):
        write(path, "x" * 100_000, boundary)
    back = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(back, lspkit.PathError)
    assert back.to_dict() == caught.value.to_dict()


def test_a_read_only_folder_is_told(root, boundary):
    (root / "sub").chmod(0o555)

    def attempt() -> None:
        for call in (
            lambda: write("sub/b.py", "x", boundary),
            lambda: write("sub/new.py", "x", boundary),
            lambda: delete("sub/b.py", boundary),
            lambda: move("sub/b.py", "b.py", boundary),
            lambda: move("a.py", "sub/a.py", boundary),
        ):
            with refused(root, "EWRITE", "Permission denied"):
                call()

    without_privileges(attempt)


def test_where_no_descriptor_is_left_nothing_is_changed(root, boundary):
    used = max(int(name) for name in os.listdir("/dev/fd"))
    with (
        refused(root, "ENOENT"),
        contextlib.ExitStack() as held,
        limited(resource.RLIMIT_NOFILE, used + 1),
    ):
        with contextlib.suppress(OSError):
            while True:
                held.enter_context(open(os.devnull))
        write("a.py", "x", boundary)


# Deleting


def test_of_a_link_only_the_link_is_deleted(root, boundary):
    (root / "link.py").symlink_to("a.py")
    delete("link.py", boundary)
    assert sorted(os.listdir(root)) == ["a.py", "node_modules", "sub"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("none.py", "ENOENT"),
        ("sub", "ENOENT"),
        ("../work2/c.py", "EOUTSIDE"),
        ("out.py", "EOUTSIDE"),
        ("node_modules", "EEXCLUDED"),
    ],
)
def test_what_may_not_be_deleted_stays(root, boundary, given, code):
    (root / "out.py").symlink_to(root.parent / "work2" / "c.py")
    with refused(root.parent, code, path=given):
        delete(given, boundary)


# Moving


def test_a_file_moves_not_over_another_and_not_onto_another_name_of_its_own(root, boundary):
    os.link(root / "a.py", root / "b.py")
    for new in ("sub/b.py", "b.py"):
        with refused(root, "EWRITE", "exists"):
            move("a.py", new, boundary)
    before = snapshot(root)
    move("a.py", "sub/../a.py", boundary)
    assert snapshot(root) == before


def test_a_link_moves_as_it_is(root, boundary):
    (root / "link.py").symlink_to("a.py")
    move("link.py", "other.py", boundary)
    assert os.readlink(root / "other.py") == "a.py"
    assert (root / "a.py").exists()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("none.py", "b.py", "ENOENT"),
        ("sub", "sub2", "ENOENT"),
        ("a.py", "sub", "ENOENT"),
        ("a.py", "../work2/a.py", "EOUTSIDE"),
        ("../work2/c.py", "c.py", "EOUTSIDE"),
        ("a.py", "node_modules/a.py", "EEXCLUDED"),
        ("a.py", "door/a.py", "EOUTSIDE"),
        ("a.py", "b\0.py", "ENOENT"),
    ],
)
def test_what_may_not_be_moved_stays(root, boundary, old, new, code):
    (root / "door").symlink_to(root.parent / "work2")
    with refused(root.parent, code):
        move(old, new, boundary)


# Somebody leads a path elsewhere, just while a file is being changed. Steps of other changes are
# in `test_apply_failures.py`.


@pytest.mark.parametrize("which", ["sub", "sub/deep"])
@pytest.mark.parametrize("path", ["sub/deep/x.py", "sub/deep/new/x.py"])
def test_a_folder_that_becomes_a_link_leads_nowhere(root, boundary, path, which, by_descriptor):
    outside = root.parent / "work2"
    for folder in (root / "sub" / "deep", outside, outside / "deep"):
        folder.mkdir(exist_ok=True)
        (folder / "x.py").write_bytes(b"as it was")
    before, elsewhere = snapshot(root / which), snapshot(outside)
    swap = at_step(1, lambda: swap_for_link(root / which, root / "aside", outside))
    with pytest.raises(lspkit.PathError):
        write(path, "x", boundary, before_step=swap)
    if by_descriptor:  # by paths alone, what was begun in a folder that is gone cannot be removed
        assert snapshot(outside) == elsewhere
        assert snapshot(root / "aside") == before


def test_a_file_that_becomes_a_link_is_not_followed(root, boundary):
    secret = root.parent / "work2" / "c.py"

    def swap() -> None:
        (root / "a.py").unlink()
        (root / "a.py").symlink_to(secret)

    with pytest.raises(lspkit.PathError) as caught:
        write("a.py", "x", boundary, before_step=at_step(1, swap))
    assert caught.value.code == "ECHANGED"
    assert secret.read_bytes() == b"three\n"


# By paths alone, such a race can be lost.
@pytest.mark.parametrize("by_descriptor", ["by descriptor"], indirect=True)
def test_nobody_wins_the_race_between_check_and_write(root, boundary):
    outside, done = root.parent / "work2", threading.Event()

    def swap() -> None:
        while not done.is_set():
            with contextlib.suppress(OSError):  # a write has created the folder meanwhile
                swap_for_link(root / "sub", root / "aside", outside)
            while (root / "aside").exists():
                if (root / "sub").is_symlink():
                    (root / "sub").unlink()
                shutil.rmtree(root / "sub", ignore_errors=True)
                with contextlib.suppress(OSError):
                    (root / "aside").rename(root / "sub")

    before, attacker = snapshot(outside), threading.Thread(target=swap)
    attacker.start()
    try:
        for number in range(400):
            with contextlib.suppress(lspkit.PathError):
                write("sub/b.py", str(number), boundary)
    finally:
        done.set()
        attacker.join()
    assert snapshot(outside) == before
