"""`StdioService`: `lspkit serve --stdio` in a process of its own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
from typing import Any

from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.runtime.process.child import readable
from tests.service.raw_client import PATIENCE
from tests.service.site import Site


class StdioService:
    """A service whose owner speaks with it over pipes."""

    def __init__(
        self,
        site: Site,
        *words: str,
        command: tuple[str, ...] = ("serve", "--stdio"),
        pass_fds: tuple[int, ...] = (),
        **environ: str,
    ) -> None:
        self.process = site.start(
            *command,
            *words,
            pass_fds=pass_fds,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**site.environ, **environ},
        )
        self._reader = FrameReader()
        self._messages: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._over = threading.Event()

    def __enter__(self) -> StdioService:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> tuple[int, str]:
        """End its input; its status, and what it has printed on standard error."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        told = ""
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                told = stream.read().decode()
                stream.close()
        return status, told

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(frame(json.dumps(message).encode()))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end. Anything but messages is a fault."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while not self._messages:
            assert readable(descriptor, PATIENCE), "no message came"
            data = os.read(descriptor, 1 << 16)
            if not data:
                return None
            self._messages += map(json.loads, self._reader.feed(data))
            assert self._reader.error is None
            assert self._reader.skipped == 0, self._reader.skipped_sample
        return self._messages.pop(0)

    def begin(self, method: str, params: Any = None) -> int:
        """Send a request; its number."""
        number = next(self._numbers)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; notifications are dropped."""
        while (message := self.receive()) is not None:
            if message.get("id") == number:
                return message
        raise AssertionError("the output has ended before the answer")

    def result(self, method: str, params: Any = None) -> Any:
        """Send a request, and wait for its result."""
        answer = self.answer(self.begin(method, params))
        assert "result" in answer, answer
        return answer["result"]
