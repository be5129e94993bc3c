"""One file at a time: replaced, removed, moved and read, and never outside."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import stat

import pytest

import lspkit
from lspkit.edits.single_file import move, read_bytes, remove, replace
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import (
    at_step,
    limited,
    refused,
    snapshot,
    without_privileges,
)

pytestmark = pytest.mark.usefixtures("by_descriptor")


@pytest.fixture
def root(small_root):
    return small_root


@pytest.fixture
def boundary(small_boundary):
    return small_boundary


# Replacing


def test_a_new_file_gets_the_mode_that_new_files_get(root, boundary):
    (root / "other.py").touch()
    assert replace("new.py", b"new\0\xff", boundary) == str(root / "new.py")
    assert (root / "new.py").read_bytes() == b"new\0\xff"
    assert (root / "new.py").stat().st_mode == (root / "other.py").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(root, boundary, mode):
    (root / "a.py").chmod(mode)
    replace(root / "a.py", b"new", boundary)
    assert snapshot(root)["a.py"] == ("file", mode, b"new")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(root, boundary):
    os.chown(root / "a.py", 12345, 23456)
    replace("a.py", b"new", boundary)
    found = (root / "a.py").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


def test_a_file_is_replaced_and_not_written_into(root, boundary):
    with open(root / "a.py", "rb") as reader:
        replace("a.py", b"new", boundary)
        assert reader.read() == b"one\r\n"


def test_nothing_is_left_beside_a_file(root, boundary):
    before = snapshot(root)
    replace("sub/b.py", b"2", boundary)
    after = snapshot(root)
    assert after.pop("sub/b.py")[2] == b"2"
    assert after == {name: facts for name, facts in before.items() if name != "sub/b.py"}


def test_a_link_stays_a_link(root, boundary):
    (root / "link.py").symlink_to("sub/b.py")
    (root / "door").symlink_to("sub")
    assert replace("link.py", b"1", boundary) == str(root / "sub" / "b.py")
    assert (root / "link.py").is_symlink() and (root / "sub" / "b.py").read_bytes() == b"1"
    replace("door/b.py", b"2", boundary)
    assert (root / "door").is_symlink() and (root / "sub" / "b.py").read_bytes() == b"2"


def test_a_link_to_nothing_makes_what_it_leads_to(root, boundary):
    (root / "link.py").symlink_to("new.py")
    replace("link.py", b"1", boundary)
    assert (root / "link.py").is_symlink() and (root / "new.py").read_bytes() == b"1"


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
        ("a.py/b.py", "ENOENT"),
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
    with refused(root.parent, code, path=given):
        replace(given, b"x", boundary, make_folders=True)


def test_what_may_be_asked_about_outside_is_not_written(root):
    free = boundary_of(str(root), allow_external=True)
    for change in (
        lambda: replace("../work2/c.py", b"x", free),
        lambda: remove("../work2/c.py", free),
        lambda: move("../work2/c.py", "c.py", free),
        lambda: move("a.py", "../work2/new.py", free),
    ):
        with refused(root.parent, "EOUTSIDE"):
            change()


def test_the_work_tree_may_be_written_where_the_user_allows_it(root):
    (root.parent / ".git").mkdir()
    with refused(root.parent, "EOUTSIDE"):
        replace("../work2/c.py", b"x", boundary_of(str(root)))
    replace("../work2/c.py", b"x", boundary_of(str(root), edit_work_tree=True))
    assert (root.parent / "work2" / "c.py").read_bytes() == b"x"
    with refused(root.parent, "EOUTSIDE"):
        replace("../../c.py", b"x", boundary_of(str(root), edit_work_tree=True))


@pytest.mark.parametrize("home", [".", "work2"])
def test_a_work_tree_with_the_home_folder_in_it_is_never_written(root, home, monkeypatch):
    (root.parent / ".git").mkdir()
    monkeypatch.setenv("HOME", str(root.parent / home))
    with refused(root.parent, "EOUTSIDE"):
        replace("../work2/c.py", b"x", boundary_of(str(root), edit_work_tree=True))


def test_a_missing_folder_is_made_only_where_that_is_wanted(root, boundary):
    with refused(root, "ENOENT"):
        replace("new/er/a.py", b"x", boundary)
    replace("new/er/a.py", b"x", boundary, make_folders=True)
    assert (root / "new" / "er" / "a.py").read_bytes() == b"x"


def test_a_write_protected_file_is_left_alone(root, boundary):
    (root / "a.py").chmod(0o444)

    def write() -> None:
        with refused(root, "EWRITE", path="a.py") as caught:
            replace("a.py", b"x", boundary)
        assert "write-protected" in str(caught.value)

    without_privileges(write)


# When the disk says no


def test_where_there_is_no_room_the_file_is_as_it_was(root, boundary):
    with refused(root, "EWRITE", path="a.py") as caught, limited(resource.RLIMIT_FSIZE, 1000):
        replace("a.py", b"x" * 100_000, boundary)
    assert "a.py cannot be written: File too large" in str(caught.value)


def test_folders_that_were_made_in_vain_are_removed(root, boundary):
    with refused(root, "EWRITE"), limited(resource.RLIMIT_FSIZE, 1000):
        replace("new/er/a.py", b"x" * 100_000, boundary, make_folders=True)


def test_a_read_only_folder_is_told(root, boundary):
    (root / "sub").chmod(0o555)

    def write() -> None:
        for call in (
            lambda: replace("sub/b.py", b"x", boundary),
            lambda: replace("sub/new.py", b"x", boundary),
            lambda: remove("sub/b.py", boundary),
            lambda: move("sub/b.py", "b.py", boundary),
            lambda: move("a.py", "sub/a.py", boundary),
        ):
            with refused(root, "EWRITE") as caught:
                call()
            assert "Permission denied" in str(caught.value)

    without_privileges(write)


def test_where_no_descriptor_is_left_nothing_is_changed(root, boundary, by_descriptor):
    used = max(int(name) for name in os.listdir("/dev/fd"))
    with (
        refused(root, "EWRITE"),
        contextlib.ExitStack() as held,
        limited(resource.RLIMIT_NOFILE, used + 1),
    ):
        with contextlib.suppress(OSError):
            while True:
                held.enter_context(open(os.devnull))
        replace("a.py", b"x", boundary)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, OSError, RuntimeError])
def test_whatever_interrupts_leaves_the_file_as_it_was(root, boundary, kind):
    before = snapshot(root)

    def stop() -> None:
        raise kind

    with pytest.raises((kind, lspkit.PathError)):
        replace("new/a.py", b"x", boundary, make_folders=True, before_step=at_step(1, stop))
    assert snapshot(root) == before


def test_a_refusal_survives_a_trip(root, boundary):
    with pytest.raises(lspkit.PathError) as caught, limited(resource.RLIMIT_FSIZE, 10):
        replace("a.py", b"x" * 100, boundary)
    back = pickle.loads(pickle.dumps(caught.value))
    assert back.to_dict() == caught.value.to_dict()
    assert isinstance(back, lspkit.PathError)


# Removing


def test_a_file_is_removed(root, boundary):
    assert remove("sub/b.py", boundary) == str(root / "sub" / "b.py")
    assert os.listdir(root / "sub") == ["deep"]


def test_of_a_link_only_the_link_is_removed(root, boundary):
    (root / "link.py").symlink_to("a.py")
    remove("link.py", boundary)
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
def test_what_may_not_be_removed_stays(root, boundary, given, code):
    (root / "out.py").symlink_to(root.parent / "work2" / "c.py")
    with refused(root.parent, code, path=given):
        remove(given, boundary)


# Moving


def test_a_file_moves_with_its_mode_and_is_the_same_file(root, boundary):
    (root / "a.py").chmod(0o750)
    inode = (root / "a.py").stat().st_ino
    assert move("a.py", "sub/c.py", boundary) == (str(root / "a.py"), str(root / "sub" / "c.py"))
    assert snapshot(root)["sub/c.py"] == ("file", 0o750, b"one\r\n")
    assert not (root / "a.py").exists()
    assert (root / "sub" / "c.py").stat().st_ino == inode


def test_a_file_moves_over_another_only_where_that_is_wanted(root, boundary):
    with refused(root, "EWRITE") as caught:
        move("a.py", "sub/b.py", boundary)
    assert "exists" in str(caught.value)
    move("a.py", "sub/b.py", boundary, overwrite=True)
    assert (root / "sub" / "b.py").read_bytes() == b"one\r\n"
    assert not (root / "a.py").exists()


def test_a_file_that_moves_onto_another_name_of_its_own_loses_neither(root, boundary):
    os.link(root / "a.py", root / "b.py")
    with refused(root, "EWRITE") as caught:
        move("a.py", "b.py", boundary)
    assert "exists" in str(caught.value)


def test_a_file_that_moves_onto_itself_stays(root, boundary):
    before = snapshot(root)
    move("a.py", "sub/../a.py", boundary)
    assert snapshot(root) == before


def test_moving_makes_folders_only_where_that_is_wanted(root, boundary):
    with refused(root, "ENOENT"):
        move("a.py", "new/er/a.py", boundary)
    move("a.py", "new/er/a.py", boundary, make_folders=True)
    assert (root / "new" / "er" / "a.py").read_bytes() == b"one\r\n"


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
        move(old, new, boundary, overwrite=True, make_folders=True)


# Reading


def test_bytes_are_read_as_they_are(root, boundary):
    (root / "a.py").write_bytes(b"\xef\xbb\xbfa\r\n\0\xff")
    assert read_bytes("a.py", boundary) == b"\xef\xbb\xbfa\r\n\0\xff"


@pytest.mark.parametrize(
    ("given", "code"), [("../work2/c.py", "EOUTSIDE"), ("fifo", "ENOENT"), ("none.py", "ENOENT")]
)
def test_what_may_not_be_read_is_not(root, boundary, given, code):
    os.mkfifo(root / "fifo")
    with refused(root.parent, code, path=given):
        read_bytes(given, boundary)


def test_an_unreadable_file_is_told(root, boundary):
    (root / "a.py").chmod(0)

    def read() -> None:
        with pytest.raises(lspkit.PathError, match=r"a\.py cannot be read: Permission denied"):
            read_bytes("a.py", boundary)

    without_privileges(read)
    assert stat.S_IMODE((root / "a.py").stat().st_mode) == 0
