"""Edits of servers: what they make of a workspace."""

from __future__ import annotations

import os

import pytest

from lspkit.edit_types import FileEdit, TextEdit
from lspkit.edits import open_folders, planned_tree
from lspkit.edits.apply import apply, undo
from lspkit.types import Position, Range
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import (
    edit,
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


# What an edit makes


def test_edits_are_made_and_taken_back(root, boundary):
    before = snapshot(root)
    applied = apply(edits(replaced(root / "a.py", "name", "x")), boundary)
    after = snapshot(root)
    assert after["a.py"] == ("file", 0o644, "x = 'Ä🙂'\nx\n".encode())
    assert {name: after[name] for name in after if name != "a.py"} == {
        name: before[name] for name in before if name != "a.py"
    }
    assert applied.files == [root / "a.py"]
    undo(applied, boundary)
    assert snapshot(root) == before


def test_all_that_an_edit_can_do_is_made_and_taken_back(root, boundary):
    before = snapshot(root)
    applied = apply(everything(root), boundary)
    after = snapshot(root)
    modes = {name: facts[1] for name, facts in after.items()}
    contents = {name: facts[2] for name, facts in after.items() if facts[0] == "file"}
    assert contents == {
        "new/a.py": "läng\nname = 'Ä🙂'\nläng\nname\n".encode(),
        "run.sh": b"x\r\nx",
        "new/er/f.py": b"made\n",
        "package/b.py": b"\xef\xbb\xbfother\r\nname\n",
        "package/inner/c.py": b"name",
        "old": b"",
        "lib/dep.js": b"name\n",
        ".git/config": b"name\n",
    }
    assert [modes[name] for name in ("run.sh", "package/b.py", "package/inner/c.py")] == [
        0o755,
        0o640,
        0o600,
    ]
    undo(applied, boundary)
    assert snapshot(root) == before


def test_an_edit_of_fifty_files_is_taken_back_byte_for_byte(root, boundary):
    for number in range(50):
        path = root / "many" / f"f{number % 7}" / f"ü{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        breaks = ("\n", "\r\n", "\r")
        lines = [f"näme{index} = 'Ä🙂{index}'" for index in range(number)]
        text = "".join(
            line + breaks[(index * number) % 3] for index, line in enumerate([*lines, "last"])
        )
        mark = "\ufeff" if number % 3 == 0 else ""
        path.write_bytes((mark + text.rstrip("\r\n" if number % 2 else "")).encode())
        path.chmod(0o600 + number % 8)
    before = snapshot(root)
    paths = sorted((root / "many").rglob("*.py"))
    applied = apply(edits(*(replaced(path, "näme", "ñ") for path in paths)), boundary)
    assert len(applied.files) == 49  # in the first one there is nothing to replace
    after = snapshot(root)
    for path in paths:
        name = str(path.relative_to(root))
        kind, mode, data = before[name]
        assert after[name] == (kind, mode, data.replace("näme".encode(), "ñ".encode()))
    undo(applied, boundary)
    assert snapshot(root) == before


def test_an_edit_of_more_folders_than_are_held_open_is_made(root, boundary, monkeypatch):
    monkeypatch.setattr(open_folders, "MOST_OPEN", 3)
    for number in range(10):
        (root / f"d{number}").mkdir()
        (root / f"d{number}" / "x.py").write_text("name")
    before = snapshot(root)
    paths = sorted(root.glob("d?/x.py"))
    applied = apply(edits(*(replaced(path, "name", "x") for path in paths)), boundary)
    assert [path.read_text() for path in paths] == ["x"] * 10
    undo(applied, boundary)
    assert snapshot(root) == before


def test_an_edit_of_nothing_is_made(root, boundary):
    before = snapshot(root)
    applied = apply(edits(), boundary)
    assert applied.touched == ()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_a_link_is_followed_and_stays(root, boundary):
    (root / "link.py").symlink_to("pkg/inner/c.py")
    applied = apply(edits(replaced(root / "link.py", "name", "x")), boundary)
    assert (root / "link.py").is_symlink()
    assert (root / "pkg" / "inner" / "c.py").read_bytes() == b"x"
    assert applied.files == [root / "pkg" / "inner" / "c.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner_also_when_it_moves_or_comes_back(root, boundary):
    for name in ("a.py", "run.sh", "old/d.py"):
        os.chown(root / name, 12345, 23456)
    applied = apply(everything(root), boundary)
    owners = {name: (root / name).stat().st_uid for name in ("new/a.py", "run.sh")}
    assert set(owners.values()) == {12345}
    undo(applied, boundary)
    assert {(root / name).stat().st_gid for name in ("a.py", "run.sh", "old/d.py")} == {23456}


# Bytes that nobody asked to change


@pytest.mark.parametrize(
    ("before", "span", "after"),
    [
        (b"a\r\nb\r\n", (1, 1, "1\n2"), b"a1\r\n2\r\nb\r\n"),
        (b"a\nb\n", (1, 1, "1\r\n2"), b"a1\n2\nb\n"),
        (b"a\rb\r", (1, 1, "1\n2"), b"a1\r2\rb\r"),
        (b"a\r\nb\nc\r\nd", (5, 6, "1\n2"), b"a\r\nb\n1\r\n2\r\nd"),
        (b"one line", (3, 3, "\r\n"), b"one\r\n line"),
        (b"\xef\xbb\xbfa\r\n", (0, 1, "b"), b"\xef\xbb\xbfb\r\n"),
        (b"\xef\xbb\xbf", (0, 0, "b\n"), b"\xef\xbb\xbfb\n"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", (1, 2, "b"), b"\xef\xbb\xbf\xef\xbb\xbfb"),
        (b"no end", (0, 2, "an"), b"an end"),
        (b"a\x0cb\xe2\x80\xa8c\n", (2, 3, "x"), b"a\x0cx\xe2\x80\xa8c\n"),
        # A linter that wants other line breaks gets them.
        (b"a\nb\nc\n", (1, 2, "\r\n"), b"a\r\nb\nc\n"),
        (b"a\r\nb\r\n", (1, 3, "\n"), b"a\nb\r\n"),
    ],
)
def test_line_breaks_mark_and_end_stay_as_they_are(root, boundary, before, span, after):
    path = root / "x.py"
    path.write_bytes(before)
    applied = apply(edits(edit(path, span)), boundary)
    assert path.read_bytes() == after
    undo(applied, boundary)
    assert path.read_bytes() == before


def test_a_place_after_the_last_line_is_the_end(root, boundary):
    path = root / "x.py"
    path.write_text("a\nb\n")
    whole = TextEdit(Range(Position(1, 1), Position(4, 1)), "new\n")
    apply(edits(FileEdit(path, path.as_uri(), (whole,), before="a\nb\n")), boundary)
    assert path.read_text() == "new\n"


def test_inserts_at_one_place_keep_their_order(root, boundary):
    path = root / "x.py"
    path.write_text("ad")
    apply(edits(edit(path, (1, 1, "b"), (1, 1, "c"))), boundary)
    assert path.read_text() == "abcd"


def test_edits_of_one_file_may_come_in_two_parts(root, boundary):
    path = root / "x.py"
    path.write_text("one two")
    same_text = (edit(path, (4, 7, "2")), edit(path, (0, 3, "1")))
    apply(edits(*same_text), boundary)
    assert path.read_text() == "1 2"
    one_after_the_other = (edit(path, (0, 1, "a")), edit(path, (0, 1, "b"), before="a 2"))
    apply(edits(*one_after_the_other), boundary)
    assert path.read_text() == "b 2"


# Files that come, move and go


def test_a_created_file_may_be_filled_by_an_edit_that_was_made_without_it(root, boundary):
    path = root / "new.py"
    fill = edit(path, (0, 0, "x\n"), before="")
    unread = FileEdit(path, fill.uri, fill.edits)
    apply(edits(operation("create", path), unread), boundary)
    assert path.read_text() == "x\n"


def test_a_renamed_file_is_edited_at_its_new_place(root, boundary):
    new = root / "far" / "b.py"
    change = edit(new, (0, 4, "x"), before=(root / "a.py").read_text())
    apply(edits(operation("rename", root / "a.py", new), change), boundary)
    assert new.read_text() == "x = 'Ä🙂'\nname\n"
    assert not (root / "a.py").exists()


def test_two_files_change_places(root, boundary):
    a, b, other = root / "a.py", root / "run.sh", root / "temporary"
    before = snapshot(root)
    swap = [operation("rename", a, other), operation("rename", b, a), operation("rename", other, b)]
    applied = apply(edits(*swap), boundary)
    after = snapshot(root)
    assert (after["a.py"], after["run.sh"]) == (before["run.sh"], before["a.py"])
    assert after.keys() == before.keys()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_a_file_becomes_a_folder_and_a_folder_a_file(root, boundary):
    before = snapshot(root)
    applied = apply(
        edits(
            operation("delete", root / "a.py"),
            operation("create", root / "a.py" / "inner.py"),
            operation("delete", root / "pkg", recursive=True),
            operation("create", root / "pkg"),
        ),
        boundary,
    )
    after = snapshot(root)
    assert (after["a.py"][0], after["a.py/inner.py"][0], after["pkg"][0]) == (
        "folder",
        "file",
        "file",
    )
    undo(applied, boundary)
    assert snapshot(root) == before


#: An operation; the error, or what the files `a.py` and `run.sh` are then, by their first bytes.
OPTIONS = [
    ("create", {}, "EWRITE"),
    ("create", {"ignore_if_exists": True}, {"a.py": b"name"}),
    ("create", {"overwrite": True}, {"a.py": b""}),
    ("create", {"overwrite": True, "ignore_if_exists": True}, {"a.py": b""}),
    ("rename", {}, "EWRITE"),
    ("rename", {"ignore_if_exists": True}, {"a.py": b"name", "run.sh": b"name"}),
    ("rename", {"overwrite": True}, {"run.sh": b"name"}),
    ("rename", {"overwrite": True, "ignore_if_exists": True}, {"run.sh": b"name"}),
]


@pytest.mark.parametrize(("kind", "options", "outcome"), OPTIONS)
def test_what_is_there_is_replaced_only_as_the_options_say(root, boundary, kind, options, outcome):
    to = root / "run.sh" if kind == "rename" else None
    change = edits(operation(kind, root / "a.py", to, **options))
    before = snapshot(root)
    if isinstance(outcome, str):
        with refused(root, outcome, "exists already"):
            apply(change, boundary)
        return
    applied = apply(change, boundary)
    found = {name: facts[2][:4] for name, facts in snapshot(root).items() if facts[0] == "file"}
    others = {"a.py", "run.sh"} - outcome.keys() if kind == "rename" else set()
    assert {name: found[name] for name in outcome} == outcome
    assert not others & found.keys()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_a_file_that_is_overwritten_by_an_empty_one_keeps_its_mode(root, boundary):
    apply(edits(operation("create", root / "run.sh", overwrite=True)), boundary)
    assert snapshot(root)["run.sh"] == ("file", 0o755, b"")


def test_what_is_not_there_is_deleted_only_as_the_options_say(root, boundary):
    with refused(root, "ENOENT", "none.py does not exist", "request the change again"):
        apply(edits(operation("delete", root / "none.py")), boundary)
    before = snapshot(root)
    apply(edits(operation("delete", root / "none.py", ignore_if_not_exists=True)), boundary)
    assert snapshot(root) == before


def test_a_folder_is_deleted_with_what_is_in_it_only_as_the_options_say(root, boundary):
    with refused(root, "EWRITE", "old is a folder that is not empty"):
        apply(edits(operation("delete", root / "old")), boundary)
    before = snapshot(root)
    applied = apply(edits(operation("delete", root / "old", recursive=True)), boundary)
    assert not (root / "old").exists()
    assert (root / "a.py").exists()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_an_empty_folder_is_deleted_and_comes_back(root, boundary):
    (root / "empty").mkdir(mode=0o700)
    before = snapshot(root)
    applied = apply(edits(operation("delete", root / "empty")), boundary)
    assert not (root / "empty").exists()
    undo(applied, boundary)
    assert snapshot(root) == before


def test_a_link_is_deleted_and_renamed_as_a_link(root, boundary):
    before = snapshot(root)
    (root / "door").symlink_to("pkg")
    with_door = snapshot(root)
    applied = apply(edits(operation("rename", root / "door", root / "gate")), boundary)
    assert os.readlink(root / "gate") == "pkg"
    undo(applied, boundary)
    assert snapshot(root) == with_door
    applied = apply(edits(operation("delete", root / "door", recursive=True)), boundary)
    assert snapshot(root) == before
    undo(applied, boundary)
    assert snapshot(root) == with_door


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda root: operation("rename", root / "none", root / "x"), "ENOENT"),
        (lambda root: operation("rename", root / "pkg", root / "pkg" / "inner" / "x"), "EWRITE"),
        (lambda root: operation("rename", root / "pkg", root / "old", overwrite=True), "EWRITE"),
        (lambda root: operation("rename", root / "a.py", root / "old", overwrite=True), "EWRITE"),
        (lambda root: operation("create", root / "old", overwrite=True), "EWRITE"),
        (lambda root: operation("create", root / "a.py" / "x.py"), "EWRITE"),
        (lambda root: operation("rename", root / "run.sh", root / "a.py" / "x"), "EWRITE"),
        (lambda root: operation("delete", root, recursive=True), "EOUTSIDE"),
        (lambda root: operation("rename", root, root.parent / "other"), "EOUTSIDE"),
        (lambda root: operation("delete", root.parent, recursive=True), "EOUTSIDE"),
        (lambda root: operation("delete", root / "lib", recursive=True), "EEXCLUDED"),
        (lambda root: operation("create", root / "lib" / "new.js"), "EEXCLUDED"),
        (lambda root: operation("create", root / ".git" / "hooks" / "pre-commit"), "EEXCLUDED"),
        (lambda root: operation("rename", root / "a.py", root / "lib" / "a.js"), "EEXCLUDED"),
        (lambda root: operation("rename", root / "pkg", root / ".git"), "EEXCLUDED"),
        (lambda root: operation("delete", root / "fifo"), "ENOENT"),
        (lambda root: operation("delete", root / "special", recursive=True), "ENOENT"),
    ],
)
def test_an_operation_that_makes_no_sense_is_refused(root, boundary, change, code):
    os.mkfifo(root / "fifo")
    (root / "special").mkdir()
    os.mkfifo(root / "special" / "fifo")
    with refused(root.parent, code):
        apply(edits(replaced(root / "a.py", "name", "x"), change(root)), boundary)


def test_a_folder_with_something_excluded_in_it_is_left_alone(root):
    boundary = boundary_of(str(root), exclude=("**/*.bin",))
    for change in (
        operation("delete", root / "old", recursive=True),
        operation("rename", root / "old", root / "other"),
    ):
        with refused(root, "EEXCLUDED", "e.bin"):
            apply(edits(change), boundary)


def test_a_folder_does_not_move_to_where_something_in_it_is_excluded(root):
    boundary = boundary_of(str(root), exclude=("other/sub/**",))
    with refused(root, "EEXCLUDED", "other/sub"):
        apply(edits(operation("rename", root / "old", root / "other")), boundary)


def test_more_than_memory_should_hold_is_refused(root, boundary, monkeypatch):
    monkeypatch.setattr(planned_tree, "MOST_BYTES", 10)
    with refused(root, "EWRITE", "more than 10 bytes"):
        apply(edits(operation("delete", root / "pkg", recursive=True)), boundary)
