"""A minimal JSON-RPC loop over a server process: the floor of every speed claim.

Blocking, one thread, plain `json`, nothing checked twice. It does the least that a
client can do and still talk to real servers: frames messages, answers what servers ask
with null, and hands out notifications. There is no document store, no position
conversion and no typing of results; that is what the difference to lspkit pays for.

Time limits cost a system call per read, so they are only used where a caller passes one.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]

#: What the loop declares to a server: enough for all of the benchmarks, nothing more.
CAPABILITIES: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "definition": {"linkSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}


class ServerGone(Exception):
    """The server closed its output before the answer came."""


class TooLate(Exception):
    """Nothing that was waited for came within the time limit."""


class RawServer:
    """One server process and the loop around it. Not safe for threads, on purpose."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=None if environment is None else dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise ServerGone("the server has no pipes")
        self._input = self.process.stdin.fileno()
        self._output = self.process.stdout.fileno()
        self._buffer = bytearray()
        self._identifier = 0
        self._settings = settings or {}
        #: Called with every notification of the server.
        self.on_notification: Callable[[Message], None] | None = None
        #: Methods that the server registered later than in its `initialize` answer.
        self.registered: set[str] = set()

    def request(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
        """Ask and wait; the answer's `result` as plain JSON values."""
        self._identifier += 1
        identifier = self._identifier
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        limit = None if timeout is None else time.monotonic() + timeout
        while True:
            message = self.read(limit)
            if "method" in message:
                self.take(message)
            elif message.get("id") == identifier:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message.get("result")

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Message) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        try:
            while data:
                data = data[os.write(self._input, data) :]
        except BrokenPipeError as error:
            raise ServerGone(f"the server ended with status {self.process.poll()}") from error

    def read(self, limit: float | None = None) -> Message:
        """The next message, whatever it is; `limit` is a point of the monotonic clock."""
        buffer = self._buffer
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            self._fill(limit)
        length = _length_of(bytes(buffer[:end]))
        start = end + 4
        while len(buffer) < start + length:
            self._fill(limit)
        message: Message = json.loads(buffer[start : start + length])
        del buffer[: start + length]
        return message

    def _fill(self, limit: float | None) -> None:
        if limit is not None:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                raise TooLate("the server was silent for too long")
        data = os.read(self._output, 65536)
        if not data:
            raise ServerGone(f"the server ended with status {self.process.poll()}")
        self._buffer += data

    def take(self, message: Message) -> None:
        """Answer a server's request, or hand on its notification."""
        if "id" not in message:
            if self.on_notification is not None:
                self.on_notification(message)
            return
        result: Any = None
        params = message.get("params") or {}
        if message["method"] == "workspace/configuration":
            result = [self._settings.get(item.get("section")) for item in params["items"]]
        elif message["method"] == "client/registerCapability":
            self.registered |= {item["method"] for item in params["registrations"]}
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def wait_until(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Read until `ready()` holds; False when the time is up."""
        limit = time.monotonic() + timeout
        while not ready():
            try:
                self.take(self.read(limit))
            except TooLate:
                return ready()
        return True

    def initialize(
        self, root: Path, capabilities: Message | None = None, timeout: float | None = None
    ) -> Message:
        """The handshake; returns the server's answer to `initialize`."""
        result: Message = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
                "capabilities": CAPABILITIES if capabilities is None else capabilities,
            },
            timeout,
        )
        self.notify("initialized", {})
        return result

    def open(self, path: Path, version: int = 1) -> None:
        document = {"uri": path.as_uri(), "languageId": "python", "version": version}
        self.notify("textDocument/didOpen", {"textDocument": document | {"text": path.read_text()}})

    def change(self, path: Path, version: int, text: str) -> None:
        """Replace the whole text of an open document."""
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": path.as_uri(), "version": version},
                "contentChanges": [{"text": text}],
            },
        )

    def close(self, timeout: float = 5.0) -> None:
        """Ask it to end, then make it end. Only this process, by its own handle."""
        try:
            self.request("shutdown", None, timeout)
            self.send({"jsonrpc": "2.0", "method": "exit"})
        except (OSError, RuntimeError, ServerGone, TooLate):
            pass  # It is ended below, whatever it answered.
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _length_of(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ServerGone(f"a header without a length: {head[:80]!r}")
