"""Methods of a workspace that change files, or the texts that its servers see."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Literal

import lspkit.operations as ops
from lspkit.diagnostics.report import Change
from lspkit.edit_types import CodeAction, WorkspaceEdit
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Engine, Limits
from lspkit.workspace.queries import PathLike, Place, file_of

#: Default timeout of `check` in seconds.
CHECK_TIMEOUT = 60.0
#: What is checked after a change: nothing, its files, or also the files that depend on them.
Check = Literal["file", "project", False]


class Mutations:
    """Changes of files. The servers are notified before a method returns."""

    _engine: Engine

    def write(
        self,
        path: PathLike | Place,
        text: str,
        *,
        check: Check = "file",
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Change:
        """Write a text to a file in UTF-8, and check the file. Missing folders are created.

        The file is replaced atomically and keeps its mode; a byte order mark is kept. With
        `check="project"` the files that depend on what has changed are checked, too.
        """
        request = ops.WriteRequest(path=file_of(path), text=text, check=_checked(check))
        return self._engine.run(request, Limits(timeout, cancel))

    def delete(
        self,
        path: PathLike | Place,
        *,
        check: Check = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Change:
        """Delete a file. With `check="project"` the files that depend on it are checked."""
        request = ops.DeleteRequest(path=file_of(path), check=_checked(check))
        return self._engine.run(request, Limits(timeout, cancel) if check else Limits())

    def move(
        self,
        old: PathLike | Place,
        new: PathLike,
        *,
        check: Check = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Change:
        """Move a file. An existing file is not overwritten.

        With `check="file"` it is checked afterwards, with `check="project"` also the files that
        depend on it.
        """
        request = ops.MoveRequest(path=file_of(old), new_path=os.fspath(new), check=_checked(check))
        return self._engine.run(request, Limits(timeout, cancel) if check else Limits())

    def apply(
        self,
        edit: WorkspaceEdit | CodeAction,
        *,
        check: Check = False,
        force: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Change:
        """Apply an edit that a server proposed: all of it, or nothing.

            change = ws.apply(ws.rename("src/app.py", symbol="old_name", new_name="new_name"))
            ws.undo(change)

        Nothing is written if a file is outside the workspace, or has changed since the edit was
        proposed. With `check="file"` the changed files are checked afterwards, with
        `check="project"` also those that depend on them. If the edit introduces errors, it is
        undone, and the `RequestFailedError` has them in `introduced`. An edit that may be
        incomplete (`edit.complete` is False) is an `IncompleteEditError`, unless `force` is given.
        """
        request = ops.ApplyRequest(
            edit=None if isinstance(edit, CodeAction) else edit,
            action=edit if isinstance(edit, CodeAction) else None,
            check=_checked(check),
            force=force,
        )
        return self._engine.run(request, Limits(timeout, cancel))

    def undo(
        self,
        change: Change,
        *,
        check: Check = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Change:
        """Undo a change: all of it, or nothing if a file has changed since.

        With `check="file"` its files are checked afterwards, with `check="project"` also those
        that depend on them. The result can be undone, too.
        """
        request = ops.UndoRequest(change=change, check=_checked(check))
        return self._engine.run(request, Limits(timeout, cancel) if check else Limits())

    @contextlib.contextmanager
    def overlay(self, texts: Mapping[PathLike, str]) -> Iterator[None]:
        """Show the servers these texts instead of the files, until the block ends.

            with ws.overlay({"src/app.py": draft}):
                ws.check("src/main.py")

        The files need not exist. Overlays may be nested; the innermost text is used. Through the
        service, only this workspace sees them.
        """
        if not isinstance(texts, Mapping):
            raise TypeError(f"texts is {texts!r}: a mapping of paths to texts is needed")
        shown = {os.fspath(path): text for path, text in texts.items()}
        number = self._engine.run(ops.ShowTextsRequest(texts=shown), Limits())
        try:
            yield
        finally:
            try:
                self._engine.run(ops.ShowDiskRequest(number=number), Limits())
            except KeyboardInterrupt:
                # Once more: it may not have begun. A second interrupt leaves it.
                with contextlib.suppress(ValueError):  # it has ended already
                    self._engine.run(ops.ShowDiskRequest(number=number), Limits())
                raise


def _checked(check: Check) -> Literal["file", "project"] | None:
    if check is False:
        return None
    if check not in ("file", "project"):
        raise ValueError(f'check must be "file", "project" or False, not {check!r}')
    return check
