"""One client of the service: its requests, and what it has changed for itself.

Overlays and texts that a client shows the servers are for its own calls, and end with its
connection.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import LspkitError
from lspkit.msgspec_types import make_decoder
from lspkit.operations import (
    CheckRequest,
    DiagnosticsRequest,
    Request,
    ShowDiskRequest,
    ShowTextsRequest,
    StatusRequest,
    SyncRequest,
    WaitForChangeRequest,
)
from lspkit.protocol.wire import messages
from lspkit.runtime.engine_api import Limits
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.service.incoming_call import IncomingCall
from lspkit.service.peer import Message, Peer, error_body
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.service.wire_values import decode_call, encode_result
from lspkit.types import to_plain

log = logging.getLogger("lspkit.service")

#: Requests of one client that may be in progress.
MOST_CALLS = 1000
#: Bytes of their parameters. A single request may have more.
MOST_PARAMS = 64 * 1024 * 1024
#: Requests whose effect ends with the connection.
NOTED = frozenset({ShowTextsRequest, ShowDiskRequest, SyncRequest})
#: Milliseconds that a call waits for an epoch at most: a month.
LONGEST_WAIT = 30 * 24 * 3600 * 1000


class _CheckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    text: str | None = None
    #: Seconds.
    timeout: float | None = None


class _DiagnosticsAfter(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    after_epoch: int
    wait_ms: int = 0


class _ToolResult(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    tool: str
    arguments: Any
    #: A text, or a list of parts.
    output: str | list[Any]
    is_error: bool = False
    #: Seconds.
    timeout: float | None = None
    #: The texts of files before the call.
    before: dict[str, str] = {}
    #: The agent's name for its session.
    session: str = ""


class _Cancel(msgspec.Struct, frozen=True):
    id: msgspec.Raw


_check_file = make_decoder(_CheckFile)
_diagnostics_after = make_decoder(_DiagnosticsAfter)
_tool_result = make_decoder(_ToolResult)
_cancel = make_decoder(_Cancel)


class _EventSender:
    """Sends events to a client; those that it is too slow for are dropped and counted."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        #: Guards `_dropped`: events come from the threads of several servers.
        self._lock = threading.Lock()
        self._dropped = 0

    def put(self, event: WorkspaceEvent) -> None:
        """Send an event. Never blocks."""
        with self._lock:
            if not (self._tell_dropped() and self._send(event)):
                self._dropped += 1

    def tell_dropped(self) -> None:
        """Tell of dropped events, if there are any: all others have been written."""
        with self._lock:
            self._tell_dropped()

    def _tell_dropped(self) -> bool:
        """Whether the client knows of all dropped events now. Called with the lock."""
        if self._dropped and self._send(WorkspaceEvent("dropped", count=self._dropped)):
            self._dropped = 0
        return not self._dropped

    def _send(self, event: WorkspaceEvent) -> bool:
        return self._peer.send(messages.notification("lsp/event", event), optional=True)

    def close(self) -> None:
        """The service ends, and with it the connection."""


class ClientSession:
    """A connected client."""

    def __init__(self, shared: SharedWorkspace, peer: Peer) -> None:
        self._shared, self._peer = shared, peer
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: Requests in progress, by id.
        self._calls: dict[bytes, IncomingCall] = {}
        #: Bytes of their parameters.
        self._params = 0
        #: Numbers of overlays, and paths of texts that were synced.
        self._overlays: set[int] = set()
        self._texts: set[str] = set()
        self._ended = False
        self._unsubscribe: Callable[[], None] | None = None

    def take(self, message: Message) -> None:
        """Handle a message. Called by the reader of the connection.

        A call is carried out in this thread if the client has no other one: it is rare that a
        client sends more before it has the answer. If it takes long, another thread reads on.
        """
        if isinstance(message, messages.RequestMessage):
            self._begin(message)
        elif isinstance(message, messages.NotificationMessage):
            if message.method == "$/cancelRequest":
                self._cancel(message.params or b"null")
            elif message.method == "lsp/retire":
                self._shared.retire()
        elif isinstance(message, messages.Malformed):
            id = message.asked or b"null"
            self._peer.send(messages.error_response(id, message.code, message.reason))

    def _begin(self, message: messages.RequestMessage) -> None:
        call = IncomingCall(message.id, message.params or b"{}", self._shared.engine, self._send)
        with self._lock:
            why = self._refusal(call)
            if not why:
                if not self._calls and not self._peer.has_more:
                    call.on_slow = self._peer.hand_over
                self._calls[call.id] = call
                self._params += len(call.params)
        if why:
            self._peer.send(error_body(call.id, messages.INVALID_REQUEST, why))
            return
        try:
            method = METHODS.get(message.method)
            if method is None:
                why = f"there is no method {message.method}: there are {', '.join(METHODS)}"
                call.refuse(messages.METHOD_NOT_FOUND, why)
                return
            if message.method not in WITHOUT_CONFIG:
                self._shared.reload_if_changed()
            method(self, call)
        except (msgspec.DecodeError, UnicodeError) as problem:
            call.refuse(messages.INVALID_PARAMS, str(problem))
        except Exception as problem:  # noqa: BLE001 (the client gets it)
            call.fail(problem)

    def _refusal(self, call: IncomingCall) -> str:
        """Why a request is not accepted; empty if it is. Called with the lock."""
        if call.id in self._calls:
            return "a request with this id is in progress"
        if len(self._calls) >= MOST_CALLS:
            return f"{MOST_CALLS} requests are in progress"
        if self._calls and self._params + len(call.params) > MOST_PARAMS:
            return f"requests with {self._params} bytes are in progress"
        return ""

    def _send(self, call: IncomingCall, body: bytes) -> None:
        """Answer a call, unless it has been answered or its client is gone."""
        with self._lock:
            answered = self._calls.get(call.id) is not call
            if not answered:
                del self._calls[call.id]
                self._params -= len(call.params)
        if not answered:
            self._peer.send(body)

    def _cancel(self, params: bytes) -> None:
        try:
            id = bytes(_cancel.decode(params).id)
        except msgspec.DecodeError:
            return
        with self._lock:
            call = self._calls.get(id)
        if call is not None:
            call.cancel.set()

    # Methods

    def call(self, call: IncomingCall) -> None:
        """`lsp/call`: any operation of a workspace."""
        request, timeout, cancelled = decode_call(call.params)
        if cancelled:
            call.cancel.set()
        if type(request) is ShowDiskRequest and request.number not in self._overlays:
            raise ValueError(f"this connection has no overlay {request.number}")
        log = call.answer_log

        def done(value: Any) -> None:
            if type(request) in NOTED:
                self._note(request, value)
            call.answer_raw(encode_result(value, log.answered, log.failed))

        call.run(request, timeout, done, client=self._client(request))

    def _client(self, request: Request[Any] | None = None) -> object:
        """This client, for a request that shows texts, or is to see those that it shows."""
        shows = isinstance(request, ShowTextsRequest)
        shows = shows or (isinstance(request, SyncRequest) and request.text is not None)
        with self._lock:
            return self if shows or self._overlays or self._texts else None

    def _note(self, request: Request[Any], value: Any) -> None:
        """Record what ends with the connection."""
        with self._lock:
            if isinstance(request, ShowTextsRequest):
                self._overlays.add(value)
            elif isinstance(request, ShowDiskRequest):
                self._overlays.discard(request.number)
            elif isinstance(request, SyncRequest):
                change = self._texts.discard if request.text is None else self._texts.add
                change(request.path)
            ended = self._ended
        if ended:
            self._show_disk()

    def check_file(self, call: IncomingCall) -> None:
        """`lsp/checkFile`: fresh diagnostics of a file."""
        given, engine = _check_file.decode(call.params), self._shared.engine

        def done(report: Any) -> None:
            call.answer({**to_plain(report), "epoch": engine.epoch})

        request = CheckRequest(path=given.path, text=given.text)
        client = self._client()
        call.run(request, given.timeout, done, at_end=engine.raise_epoch, client=client)

    def diagnostics(self, call: IncomingCall) -> None:
        """`lsp/diagnostics`: the known diagnostics of all files, in the order of their paths."""

        def done(found: Any) -> None:
            files = {str(path): to_plain(found[path]) for path in sorted(found)}
            call.answer({"epoch": self._shared.engine.epoch, "files": files})

        call.run(DiagnosticsRequest(), None, done, client=self._client())

    def diagnostic_epoch(self, call: IncomingCall) -> None:
        """`lsp/diagnosticEpoch`: a number that every check and every report raises."""
        call.answer({"epoch": self._shared.engine.epoch})

    def diagnostics_after(self, call: IncomingCall) -> None:
        """`lsp/diagnosticsAfter`: the known diagnostics, after waiting for a newer epoch."""
        given = _diagnostics_after.decode(call.params)
        wait = WaitForChangeRequest(after=given.after_epoch)
        seconds = min(max(0, given.wait_ms), LONGEST_WAIT) / 1000
        call.run(wait, seconds, lambda _: self.diagnostics(call))

    def status(self, call: IncomingCall) -> None:
        """`lsp/status`: the state of all servers, and of the service."""

        def done(found: Any) -> None:
            call.answer({**to_plain(found), "service": self._shared.describe()})

        call.run(StatusRequest(), None, done)

    def operation(self, call: IncomingCall) -> None:
        """`lsp/operation`: the single tool of a model, and its envelope."""
        given = msgspec.json.decode(call.params)
        toolbox = self._shared.toolbox
        self._in_thread(call, lambda: toolbox.call(given, cancel=call.cancel))

    def tool_result(self, call: IncomingCall) -> None:
        """`lsp/toolResult`: the output of an agent's tool, with findings appended."""
        given = _tool_result.decode(call.params)
        hooks = self._shared.hooks

        def run() -> dict[str, str | list[Any]]:
            output = hooks.tool_result(
                given.tool,
                given.arguments,
                given.output,
                is_error=given.is_error,
                timeout=given.timeout,
                cancel=call.cancel,
                before=given.before,
                session=given.session,
            )
            return {"output": output}

        self._in_thread(call, run)

    def _in_thread(self, call: IncomingCall, job: Callable[[], Any]) -> None:
        """Answer a call with the result of a job that may wait."""

        def run() -> None:
            try:
                call.answer(job())
            except Exception as problem:  # noqa: BLE001 (the client gets it)
                call.fail(problem)

        self._shared.in_thread(run)

    def subscribe(self, call: IncomingCall) -> None:
        """`lsp/subscribe`: notifications `lsp/event` from now on."""
        sender = _EventSender(self._peer)
        with self._lock:
            first = self._unsubscribe is None
            if first:
                self._unsubscribe = self._shared.engine.watch(sender)
                self._peer.on_drained = sender.tell_dropped
        call.answer({"epoch": self._shared.engine.epoch})

    def unsubscribe(self, call: IncomingCall) -> None:
        """`lsp/unsubscribe`: no more events."""
        self._stop_events()
        call.answer(None)

    def _stop_events(self) -> None:
        with self._lock:
            unsubscribe, self._unsubscribe = self._unsubscribe, None
            self._peer.on_drained = lambda: None
        if unsubscribe is not None:
            unsubscribe()

    def shutdown(self, call: IncomingCall) -> None:
        """`lsp/shutdown`: end the service, with all its servers."""
        call.answer(None)
        self._shared.end("a client has asked for it")

    # The end

    def end(self) -> None:
        """The connection is over: its calls are cancelled, and the servers see the disk again."""
        with self._lock:
            self._ended = True
            calls = list(self._calls.values())
            self._calls.clear()
        self._stop_events()
        for call in calls:
            call.cancel.set()
        self._show_disk()

    def _show_disk(self) -> None:
        with self._lock:
            overlays, self._overlays = self._overlays, set()
            texts, self._texts = self._texts, set()
        requests: list[Request[Any]] = [ShowDiskRequest(number=one) for one in overlays]
        requests += [SyncRequest(path=one) for one in texts]
        for request in requests:
            try:
                self._shared.engine.run(request, Limits(client=self))
            except LspkitError as problem:
                log.debug("after a client has left: %s", problem)


Method = Callable[[ClientSession, IncomingCall], None]

METHODS: dict[str, Method] = {
    "lsp/call": ClientSession.call,
    "lsp/checkFile": ClientSession.check_file,
    "lsp/diagnostics": ClientSession.diagnostics,
    "lsp/diagnosticEpoch": ClientSession.diagnostic_epoch,
    "lsp/getDiagnosticEpoch": ClientSession.diagnostic_epoch,
    "lsp/diagnosticsAfter": ClientSession.diagnostics_after,
    "lsp/getAllDiagnosticsAfter": ClientSession.diagnostics_after,
    "lsp/status": ClientSession.status,
    "lsp/operation": ClientSession.operation,
    "lsp/toolResult": ClientSession.tool_result,
    "lsp/subscribe": ClientSession.subscribe,
    "lsp/unsubscribe": ClientSession.unsubscribe,
    "lsp/shutdown": ClientSession.shutdown,
}

#: Methods that work also while the user's configuration is invalid.
WITHOUT_CONFIG = frozenset({"lsp/subscribe", "lsp/unsubscribe", "lsp/shutdown"})
