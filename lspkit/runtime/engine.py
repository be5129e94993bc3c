"""The local engine: carries out requests on the servers of this process.

A call runs in the thread of its caller and blocks there; the main thread, the only one that gets
interrupts, hands it to another thread and waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from lspkit.config.load import Loaded
from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError, WorkspaceClosedError
from lspkit.operations.apply_changes import (
    ApplyRequest,
    ShowDiskRequest,
    ShowTextsRequest,
    UndoRequest,
)
from lspkit.operations.host_results import Settings
from lspkit.operations.request import OPERATIONS, Request
from lspkit.runtime.concurrency import teardown
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.parallel import hand_over
from lspkit.runtime.concurrency.teardown import Teardown
from lspkit.runtime.concurrency.text_turns import ClientTurn, ClientTurns, TextOrder
from lspkit.runtime.concurrency.threads import MOST_CALLS, ThreadCache, on_main_thread
from lspkit.runtime.concurrency.waiter import Broadcast
from lspkit.runtime.engine_api import EventSink, Limits, event_stream
from lspkit.runtime.exchange.context import Calls, Context
from lspkit.runtime.files import Files
from lspkit.runtime.freshness.background_calls import BackgroundCalls
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.host import change_disk
from lspkit.runtime.host.call_host import CallHost
from lspkit.runtime.host.change_disk import ReplacedFiles
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.pool.server_choices import permits_of
from lspkit.runtime.server.shutdown import stop
from lspkit.servers.status import WorkspaceEvent
from lspkit.visible_text import one_line

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
#: Seconds for which an interrupted call may go on before the interrupt is raised: it cancels its
#: requests. One that changes files is waited for.
LAST_MOMENT = 0.5


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
        self.threads = ThreadCache()
        #: Counts the reports of all servers.
        self.reports = Broadcast(first_epoch)
        #: Those who watch. Adding and removing are atomic.
        self._sinks: set[EventSink] = set()
        self.pool = Pool(
            config,
            self.files,
            self.threads,
            version,
            on_event=self._on_event,
            on_refresh=lambda server: self._background.refresh(server),
            on_forward=lambda server, request: self._background.forward(server, request),
            permits=permits_of(self.loaded, boundary.root, trusted),
            environ=self.loaded.environ,
            clock=clock,
        )
        self._calls = Calls(self.files, self.pool, self.threads)
        self.baselines = Baselines()
        self._background = BackgroundCalls(self._calls, self.threads)
        self.replaced = ReplacedFiles()
        #: The order of submitted calls.
        self._order = TextOrder()
        #: Set where several clients share this engine.
        self.turns: ClientTurns | None = None
        self._closing = self._teardown()
        teardown.register(self)

    @property
    def epoch(self) -> int:
        """The number of reports of all servers so far."""
        return self.reports.number

    def _teardown(self) -> Teardown:
        """The steps of the end, in their order."""
        return Teardown(
            self._stop_servers,
            self._calls.stop,
            self.threads.close,
            # A start that was under way has seen that the pool is closed; stop what remains.
            lambda: self._stop_servers(),
            self._end_events,
            self.replaced.close,
            self.pool.release,
            # Last, since callbacks may take any time, unless they call this workspace.
            lambda: self.threads.close(finish=True),
        )

    def run(self, request: Request[T], limits: Limits) -> T:
        """Carry out a request, and return its result."""
        call = Call(limits.timeout, limits.cancel, limits.answer_log)
        if not on_main_thread():
            return self._carry_out(request, limits.client, call)
        results: list[T] = []

        def carry_out() -> T:
            results.append(self._carry_out(request, limits.client, call))
            return results[0]

        patience = -1 if request.only_once else LAST_MOMENT
        try:
            return hand_over(self.threads, carry_out, call, patience)
        except BaseException as interrupt:
            for result in results:
                self._take_back(request, result, limits, interrupt)
            raise

    def _take_back(
        self, request: Request[Any], result: Any, limits: Limits, interrupt: BaseException
    ) -> None:
        """An interrupt has lost the result of a call, without which nobody can take it back."""
        shown = isinstance(request, ShowTextsRequest)
        try:
            if shown:
                self.run(ShowDiskRequest(number=result), Limits(client=limits.client))
            elif isinstance(request, ApplyRequest):
                self.run(UndoRequest(change=result), Limits(client=limits.client))
        except LspkitError as problem:
            interrupt.add_note(f"{'an overlay' if shown else 'an edit'} was not undone: {problem}")

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request in a thread of its own."""
        call = Call(limits.timeout, limits.cancel, limits.answer_log)

        def carry_out() -> T:
            return self._carry_out(request, limits.client, call)

        return self._order.submit(self.threads, carry_out, call, shows=request.shows_texts)

    def in_thread(self, job: Callable[[], object]) -> bool:
        """Run a job that makes calls in a thread of its own. False if there are too many."""
        return self.threads.do(job, MOST_CALLS)

    def _carry_out(self, request: Request[T], client: object, call: Call) -> T:
        """Carry out a request in this thread."""
        turn: ClientTurn | None = None
        if self.turns is not None and request.reads_texts:
            turn = self.turns.join(client)
        try:
            result: T = self._calls.run(call, lambda context: self._begin(request, turn, context))
            return result
        finally:
            if turn is not None and self.turns is not None:
                self.turns.leave(turn)

    def _begin(self, request: Request[Any], turn: ClientTurn | None, context: Context) -> Any:
        if turn is not None:
            self._await_turn(turn, context)
        try:
            # The function whose `@operation` names the class of the request.
            return OPERATIONS[type(request)].run(request, CallHost(self, context))
        except LspkitError as problem:
            raise self._closed_or(problem) from problem.__cause__

    def _await_turn(self, turn: ClientTurn, context: Context) -> None:
        """Wait for the turn of a call, and show the servers the texts of its client."""
        if not context.call.wait(turn):
            raise RequestTimeoutError(OTHER_TURN, state="running")
        if turn.switches and self.turns is not None:
            change_disk.switch_client(context, turn.client)
            self.turns.note_shown(turn.client)

    def _closed_or(self, problem: LspkitError) -> LspkitError:
        """The error of a call that the closing of the workspace ended is no fault of a server."""
        keep = isinstance(problem, CancelledError | RequestTimeoutError)
        closed = self._calls.closed
        return WorkspaceClosedError(closed) if closed and not keep else problem

    def _load(self) -> Loaded:
        """Read the configuration, and log its warnings."""
        loaded = self._read_config()
        for warning in loaded.warnings:
            log.warning("%s", one_line(str(warning)))
        return loaded

    def settings(self, known: int) -> Settings | None:
        """The configuration, unless the caller has this generation of it."""
        # The number first: with an old one the caller only asks again.
        generation, config = self._generation, self.loaded.config
        return None if generation == known else Settings(generation, config)

    def reload(self) -> None:
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
        if self._calls.closed:
            sink.close()
        return lambda: self._sinks.discard(sink)

    def _on_event(self, event: WorkspaceEvent) -> None:
        """Something has happened to a server. For any thread."""
        if event.kind == "diagnostics":
            self.raise_epoch()
        for sink in self._sinks.copy():
            sink.put(event)

    def _end_events(self) -> None:
        self.reports.tell(over=True)
        for sink in self._sinks.copy():
            sink.close()

    def raise_epoch(self) -> int:
        """Count a report, wake those who wait for one, and return the new epoch."""
        return self.reports.tell()

    # The end

    def close(self, *, at_once: bool = False) -> None:
        """End all servers. Safe from any thread, any number of times, and at interpreter exit."""
        self._calls.close(CLOSED)
        self._closing.hurried |= at_once
        if self._closing.run():
            teardown.unregister(self)

    def _stop_servers(self) -> None:
        stop(self.pool.shut(), patient=not self._closing.hurried)

    def drop_after_fork(self) -> None:
        """In a forked child: this workspace belongs to the parent."""
        self._closing = Teardown()
        self._calls.drop_after_fork("this workspace belongs to the process that was forked")
        self.threads.drop_after_fork()
        self.reports = Broadcast(self.epoch)  # a thread of the parent may have held its lock
        self._sinks = set()
        self.replaced.close()  # the child's copies
        self.pool.drop_after_fork()
