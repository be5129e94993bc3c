"""One server process without a workspace: what it says is seen as it comes, and timed.

It has no thread. Messages are sent and read while it waits for something, and every wait has a
deadline, also for a server that does not read.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from lspkit.protocol import events
from lspkit.protocol.capabilities import InitializeOptions, look_up
from lspkit.protocol.session import Session, State
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import decode_any, parse
from lspkit.types import cut
from lspkit.visible_text import one_line

#: Seconds for the server to end by itself.
END_TIMEOUT = 3.0
#: Characters of a wrong value that are shown, and faults that are told.
LONGEST_SHOWN, MOST_FAULTS = 200, 10


class ProbeError(Exception):
    """The server did not do what was waited for. The message says what that was."""


class Push(msgspec.Struct, frozen=True):
    """Diagnostics that the server has published."""

    uri: str
    version: int | None
    #: Lines of the findings, counted from 1.
    lines: tuple[int, ...]
    at: float


class BareClient:
    """A server on a folder. Leaving the `with` block ends it.

    Raises `ProbeError` if its program cannot be run.
    """

    def __init__(
        self, argv: tuple[str, ...], opening: InitializeOptions, environment: Mapping[str, str]
    ) -> None:
        self.session = Session(opening, time.monotonic)
        self.pushes: list[Push] = []
        #: What the server has sent that the protocol does not allow, each once.
        self.faults: list[str] = []
        self._answers: dict[str, Any] = {}
        self._unsent = b""
        self._asked = 0
        self._reader = FrameReader()
        self._ready = False
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed at the end
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=uri_to_path(opening.root_uri),
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as problem:  # for example a script whose interpreter is gone
            self._stderr.close()
            raise ProbeError(f"{argv[0]} cannot be run: {problem.strerror}") from None
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)

    def __enter__(self) -> BareClient:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.session.state is State.RUNNING:
                self._write(self.session.shutdown("shutdown"))
                self.wait(lambda: "shutdown" in self._answers, "the end", END_TIMEOUT)
                self._write(self.session.exit())
                self.wait(lambda: not self._unsent, "it to read", END_TIMEOUT)
                self._process.wait(END_TIMEOUT)
        except (ProbeError, OSError, subprocess.TimeoutExpired):
            pass  # it is killed below
        finally:
            self._kill()

    def _kill(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all have ended
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._stderr.close()

    def initialize(self, timeout: float) -> None:
        """Initialise the server. Raises `ProbeError`."""
        self._write(self.session.initialize("initialize"))
        self.wait(lambda: self._ready, "an answer to initialize", timeout)
        for frame in self.session.initialized():
            self._write(frame)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._write(self.session.notify(method, params))

    def request(self, method: str, params: Any, timeout: float) -> Any:
        """Ask, and return the result; None after an error. Raises `ProbeError`."""
        self._asked += 1
        tag = f"{method} {self._asked}"
        self._write(self.session.request(method, params, tag)[1])
        self.wait(lambda: tag in self._answers, f"an answer to {method}", timeout)
        return self._answers.pop(tag)

    def wait(self, is_there: Callable[[], bool], what: str, timeout: float) -> None:
        """Read on until it is there. Raises `ProbeError`."""
        deadline = time.monotonic() + timeout
        while not is_there():
            left = deadline - time.monotonic()
            if left <= 0:
                unread = "; it does not read its input" if self._unsent else ""
                raise ProbeError(f"it was waited {timeout:.1f} s for {what} in vain{unread}")
            self._exchange(left, what)

    def listen(self, seconds: float) -> None:
        """Read whatever comes in this time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._exchange(left, "messages")

    def _write(self, data: bytes) -> None:
        """Send it with the next wait."""
        self._unsent += data

    def _exchange(self, timeout: float, what: str) -> None:
        """Send what the server takes now, and read what it has sent, as soon as one is possible."""
        given, output = self._process.stdin, self._process.stdout
        if given is None or output is None:
            raise ProbeError("the server has no input or no output")
        to_write = [given] if self._unsent else []
        readable, writable, _ = select.select([output], to_write, [], timeout)
        if writable:
            try:
                self._unsent = self._unsent[given.write(self._unsent) or 0 :]
            except OSError:
                raise ProbeError(f"the server has ended{self._said()}") from None
        if not readable:
            return
        data = os.read(output.fileno(), 1 << 16)
        if not data:
            raise ProbeError(f"the server has ended while it was waited for {what}{self._said()}")
        for body in self._reader.feed(data):
            event, reply = self.session.receive(parse(bytes(body)))
            if reply is not None:
                self._write(reply)
            self._note(event)

    def _said(self) -> str:
        """The end of its standard error."""
        self._stderr.seek(0)
        lines = self._stderr.read()[-4096:].decode(errors="replace").split("\n")
        told = [line.strip() for line in lines if line.strip()]
        return f": {told[-1]}" if told else ""

    def _note(self, event: events.Event | None) -> None:
        match event:
            case events.Initialized():
                self._ready = True
            case events.Answered(tag=tag, result=result):
                self._answers[tag] = self._decode(bytes(result), tag.split(" ")[0])
            case events.Failed(tag="initialize", message=message):
                raise ProbeError(f"the server refuses to start: {message}")
            case events.Failed(tag=tag):
                self._answers[tag] = None
            case events.DiagnosticsPublished(uri=uri, version=version, items=items):
                method = "textDocument/publishDiagnostics"
                found = self.lines_of(self._decode(bytes(items), method, []), method)
                self.pushes.append(Push(uri, version, found, time.monotonic()))

    def _decode(self, raw: bytes, where: str, otherwise: Any = None) -> Any:
        """The value of raw JSON. That it cannot be read is a fault."""
        try:
            return decode_any(raw)
        except msgspec.DecodeError as problem:
            self.add_fault(where, str(problem), raw.decode(errors="replace"))
            return otherwise

    def lines_of(self, items: Any, method: str) -> tuple[int, ...]:
        """The lines of the findings in a message, counted from 1. One without a line is a fault."""
        if not isinstance(items, list):
            self.add_fault(method, "the findings are no list", items)
            return ()
        lines: list[int] = []
        for one in items:
            line = look_up(one, "range.start.line")
            if type(line) is int and line >= 0:
                lines.append(line + 1)
            else:
                self.add_fault(method, "a finding has no range.start.line", one)
        return tuple(lines)

    def add_fault(self, method: str, what: str, value: Any) -> None:
        """Note what is wrong with a value in a message of the server."""
        shown = msgspec.json.encode(value).decode(errors="replace")
        fault = one_line(f"{method}: {what}: {cut(shown, LONGEST_SHOWN)}")
        if fault not in self.faults and len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)
