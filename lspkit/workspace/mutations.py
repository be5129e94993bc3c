"""Methods of a workspace that change files, or the texts that its servers see."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Literal, overload

import lspkit.operations as ops
from lspkit.diagnostics.edit_report import EditReport
from lspkit.diagnostics.report import Report
from lspkit.edit_types import AppliedEdit, CodeAction, WorkspaceEdit
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Engine, Limits
from lspkit.workspace.queries import PathLike

#: Default timeout of `check` in seconds.
CHECK_TIMEOUT = 60.0


class Mutations:
    """Changes of files. The servers are notified before a method returns."""

    _engine: Engine

    def write(
        self,
        path: PathLike,
        text: str,
        *,
        scope: Literal["file", "project"] = "file",
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Report:
        """Write a text to a file in UTF-8, and check the file. Missing folders are created.

        The file is replaced atomically and keeps its mode; a byte order mark is kept. With
        `scope="project"` the report also covers the files that depend on what has changed, as in
        `check`.
        """
        if scope not in ("file", "project"):
            raise ValueError(f'scope must be "file" or "project", not {scope!r}')
        request = ops.WriteRequest(path=os.fspath(path), text=text, scope=scope)
        return self._engine.run(request, Limits(timeout, cancel))

    @overload
    def delete(self, path: PathLike, *, check: Literal[False] = False) -> None: ...

    @overload
    def delete(
        self,
        path: PathLike,
        *,
        check: bool,
        timeout: float | None = ...,
        cancel: CancelLike | None = ...,
    ) -> EditReport | None: ...

    def delete(
        self,
        path: PathLike,
        *,
        check: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> EditReport | None:
        """Delete a file.

        With `check` the result is a report about the files that depend on it:
        `report.other_files`.
        """
        request = ops.DeleteRequest(path=os.fspath(path), check=check)
        return self._engine.run(request, Limits(timeout, cancel) if check else Limits())

    @overload
    def move(self, old: PathLike, new: PathLike, *, check: Literal[False] = False) -> None: ...

    @overload
    def move(
        self,
        old: PathLike,
        new: PathLike,
        *,
        check: bool,
        timeout: float | None = ...,
        cancel: CancelLike | None = ...,
    ) -> EditReport | None: ...

    def move(
        self,
        old: PathLike,
        new: PathLike,
        *,
        check: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> EditReport | None:
        """Move a file. An existing file is not overwritten.

        With `check` the result is a report about the file and those that depend on it.
        """
        request = ops.MoveRequest(path=os.fspath(old), new_path=os.fspath(new), check=check)
        return self._engine.run(request, Limits(timeout, cancel) if check else Limits())

    def apply(
        self,
        edit: WorkspaceEdit | CodeAction,
        *,
        verify: bool = False,
        force: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> AppliedEdit:
        """Apply an edit that a server proposed: all of it, or nothing.

            applied = ws.apply(ws.rename("src/app.py", symbol="old_name", new_name="new_name"))
            ws.undo(applied)

        Nothing is written if a file is outside the workspace, or has changed since the edit was
        proposed. With `verify` the changed files and those that depend on them are checked
        afterwards. If the edit introduces errors, it is undone, and the `RequestFailedError` has
        them in `introduced`. An edit that may be incomplete (`edit.complete` is False) is an
        `IncompleteEditError`, unless `force` is given.
        """
        request = ops.ApplyRequest(
            edit=None if isinstance(edit, CodeAction) else edit,
            action=edit if isinstance(edit, CodeAction) else None,
            verify=verify,
            force=force,
        )
        return self._engine.run(request, Limits(timeout, cancel))

    @overload
    def undo(self, applied: AppliedEdit, *, check: Literal[False] = False) -> None: ...

    @overload
    def undo(
        self,
        applied: AppliedEdit,
        *,
        check: bool,
        timeout: float | None = ...,
        cancel: CancelLike | None = ...,
    ) -> EditReport | None: ...

    def undo(
        self,
        applied: AppliedEdit,
        *,
        check: bool = False,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> EditReport | None:
        """Undo an edit: all of it, or nothing if a file has changed since.

        With `check` the result is a report about its files and those that depend on them.
        """
        request = ops.UndoRequest(applied=applied, check=check)
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
