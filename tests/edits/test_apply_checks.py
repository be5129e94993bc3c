"""Edits of servers are checked whole: with one bad part, nothing of it is written."""

from __future__ import annotations

import msgspec
import pytest

from lspkit.edit_types import FileEdit, TextEdit
from lspkit.edits.apply import apply
from lspkit.protocol.uris import path_to_uri
from lspkit.types import Position, Range
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import (
    edit,
    edits,
    operation,
    refused,
    replaced,
    without_privileges,
)


@pytest.fixture
def root(full_root):
    return full_root


@pytest.fixture
def boundary(full_boundary):
    return full_boundary


ESCAPES = ["../work2/x.py", "pkg/../../work2/x.py", "out.py", "door/x.py", "pkg/up/x.py"]


@pytest.mark.parametrize("given", [*ESCAPES, "absolute"])
def test_an_edit_that_leaves_the_workspace_is_refused(root, boundary, given):
    outside = root.parent / "work2"
    (root / "out.py").symlink_to(outside / "x.py")
    (root / "door").symlink_to(outside)
    (root / "pkg" / "up").symlink_to("../../work2")
    path = outside / "x.py" if given == "absolute" else root / given
    new, good = path.with_name("new.py"), replaced(root / "a.py", "name", "x")
    for bad in (
        edit(path, (0, 4, "x"), before="name\n"),
        operation("create", path, overwrite=True),
        operation("delete", path),
        operation("rename", path, root / "mine.py"),
        operation("rename", root / "run.sh", path, overwrite=True),
    ):
        with refused(root.parent, "EOUTSIDE"):
            apply(edits(good, bad), boundary)
    if given != "out.py":
        with refused(root.parent, "EOUTSIDE"):
            apply(edits(good, operation("create", new)), boundary)


def test_a_path_with_a_nul_character_is_refused(root, boundary):
    bad = FileEdit(root / "a\0.py", "file:///a%00.py", (), before="")
    with refused(root, "ENOENT"):
        apply(edits(replaced(root / "a.py", "name", "x"), bad), boundary)


def test_an_edit_of_what_is_no_file_here_is_refused(root, boundary):
    bad = FileEdit(None, "untitled:1", (), before="")
    with refused(root, "EOUTSIDE", "untitled:1"):
        apply(edits(replaced(root / "a.py", "name", "x"), bad), boundary)


def test_an_edit_of_the_work_tree_around_the_workspace_is_refused(root):
    boundary = boundary_of(str(root / "pkg"), allow_external=True)
    with refused(root, "EOUTSIDE", "a.py lies outside the workspace", "edits.boundary"):
        apply(edits(replaced(root / "a.py", "name", "x")), boundary)


def test_an_edit_of_the_work_tree_is_made_where_the_user_allows_it(root):
    boundary = boundary_of(str(root / "pkg"), edit_work_tree=True)
    apply(edits(replaced(root / "a.py", "name", "x")), boundary)
    assert (root / "a.py").read_text() == "x = 'Ä🙂'\nx\n"


def test_an_edit_for_another_version_is_refused(root, boundary):
    uri = (root / "a.py").as_uri()
    change = edits(replaced(root / "a.py", "name", "x", version=3))
    with refused(root, "ECHANGED", "a.py is at version 4", "version 3"):
        apply(change, boundary, versions={uri: 4})
    apply(change, boundary, versions={uri: 3, "file:///other": 9})
    assert (root / "a.py").read_text() == "x = 'Ä🙂'\nx\n"


def test_a_version_counts_however_the_server_spells_the_file(root, boundary):
    change = replaced(root / "a.py", "name", "x", version=3)
    spelled = msgspec.structs.replace(change, uri=change.uri.replace("a.py", "%61.py"))
    with refused(root, "ECHANGED", "version 3"):
        apply(edits(spelled), boundary, versions={path_to_uri(str(root / "a.py")): 4})


def test_a_version_that_nobody_knows_is_no_reason_to_refuse(root, boundary):
    unversioned = edits(replaced(root / "a.py", "name", "name2"))
    apply(unversioned, boundary, versions={(root / "a.py").as_uri(): 4})
    closed = edits(replaced(root / "a.py", "name2", "name3", version=7))
    apply(closed, boundary, versions={})
    assert (root / "a.py").read_text().startswith("name3")


def test_a_file_that_has_changed_since_the_preview_is_left_alone(root, boundary):
    change = edits(replaced(root / "run.sh", "name", "y"), replaced(root / "a.py", "name", "x"))
    (root / "a.py").write_text("name = 2\n")
    with refused(root, "ECHANGED", "a.py has changed since", "request the change again"):
        apply(change, boundary)


def test_an_edit_for_what_was_there_before_another_file_came_is_refused(root, boundary):
    path, change = root / "a.py", replaced(root / "a.py", "name", "x")
    moved = operation("rename", path, root / "b.py")
    with refused(root, "ECHANGED", "a.py has changed since"):
        apply(edits(change, moved, operation("create", path), change), boundary)


def test_a_file_that_is_gone_since_the_preview_is_told(root, boundary):
    change = edits(replaced(root / "a.py", "name", "x"))
    (root / "a.py").unlink()
    with refused(root, "ENOENT", "a.py does not exist"):
        apply(change, boundary)


def test_an_edit_for_a_text_that_is_not_known_is_refused(root, boundary):
    whole = edit(root / "a.py", (0, 4, "x"))
    (root / "empty.py").touch()
    for unknown in (
        msgspec.structs.replace(whole, before=None, after=None),
        FileEdit(root / "empty.py", "file:///empty.py", ()),
    ):
        with refused(root, "ECHANGED", "is not known"):
            apply(edits(unknown), boundary)


def test_an_edit_that_does_not_do_what_its_preview_shows_is_refused(root, boundary):
    lying = msgspec.structs.replace(edit(root / "a.py", (0, 4, "x")), after="something else")
    with refused(root, "EPOSITION", "a.py", "the text of the preview"):
        apply(edits(lying), boundary)


@pytest.mark.parametrize(
    "ranges",
    [
        [((1, 1), (1, 4)), ((1, 3), (1, 5))],
        [((1, 1), (2, 1)), ((1, 2), (1, 2))],
        [((2, 1), (2, 5)), ((1, 1), (2, 2))],
        [((1, 1), (1, 3)), ((1, 1), (1, 3))],
    ],
)
def test_edits_that_overlap_are_refused(root, boundary, ranges):
    path = root / "x.py"
    path.write_text("name\nname\n")
    made = tuple(TextEdit(Range(Position(*start), Position(*end)), "x") for start, end in ranges)
    good = replaced(root / "a.py", "name", "x")
    with refused(root, "EPOSITION", "x.py", "overlaps"):
        apply(edits(good, FileEdit(path, path.as_uri(), made, before="name\nname\n")), boundary)


def test_edits_that_overlap_are_refused_also_in_two_parts(root, boundary):
    path = root / "x.py"
    path.write_text("name")
    with refused(root, "EPOSITION", "overlaps"):
        apply(edits(edit(path, (0, 3, "x")), edit(path, (2, 4, "y"))), boundary)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((0, 1), (1, 1)),
        ((1, 0), (1, 1)),
        ((1, 1), (1, 6)),
        ((4, 1), (4, 1)),
        ((3, 2), (3, 2)),
        ((-1, 1), (1, 1)),
        ((1, 3), (1, 1)),
    ],
)
def test_a_place_that_the_text_does_not_have_is_refused(root, boundary, start, end):
    path = root / "x.py"
    path.write_text("name\nname")
    change = (TextEdit(Range(Position(*start), Position(*end)), "x"),)
    with refused(root, "EPOSITION", "x.py"):
        apply(edits(FileEdit(path, path.as_uri(), change, before="name\nname")), boundary)


@pytest.mark.parametrize("content", [b"\xff\xfename", b"\0name", b"name\xe4"])
def test_what_is_no_text_is_not_edited(root, boundary, content):
    path = root / "x.py"
    path.write_bytes(content)
    change = edit(path, (0, 1, "x"), before=content.decode("latin-1"))
    with refused(root, "EBINARY", "x.py"):
        apply(edits(change), boundary)


def test_what_no_file_can_hold_is_not_written(root, boundary):
    with refused(root, "EBINARY", "a.py", "ud800"):
        apply(edits(edit(root / "a.py", (0, 4, "\ud800"))), boundary)


def test_a_write_protected_file_is_left_alone(root, boundary):
    (root / "a.py").chmod(0o444)

    def run() -> None:
        for change in (
            replaced(root / "a.py", "name", "x"),
            operation("create", root / "a.py", overwrite=True),
            operation("rename", root / "run.sh", root / "a.py", overwrite=True),
        ):
            with refused(root, "EWRITE", "a.py is write-protected"):
                apply(edits(change), boundary)

    without_privileges(run)
