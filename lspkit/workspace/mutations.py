"""What a workspace changes: files on disk, and what its servers see in their place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

import lspkit.operations as ops
from lspkit.diagnostics.report import Report
from lspkit.edit_types import AppliedEdit, CodeAction, WorkspaceEdit
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Engine, Limits
from lspkit.workspace.queries import PathLike

#: Seconds that `check` waits, unless its caller says otherwise.
CHECK_TIMEOUT = 60.0


class Mutations:
    """What every workspace can do to its files. The servers hear of it before it returns."""

    _engine: Engine

    def write(
        self,
        path: PathLike,
        text: str,
        *,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Report:
        """Give a file this text, in UTF-8, and check it. Missing folders are made.

        The file is replaced in one step and keeps its mode; a byte order mark stays.
        """
        request = ops.WriteRequest(path=os.fspath(path), text=text)
        return self._engine.run(request, Limits(timeout, cancel))

    def delete(self, path: PathLike) -> None:
        """Delete a file."""
        return self._engine.run(ops.DeleteRequest(path=os.fspath(path)), Limits())

    def move(self, old: PathLike, new: PathLike) -> None:
        """Give a file another place; nothing that is there is overwritten."""
        request = ops.MoveRequest(path=os.fspath(old), new_path=os.fspath(new))
        return self._engine.run(request, Limits())

    def apply(
        self,
        edit: WorkspaceEdit | CodeAction,
        *,
        verify: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> AppliedEdit:
        """Make an edit that a server has proposed: all of it, or nothing.

            applied = ws.apply(ws.rename("src/app.py", symbol="old_name", new_name="new_name"))
            ws.undo(applied)

        Refused, with nothing written, if a file lies outside of the workspace or has changed since
        the edit was proposed. With `verify` the touched files are checked afterwards, and the edit
        is taken back if there are new errors in them.
        """
        request = ops.ApplyRequest(
            edit=None if isinstance(edit, CodeAction) else edit,
            action=edit if isinstance(edit, CodeAction) else None,
            verify=verify,
        )
        return self._engine.run(request, Limits(timeout, cancel))

    def undo(self, applied: AppliedEdit) -> None:
        """Take an edit back: all of it, or nothing if a file has changed since."""
        return self._engine.run(ops.UndoRequest(applied=applied), Limits())

    @contextlib.contextmanager
    def overlay(self, texts: Mapping[PathLike, str]) -> Iterator[None]:
        """Let the servers see these texts in place of the files, until the block ends.

            with ws.overlay({"src/app.py": draft}):
                ws.check("src/main.py")

        A file need not exist. Overlays may be nested; the inner one is seen.
        """
        if not isinstance(texts, Mapping):
            raise TypeError(f"texts is {texts!r}: a mapping of paths to texts is needed")
        shown = {os.fspath(path): text for path, text in texts.items()}
        number = self._engine.run(ops.ShowTextsRequest(texts=shown), Limits())
        try:
            yield
        finally:
            self._engine.run(ops.ShowDiskRequest(number=number), Limits())
