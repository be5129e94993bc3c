"""One client of the service: its requests, and what it has changed for itself.

Overlays and texts that a client shows the servers are for its own calls, and end with its
connection.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import msgspec

from lspkit.errors import LspkitError
from lspkit.msgspec_types import make_decoder
from lspkit.operations import (
    CheckRequest,
    DiagnosticsRequest,
    ShowDiskRequest,
    ShowTextsRequest,
    StatusRequest,
    SyncRequest,
    WaitForChangeRequest,
)
from lspkit.operations.request import Request
from lspkit.protocol.wire import messages
from lspkit.runtime.concurrency.call import AnswerLog, Call, CancelToken
from lspkit.runtime.concurrency.parallel import no_thread_error
from lspkit.runtime.concurrency.text_turns import TextOrder, TextTurn
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.engine_api import Limits
from lspkit.servers.status import WorkspaceEvent
from lspkit.service.peer import Message, Peer, error_body
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.service.wire_values import decode_call, encode_error, encode_result, encode_value
from lspkit.types import to_plain

log = logging.getLogger("lspkit.service")
T = TypeVar("T")

# One request of a client, from its arrival to its answer.

#: JSON-RPC: the request failed in a way that its `data` describes.
CALL_FAILED = -32000


class IncomingCall:
    """A request of a client. It is answered once, by any thread."""

    __slots__ = ("_engine", "_send", "answer_log", "cancel", "id", "params")

    def __init__(
        self,
        id: bytes,
        params: bytes,
        engine: LocalEngine,
        send: Callable[[IncomingCall, bytes], None],
    ) -> None:
        #: The id as the client wrote it.
        self.id = id
        self.params = params
        #: Set when the client cancels the request, or is gone.
        self.cancel = CancelToken()
        self.answer_log = AnswerLog()
        self._engine, self._send = engine, send

    def answer(self, value: Any) -> None:
        """Send the result."""
        raw, escaped = encode_value(value)
        if escaped:  # only `lsp/call` has a mark for it; others replace what is not UTF-8
            raw = msgspec.Raw(messages.encode(msgspec.to_builtins(value, str_keys=True)))
        self.answer_raw(raw)

    def answer_raw(self, raw: msgspec.Raw) -> None:
        """Send a result that is encoded already."""
        self._send(self, messages.raw_response(self.id, raw))

    def refuse(self, code: int, why: str) -> None:
        """Send an error of JSON-RPC itself."""
        self._send(self, error_body(self.id, code, why))

    def fail(self, problem: BaseException) -> None:
        """Send an error of the call."""
        data, message = encode_error(problem)
        self._send(self, error_body(self.id, CALL_FAILED, message, data))

    def run(self, request: Request[T], timeout: float | None = None, *, client: object = None) -> T:
        """Carry out a request of a workspace. `client` is as in `Limits`."""
        return self._engine.run(request, Limits(timeout, self.cancel, self.answer_log, client))


#: Requests of one client that may be in progress. Each has a thread.
MOST_CALLS = 200
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

    def __init__(self, peer: Peer, lock: threading.Lock) -> None:
        self._peer = peer
        #: The session's lock. Guards `_dropped`: events come from the threads of several servers.
        self._lock = lock
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
        #: Numbers of overlays, and paths of texts that were synced.
        self._overlays: set[int] = set()
        self._texts: set[str] = set()
        self._ended = False
        self._unsubscribe: Callable[[], None] | None = None
        #: The order of its calls. Used by the reader only.
        self._order = TextOrder()

    def take(self, message: Message) -> None:
        """Handle a message. Called by the reader of the connection, and does not wait."""
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
                self._calls[call.id] = call
        if why:
            self._peer.send(error_body(call.id, messages.INVALID_REQUEST, why))
            return
        method = METHODS.get(message.method)
        if method is None:
            why = f"there is no method {message.method}: there are {', '.join(METHODS)}"
            call.refuse(messages.METHOD_NOT_FOUND, why)
            return
        try:
            if method.needs_config:
                self._shared.reload_if_changed()
            given = method.decode(call.params)
            if method.waits:
                self._begin_in_thread(method, call, given)
            else:
                method.answer(self, call, given)
        except (msgspec.DecodeError, UnicodeError) as problem:
            call.refuse(messages.INVALID_PARAMS, str(problem))
        except Exception as problem:  # noqa: BLE001 (the client gets it)
            call.fail(problem)

    def _begin_in_thread(self, method: Method, call: IncomingCall, given: Any) -> None:
        """Answer a call in a thread of its own; those that show texts before those after them."""
        turn = TextTurn()
        self._order.join(turn, shows=isinstance(given, tuple) and given[0].shows_texts)

        def carry_out() -> None:
            try:
                turn.begin(Call(cancel=call.cancel))
                method.answer(self, call, given)
            except BaseException as problem:  # noqa: BLE001 (the client gets it)
                call.fail(problem)
            finally:
                turn.end()

        if not self._shared.in_thread(carry_out):
            turn.end()
            raise no_thread_error(self._shared.engine.threads)

    def _refusal(self, call: IncomingCall) -> str:
        """Why a request is not accepted; empty if it is. Called with the lock."""
        if call.id in self._calls:
            return "a request with this id is in progress"
        if len(self._calls) >= MOST_CALLS:
            return (
                f"{MOST_CALLS} requests of this client are in progress: send it again when one of "
                "them is answered"
            )
        return ""

    def _send(self, call: IncomingCall, body: bytes) -> None:
        """Answer a call, unless it has been answered or its client is gone."""
        with self._lock:
            answered = self._calls.get(call.id) is not call
            if not answered:
                del self._calls[call.id]
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

    def call(self, call: IncomingCall, given: tuple[Request[Any], float | None, bool]) -> None:
        """`lsp/call`: any operation of a workspace."""
        request, timeout, cancelled = given
        if cancelled:
            call.cancel.set()
        if type(request) is ShowDiskRequest and request.number not in self._overlays:
            raise ValueError(f"this connection has no overlay {request.number}")
        value = call.run(request, timeout, client=self._client(request))
        if request.shows_texts:
            self._note(request, value)
        log = call.answer_log
        call.answer_raw(encode_result(value, log.answered, log.failed))

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

    def check_file(self, call: IncomingCall, given: _CheckFile) -> None:
        """`lsp/checkFile`: fresh diagnostics of a file."""
        engine = self._shared.engine
        request = CheckRequest(path=given.path, text=given.text)
        try:
            report = call.run(request, given.timeout, client=self._client())
        finally:
            engine.raise_epoch()
        call.answer({**to_plain(report), "epoch": engine.epoch})

    def diagnostics(self, call: IncomingCall, _: None) -> None:
        """`lsp/diagnostics`: the known diagnostics of all files, in the order of their paths."""
        known = call.run(DiagnosticsRequest(), client=self._client())
        files = {str(path): to_plain(known[path]) for path in sorted(known)}
        call.answer({"epoch": self._shared.engine.epoch, "files": files})

    def diagnostic_epoch(self, call: IncomingCall, _: None) -> None:
        """`lsp/diagnosticEpoch`: a number that every check and every report raises."""
        call.answer({"epoch": self._shared.engine.epoch})

    def diagnostics_after(self, call: IncomingCall, given: _DiagnosticsAfter) -> None:
        """`lsp/diagnosticsAfter`: the known diagnostics, after waiting for a newer epoch."""
        seconds = min(max(0, given.wait_ms), LONGEST_WAIT) / 1000
        call.run(WaitForChangeRequest(after=given.after_epoch), seconds)
        self.diagnostics(call, None)

    def status(self, call: IncomingCall, _: None) -> None:
        """`lsp/status`: the state of all servers, and of the service."""
        status = call.run(StatusRequest())
        call.answer({**to_plain(status), "service": self._shared.describe()})

    def operation(self, call: IncomingCall, given: Any) -> None:
        """`lsp/operation`: the single tool of a model, and its envelope."""
        call.answer(self._shared.toolbox.call(given, cancel=call.cancel))

    def tool_result(self, call: IncomingCall, given: _ToolResult) -> None:
        """`lsp/toolResult`: the output of an agent's tool, with findings appended."""
        output = self._shared.hooks.tool_result(
            given.tool,
            given.arguments,
            given.output,
            is_error=given.is_error,
            timeout=given.timeout,
            cancel=call.cancel,
            before=given.before,
            session=given.session,
        )
        call.answer({"output": output})

    def subscribe(self, call: IncomingCall, _: None) -> None:
        """`lsp/subscribe`: notifications `lsp/event` from now on."""
        sender = _EventSender(self._peer, self._lock)
        with self._lock:
            first = self._unsubscribe is None
            if first:
                self._unsubscribe = self._shared.engine.watch(sender)
                self._peer.on_drained = sender.tell_dropped
        call.answer({"epoch": self._shared.engine.epoch})

    def unsubscribe(self, call: IncomingCall, _: None) -> None:
        """`lsp/unsubscribe`: no more events."""
        self._stop_events()
        call.answer(None)

    def _stop_events(self) -> None:
        with self._lock:
            unsubscribe, self._unsubscribe = self._unsubscribe, None
            self._peer.on_drained = lambda: None
        if unsubscribe is not None:
            unsubscribe()

    def shutdown(self, call: IncomingCall, _: None) -> None:
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
        requests: list[Request[Any]] = [ShowDiskRequest(number=number) for number in overlays]
        requests += [SyncRequest(path=path) for path in texts]
        for request in requests:
            try:
                self._shared.engine.run(request, Limits(client=self))
            except LspkitError as problem:
                log.debug("after a client has left: %s", problem)


class Method(NamedTuple):
    """A row of the table of methods."""

    #: Answers a call, given its parameters. Raises what the client gets as an error.
    answer: Callable[[ClientSession, IncomingCall, Any], None]
    #: Reads the parameters.
    decode: Callable[[bytes], Any] = lambda _: None
    #: Whether it may wait: then it has a thread. The others are answered by the reader.
    waits: bool = True
    #: Whether it fails while the user's configuration is invalid.
    needs_config: bool = True


METHODS: dict[str, Method] = {
    "lsp/call": Method(ClientSession.call, decode_call),
    "lsp/checkFile": Method(ClientSession.check_file, _check_file.decode),
    "lsp/diagnostics": Method(ClientSession.diagnostics),
    "lsp/diagnosticEpoch": Method(ClientSession.diagnostic_epoch, waits=False),
    "lsp/diagnosticsAfter": Method(ClientSession.diagnostics_after, _diagnostics_after.decode),
    "lsp/status": Method(ClientSession.status),
    "lsp/operation": Method(ClientSession.operation, msgspec.json.decode),
    "lsp/toolResult": Method(ClientSession.tool_result, _tool_result.decode),
    "lsp/subscribe": Method(ClientSession.subscribe, waits=False, needs_config=False),
    "lsp/unsubscribe": Method(ClientSession.unsubscribe, waits=False, needs_config=False),
    "lsp/shutdown": Method(ClientSession.shutdown, waits=False, needs_config=False),
}
