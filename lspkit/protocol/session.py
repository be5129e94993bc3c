"""The state of the protocol with one server, without I/O.

Theory of operation. The methods for the client (`initialize`, `request`, `notify`, `shutdown`,
`exit`) return the frame to write; `receive` takes a message of the server and returns an event for
the driver and a frame to write back. A session keeps the state, the pending requests, the server's
capabilities and its tasks in progress.

`TRANSITIONS` is the complete state machine. A call that it does not list for the present state
raises `ProtocolError`: a fault of lspkit. Faults of the *server* never raise; they become events or
counts. A session is not thread-safe; its driver holds a lock around every call.
"""

from __future__ import annotations

import collections
import enum
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import ProtocolError
from lspkit.limits import LARGEST_NOTE, LONGEST_TITLE, LONGEST_URI
from lspkit.protocol import events
from lspkit.protocol.capabilities import (
    Capabilities,
    DocumentKey,
    InitializeOptions,
    client_capabilities,
)
from lspkit.protocol.checked_versions import CONFIGURATION, CheckedVersions
from lspkit.protocol.events import Event
from lspkit.protocol.progress import Progress
from lspkit.protocol.server_requests import reply_to
from lspkit.protocol.text import Encoding
from lspkit.protocol.uris import normalize_uri
from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import frame


class State(enum.Enum):
    """The state of a session."""

    NEW = "new"
    INITIALIZING = "initializing"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


_S = State
#: (state, action): the next state. All other actions are forbidden.
TRANSITIONS: dict[tuple[State, str], State] = {
    (_S.NEW, "initialize"): _S.INITIALIZING,
    (_S.INITIALIZING, "initialize answered"): _S.RUNNING,
    (_S.INITIALIZING, "initialize refused"): _S.FAILED,
    (_S.RUNNING, "request"): _S.RUNNING,
    (_S.RUNNING, "notify"): _S.RUNNING,
    (_S.RUNNING, "shutdown"): _S.STOPPING,
    (_S.INITIALIZING, "exit"): _S.STOPPED,
    (_S.RUNNING, "exit"): _S.STOPPED,
    (_S.STOPPING, "exit"): _S.STOPPED,
    (_S.FAILED, "exit"): _S.STOPPED,
    (_S.NEW, "lost"): _S.FAILED,
    (_S.INITIALIZING, "lost"): _S.FAILED,
    (_S.RUNNING, "lost"): _S.FAILED,
    (_S.STOPPING, "lost"): _S.STOPPED,
    (_S.FAILED, "lost"): _S.FAILED,
    (_S.STOPPED, "lost"): _S.STOPPED,
}


_WHILE_RUNNING = frozenset(
    action for (before, action), after in TRANSITIONS.items() if before is after is State.RUNNING
)

#: The position encodings of the protocol.
ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class Pending(msgspec.Struct):
    """A request without an answer so far."""

    method: str
    tag: Any
    #: The document of the request; empty if there is none.
    uri: str = ""


class Session:
    """The protocol state of one server. See the module's docstring."""

    def __init__(
        self, opening: InitializeOptions, clock: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.opening = opening
        self.state = State.NEW
        self.capabilities = Capabilities()
        #: The position encoding; `utf-16` until the server chooses.
        self.encoding: Encoding = "utf-16"
        #: Name and version of the server.
        self.server_name = ""
        #: The server's tasks in progress.
        self.progress = Progress(clock)
        #: Pending requests by id.
        self.pending: dict[int, Pending] = {}
        #: Whether edits that the server requests are applied.
        self.takes_edits = False
        #: Counts of unexpected answers, bad messages, and refused requests of the server.
        self.counts: collections.Counter[str] = collections.Counter()
        #: Counts of what was dropped over a limit, by kind.
        self.dropped: collections.Counter[str] = collections.Counter()
        #: For a server that publishes without versions; None for others.
        self._checked = CheckedVersions() if opening.asks_before_check else None
        self._last_id = 0

    def __repr__(self) -> str:
        return f"<Session {self.state.value} pending={len(self.pending)}>"

    # For the client

    def initialize(self, tag: Any) -> bytes:
        """The `initialize` request."""
        self._move("initialize")
        folder = {"uri": self.opening.root_uri, "name": self.opening.root_name}
        params: dict[str, Any] = {
            "processId": self.opening.process_id,
            "clientInfo": {"name": "lspkit", "version": self.opening.client_version},
            "rootUri": self.opening.root_uri,
            "workspaceFolders": [folder],
            "capabilities": client_capabilities(self.opening.encodings, self.opening.experimental),
        }
        if self.opening.initialization is not None:
            params["initializationOptions"] = self.opening.initialization
        return self._ask("initialize", params, tag)[1]

    def initialized(self) -> list[bytes]:
        """The frames that follow the server's answer to `initialize`."""
        settings = {"settings": self.opening.settings}
        return [
            self.notify("initialized", {}),
            self.notify("workspace/didChangeConfiguration", settings),
        ]

    def request(self, method: str, params: Any, tag: Any, uri: str = "") -> tuple[int, bytes]:
        """A request; its event will carry `tag`. Returns its id and the frame."""
        if self.state is not State.RUNNING:
            self._move("request")
        return self._ask(method, params, tag, uri)

    def cancel(self, id: int) -> bytes | None:
        """Cancel a request: the frame to send, None if it is answered already."""
        if self.pending.pop(id, None) is None or self.state is not State.RUNNING:
            return None
        return frame(messages.notification("$/cancelRequest", {"id": id}))

    def forget(self, tag: Any) -> None:
        """The request with this tag was interrupted before it was sent."""
        for id, pending in list(self.pending.items()):
            if pending.tag is tag:
                self.pending.pop(id, None)

    def notify(self, method: str, params: Any) -> bytes:
        """A notification."""
        self._move("notify")
        if self._checked is not None:
            self._checked.sent(method, params)
        return frame(messages.notification(method, params))

    def shutdown(self, tag: Any) -> bytes:
        """The `shutdown` request."""
        self._move("shutdown")
        return self._ask("shutdown", None, tag)[1]

    def exit(self) -> bytes:
        """The `exit` notification."""
        self._move("exit")
        return frame(messages.notification("exit"))

    def lost(self) -> list[Pending]:
        """Record the end of the connection. Returns the requests without an answer."""
        self._move("lost")
        orphans = list(self.pending.values())
        self.pending.clear()
        self.progress.clear()
        return orphans

    def supports(self, method: str, document: DocumentKey | None = None) -> bool:
        """Whether the server supports this, statically or by a later registration."""
        return self.capabilities.supports(method, document)

    def is_check_due(self, uri: str) -> bool:
        """Whether findings about the last text of a document are known to be still to come."""
        return self._checked is not None and self._checked.is_due(uri)

    # From the server

    def receive(self, message: messages.Message) -> tuple[Event | None, bytes | None]:
        """Process a message: returns an event and a frame to write back, each may be None."""
        match message:
            case messages.ResponseMessage():
                return self._receive_response(message), None
            case messages.PublishedDiagnostics() if len(message.uri) > LONGEST_URI:
                self.dropped["reports about no file"] += 1
                return None, None
            case messages.NotificationMessage() | messages.RequestMessage() if (
                len(message.params or b"") > LARGEST_NOTE
            ):
                return self._refuse_too_large(message)
            case messages.PublishedDiagnostics():
                items = message.items if message.items != b"null" else b"[]"
                uri, version = normalize_uri(message.uri), message.version
                if self._checked is not None and version is None:
                    version = self._checked.pushed(uri)
                return events.DiagnosticsPublished(uri, version, items), None
            case messages.NotificationMessage():
                return self._receive_notification(message), None
            case messages.RequestMessage():
                return self._receive_request(message)
            case messages.ErrorResponse():
                return self._receive_error(message.id, message.code, message.message), None
            case messages.Malformed():
                return self._receive_malformed(message)

    def _refuse_too_large(
        self, message: messages.NotificationMessage | messages.RequestMessage
    ) -> tuple[Event | None, bytes | None]:
        """Drop a message that would block the reader for too long."""
        self.dropped["messages"] += 1
        if isinstance(message, messages.RequestMessage):
            text = f"lspkit accepts no request of more than {LARGEST_NOTE} bytes"
            return None, frame(messages.error_response(message.id, messages.INVALID_PARAMS, text))
        if message.method == "$/progress":
            self.progress.lose_parts()
        return None, None

    def _receive_response(self, message: messages.ResponseMessage) -> Event | None:
        pending = self._take(message.id)
        if pending is None:
            return None
        if pending.method == "initialize":
            if self.state is not State.INITIALIZING:
                return None  # it is being stopped already
            return self._finish_initialize(pending, message.result)
        return events.Answered(pending.tag, pending.method, message.result)

    def _receive_error(self, id: int | None, code: int, text: str) -> Event | None:
        pending = self._take(id)
        if pending is None:
            return None
        if pending.method == "initialize":
            if self.state is not State.INITIALIZING:
                return None
            self._move("initialize refused")
        return events.Failed(pending.tag, pending.method, code, text)

    def _finish_initialize(self, pending: Pending, raw: bytes) -> Event:
        try:
            result = messages.decode_any(raw)
            capabilities = result.get("capabilities") or {}
            encoding = ENCODINGS.get(str(capabilities.get("positionEncoding") or "utf-16"))
            if encoding is None:
                raise ValueError("its position encoding is unknown")
        except (AttributeError, ValueError, RecursionError) as problem:
            self._move("initialize refused")
            text = f"the answer to initialize is invalid: {problem}"
            return events.Failed(pending.tag, "initialize", messages.INVALID_REQUEST, text)
        self._move("initialize answered")
        self.capabilities.learn(capabilities)
        self.encoding = encoding
        about = result.get("serverInfo")
        if isinstance(about, dict):
            parts = (str(about.get(key) or "") for key in ("name", "version"))
            self.server_name = " ".join(part for part in parts if part)[:LONGEST_TITLE]
        return events.Initialized(pending.tag)

    def _receive_notification(self, message: messages.NotificationMessage) -> Event | None:
        if message.method == "$/progress":
            return self.progress.note(message.params)
        if message.method in ("window/logMessage", "window/showMessage"):
            params = params_of(message.params)
            level = params.get("type")
            text = str(params.get("message", ""))
            return events.MessageShown(level if isinstance(level, int) else 4, text)
        return events.Notified(message.method, message.params)

    def edit_done(self, id: messages.RawJson, failure: str) -> bytes:
        """The answer to `EditAsked`: the edit was applied, or why not."""
        result: dict[str, Any] = {"applied": not failure}
        if failure:
            result["failureReason"] = failure
        return frame(messages.response(id, result))

    def _receive_request(
        self, message: messages.RequestMessage
    ) -> tuple[Event | None, bytes | None]:
        params = params_of(message.params)
        if self.takes_edits and message.method == "workspace/applyEdit":
            # The only request that is not answered immediately.
            edit = params.get("edit")
            raw = messages.encode(edit if isinstance(edit, dict) else {})
            return events.EditAsked(message.id, raw), None
        if self._checked is not None and message.method == CONFIGURATION:
            self._checked.settings_requested(params)
        reply = reply_to(message.method, params, self.opening, self.capabilities)
        if reply.error is not None:
            self.counts["server requests refused"] += 1
            code, text = reply.error
            return reply.event, frame(messages.error_response(message.id, code, text))
        return reply.event, frame(messages.response(message.id, reply.result))

    def _receive_malformed(self, message: messages.Malformed) -> tuple[Event | None, bytes | None]:
        self.counts["bad messages"] += 1
        if message.answers in self.pending:
            text = f"the server's answer cannot be read: {message.reason}"
            return self._receive_error(message.answers, message.code, text), None
        event = events.BadMessage(message.reason, message.sample)
        if message.asked is None:
            return event, None
        return event, frame(messages.error_response(message.asked, message.code, message.reason))

    # Inside

    def _move(self, action: str) -> None:
        if self.state is State.RUNNING and action in _WHILE_RUNNING:
            return  # for speed: hashing an enum member is slow
        state = TRANSITIONS.get((self.state, action))
        if state is None:
            raise ProtocolError(f"{action} is not possible while the session is {self.state.value}")
        self.state = state

    def _ask(self, method: str, params: Any, tag: Any, uri: str = "") -> tuple[int, bytes]:
        self._last_id = id = self._last_id + 1
        data = frame(messages.request(id, method, params))
        self.pending[id] = Pending(method, tag, uri)
        return id, data

    def _take(self, id: int | None) -> Pending | None:
        pending = self.pending.pop(id, None) if id is not None else None
        if pending is None:
            self.counts["answers nobody waits for"] += 1
        return pending


def params_of(raw: bytes | None) -> dict[str, Any]:
    """Params as an object; any other value becomes an empty one."""
    try:
        value = messages.decode_any(raw) if raw is not None else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
