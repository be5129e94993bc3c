"""Folders of files for the tests of changes: what is in them, and edits that change it."""

from __future__ import annotations

import contextlib
import os
import resource
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import lspkit
from lspkit.edit_types import FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.edits.text_edits import Span, apply_spans
from lspkit.protocol.text import Text
from lspkit.types import Position, Range

#: Of each path: what it is, its permission bits, and its bytes or where it leads.
Snapshot = dict[str, tuple[str, int, bytes]]


def snapshot(folder: Path) -> Snapshot:
    """All that is in a folder, and the folder itself; links are not followed."""
    found: Snapshot = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            kind, mode, data = "link", 0, os.fsencode(os.readlink(path))
        elif stat.S_ISDIR(facts.st_mode):
            kind, mode, data = "folder", stat.S_IMODE(facts.st_mode), b""
        elif stat.S_ISREG(facts.st_mode):
            kind, mode, data = "file", stat.S_IMODE(facts.st_mode), path.read_bytes()
        else:
            kind, mode, data = "special", stat.S_IMODE(facts.st_mode), b""
        found[str(path.relative_to(folder))] = (kind, mode, data)
    return found


def position(text: Text, offset: int) -> Position:
    line, column = text.place(offset)
    return Position(line + 1, column + 1)


def edit(path: Path, *spans: tuple[int, int, str], before: str | None = None, **more) -> FileEdit:
    """Edits of a file by offset, for the text that it has now."""
    if before is None:
        before = path.read_bytes().decode("utf-8-sig")
    text = Text(before)
    edits = tuple(
        TextEdit(Range(position(text, start), position(text, end)), new)
        for start, end, new in spans
    )
    after = apply_spans(before, [Span(*span) for span in sorted(spans, key=lambda one: one[:2])])
    given = {"before": before, "after": after, **more}
    return FileEdit(path=path, uri=path.as_uri(), edits=edits, **given)


def operation(kind: str, path: Path, to: Path | None = None, **options: bool) -> FileOperation:
    return FileOperation(
        kind=kind,
        path=path,
        uri=path.as_uri(),
        new_path=to,
        new_uri="" if to is None else to.as_uri(),
        **options,
    )


def replaced(path: Path, old: str, new: str, **more) -> FileEdit:
    """All places of a file where `old` stands say `new`."""
    text = path.read_bytes().decode("utf-8-sig")
    places, at = [], text.find(old)
    while at >= 0:
        places.append((at, at + len(old), new))
        at = text.find(old, at + len(old))
    return edit(path, *places, **more)


def swap_for_link(folder: Path, aside: Path, outside: Path) -> None:
    """What somebody does who wants writes to `folder` to end up outside."""
    folder.rename(aside)
    folder.symlink_to(outside)


def at_step(number: int, act: Callable[[], object]) -> Callable[[int], None]:
    """Something happens just before that step."""

    def before_step(now: int) -> None:
        if now == number:
            act()

    return before_step


def without_privileges(call: Callable[[], None]) -> None:
    """Calls as somebody to whom the permission bits of files apply, also where that is root.

    Capabilities are those of a thread, so they are dropped in one that ends afterwards.
    """
    problems: list[BaseException] = []

    def run() -> None:
        try:
            if os.geteuid() == 0:
                _drop_capabilities()
            call()
        except BaseException as problem:  # noqa: BLE001  it is raised in the other thread
            problems.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for problem in problems:
        raise problem


def _drop_capabilities() -> None:
    import ctypes

    # The version of the structure with 64 bits, for the calling thread, and no capability at all.
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    library = ctypes.CDLL(None, use_errno=True)
    if library.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


def edits(*changes: FileEdit | FileOperation) -> WorkspaceEdit:
    return WorkspaceEdit(changes, "server")


def everything(root: Path) -> WorkspaceEdit:
    """An edit that does all there is to do."""
    return edits(
        replaced(root / "a.py", "name", "läng\nname"),
        replaced(root / "run.sh", "name", "x"),
        operation("create", root / "new" / "er" / "f.py"),
        edit(root / "new" / "er" / "f.py", (0, 0, "made\n"), before=""),
        operation("rename", root / "pkg", root / "package"),
        edit(root / "package" / "b.py", (0, 4, "other"), before="name\r\nname\n"),
        operation("delete", root / "old", recursive=True),
        operation("create", root / "old"),
        operation("rename", root / "a.py", root / "new" / "a.py"),
    )


@contextlib.contextmanager
def refused(folder: Path, code: str, *words: str, path=None):
    """An error comes that says these words, and everything is as it was."""
    before = snapshot(folder)
    with pytest.raises(lspkit.LspkitError) as caught:
        yield caught
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)
    if path is not None:
        assert caught.value.path == os.fspath(path)
    assert snapshot(folder) == before


@contextlib.contextmanager
def limited(kind: int, limit: int):
    """For a moment, the system gives no more than this: as a disk does that is nearly full."""
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)
