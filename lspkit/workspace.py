"""`Workspace`: the face of the library.

Each method builds a request and hands it to the engine; that is all it does. What a request means
is in `operations/`, how it is carried out in `runtime/`.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack

import lspkit.operations as ops
from lspkit.changes import CodeAction, WorkspaceEdit
from lspkit.config import Config, read_config
from lspkit.diagnostics.report import Report
from lspkit.errors import LspkitError
from lspkit.operations.hierarchy import ItemRequest
from lspkit.operations.request import PositionRequest
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.seam import AtPlace, Engine, InFile, Limits, Patience, Submitting, limits_of
from lspkit.runtime.waiting import CancelLike
from lspkit.servers.status import Snapshot, status_text
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
    HierarchyItem,
    Hover,
    Location,
    SignatureHelp,
    Symbol,
    TypeItem,
)
from lspkit.version import VERSION

if TYPE_CHECKING:
    from concurrent.futures import Future

PathLike = str | os.PathLike[str]
P = ParamSpec("P")
T = TypeVar("T")

#: Seconds that `check` waits, unless its caller says otherwise.
CHECK_TIMEOUT = 60.0


class Workspace:
    """A folder whose code can be asked about.

    Language servers start when a question needs them, are kept in step with the files on disk, and
    end with the workspace. Every method may be called from any number of threads.

        with lspkit.Workspace("path/to/project") as ws:
            for place in ws.definition("src/app.py", 12, 8):
                print(place)

    Lines and columns count from 1; a column counts characters. Instead of a line and a column, a
    `symbol=` may be given: `"Parser.feed"` anywhere in the file, or a line and a word on it.
    `text=` stands for the content of the file in that one call. `timeout=` (seconds) and `cancel=`
    (a `lspkit.Cancel`) end a call early, also its wait for a server to start.
    """

    def __init__(
        self,
        root: PathLike = ".",
        *,
        config: Config | Mapping[str, Any] | PathLike | None = None,
        trusted: bool | None = None,
    ) -> None:
        read = functools.partial(read_config, config)
        self._engine: Engine = LocalEngine(os.fspath(root), read, VERSION)
        #: The folder, links followed.
        self.root = Path(os.path.realpath(root))
        #: Whether the embedding program vouches for the folder; None leaves it to the policy.
        self.trusted = trusted

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Workspace {self.root}>"

    def close(self) -> None:
        """End all servers of this workspace. Safe to call twice, and from any thread."""
        self._engine.close()

    # Where things are

    def definition(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Location]:
        """Where the symbol is defined."""
        return self._at(ops.Definition, path, line, column, more)

    def declaration(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Location]:
        """Where the symbol is declared."""
        return self._at(ops.Declaration, path, line, column, more)

    def type_definition(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Location]:
        """Where the type of the symbol is defined."""
        return self._at(ops.TypeDefinition, path, line, column, more)

    def implementation(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Location]:
        """Where the symbol is implemented."""
        return self._at(ops.Implementation, path, line, column, more)

    def references(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        include_declaration: bool = True,
        **more: Unpack[AtPlace],
    ) -> list[Location]:
        """Where the symbol is used."""
        extra = {"include_declaration": include_declaration}
        return self._at(ops.References, path, line, column, more, extra)

    # What things are

    def hover(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> Hover | None:
        """What the servers tell about the symbol."""
        return self._at(ops.Hover, path, line, column, more)

    def signature_help(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> SignatureHelp | None:
        """How the function at this place is called, seen from inside its parentheses."""
        return self._at(ops.SignatureHelp, path, line, column, more)

    def document_symbols(self, path: PathLike, **more: Unpack[InFile]) -> list[Symbol]:
        """What is defined in the file, as a tree where the server gives one."""
        limits, rest = limits_of(more)
        return self._engine.run(ops.DocumentSymbols(path=os.fspath(path), **rest), limits)

    def workspace_symbols(
        self, query: str, path: PathLike | None = None, **more: Unpack[Patience]
    ) -> list[Symbol]:
        """Symbols anywhere whose name fits the query.

        With a path only the servers of that file are asked, else all that run; and if none runs,
        those that the files of the workspace call for.
        """
        where = None if path is None else os.fspath(path)
        request = ops.WorkspaceSymbols(query=query, path=where)
        return self._engine.run(request, Limits(**more))

    # Who calls whom

    def prepare_call_hierarchy(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[CallItem]:
        """What at this place calls and is called."""
        return self._at(ops.PrepareCallHierarchy, path, line, column, more)

    def incoming_calls(
        self,
        at: PathLike | CallItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Call]:
        """Who calls this: a place, a symbol, or an item of an earlier answer."""
        return self._from(ops.IncomingCalls, at, line, column, more)

    def outgoing_calls(
        self,
        at: PathLike | CallItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[Call]:
        """Whom this calls: a place, a symbol, or an item of an earlier answer."""
        return self._from(ops.OutgoingCalls, at, line, column, more)

    def supertypes(
        self,
        at: PathLike | TypeItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[TypeItem]:
        """What this type derives from."""
        return self._from(ops.Supertypes, at, line, column, more)

    def subtypes(
        self,
        at: PathLike | TypeItem,
        line: int | None = None,
        column: int | None = None,
        **more: Unpack[AtPlace],
    ) -> list[TypeItem]:
        """What derives from this type."""
        return self._from(ops.Subtypes, at, line, column, more)

    # What could be changed

    def rename(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        new_name: str = "",
        **more: Unpack[AtPlace],
    ) -> WorkspaceEdit:
        """What would change if the symbol had another name: a preview, nothing is written."""
        return self._at(ops.Rename, path, line, column, more, {"new_name": new_name})

    def code_actions(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        end_line: int | None = None,
        end_column: int | None = None,
        only: Sequence[str] = (),
        **more: Unpack[AtPlace],
    ) -> list[CodeAction]:
        """What the servers offer to do about a place or a range. Nothing is done by itself."""
        extra = {"end_line": end_line, "end_column": end_column, "only": tuple(only)}
        return self._at(ops.CodeActions, path, line, column, more, extra)

    # Whether it is in order

    def check(
        self,
        path: PathLike,
        text: str | None = None,
        *,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Report:
        """Fresh diagnostics for the file as it is now, or as `text` has it.

        The report's verdict is `CLEAN` only if every server has proven that it has looked at this
        very text. When the time is up, the report says what is known by then, and who is missing.
        """
        request = ops.Check(path=os.fspath(path), text=text)
        return self._engine.run(request, Limits(timeout, cancel))

    def check_all(
        self,
        paths: Iterable[PathLike],
        *,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> dict[Path, Report]:
        """The same for many files: all files and servers at the same time, under one deadline.

        A file that no server can check has a report, too: its verdict is `UNKNOWN`.
        """
        # Whole paths, so that a file that cannot be found has its place among the others.
        whole = tuple(os.path.join(self.root, os.fspath(path)) for path in paths)
        request = ops.CheckAll(paths=whole)
        return self._engine.run(request, Limits(timeout, cancel))

    def diagnostics(self, path: PathLike | None = None) -> dict[Path, list[Diagnostic]]:
        """What is known now, about a file or about all. Asks nothing and waits for nothing."""
        where = None if path is None else os.fspath(path)
        return self._engine.run(ops.Diagnostics(path=where), Limits())

    def sync(self, path: PathLike, text: str | None = None) -> None:
        """Tell the servers of the file about its text, and wait for nothing."""
        self._engine.run(ops.Sync(path=os.fspath(path), text=text), Limits())

    @property
    def epoch(self) -> int:
        """How many reports of diagnostics have come so far."""
        return self._engine.run(ops.WaitForChange(after=-1), Limits())

    def wait_for_change(
        self, after: int, timeout: float | None = None, *, cancel: CancelLike | None = None
    ) -> int:
        """Wait for a report newer than the epoch `after`; returns the epoch then.

        When the time is up, the epoch that is returned is not newer.
        """
        return self._engine.run(ops.WaitForChange(after=after), Limits(timeout, cancel))

    # The servers themselves

    def request(
        self, path: PathLike, method: str, params: Any = None, **more: Unpack[Patience]
    ) -> Any:
        """Any request of the protocol, to the first server of the file: JSON values in and out."""
        request = ops.RawRequest(path=os.fspath(path), method=method, params=params)
        return self._engine.run(request, Limits(**more))

    def status(self, root: PathLike | None = None) -> Snapshot:
        """How all servers are. Never waits, and starts nothing."""
        where = None if root is None else os.path.realpath(root)
        return self._engine.run(ops.Status(root=where), Limits())

    def status_text(self) -> str:
        """The same as text."""
        return status_text(self.status())

    def reload(self) -> None:
        """Read the configuration again. Servers that it changes restart; failures are forgotten."""
        self._engine.run(ops.Reload(), Limits())

    def submit(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call one of this workspace's methods without waiting for it.

            future = ws.submit(ws.definition, "src/app.py", 12, 8)
            future.result()

        No thread is held while the servers work.
        """
        if getattr(method, "__self__", None) is not self:
            raise TypeError("submit takes a method of this workspace: ws.submit(ws.definition, …)")
        view = copy.copy(self)
        view._engine = Submitting(self._engine)
        try:
            bound: Any = getattr(view, method.__name__)
            future: Future[T] = bound(*args, **kwargs)
        except LspkitError as problem:
            from concurrent.futures import Future  # here, to keep `import lspkit` quick

            future = Future()
            future.set_exception(problem)
        return future

    # Inside

    def _at(
        self,
        kind: type[PositionRequest[T]],
        path: PathLike,
        line: int | None,
        column: int | None,
        more: AtPlace,
        extra: dict[str, Any] | None = None,
    ) -> T:
        limits, rest = limits_of(more)
        rest.update(extra or {})
        request = kind(path=os.fspath(path), line=line, column=column, **rest)
        return self._engine.run(request, limits)

    def _from(
        self,
        kind: type[ItemRequest[T]],
        at: PathLike | HierarchyItem,
        line: int | None,
        column: int | None,
        more: AtPlace,
    ) -> T:
        if isinstance(at, HierarchyItem):
            return self._engine.run(kind(item=at), limits_of(more)[0])
        return self._at(kind, at, line, column, more)
