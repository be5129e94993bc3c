"""`Workspace`: the face of the library. Its questions about code are in `queries.py`, what it
changes is in `mutations.py`.

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
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Unpack

import lspkit.operations as ops
from lspkit.config import Config
from lspkit.config.load import load
from lspkit.diagnostics.report import Report
from lspkit.edit_types import ChangedFiles
from lspkit.late_imports import safe_imports
from lspkit.runtime.concurrency.waiting import CancelLike
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.engine_api import Engine, Limits, Submitting
from lspkit.servers.selection.choose import aliases
from lspkit.servers.status import WorkspaceStatus
from lspkit.types import Diagnostic, Severity
from lspkit.version import VERSION
from lspkit.workspace.call_options import CallOptions
from lspkit.workspace.mutations import CHECK_TIMEOUT, Mutations
from lspkit.workspace.queries import PathLike, Queries
from lspkit.workspace.trust_warning import warn_once

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")

#: Methods that are no questions.
UNSUBMITTABLE = frozenset({"close", "overlay", "submit"})


class Workspace(Queries, Mutations):
    """A folder whose code can be asked about.

    Language servers start when a question needs them, are kept in step with the files on disk, and
    end with the workspace. Every method may be called from any number of threads.

        with lspkit.Workspace("path/to/project") as ws:
            for place in ws.definition("src/app.py", 12, 8):
                print(place)

    Lines and columns count from 1; a column counts characters. Instead of a line and a column, a
    `symbol=` may be given: `"Parser.feed"` anywhere in the file, or a line and a word on it.
    `text=` stands for the content of the file in that one call. `timeout=` (seconds) and `cancel=`
    (a `lspkit.CancelToken`) end a call early, also its wait for a server to start.
    """

    def __init__(
        self,
        root: PathLike = ".",
        *,
        config: Config | Mapping[str, Any] | PathLike | None = None,
        trusted: bool | None = None,
    ) -> None:
        given = os.fspath(root)
        read = functools.partial(load, given, config, trusted=trusted, aliases=aliases())
        engine = LocalEngine(given, read, VERSION, trusted=trusted)
        try:
            # Here and not with the first question: it is known by now, and this is the line where
            # `trusted=True` would stand.
            warn_once(engine.loaded, stacklevel=2)
        except BaseException:
            engine.close()
            raise
        self._engine: Engine = engine
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
        """End all servers of this workspace. Safe to call twice, and from any thread.

        An interrupt ends all patience with the servers, and nothing of them is left either.
        """
        self._engine.close()

    @property
    def config(self) -> Config:
        """What is configured, defaults included."""
        return self._engine.run(ops.SettingsRequest(), Limits())

    # Whether it is in order

    def check(
        self,
        path: PathLike,
        text: str | None = None,
        *,
        scope: Literal["file", "project"] = "file",
        severities: Sequence[str] | None = None,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Report:
        """Fresh diagnostics for the file as it is now, or as `text` has it.

        The report's verdict is `CLEAN` only if every server has proven that it has looked at this
        very text. When the time is up, the report says what is known by then, and who is missing.
        With `scope="project"` it also says how the other files are after whatever was done to this
        one: `report.other_files`, with how far that reaches and a verdict of its own. `severities`
        are those that the verdict goes by, `("error", "warning")` say; else what is configured.
        """
        if scope not in ("file", "project"):
            raise ValueError(f'scope is "file" or "project", and not {scope!r}')
        request = ops.CheckRequest(
            path=os.fspath(path), text=text, scope=scope, severities=_severity_names(severities)
        )
        return self._engine.run(request, Limits(timeout, cancel))

    def check_all(
        self,
        paths: Iterable[PathLike],
        *,
        severities: Sequence[str] | None = None,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> dict[Path, Report]:
        """The same for many files: all files and servers at the same time, under one deadline.

        A file that no server can check has a report, too: its verdict is `UNKNOWN`.
        """
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise TypeError(f"paths is {paths!r}: a list of paths is needed")
        # Whole paths, so that a file that cannot be found has its place among the others.
        whole = tuple(os.path.join(self.root, os.fspath(path)) for path in paths)
        request = ops.CheckAllRequest(paths=whole, severities=_severity_names(severities))
        return self._engine.run(request, Limits(timeout, cancel))

    def diagnostics(self, path: PathLike | None = None) -> dict[Path, list[Diagnostic]]:
        """What is known now, about a file or about all. Asks nothing and waits for nothing."""
        where = None if path is None else os.fspath(path)
        return self._engine.run(ops.DiagnosticsRequest(path=where), Limits())

    def sync(self, path: PathLike, text: str | None = None) -> None:
        """Tell the servers of the file about its text, and wait for nothing."""
        return self._engine.run(ops.SyncRequest(path=os.fspath(path), text=text), Limits())

    @property
    def epoch(self) -> int:
        """How many reports of diagnostics have come so far."""
        return self._engine.run(ops.WaitForChangeRequest(after=-1), Limits())

    def wait_for_change(
        self, after: int, timeout: float | None = None, *, cancel: CancelLike | None = None
    ) -> int:
        """Wait for a report newer than the epoch `after`; returns the epoch then.

        When the time is up, the epoch that is returned is not newer.
        """
        return self._engine.run(ops.WaitForChangeRequest(after=after), Limits(timeout, cancel))

    def changed_files(self, after: int | None = None) -> ChangedFiles:
        """The files of running servers that have changed on disk since a mark, by anybody.

        mark = ws.changed_files().mark
        subprocess.run(["make", "generate"])
        ws.check_all(ws.changed_files(mark).files)
        """
        return self._engine.run(ops.ChangedSinceRequest(after=after), Limits())

    # The servers themselves

    def request(
        self, path: PathLike, method: str, params: Any = None, **more: Unpack[CallOptions]
    ) -> Any:
        """Any request of the protocol, to the first server of the file: JSON values in and out."""
        request = ops.RawRequest(path=os.fspath(path), method=method, params=params)
        return self._engine.run(request, Limits(**more))

    def status(self, root: PathLike | None = None) -> WorkspaceStatus:
        """How all servers are. Never waits, and starts nothing."""
        where = None if root is None else os.path.realpath(root)
        return self._engine.run(ops.StatusRequest(root=where), Limits())

    def status_text(self) -> str:
        """The same as text."""
        return self._engine.run(ops.StatusTextRequest(), Limits())

    def reload(self) -> None:
        """Read the configuration again. Servers that it changes restart; failures are forgotten."""
        return self._engine.run(ops.ReloadRequest(), Limits())

    def submit(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call one of this workspace's methods without waiting for it.

            future = ws.submit(ws.definition, "src/app.py", 12, 8)
            future.result()

        No thread is held while the servers work. Whatever is wrong with the call or its arguments
        is in the future. Its callbacks may ask the workspace, and close it.
        """
        name = getattr(method, "__name__", "")
        if getattr(method, "__self__", None) is not self or name in UNSUBMITTABLE:
            raise TypeError(
                "submit takes a question to this workspace: ws.submit(ws.definition, …)"
            )
        view = copy.copy(self)
        view._engine = Submitting(self._engine)
        try:
            bound: Any = getattr(view, name)
            future: Future[T] = bound(*args, **kwargs)
        except Exception as problem:  # noqa: BLE001 (the future carries it on)
            with safe_imports():
                from concurrent.futures import Future  # here, to keep `import lspkit` quick

            future = Future()
            future.set_exception(problem)
        return future


def _severity_names(severities: Sequence[str] | None) -> tuple[str, ...] | None:
    if severities is None:
        return None
    try:
        return tuple(Severity(one).value for one in severities)
    except ValueError:
        words = " ".join(Severity)
        known = f'severities are some of {words}, as in ("error", "warning")'
        raise ValueError(f"{known}, and not {severities!r}") from None
