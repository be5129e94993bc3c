"""`Workspace`: the face of the library.

Each method builds a request and hands it to the engine; that is all it does. What a request means
is in `operations/`, how it is carried out in `runtime/`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar

import lspkit.operations as ops
from lspkit.config import Config, read_config
from lspkit.diagnostics.report import Report
from lspkit.errors import LspkitError
from lspkit.operations import Request
from lspkit.runtime.engine import Limits, LocalEngine
from lspkit.runtime.waiting import CancelLike
from lspkit.types import Hover, Location, Symbol
from lspkit.version import VERSION

PathLike = str | os.PathLike[str]
P = ParamSpec("P")
T = TypeVar("T")

#: Seconds that `check` waits, unless its caller says otherwise.
CHECK_TIMEOUT = 60.0


class Engine(Protocol):
    """What carries requests out: here, or (later) behind a socket."""

    def run(self, request: Request, limits: Limits) -> Any:
        """Do it, and return its result."""
        ...

    def submit(self, request: Request, limits: Limits) -> Future[Any]:
        """Do it without a thread that waits."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class _Submitting:
    """An engine whose answers are futures: it turns any method of a workspace into its `submit`."""

    def __init__(self, engine: Engine) -> None:
        self.run = engine.submit
        self.submit = engine.submit
        self.close = engine.close


class Workspace:
    """A folder whose code can be asked about.

    Language servers start when a question needs them, are kept in step with the files on disk, and
    end with the workspace. Every method may be called from any number of threads.

        with lspkit.Workspace("path/to/project") as ws:
            for place in ws.definition("src/app.py", 12, 8):
                print(place)

    Lines and columns count from 1; a column counts characters. Instead of a line and a column, a
    `symbol` may be given: `symbol="Parser.feed"` anywhere in the file, or a line and a word on it.

    `timeout=` (seconds) and `cancel=` (a `lspkit.Cancel`) end a call early, also its wait for a
    server to start. `text=` stands for the content of the file in that one call.
    """

    def __init__(
        self,
        root: PathLike = ".",
        *,
        config: Config | Mapping[str, Any] | PathLike | None = None,
        trusted: bool | None = None,
    ) -> None:
        self._engine: Engine = LocalEngine(os.fspath(root), read_config(config), VERSION)
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

    def definition(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        symbol: str | None = None,
        text: str | None = None,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
    ) -> list[Location]:
        """Where the symbol is defined."""
        request = ops.Definition(
            path=os.fspath(path), line=line, column=column, symbol=symbol, text=text
        )
        found: list[Location] = self._engine.run(request, Limits(timeout, cancel))
        return found

    def references(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        symbol: str | None = None,
        include_declaration: bool = True,
        text: str | None = None,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
    ) -> list[Location]:
        """Where the symbol is used."""
        request = ops.References(
            path=os.fspath(path),
            line=line,
            column=column,
            symbol=symbol,
            include_declaration=include_declaration,
            text=text,
        )
        found: list[Location] = self._engine.run(request, Limits(timeout, cancel))
        return found

    def hover(
        self,
        path: PathLike,
        line: int | None = None,
        column: int | None = None,
        *,
        symbol: str | None = None,
        text: str | None = None,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
    ) -> Hover | None:
        """What the servers tell about the symbol."""
        request = ops.Hover(
            path=os.fspath(path), line=line, column=column, symbol=symbol, text=text
        )
        found: Hover | None = self._engine.run(request, Limits(timeout, cancel))
        return found

    def document_symbols(
        self,
        path: PathLike,
        *,
        text: str | None = None,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
    ) -> list[Symbol]:
        """What is defined in the file, as a tree where the server gives one."""
        request = ops.DocumentSymbols(path=os.fspath(path), text=text)
        found: list[Symbol] = self._engine.run(request, Limits(timeout, cancel))
        return found

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
        report: Report = self._engine.run(request, Limits(timeout, cancel))
        return report

    def submit(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call one of this workspace's methods without waiting for it.

            future = ws.submit(ws.definition, "src/app.py", 12, 8)
            future.result()

        No thread is held while the servers work.
        """
        if getattr(method, "__self__", None) is not self:
            raise TypeError("submit takes a method of this workspace: ws.submit(ws.definition, …)")
        view = copy.copy(self)
        view._engine = _Submitting(self._engine)
        try:
            bound: Any = getattr(view, method.__name__)
            future: Future[T] = bound(*args, **kwargs)
        except LspkitError as problem:
            future = Future()
            future.set_exception(problem)
        return future
