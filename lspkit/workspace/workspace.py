"""`Workspace`, the main class of the library. Questions about code are in `queries.py`, changes in
`mutations.py`.

Each method builds a request and passes it to the engine. `operations/` defines what a request does,
`runtime/` carries it out.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, Unpack

import lspkit.operations as ops
from lspkit.config import Config
from lspkit.diagnostics.report import Report
from lspkit.edit_types import ChangedFiles
from lspkit.errors import ProtocolError
from lspkit.operations.host_results import Settings
from lspkit.runtime.concurrency.call import AnswerLog, CancelLike
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.engine_api import Engine, Limits, Submitting
from lspkit.servers.status import WorkspaceEvent, WorkspaceStatus
from lspkit.types import Diagnostic, Severity, Value
from lspkit.version import VERSION
from lspkit.workspace.call_options import CallOptions, list_options
from lspkit.workspace.mutations import CHECK_TIMEOUT, Mutations
from lspkit.workspace.queries import PathLike, Place, Queries, file_of
from lspkit.workspace.workspace_warnings import warn_once, warn_unused

if TYPE_CHECKING:
    from lspkit.runtime.engine import LocalEngine

P = ParamSpec("P")
T = TypeVar("T")

#: Functions that are called for each workspace that is opened in this process: an interface for
#: people may follow what all servers do. None may raise, nor wait for a server.
opened_hooks: list[Callable[[Any], object]] = []
#: Methods that cannot be submitted.
UNSUBMITTABLE = frozenset({"close", "events", "on_engine", "overlay", "run", "submit"})


class Workspace(Queries, Mutations):
    """A folder with code, and the language servers for it.

    Language servers start when a call needs them, are kept in sync with the files on disk, and stop
    when the workspace is closed. All methods are thread-safe.

        with lspkit.Workspace("path/to/project") as ws:
            for place in ws.definition("src/app.py", 12, 8):
                print(place)

    Lines and columns count from 1; a column counts characters. Instead of a line and a column, a
    `symbol=` may be given: `"Parser.feed"` anywhere in the file, or a line and a word on it.
    `text=` replaces the content of the file in that call. `timeout=` (seconds) and `cancel=` (a
    `lspkit.CancelToken`) end a call early, also while it waits for a server to start.
    """

    def __init__(
        self,
        root: PathLike = ".",
        *,
        config: Config | Mapping[str, Any] | PathLike | None = None,
        trusted: bool | None = None,
    ) -> None:
        engine = local_engine(root, config, trusted)
        if config is not None:
            try:
                warn_unused(engine.loaded.warning_lines, stacklevel=2)
            except BaseException:
                engine.close()
                raise
        self._attach(engine, root, trusted, stacklevel=3)

    @classmethod
    def on_engine(
        cls, engine: Engine, root: PathLike, *, trusted: bool | None = None, stacklevel: int = 1
    ) -> Self:
        """A workspace whose requests are carried out by this engine, which it closes."""
        made = cls.__new__(cls)
        made._attach(engine, root, trusted, stacklevel=stacklevel + 2)
        return made

    def _attach(
        self, engine: Engine, root: PathLike, trusted: bool | None, *, stacklevel: int
    ) -> None:
        try:
            # Here and not in the first call: this is the line where `trusted=True` can be added.
            warn_once(engine, stacklevel=stacklevel)
        except BaseException:
            engine.close()
            raise
        self._engine = engine
        #: The real path of the folder.
        self.root = Path(os.path.realpath(root))
        #: Whether the embedding program trusts the folder; None: the user's settings decide.
        self.trusted = trusted
        self._known_settings: Settings | None = None
        #: Whether `close` was called.
        self.closed = False
        for hook in opened_hooks:
            hook(self)

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

    def close(self, *, at_once: bool = False) -> None:
        """Stop all servers of this workspace. It may be called twice, and from any thread.

        With `at_once`, and after an interrupt, the servers are killed, without leaving processes;
        otherwise they have some seconds to end by themselves.
        """
        self.closed = True
        self._engine.close(at_once=at_once)

    @property
    def config(self) -> Config:
        """The configuration, including defaults."""
        return self.settings.config

    @property
    def settings(self) -> Settings:
        """The configuration, with a number that changes when it is reloaded."""
        known = self._known_settings
        generation = 0 if known is None else known.generation
        settings = self._engine.run(ops.SettingsRequest(known=generation), Limits()) or known
        if settings is None:
            raise ProtocolError("the engine has sent no configuration")
        self._known_settings = settings
        return settings

    def run(
        self,
        request: ops.Request[T],
        *,
        timeout: float | None = None,
        cancel: CancelLike | None = None,
        answer_log: AnswerLog | None = None,
    ) -> T:
        """Carry out a request of `lspkit.operations`, which every other method builds.

        `answer_log` records which servers have answered, and which have failed.
        """
        return self._engine.run(request, Limits(timeout, cancel, answer_log))

    # Diagnostics

    def check(
        self,
        path: PathLike | Place,
        text: str | None = None,
        *,
        scope: Literal["file", "project"] = "file",
        severity: str | None = None,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> Report:
        """Fresh diagnostics for the file as it is now, or with the content `text`.

        The verdict is `CLEAN` only if every server has proven that it checked this text. After the
        timeout, the report has what is known, and says which servers are missing. With
        `scope="project"` it also covers the other files after a change of this one:
        `report.other_files`, with its coverage and its own verdict. Findings of `severity` and
        worse count for the verdict: with "warning" also warnings; by default as configured.
        """
        if scope not in ("file", "project"):
            raise ValueError(f'scope must be "file" or "project", not {scope!r}')
        request = ops.CheckRequest(
            path=file_of(path), text=text, scope=scope, severity=_threshold(severity)
        )
        return self._engine.run(request, Limits(timeout, cancel))

    def check_all(
        self,
        paths: Iterable[PathLike | Place],
        *,
        severity: str | None = None,
        timeout: float | None = CHECK_TIMEOUT,
        cancel: CancelLike | None = None,
    ) -> dict[Path, Report]:
        """Check many files concurrently, under one deadline.

        A file that no server can check has a report with the verdict `UNKNOWN`.
        """
        if isinstance(paths, (str, bytes, os.PathLike, Value)):
            raise TypeError(f"paths is {paths!r}: a list of paths is needed")
        request = ops.CheckAllRequest(
            paths=tuple(file_of(path) for path in paths),
            severity=_threshold(severity),
            root=str(self.root),
        )
        return self._engine.run(request, Limits(timeout, cancel))

    def diagnostics(self, path: PathLike | Place | None = None) -> dict[Path, list[Diagnostic]]:
        """The known diagnostics of a file, or of all files. No server is asked."""
        file = None if path is None else file_of(path)
        return self._engine.run(ops.DiagnosticsRequest(path=file), Limits())

    def sync(
        self, path: PathLike | Place, text: str | None = None, *, baseline: bool = False
    ) -> None:
        """Send the text of a file to its servers, without waiting.

        With `baseline`, the file as it is now is the state before the next edit: what refers to a
        declaration that differs from it is examined by `check(path, scope="project")`.
        """
        request = ops.SyncRequest(path=file_of(path), text=text, baseline=baseline)
        return self._engine.run(request, Limits())

    @property
    def epoch(self) -> int:
        """A number that every report of diagnostics raises."""
        return self._engine.run(ops.WaitForChangeRequest(after=-1), Limits())

    def wait_for_change(
        self, after: int, timeout: float | None = None, *, cancel: CancelLike | None = None
    ) -> int:
        """Wait for a report newer than the epoch `after`; returns the new epoch.

        After the timeout, the returned epoch is not newer.
        """
        return self._engine.run(ops.WaitForChangeRequest(after=after), Limits(timeout, cancel))

    def changed_files(self, after: int | None = None) -> ChangedFiles:
        """The files of running servers that have changed on disk since a mark, by any process.

        mark = ws.changed_files().mark
        subprocess.run(["make", "generate"])
        ws.check_all(ws.changed_files(mark).files)
        """
        return self._engine.run(ops.ChangedSinceRequest(after=after), Limits())

    # The servers themselves

    def request(
        self, path: PathLike | Place, method: str, params: Any = None, **more: Unpack[CallOptions]
    ) -> Any:
        """Send any request of the protocol to the first server of the file: JSON in and out."""
        request = ops.RawRequest(path=file_of(path), method=method, params=params)
        return self._engine.run(request, Limits(**more))

    def status(self, root: PathLike | None = None) -> WorkspaceStatus:
        """The state of all servers. Never waits, and starts nothing."""
        where = None if root is None else os.path.realpath(root)
        return self._engine.run(ops.StatusRequest(root=where), Limits())

    def status_text(self) -> str:
        """The state of all servers as text."""
        return self._engine.run(ops.StatusTextRequest(), Limits())

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on: states, diagnostics, progress.

            with ws.events() as events:
                for event in events:
                    print(event)

        The stream ends with the workspace. A consumer that is too slow misses events, and gets one
        that says how many.
        """
        return self._engine.events()

    def reload(self) -> None:
        """Reload the configuration. Servers that it changes restart; failures are forgotten."""
        return self._engine.run(ops.ReloadRequest(), Limits())

    def restart(self, server: str, **more: Unpack[CallOptions]) -> list[str]:
        """Restart a server, in all its roots, and forget its failures. Returns the roots.

        The old processes are stopped first. A server that was not started yet is not started now.
        """
        return self._engine.run(ops.RestartServerRequest(server=server), Limits(**more))

    def submit(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call a method of this workspace without waiting for it.

            future = ws.submit(ws.definition, "src/app.py", 12, 8)
            future.result()

        The call runs in another thread, which waits for the servers. Errors, also those in the
        arguments, are in the future. Its callbacks may use the workspace, and close it.
        """
        name = getattr(method, "__name__", "")
        if getattr(method, "__self__", None) is not self or name in UNSUBMITTABLE:
            raise TypeError("submit takes a method of this workspace: ws.submit(ws.definition, …)")
        view = copy.copy(self)
        view._engine = Submitting(self._engine)
        try:
            bound: Any = getattr(view, name)
            future: Future[T] = bound(*args, **kwargs)
        except Exception as problem:  # noqa: BLE001 (the future has it)
            future = Future()
            future.set_exception(problem)
        return future


list_options(Workspace)


def local_engine(
    root: PathLike,
    config: Config | Mapping[str, Any] | PathLike | None = None,
    trusted: bool | None = None,
    *,
    first_epoch: int = 0,
    environ: Mapping[str, str] = os.environ,
) -> LocalEngine:
    """An engine with servers in this process. Nothing is started yet."""
    # Here: a client of the service does not need it, and is to start quickly.
    from lspkit.config.load import load
    from lspkit.runtime.engine import LocalEngine
    from lspkit.servers.selection.choose import aliases

    # The current folder and the variables count now, not when the configuration is reloaded.
    where = os.path.abspath(root)
    given = os.path.abspath(config) if isinstance(config, str | os.PathLike) else config
    read = functools.partial(
        load, where, given, trusted=trusted, aliases=aliases(), environ=environ
    )
    return LocalEngine(os.fspath(root), read, VERSION, trusted=trusted, first_epoch=first_epoch)


def _threshold(severity: str | None) -> Severity | None:
    if severity is None:
        return None
    try:
        return Severity(severity)
    except ValueError:
        words = " ".join(Severity)
        raise ValueError(f"severity must be one of {words}, not {severity!r}") from None
