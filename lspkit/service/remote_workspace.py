"""`connect`: a workspace whose servers run in the service."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from lspkit.config.load import load
from lspkit.errors import CancelledError, RequestTimeoutError, ServerUnavailableError
from lspkit.operations.request import OPERATIONS, Request
from lspkit.operations.workspace_state import TrustNoticeRequest
from lspkit.runtime.concurrency import teardown
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.text_turns import TextOrder
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.engine_api import Limits
from lspkit.servers.status import WorkspaceEvent
from lspkit.service.client import ANSWER_TIMEOUT, GRACE, READY_TIMEOUT, Client, PendingCall
from lspkit.service.peer import Peer
from lspkit.service.runtime_folder import ConfigLike
from lspkit.service.wire_values import decode_result, encode_call
from lspkit.workspace import Workspace
from lspkit.workspace.workspace_warnings import warn_unused
from lspkit.workspace_boundary import boundary_of

# The remote engine: carries out requests in the service.

T = TypeVar("T")


class RemoteEngine:
    """The servers of the service that a client is connected to."""

    def __init__(self, client: Client, *, restart: bool = False) -> None:
        self.client = client
        self._restart = restart
        #: Overlays by number: over which connection they are shown. Changes are atomic.
        self._overlays: dict[int, Peer] = {}
        #: For submitted calls.
        self._threads, self._order = ThreadCache(), TextOrder()
        teardown.register(self)

    def run(self, request: Request[T], limits: Limits) -> T:
        """Carry out a request, and return its result."""
        return self._carry_out(request, Call(limits.timeout, limits.cancel, limits.answer_log))

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request in a thread of its own."""
        call = Call(limits.timeout, limits.cancel, limits.answer_log)

        def carry_out() -> T:
            return self._carry_out(request, call)

        return self._order.submit(self._threads, carry_out, call, shows=request.shows_texts)

    def _carry_out(self, request: Request[T], call: Call) -> T:
        if OPERATIONS[type(request)].name == "show_disk":
            ended: T = self._end_overlay(request, call)
            return ended
        try:
            return self._ask(request, call)
        except ServerUnavailableError:
            if not self._may_ask_again(request):
                raise
        return self._ask(request, call)

    def _end_overlay(self, request: Any, call: Call) -> Any:
        try:
            return self._ask(request, call)
        except ServerUnavailableError:
            return None  # it has ended with its service
        finally:
            self._overlays.pop(request.number, None)

    def _may_ask_again(self, request: Request[Any]) -> bool:
        """Whether a request that failed is sent to a new service."""
        # The service may have ended just now. A server that is missing raises the same error.
        return self._restart and not self.client.is_alive() and not request.only_once

    def _ask(self, request: Request[T], call: Call) -> T:
        with self._send(request, call) as pending:
            _await_answer(pending, call, _grace(request))
        value: T
        operation = OPERATIONS[type(request)]
        value, answered, failed = decode_result(operation, pending.result())
        call.log_answers(answered, failed)
        if isinstance(value, int) and operation.name == "show_texts":
            self._overlays[value] = pending.peer
        return value

    def _send(self, request: Request[Any], call: Call) -> PendingCall:
        left = call.deadline - time.monotonic()
        # With the request: a cancel that follows it would race with the answer.
        params = encode_call(request, left, cancelled=call.cancelled())
        # All that are in use are shown over one connection: calls over another one fail.
        return self.client.begin("lsp/call", params, over=next(iter(self._overlays.values()), None))

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on."""
        return self.client.events()

    def close(self, *, at_once: bool = False) -> None:
        """End the connection, in any case at once. The service and its servers go on."""
        self.client.close()
        self._threads.close(finish=True)
        teardown.unregister(self)

    def drop_after_fork(self) -> None:
        """In a forked child: the connection belongs to the parent."""
        self._threads.drop_after_fork()
        self.client.drop_after_fork()


def _grace(request: Request[Any]) -> float:
    """Seconds for the service to answer after the timeout, or after a cancel."""
    # Without the answer, a caller does not know whether files were changed. And one about many
    # files has what is known of them: it takes time to make it and to send it.
    return ANSWER_TIMEOUT if request.only_once or request.is_about_many_files else GRACE


def _await_answer(pending: PendingCall, call: Call, grace: float) -> None:
    """Wait for the answer, also for a moment after the end of the call; pass a cancel on."""
    waiter = pending.waiter
    try:
        answered = Call(cancel=call.cancel).wait(waiter, call.deadline + grace)
    except CancelledError as problem:
        pending.cancel()
        if not Call().wait(waiter, time.monotonic() + grace):
            waiter.complete(problem)
        return
    if not answered:
        raise RequestTimeoutError("the service did not answer in time", state="running")


class ServiceEnvironmentWarning(UserWarning):
    """`PATH` or `VIRTUAL_ENV` of this program are not those of the service that it uses."""


def connect(
    root: str | os.PathLike[str] = ".",
    *,
    config: ConfigLike = None,
    trusted: bool | None = None,
    restart: bool = False,
    ready_timeout: float = READY_TIMEOUT,
    environ: Mapping[str, str] = os.environ,
) -> Workspace:
    """A workspace whose servers run in a process of their own, shared by all programs.

        with lspkit.connect("path/to/project") as ws:
            ws.definition("src/app.py", 12, 8)

    The service is started if none runs for this folder, and ends after 15 minutes without a client.
    Methods, results and errors are those of `Workspace`; `close` ends the connection only. A
    `config` or `trusted` of its own has a service of its own. If the service ends, calls raise
    `ServerUnavailableError`; with `restart` the next call starts another one.
    """
    return connect_command(
        root,
        config=config,
        trusted=trusted,
        restart=restart,
        ready_timeout=ready_timeout,
        environ=environ,
        stacklevel=3,
    )


def connect_command(
    root: str | os.PathLike[str],
    *,
    config: ConfigLike = None,
    trusted: bool | None = None,
    restart: bool = False,
    ready_timeout: float = READY_TIMEOUT,
    environ: Mapping[str, str] = os.environ,
    stacklevel: int = 2,
) -> Workspace:
    """`connect` for a command, which imports only the operations that it uses."""
    boundary_of(os.fspath(root))  # raises if it is no folder
    client = Client(
        root,
        config=config,
        trusted=trusted,
        restart=restart,
        ready_timeout=ready_timeout,
        environ=environ,
    )
    try:
        client.start()
    except ServerUnavailableError:
        # An invalid configuration is an error of its own, as for a `Workspace`.
        load(os.path.abspath(root), config, trusted=trusted, environ=environ)
        raise
    if client.notice:
        warnings.warn(client.notice, ServiceEnvironmentWarning, stacklevel=stacklevel)
    engine = RemoteEngine(client, restart=restart)
    if config is not None:
        try:
            notice = engine.run(TrustNoticeRequest(), Limits())
            warn_unused(notice.warnings, stacklevel=stacklevel)
        except BaseException:
            engine.close()
            raise
    return Workspace.on_engine(engine, root, trusted=trusted, stacklevel=stacklevel)
