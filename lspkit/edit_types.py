"""Changes that servers propose, and what became of them: nothing but values.

A `WorkspaceEdit` is a preview. It carries the texts that it was made for, so that it can show
itself as a diff without reading a file. `AppliedEdit` is one that was made, with what it takes to
undo it. Nothing here writes anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from lspkit.late_imports import safe_imports
from lspkit.types import Range, Value, shown
from lspkit.visible_text import folded, one_line


class TextEdit(Value, frozen=True):
    """Replace a range by a text."""

    range: Range
    new_text: str

    def __str__(self) -> str:
        return f"{self.range} -> {self.new_text!r}"


class FileEdit(Value, frozen=True, tag="edit", tag_field="change"):
    """All edits of one file, in the order of the text; none overlaps another."""

    path: Path | None
    uri: str
    edits: tuple[TextEdit, ...]
    #: The text that the edits are for; None if it is not known (the file lies outside).
    before: str | None = None
    #: The text afterwards.
    after: str | None = None
    #: Version of the document that the server speaks of, where it says so.
    version: int | None = None

    def __str__(self) -> str:
        return f"{shown(self.path, self.uri)}: {len(self.edits)} edits"

    def diff(self) -> str:
        """As a unified diff; a single line where the text is not known."""
        name = shown(self.path, self.uri)
        if self.before is None or self.after is None:
            return f"--- {name}\n+++ {name}\n# {len(self.edits)} edits; the text is not known\n"
        with safe_imports():
            import difflib  # here, since few need it and it takes 5 ms

        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, name
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class FileOperation(Value, frozen=True, tag="operation", tag_field="change"):
    """Create, rename or delete a file."""

    kind: Literal["create", "rename", "delete"]
    path: Path | None
    uri: str
    #: Where to, for a rename.
    new_path: Path | None = None
    new_uri: str = ""
    overwrite: bool = False
    ignore_if_exists: bool = False
    ignore_if_not_exists: bool = False
    recursive: bool = False

    def __str__(self) -> str:
        to = f" -> {shown(self.new_path, self.new_uri)}" if self.kind == "rename" else ""
        return f"{self.kind} {shown(self.path, self.uri)}{to}"


class WorkspaceEdit(Value, frozen=True):
    """A change to any number of files: a preview."""

    #: In the order in which they are to be done.
    changes: tuple[FileEdit | FileOperation, ...] = ()
    #: Id of the server that proposes it.
    server: str = ""

    def __str__(self) -> str:
        edits = sum(len(one.edits) for one in self.changes if isinstance(one, FileEdit))
        return f"{edits} edits in {len(self.files)} files"

    @property
    def files(self) -> list[Path]:
        """The files that it touches, each once, in order."""
        touched: dict[Path, None] = {}
        for change in self.changes:
            for path in (change.path, getattr(change, "new_path", None)):
                if path is not None:
                    touched[path] = None
        return sorted(touched)

    def diff(self) -> str:
        """All of it as a unified diff, with a line for each file that comes, moves or goes."""
        parts = [
            change.diff() if isinstance(change, FileEdit) else f"# {change}\n"
            for change in self.changes
        ]
        return "".join(parts)


class TouchedFile(Value, frozen=True):
    """One path that an edit has changed, with all that it takes to change it back."""

    path: Path
    #: What was there before.
    was: Literal["nothing", "file", "link", "folder"]
    #: What the edit has left there.
    now: Literal["nothing", "file", "link", "folder"]
    #: The bytes of the file that was there, or the path that was written in the link.
    before: bytes | None = None
    #: Permission bits, and user and group, of what was there.
    mode: int | None = None
    owner: tuple[int, int] | None = None
    #: SHA-256 of the file that was left there, in hexadecimal, or of the path in the link.
    sha256: str = ""
    #: Permission bits of the file that was left there.
    mode_now: int | None = None

    def __str__(self) -> str:
        return f"{shown(self.path)}: {self.was} -> {self.now}"


class AppliedEdit(Value, frozen=True):
    """An edit that was made, and can be taken back with it."""

    edit: WorkspaceEdit
    #: Every path that is not what it was, folders before what is in them.
    touched: tuple[TouchedFile, ...] = ()

    def __str__(self) -> str:
        return f"changed {len(self.files)} files"

    @property
    def files(self) -> list[Path]:
        """The files that came, went or changed, in order."""
        return [one.path for one in self.touched if {one.was, one.now} != {"nothing", "folder"}]


def combined(parts: list[AppliedEdit], server: str) -> AppliedEdit:
    """Several edits that were made one after the other, as one."""
    touched: dict[Path, TouchedFile] = {}
    for one in (one for part in parts for one in part.touched):
        first = touched.get(one.path, one)
        touched[one.path] = msgspec.structs.replace(
            one, was=first.was, before=first.before, mode=first.mode, owner=first.owner
        )
    changes = tuple(change for part in parts for change in part.edit.changes)
    there = tuple(one for one in touched.values() if {one.was, one.now} != {"nothing"})
    return AppliedEdit(WorkspaceEdit(changes, server), there)


class ChangedFiles(Value, frozen=True):
    """The files that have changed on disk since a mark, whoever changed them."""

    #: For the next question.
    mark: int
    #: Those that are still there, each once, by path.
    files: tuple[Path, ...] = ()
    #: False where more may have changed: nothing was watched, or it was too much to remember.
    complete: bool = True


class CodeAction(Value, frozen=True):
    """Something that a server offers to do about a place."""

    title: str
    #: `quickfix`, `refactor.extract`, `source.organizeImports`, …
    kind: str = ""
    preferred: bool = False
    #: Why it cannot be done now.
    disabled: str = ""
    edit: WorkspaceEdit | None = None
    #: Id of the server, the file that was asked about, and the action as the server gave it.
    server: str = ""
    via: str = ""
    raw: str = ""
    #: SHA-256 of the text that it was offered for, in hexadecimal.
    sha256: str = ""

    def __str__(self) -> str:
        kind = f" ({one_line(self.kind)})" if self.kind else ""
        return f"{folded(self.title)}{kind}"
