"""`RawMcp`: `lspkit mcp` as a process. Every line on its wire must be a message."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from typing import Any

from lspkit.runtime.process.child import readable
from tests.service.site import PATIENCE, Site

#: The version of the protocol that most clients speak.
VERSION = "2025-06-18"


class RawWire:
    """A client on two descriptors, which reads and writes the lines itself."""

    def __init__(self, input: int, output: int) -> None:
        #: The server's output, and its input.
        self.input, self.output = input, output
        self._numbers = itertools.count(1)
        self._rest = b""
        #: Messages that came at the end.
        self.unread: list[dict[str, Any]] = []

    def rest_of_output(self) -> bytes:
        """What the server has written that nobody has read, until it closes its output."""
        data = self._rest
        while chunk := os.read(self.input, 1 << 16):
            data += chunk
        return data

    def send(self, method: str, params: Any = None, number: int | None = None) -> None:
        """Send a notification, or a request with its number."""
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            message["id"] = number
        self.write(json.dumps(message).encode() + b"\n")

    def answer(self, number: int, result: Any) -> None:
        """Answer a request of the server."""
        message = {"jsonrpc": "2.0", "id": number, "result": result}
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes."""
        while data:
            data = data[os.write(self.output, data) :]

    def receive(self) -> dict[str, Any]:
        """The next message. Anything else on the wire is a fault."""
        while b"\n" not in self._rest:
            assert readable(self.input, PATIENCE), "no message came"
            data = os.read(self.input, 1 << 16)
            assert data, "the output has ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def result(self, method: str, params: Any = None) -> Any:
        """Send a request, and wait for its result."""
        number = next(self._numbers)
        self.send(method, params, number)
        while (answer := self.receive()).get("id") != number:
            pass
        assert "result" in answer, answer
        return answer["result"]

    def begin(self, **capabilities: Any) -> Any:
        """The handshake; what the server says of itself."""
        client = {"name": "a test", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": capabilities, "clientInfo": client}
        found = self.result("initialize", params)
        self.send("notifications/initialized")
        return found

    def call(self, name: str, **arguments: Any) -> str:
        """Call a tool; its text."""
        found = self.result("tools/call", {"name": name, "arguments": arguments})
        (content,) = found["content"]
        return str(content["text"])


class RawMcp(RawWire):
    """The same as the owner of a process."""

    def __init__(self, site: Site, *words: str) -> None:
        self.process = site.start(
            "mcp",
            *words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno())

    def __enter__(self) -> RawMcp:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()

    def end(self) -> tuple[int, str]:
        """End its input; its status, and what it has printed on standard error."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        for line in self.rest_of_output().splitlines():
            self.unread.append(json.loads(line))
        return status, self.process.stderr.read().decode()
