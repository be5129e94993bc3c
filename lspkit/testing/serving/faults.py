"""The faults: one function per fault, and the table by which a script names them.

A message on its way out is an Outgoing. Every fault that is due for it, in the order of the
script, changes that value (or the server); then the server delivers it. Notifications of the
client have an Outgoing without a message, so that a crash works there, too; faults which only
shape an answer then have nothing to shape.
"""

from __future__ import annotations

import os
import signal
import time
from functools import partial

from lspkit.testing.serving.wire import HEADER, STAND_IN, encode, frame

TYPE_CHECKING = False  # `typing` itself takes longer to import than the rest of the server.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from lspkit.testing.serving.wire import Output

    class Server(Protocol):
        """What faults need of the server."""

        output: Output
        reading: bool
        last_uri: str

        def later(self, seconds: float, action: Callable[[], None]) -> None: ...


#: Error codes that may be given by name.
CODES = {
    "ParseError": -32700,
    "InvalidRequest": -32600,
    "MethodNotFound": -32601,
    "InvalidParams": -32602,
    "InternalError": -32603,
    "ServerNotInitialized": -32002,
    "RequestFailed": -32803,
    "ServerCancelled": -32802,
    "ContentModified": -32801,
    "RequestCancelled": -32800,
}

#: Members whose values are names of the protocol; spoiling them would be another fault.
_NAMES = ("uri", "targetUri", "kind", "positionEncoding")

#: Written half where a frame must be cut and there is no answer to cut.
_FILLER = {"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 4, "message": "…"}}


class Outgoing:
    """A message on its way out, and how it is to be written."""

    def __init__(self, message: dict[str, Any] | None) -> None:
        self.message = message
        self.sent = False
        self.dropped = False
        self.delay = 0.0
        self.hold: tuple[int, int] | None = None  # which fault holds it, until how many are held
        self.before = b""
        self.header = HEADER
        self.body: bytes | None = None  # in place of the message's own
        self.body_end: int | None = None
        self.stand_in: bytes | None = None
        self.cut = False
        self.copies = 1
        self.drip: float | None = None
        self.then: list[Callable[[], None]] = []

    def data(self) -> bytes:
        message = _FILLER if self.message is None and self.cut else self.message
        if message is None:
            return self.before
        body = encode(message, self.stand_in) if self.body is None else self.body
        whole = frame(body[: self.body_end], self.header)
        if self.cut:
            return self.before + whole[: len(whole) - (len(body) + 1) // 2]
        return self.before + whole * self.copies


def _sets(field: str, *value: Any) -> Callable[..., None]:
    """A fault that only sets a field of the message, to a value or to its only option."""
    return lambda server, out, **option: setattr(out, field, *(value or option.values()))


def _crash(server: Server, out: Outgoing, code: int, signal: Any, at: str) -> None:
    if at == "before":
        _die(code, signal)
    out.cut = at == "during"
    out.then.append(lambda: _die(code, signal))


def _die(code: int, name: str | None) -> None:
    if name is not None:
        number = getattr(signal, name)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pause()
    os._exit(code)


def _stop_reading(server: Server, out: Outgoing, at: str) -> None:
    server.reading = False
    out.dropped = at == "before"


def _close_output(server: Server, out: Outgoing, at: str) -> None:
    if at == "before":
        server.output.close()
    out.then.append(server.output.close)


def _garbage(server: Server, out: Outgoing, text: str) -> None:
    out.before += text.encode("utf-8", "surrogateescape")


def _half_frame(server: Server, out: Outgoing, mute: bool) -> None:
    out.cut = True
    if mute:
        out.then.append(lambda: setattr(server.output, "mute", True))


def _huge_length(server: Server, out: Outgoing, length: int | str) -> None:
    out.header = f"Content-Length: {length}\r\n\r\n"


def _bad_json(server: Server, out: Outgoing, text: str | None) -> None:
    if text is None:
        out.body_end = -1
    elif out.message is not None:
        out.body = text.encode("utf-8", "surrogateescape")


def _spoil(server: Server, out: Outgoing, stand_in: bytes) -> None:
    out.stand_in = stand_in
    if out.message is not None:
        content = next(key for key in ("result", "error", "params") if key in out.message)
        spoilt = _marked(out.message[content])
        if spoilt == out.message[content]:
            spoilt = STAND_IN
        out.message = {**out.message, content: spoilt}


def _marked(value: Any) -> Any:
    """The value with STAND_IN at the end of every text in it."""
    if isinstance(value, str):
        return value + STAND_IN
    if isinstance(value, list):
        return [_marked(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key in _NAMES else _marked(item) for key, item in value.items()}
    return value


def _reverse(server: Server, out: Outgoing, count: int, rule: int) -> None:
    out.hold = (rule, count)


def _wrong_id(server: Server, out: Outgoing, id: Any) -> None:
    if out.message is not None and "id" in out.message:
        out.message = {**out.message, "id": id}


def _result(server: Server, out: Outgoing, result: Any) -> None:
    if out.message is not None and "id" in out.message:
        out.message = {"jsonrpc": "2.0", "id": out.message["id"], "result": result}


def _error(server: Server, out: Outgoing, code: int | str, message: str) -> None:
    if out.message is not None and "id" in out.message:
        number = CODES[code] if isinstance(code, str) else code
        error = {"code": number, "message": message}
        out.message = {"jsonrpc": "2.0", "id": out.message["id"], "error": error}


def _flood(server: Server, out: Outgoing, count: int, rate: float, uri: str | None) -> None:
    target = uri or server.last_uri
    if not rate:
        for number in range(count):
            server.output.write(_flood_frame(target, number))
        return
    start, sent = time.monotonic(), 0

    def some_more() -> None:
        nonlocal sent
        due = int((time.monotonic() - start) * rate) + 1
        due = min(due, count) if count else due
        server.output.write(b"".join(_flood_frame(target, n) for n in range(sent, due)))
        sent = due
        if sent != count:
            server.later(0.005, some_more)

    some_more()


def _flood_frame(uri: str, number: int) -> bytes:
    place = {"line": 0, "character": 0}
    item = {
        "range": {"start": place, "end": place},
        "severity": 1,
        "source": "scripted",
        "message": f"flood {number}",
    }
    params = {"uri": uri, "diagnostics": [item]}
    method = "textDocument/publishDiagnostics"
    return frame(encode({"jsonrpc": "2.0", "method": method, "params": params}))


def _stderr(server: Server, out: Outgoing, bytes: int) -> None:
    noise = b"noise on standard error, to be drained by the client\n"
    data = memoryview((noise * (bytes // len(noise) + 1))[:bytes])
    while data:
        try:
            data = data[os.write(2, data) :]
        except BrokenPipeError:
            return


#: Fault by name: what it does, and its options with their defaults.
FAULTS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {
    "crash": (_crash, {"code": 1, "signal": None, "at": "before"}),
    "hang": (_sets("dropped", True), {}),
    "delay": (_sets("delay"), {"seconds": 0.1}),
    "stop-reading": (_stop_reading, {"at": "before"}),
    "close-output": (_close_output, {"at": "before"}),
    "drip": (_sets("drip"), {"seconds": 0.0}),
    "garbage": (_garbage, {"text": "warning: this is no frame\n"}),
    "half-frame": (_half_frame, {"mute": False}),
    "huge-length": (_huge_length, {"length": 1 << 40}),
    "header": (_sets("header"), {"text": "X-Extra: yes\r\ncontent-length:{length}\r\n\r\n"}),
    "bad-json": (_bad_json, {"text": None}),
    "bad-utf8": (partial(_spoil, stand_in=b"\xff\xfe"), {}),
    "lone-surrogate": (partial(_spoil, stand_in=b"\\ud800"), {}),
    "twice": (_sets("copies"), {"count": 2}),
    "reverse": (_reverse, {"count": 2}),
    "wrong-id": (_wrong_id, {"id": 987654}),
    "result": (_result, {"result": 42}),
    "error": (_error, {"code": "InternalError", "message": "scripted failure"}),
    "flood": (_flood, {"count": 1000, "rate": 0, "uri": None}),
    "stderr": (_stderr, {"bytes": 1 << 20}),
}

#: The moments of a fault that has several.
MOMENTS = {
    "crash": ("before", "during", "after"),
    "stop-reading": ("before", "after"),
    "close-output": ("before", "after"),
}


def apply(server: Server, out: Outgoing, fault: dict[str, Any]) -> None:
    """Applies one fault of a script to a message."""
    action, defaults = FAULTS[fault["do"]]
    options = {name: fault.get(name, value) for name, value in defaults.items()}
    if fault["do"] == "reverse":
        options["rule"] = id(fault)
    action(server, out, **options)
