"""`RawClient`: a client of the service that can also break the rules of its protocol."""

from __future__ import annotations

import itertools
import json
import socket
from typing import Any

from lspkit.protocol.wire.framing import FrameReader, frame

#: Seconds to wait for a message on a busy machine.
PATIENCE = 20.0


class RawClient:
    """A connection to a service, message by message."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self._reader = FrameReader()
        self._messages: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self.socket.sendall(frame(json.dumps(message).encode()))

    def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end of the connection."""
        while not self._messages:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self._messages += map(json.loads, self._reader.feed(data))
        return self._messages.pop(0)

    def begin(self, method: str, params: Any = None) -> int:
        """Send a request; its number."""
        number = next(self._numbers)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a request; other messages are dropped."""
        while (message := self.receive()) is not None:
            if "id" in message and message["id"] == number:
                return message
        raise AssertionError("the connection has ended before the answer")

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request, and wait for its answer."""
        return self.answer(self.begin(method, params))

    def result(self, method: str, params: Any = None) -> Any:
        """Send a request, and wait for its result."""
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def is_disconnected(self) -> bool:
        """Whether the service ends the connection; all messages until then are dropped."""
        while self.receive() is not None:
            pass
        return True
