"""A language client of a few lines, for tests of the scripted server.

It shares no code with lspkit, so that the two cannot be wrong together. Every read has a
deadline. Leaving the `with` block kills the server's process group.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

#: Seconds after which a server that should have spoken has failed the test.
PATIENCE = 10.0

URI = "file:///code/a.toy"


class RawClient:
    def __init__(self, argv: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.chunks = b""  # read, not yet taken
        self.reads: list[bytes] = []
        self.last_id = 0
        #: Messages that were passed over while waiting for another.
        self.seen: list[dict[str, Any]] = []

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:  # else its number may be somebody else's by now
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    # Sending.

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: Any = None) -> int:
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def open(self, text: str, uri: str = URI, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "toy", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, changes: list[dict[str, Any]], version: int = 2, uri: str = URI) -> None:
        item = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": item, "contentChanges": changes})

    def hover(self, line: int = 0, character: int = 4) -> int:
        return self.request("textDocument/hover", at(line, character))

    # Receiving.

    def receive(self, count: int, timeout: float = PATIENCE) -> bytes:
        """Exactly so many bytes of the server's output."""
        self._fill(lambda: len(self.chunks) >= count, timeout)
        taken, self.chunks = self.chunks[:count], self.chunks[count:]
        return taken

    def receive_until(self, mark: bytes, timeout: float = PATIENCE) -> bytes:
        """Output up to and including a mark."""
        self._fill(lambda: mark in self.chunks, timeout)
        end = self.chunks.index(mark) + len(mark)
        taken, self.chunks = self.chunks[:end], self.chunks[end:]
        return taken

    def rest(self, timeout: float = PATIENCE) -> bytes:
        """Output up to its end."""
        try:
            self._fill(lambda: False, timeout)
        except EOFError:
            pass
        taken, self.chunks = self.chunks, b""
        return taken

    def body(self, timeout: float = PATIENCE) -> bytes:
        header = self.receive_until(b"\r\n\r\n", timeout)
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return self.receive(int(value), timeout)
        raise AssertionError(f"no length in {header!r}")

    def message(self, timeout: float = PATIENCE) -> dict[str, Any]:
        return json.loads(self.body(timeout))

    def answer(self, request: int, timeout: float = PATIENCE) -> dict[str, Any]:
        """The answer to a request; messages before it are kept in `seen`."""
        while True:
            message = self.message(timeout)
            if message.get("id") == request and "method" not in message:
                return message
            self.seen.append(message)

    def result(self, method: str, params: Any = None) -> Any:
        return self.answer(self.request(method, params))["result"]

    def called(self, method: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next message of the server with this method."""
        while True:
            message = self.message(timeout)
            if message.get("method") == method:
                return message
            self.seen.append(message)

    def is_silent(self, seconds: float) -> bool:
        """Nothing comes for so long. For tests of silence, which only time can show."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return not ready and not self.chunks

    def status(self, timeout: float = PATIENCE) -> int:
        return self.process.wait(timeout)

    def initialize(self, encodings: Sequence[str] = ("utf-32", "utf-8", "utf-16")) -> Any:
        capabilities = {"general": {"positionEncodings": list(encodings)}}
        result = self.result("initialize", {"processId": None, "capabilities": capabilities})
        self.notify("initialized", {})
        return result

    def _fill(self, enough: Any, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not enough():
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, left))
            if not ready:
                raise TimeoutError(f"no output for {timeout} s, after {self.chunks[-200:]!r}")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError(f"end of output after {self.chunks[-200:]!r}")
            self.reads.append(data)
            self.chunks += data


def at(line: int, character: int, uri: str = URI) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }
