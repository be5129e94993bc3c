"""Edits that servers propose, and what a change leaves on disk: values only.

A `WorkspaceEdit` is a preview. It carries the texts that it was made for, so it can be shown as a
diff without reading a file. Nothing here writes files.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Literal

from lspkit.answer import caveat_line
from lspkit.types import LONGEST_LINE, Caveat, Range, Value, cut, display_path
from lspkit.visible_text import count, fold_lines, one_line


class TextEdit(Value, frozen=True, gc=False):
    """Replace a range by a text."""

    range: Range
    new_text: str

    def __str__(self) -> str:
        return cut(f"{self.range} -> {self.new_text[:LONGEST_LINE]!r}")


class FileEdit(Value, frozen=True, tag="edit", tag_field="change"):
    """All edits of one file, in text order, without overlaps."""

    path: Path | None
    uri: str
    edits: tuple[TextEdit, ...]
    #: The text before the edits; None if it is not known (the file is outside the workspace).
    before: str | None = None
    #: The text after the edits.
    after: str | None = None
    #: The document version that the server gives, if it gives one.
    version: int | None = None

    def __str__(self) -> str:
        return f"{display_path(self.path, self.uri)}: {count(len(self.edits), 'edit')}"

    def diff(self) -> str:
        """The edits as a unified diff; a comment line if the text is not known."""
        name = display_path(self.path, self.uri)
        if self.before is None or self.after is None:
            edits = count(len(self.edits), "edit")
            return f"--- {name}\n+++ {name}\n# {edits}; the text is not known\n"
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, name
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class FileOperation(Value, frozen=True, tag="operation", tag_field="change"):
    """Create, rename or delete a file."""

    kind: Literal["create", "rename", "delete"]
    path: Path | None
    uri: str
    #: The target of a rename.
    new_path: Path | None = None
    new_uri: str = ""
    overwrite: bool = False
    ignore_if_exists: bool = False
    ignore_if_not_exists: bool = False
    recursive: bool = False

    def __str__(self) -> str:
        to = f" -> {display_path(self.new_path, self.new_uri)}" if self.kind == "rename" else ""
        return f"{self.kind} {display_path(self.path, self.uri)}{to}"


class WorkspaceEdit(Value, frozen=True):
    """A change to any number of files: a preview."""

    #: In the order in which they are applied.
    changes: tuple[FileEdit | FileOperation, ...] = ()
    #: Id of the server that proposes it.
    server: str = ""
    #: Why it may be incomplete.
    caveats: tuple[Caveat, ...] = ()

    def __str__(self) -> str:
        edits = sum(len(change.edits) for change in self.changes if isinstance(change, FileEdit))
        text = f"{count(edits, 'edit')} in {count(len(self.files), 'file')}"
        return text if self.complete else f"{text}, perhaps not all: {caveat_line(self.caveats)}"

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing, and nothing may be."""
        return not self.caveats

    @property
    def files(self) -> list[Path]:
        """The files that it changes, each once, sorted."""
        touched: dict[Path, None] = {}
        for change in self.changes:
            for path in (change.path, getattr(change, "new_path", None)):
                if path is not None:
                    touched[path] = None
        return sorted(touched)

    def diff(self) -> str:
        """The edit as a unified diff, with a line for each created, renamed or deleted file."""
        parts = [
            change.diff() if isinstance(change, FileEdit) else f"# {change}\n"
            for change in self.changes
        ]
        return "".join(parts)


class TouchedFile(Value, frozen=True):
    """One path that was changed, with what is needed to restore it."""

    path: Path
    #: What was there before.
    was: Literal["nothing", "file", "link", "folder"]
    #: What is there after the change.
    now: Literal["nothing", "file", "link", "folder"]
    #: The former bytes of the file, or the former target of the link.
    before: bytes | None = None
    #: Former permission bits; former user and group.
    mode: int | None = None
    owner: tuple[int, int] | None = None
    #: SHA-256 in hexadecimal of the new bytes, or of the new link target.
    sha256: str = ""
    #: New permission bits of the file.
    mode_now: int | None = None

    def __str__(self) -> str:
        return f"{display_path(self.path)}: {self.was} -> {self.now}"


class ChangedFiles(Value, frozen=True):
    """The files that have changed on disk since a mark, by any process."""

    #: Pass it to the next call.
    mark: int
    #: The changed files that still exist, each once, sorted by path.
    files: tuple[Path, ...] = ()
    #: False if more may have changed: nothing was watched, or there were too many changes.
    complete: bool = True
    #: The files that no longer exist, each once, sorted by path.
    deleted: tuple[Path, ...] = ()


class CodeAction(Value, frozen=True):
    """A code action that a server offers at a position."""

    title: str
    #: `quickfix`, `refactor.extract`, `source.organizeImports`, …
    kind: str = ""
    preferred: bool = False
    #: Why it cannot be applied now.
    disabled: str = ""
    edit: WorkspaceEdit | None = None
    #: Id of the server, the file of the request, and the action as the server sent it.
    server: str = ""
    via: str = ""
    raw: str = ""
    #: SHA-256 in hexadecimal of the text that it was offered for.
    sha256: str = ""

    def __str__(self) -> str:
        kind = f" ({cut(one_line(self.kind))})" if self.kind else ""
        return f"{cut(fold_lines(self.title))}{kind}"
