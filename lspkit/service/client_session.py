"""One client of the service: its requests, and what it has changed for itself.

Overlays and texts that a client shows the servers end with its connection.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import LspkitError
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
from lspkit.service.incoming_call import IncomingCall
from lspkit.service.peer import Message, Peer, error_body
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.service.wire_values import decode_call, encode_result
from lspkit.types import to_plain

log = logging.getLogger("lspkit.service")

#: Requests of one client that may be in progress.
MOST_CALLS = 1000


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
    output: str
    is_error: bool = False
    #: Seconds.
    timeout: float | None = None


class _Cancel(msgspec.Struct, frozen=True):
    id: msgspec.Raw


_check_file = msgspec.json.Decoder(_CheckFile)
_diagnostics_after = msgspec.json.Decoder(_DiagnosticsAfter)
_tool_result = msgspec.json.Decoder(_ToolResult)
_cancel = msgspec.json.Decoder(_Cancel)


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

    def take(self, message: Message) -> None:
        """Handle a message. Called by the reader of the connection; does not wait."""
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
            refused = call.id in self._calls or len(self._calls) >= MOST_CALLS
            if not refused:
                self._calls[call.id] = call
        if refused:
            why = f"the id is in use, or {MOST_CALLS} requests are in progress"
            self._peer.send(error_body(call.id, messages.INVALID_REQUEST, why))
            return
        try:
            method = METHODS.get(message.method)
            if method is None:
                why = f"there is no method {message.method}: there are {', '.join(METHODS)}"
                call.refuse(messages.METHOD_NOT_FOUND, why)
                return
            self._shared.reload_if_changed()
            method(self, call)
        except (msgspec.DecodeError, UnicodeError) as problem:
            call.refuse(messages.INVALID_PARAMS, str(problem))
        except Exception as problem:  # noqa: BLE001 (the client gets it)
            call.fail(problem)

    def _send(self, call: IncomingCall, body: bytes) -> None:
        """Answer a call, unless it has been answered or its client is gone."""
        with self._lock:
            answered = self._calls.pop(call.id, None) is not call
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
        if isinstance(request, ShowDiskRequest) and request.number not in self._overlays:
            raise ValueError(f"this connection has no overlay {request.number}")
        log = call.answer_log

        def done(value: Any) -> None:
            self._note(request, value)
            call.answer(encode_result(value, log.answered, log.failed))

        call.run(request, timeout, done)

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
        given = _check_file.decode(call.params)

        def done(report: Any) -> None:
            call.answer({**to_plain(report), "epoch": self._shared.engine.raise_epoch()})

        call.run(CheckRequest(path=given.path, text=given.text), given.timeout, done)

    def diagnostics(self, call: IncomingCall) -> None:
        """`lsp/diagnostics`: the known diagnostics of all files, in the order of their paths."""

        def done(found: Any) -> None:
            files = {str(path): to_plain(found[path]) for path in sorted(found)}
            call.answer({"epoch": self._shared.engine.epoch, "files": files})

        call.run(DiagnosticsRequest(), None, done)

    def diagnostic_epoch(self, call: IncomingCall) -> None:
        """`lsp/diagnosticEpoch`: a number that every check and every report raises."""
        call.answer({"epoch": self._shared.engine.epoch})

    def diagnostics_after(self, call: IncomingCall) -> None:
        """`lsp/diagnosticsAfter`: the known diagnostics, after waiting for a newer epoch."""
        given = _diagnostics_after.decode(call.params)
        wait = WaitForChangeRequest(after=given.after_epoch)
        call.run(wait, max(0, given.wait_ms) / 1000, lambda _: self.diagnostics(call))

    def status(self, call: IncomingCall) -> None:
        """`lsp/status`: the state of all servers, and of the service."""

        def done(found: Any) -> None:
            call.answer({**to_plain(found), "service": self._shared.describe()})

        call.run(StatusRequest(), None, done)

    def operation(self, call: IncomingCall) -> None:
        """`lsp/operation`: the single tool of a model, and its envelope."""
        given = msgspec.json.decode(call.params)
        toolbox = self._shared.toolbox
        self._shared.in_thread(lambda: call.answer(toolbox.call(given, cancel=call.cancel)))

    def tool_result(self, call: IncomingCall) -> None:
        """`lsp/toolResult`: the output of an agent's tool, with findings appended."""
        given = _tool_result.decode(call.params)
        hooks = self._shared.hooks

        def run() -> None:
            output = hooks.tool_result(
                given.tool,
                given.arguments,
                given.output,
                is_error=given.is_error,
                timeout=given.timeout,
                cancel=call.cancel,
            )
            call.answer({"output": output})

        self._shared.in_thread(run)

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
                self._shared.engine.run(request, Limits())
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
    "lsp/shutdown": ClientSession.shutdown,
}
