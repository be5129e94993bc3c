"""The local engine: drives operations on the servers of this process.

`run` drives an operation in the caller's thread, `submit` drives it without a thread. Each effect
of an operation is performed by a generator of waits (`waiter.py`), so both ask servers in one way.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar

from lspkit.config.load import Loaded
from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError, WorkspaceClosedError
from lspkit.operations import all_operations
from lspkit.operations.effects import (
    Apply,
    Ask,
    AskWorkspace,
    AwaitChange,
    ChangeDisk,
    DoAll,
    Effect,
    EndOverlay,
    Examine,
    ExamineOthers,
    FindPlaces,
    FindServers,
    FindWords,
    Overlay,
    RaiseIfCancelled,
    ReadText,
    ReportUndecodable,
    Reread,
    RestartServer,
    RunCommand,
    SyncFile,
    TakeChanges,
    TakeConfig,
    TakeKnownDiagnostics,
    TakeStatus,
    TakeTrustNotice,
    TakeVersions,
    TakeWarnings,
    Undo,
)
from lspkit.operations.request import Request
from lspkit.operations.workspace_state import (
    ChangedSinceRequest,
    FileServersRequest,
    ReloadRequest,
    RestartServerRequest,
    Settings,
    SettingsRequest,
    StatusRequest,
    StatusTextRequest,
    TrustNoticeRequest,
    WaitForChangeRequest,
    WarningsRequest,
)
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.client_turns import ClientTurn, ClientTurns
from lspkit.runtime.concurrency.drive import block
from lspkit.runtime.concurrency.epoch import Epoch
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.future_task import Task
from lspkit.runtime.concurrency.teardown import Teardown
from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.concurrency.waiter import Steps, uncancelled
from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.effects import change_disk
from lspkit.runtime.effects.ask_file import ask_servers_of_file
from lspkit.runtime.effects.ask_project import ask_project
from lspkit.runtime.effects.do_all import do_all
from lspkit.runtime.effects.find_places import find_places, read_text
from lspkit.runtime.effects.find_words import find_word_files
from lspkit.runtime.effects.replaced_files import ReplacedFiles
from lspkit.runtime.effects.restart_server import restart_server
from lspkit.runtime.effects.run_command import run_command
from lspkit.runtime.effects.sync_files import sync_file, take_changes
from lspkit.runtime.effects.workspace_status import (
    find_servers,
    known,
    take_status,
    take_trust_notice,
    take_warnings,
)
from lspkit.runtime.engine_api import EventSink, Limits, event_stream
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.forwarding import Forwarding
from lspkit.runtime.exchange.replies import report_undecodable
from lspkit.runtime.exchange.request_routes import Routes
from lspkit.runtime.files import Files
from lspkit.runtime.freshness.background_refresh import BackgroundRefresh
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.freshness.check_file import check_file, check_others
from lspkit.runtime.freshness.dependents import baseline_handlers
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.pool.root_permits import permits_of
from lspkit.runtime.process import exit_hooks
from lspkit.runtime.server.shutdown import stop
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.visible_text import one_line

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
log = logging.getLogger("lspkit.config")
# Without a handler Python would print the warnings, which `status()` has as well.
log.addHandler(logging.NullHandler())

#: The message of the error after `close`.
CLOSED = "this workspace was closed"
#: And if a call has to wait too long for its turn.
OTHER_TURN = (
    "calls of other clients were under way all the time: as long as a client shows texts that are "
    "not on disk (by `overlay` or `sync`), calls take turns; try again, or use a longer timeout"
)
#: Requests whose results do not depend on the texts of files.
WITHOUT_TURN = frozenset(
    {
        ChangedSinceRequest,
        FileServersRequest,
        ReloadRequest,
        RestartServerRequest,
        SettingsRequest,
        StatusRequest,
        StatusTextRequest,
        TrustNoticeRequest,
        WaitForChangeRequest,
        WarningsRequest,
    }
)
#: Imported now: later there may be no file descriptor left to read a module.
OPERATIONS = all_operations()

#: Performs an effect: returns its result, or a generator of waits that returns it.
Handler = Callable[[Any, CallContext], Any]


class LocalEngine:
    """Servers in this process. Construction starts nothing."""

    def __init__(
        self,
        root: str,
        read: Callable[[], Loaded],
        version: str,
        *,
        trusted: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
        first_epoch: int = 0,
    ) -> None:
        self._read_config = read
        self._trusted = trusted
        #: How often the configuration was loaded. Raised after `loaded` is replaced.
        self._generation = 1
        #: The configuration and its sources; replaced as a whole.
        self.loaded = self._load()
        config = self.loaded.config
        boundary = config.boundary(root)
        self.files = Files(boundary)
        self._workers = Workers()
        self._callers = Workers("caller")
        self._timers = Timers()
        #: Counts the reports of all servers.
        self._reports = Epoch(first_epoch)
        #: Those who watch. Adding and removing are atomic.
        self._sinks: set[EventSink] = set()
        self.pool = Pool(
            config,
            self.files,
            self._workers,
            self._timers,
            version,
            on_event=self._on_event,
            on_refresh=lambda server: self._refreshing.want(server),
            on_forward=lambda *asked: self._forwarding.want(*asked),
            permits=permits_of(self.loaded, boundary.root, trusted),
            environ=self.loaded.environ,
            clock=clock,
        )
        self._context = Context(self.files, self.pool)
        self._baselines = Baselines()
        self._refreshing = BackgroundRefresh(self._context, self._workers, self._timers)
        self._forwarding = Forwarding(self._context, self._workers, self._timers)
        self._replaced = ReplacedFiles()
        #: Set where several clients share this engine.
        self.turns: ClientTurns | None = None
        self._handlers = self._effect_handlers()
        self._closed = ""
        self._closing = self._teardown()
        exit_hooks.register(self)

    @property
    def epoch(self) -> int:
        """The number of reports of all servers so far."""
        return self._reports.number

    def _teardown(self) -> Teardown:
        """The steps of the end, in their order."""
        return Teardown(
            self._stop_servers,
            self._workers.close,
            self._timers.close,
            self.pool.retirement.close,
            # A start that was under way has seen that the pool is closed; stop what remains.
            lambda: self._stop_servers(),
            self._reports.end,
            self._close_sinks,
            self._replaced.close,
            self.pool.release,
            # Last, since callbacks may take any time, unless they call this workspace.
            lambda: self._callers.close(finish=True),
        )

    def run(
        self, request: Request[T], limits: Limits, on_slow: Callable[[], None] | None = None
    ) -> T:
        """Carry out a request, and return its result. `on_slow` is called once if it takes long."""
        call = CallContext(limits.timeout, limits.cancel, limits.answer_log, on_slow)
        turn = self._join_turns(request, limits.client)
        try:
            if turn is not None:
                block(self._begin_turn(turn, call), call)
            result: T = self._drive_here(OPERATIONS[type(request)].steps(request), call)
            return result
        finally:
            self._leave_turns(turn)
            call.end()

    def _join_turns(self, request: Request[Any], client: object) -> ClientTurn | None:
        """The turn of a request, if several clients show texts and it depends on texts."""
        if self.turns is None or type(request) in WITHOUT_TURN:
            return None
        return self.turns.join(client)

    def _begin_turn(self, turn: ClientTurn, call: CallContext) -> Steps[None]:
        """Wait for the turn of a call, and show the servers the texts of its client."""
        if not turn.done:
            uncancelled((yield turn, call.deadline))
        if not turn.done:
            raise RequestTimeoutError(OTHER_TURN, state="running")
        if turn.switches and self.turns is not None:
            change_disk.switch_client(self._context, turn.client, call)
            self.turns.note_shown(turn.client)

    def _leave_turns(self, turn: ClientTurn | None) -> None:
        if turn is not None and self.turns is not None:
            self.turns.leave(turn)

    def _drive_here(self, operation: Generator[Effect, Any, Any], call: CallContext) -> Any:
        """Perform the effects of an operation in this thread, without a generator around it."""
        if self._closed:
            raise WorkspaceClosedError(self._closed)
        call.blocks = True
        try:
            effect = next(operation)
            while True:
                try:
                    answer = self._handlers[type(effect)](effect, call)
                    if type(answer) is GeneratorType:
                        answer = block(answer, call)
                except LspkitError as problem:
                    effect = operation.throw(self._closed_or(problem))
                    continue
                except BaseException as interrupt:  # noqa: BLE001 (thrown into the operation)
                    effect = operation.throw(interrupt)  # it may have to undo something
                    continue
                effect = operation.send(answer)
        except StopIteration as end:
            return end.value
        except BaseException:
            operation.close()  # now, and not when nothing refers to the error any more
            raise

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request without a thread that waits."""
        task = self._task(request, limits, self._callers)
        task.start()
        return task.future

    def begin(self, request: Request[T], limits: Limits) -> Future[T]:
        """Like `submit`, for a caller that never waits in this thread.

        The request is begun in this thread, and callbacks of the future run in the thread that
        completes it, which they must not block.
        """
        task = self._task(request, limits, None)
        task.start(here=True)
        return task.future

    def _task(self, request: Request[Any], limits: Limits, callers: Workers | None) -> Task:
        call = CallContext(limits.timeout, limits.cancel, limits.answer_log)
        if self.turns is None:
            steps = self._steps(request, call)
        else:
            steps = self._steps_in_turn(request, limits.client, call)
        return Task(steps, call, self._workers, self._timers, callers)

    def _steps_in_turn(
        self, request: Request[Any], client: object, call: CallContext
    ) -> Steps[Any]:
        turn = self._join_turns(request, client)
        try:
            if turn is not None:
                yield from self._begin_turn(turn, call)
            return (yield from self._steps(request, call))
        finally:
            self._leave_turns(turn)

    def _steps(self, request: Request[Any], call: CallContext) -> Steps[Any]:
        return self._drive(OPERATIONS[type(request)].steps(request), call)

    def _drive(self, operation: Generator[Effect, Any, Any], call: CallContext) -> Steps[Any]:
        """Perform the effects of an operation until it returns its result."""
        if self._closed:
            raise WorkspaceClosedError(self._closed)
        try:
            effect = next(operation)
            while True:
                try:
                    answer = self._handlers[type(effect)](effect, call)
                    if isinstance(answer, GeneratorType):
                        answer = yield from answer
                except LspkitError as problem:
                    # The operation may handle it; otherwise it raises it.
                    effect = operation.throw(self._closed_or(problem))
                    continue
                effect = operation.send(answer)
        except StopIteration as end:
            return end.value

    def _closed_or(self, problem: LspkitError) -> LspkitError:
        """The error of a call that the closing of the workspace ended is no fault of a server."""
        keep = isinstance(problem, CancelledError | RequestTimeoutError)
        return WorkspaceClosedError(self._closed) if self._closed and not keep else problem

    def _change_handlers(self) -> dict[type[Effect], Handler]:
        """Effects that change files or overlays."""
        context = self._context
        return {
            Apply: lambda effect, _: change_disk.apply_edit(context, effect),
            Undo: lambda effect, _: change_disk.undo_edit(context, effect.applied),
            Overlay: lambda effect, call: change_disk.show_texts(context, effect.texts, call),
            EndOverlay: lambda effect, _: change_disk.end_overlay(context, effect.number),
            ChangeDisk: lambda effect, _: change_disk.change_disk(context, self._replaced, effect),
        }

    def _effect_handlers(self) -> dict[type[Effect], Handler]:
        """The handler of each effect: returns a value, or a generator of waits."""
        context, files, pool = self._context, self.files, self.pool
        return {
            Ask: partial(ask_servers_of_file, context, Routes(context)),
            AskWorkspace: partial(ask_project, context),
            FindPlaces: partial(find_places, context),
            FindWords: partial(find_word_files, context),
            Examine: partial(check_file, context, self._baselines),
            ExamineOthers: partial(check_others, context),
            ReadText: lambda effect, _: read_text(context, effect),
            ReportUndecodable: lambda effect, call: report_undecodable(
                effect, pool.servers(), call
            ),
            TakeKnownDiagnostics: lambda effect, _: known(effect, files, pool),
            SyncFile: partial(sync_file, context),
            TakeStatus: lambda effect, _: take_status(files, pool, self.loaded, effect.root),
            FindServers: lambda effect, _: find_servers(effect, files, pool),
            DoAll: partial(do_all, self._steps),
            RaiseIfCancelled: lambda _, call: call.raise_if_cancelled(),
            Reread: lambda *_: self._reload(),
            RestartServer: partial(restart_server, pool),
            TakeChanges: partial(take_changes, context),
            AwaitChange: lambda effect, call: self._reports.newer_than(
                effect.after, call, lambda: bool(self._closed)
            ),
            TakeConfig: lambda effect, _: self._settings(effect.known),
            TakeWarnings: lambda *_: take_warnings(pool, self.loaded),
            TakeTrustNotice: lambda *_: take_trust_notice(self.loaded),
            TakeVersions: lambda effect, _: change_disk.document_versions(context, effect.edit),
            **baseline_handlers(context, self._baselines),
            RunCommand: lambda effect, call: run_command(context, effect, call, self._drive),
            **{
                effect: partial(_renewing, handler)
                for effect, handler in self._change_handlers().items()
            },
        }

    def _load(self) -> Loaded:
        """Read the configuration, and log its warnings."""
        loaded = self._read_config()
        for warning in loaded.warnings:
            log.warning("%s", one_line(str(warning)))
        return loaded

    def _settings(self, known: int) -> Settings | None:
        # The number first: with an old one the caller only asks again.
        generation, config = self._generation, self.loaded.config
        return None if generation == known else Settings(generation, config)

    def _reload(self) -> None:
        """Use the configuration as it is now; servers that it changes are restarted."""
        loaded = self._load()
        self.files.confine(loaded.config.boundary(self.files.boundary.root))
        self.loaded = loaded
        self._generation += 1
        permits = permits_of(loaded, self.files.boundary.root, self._trusted)
        self.pool.retirement.stop(self.pool.reconfigure(loaded.config, permits))

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on."""
        stream = event_stream()
        stream.on_close(self.watch(stream))
        return stream

    def watch(self, sink: EventSink) -> Callable[[], None]:
        """Send events to a sink from now on; returns what ends that. It is closed at the end."""
        self._sinks.add(sink)
        if self._closed:
            sink.close()
        return lambda: self._sinks.discard(sink)

    def _on_event(self, event: WorkspaceEvent) -> None:
        """Called by the threads of servers."""
        if event.kind == "diagnostics":
            self.raise_epoch()
        for sink in self._sinks.copy():
            sink.put(event)

    def _close_sinks(self) -> None:
        for sink in self._sinks.copy():
            sink.close()

    def raise_epoch(self) -> int:
        """Count a report, wake those who wait for one, and return the new epoch."""
        return self._reports.advance()

    # The end

    def close(self, *, at_once: bool = False) -> None:
        """End all servers. Safe from any thread, any number of times, and at interpreter exit."""
        self._closed = self._closed or CLOSED
        self._closing.hurried |= at_once
        if self._closing.run():
            exit_hooks.unregister(self)

    def _stop_servers(self) -> None:
        stop(self.pool.shut(), patient=not self._closing.hurried)

    def drop_after_fork(self) -> None:
        """In a forked child: this workspace belongs to the parent."""
        self._closing = Teardown()
        self._closed = "this workspace belongs to the process that was forked"
        self._workers, self._callers, self._timers = Workers(), Workers(), Timers()
        self._workers.close()
        self._reports.drop_after_fork()
        self._sinks = set()
        self._replaced.drop_after_fork()
        self.pool.drop_after_fork()


def _renewing(handler: Handler, effect: Effect, call: CallContext) -> Any:
    """Perform an effect that changes files: the call sees the disk as it is afterwards."""
    try:
        return handler(effect, call)
    finally:
        call.renew()
