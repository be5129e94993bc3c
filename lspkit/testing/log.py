"""Reads the log of a scripted server: what it received, and what it noticed.

Each line of the file is one `LogEntry`. Reading never waits; `Log.wait_for` looks again every few
milliseconds until its deadline, since the writer is another process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lspkit.msgspec_types import convert

#: How long `Log.wait_for` waits when it is not told.
PATIENCE = 10.0

_STEP = 0.005


class Start(msgspec.Struct, frozen=True):
    """The first entry of a process."""

    argv: list[str]
    cwd: str
    #: Which start of this script it is, counted from 1 where an order asks for a run, else 1.
    run: int


class Offspring(msgspec.Struct, frozen=True):
    """A grandchild that was started."""

    kind: str
    pid: int


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line: who wrote it and when, and exactly one of the other fields."""

    pid: int
    time: float
    start: Start | None = None
    #: A message of the client, as it came.
    got: dict[str, Any] | None = None
    #: The client's stream was no longer a sequence of frames; the server exits with status 70.
    torn: str | None = None
    #: Something that a client must not do. The server goes on.
    violation: str | None = None
    grandchild: Offspring | None = None
    eof: bool = False
    #: Status of an orderly end.
    end: int | None = None


class Log:
    """The log file of one script; all processes that ran the script wrote to it."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @classmethod
    def of(cls, argv: Sequence[str]) -> Log:
        """The log of a command that `Script.command` returned."""
        return cls(json.loads(Path(argv[-1]).read_bytes())["log"])

    def entries(self) -> list[LogEntry]:
        return read_log(self.path)

    def messages(self, method: str | None = None) -> list[dict[str, Any]]:
        """The messages of the client, all of them or those of one method."""
        got = [entry.got for entry in self.entries() if entry.got is not None]
        return [message for message in got if method is None or message.get("method") == method]

    def pids(self) -> list[int]:
        """The servers that were started."""
        return [entry.pid for entry in self.entries() if entry.start]

    def grandchildren(self) -> list[Offspring]:
        return [entry.grandchild for entry in self.entries() if entry.grandchild]

    def complaints(self) -> list[str]:
        """Torn frames and violations: empty for a client that keeps to the protocol."""
        return [
            complaint for entry in self.entries() if (complaint := entry.torn or entry.violation)
        ]

    def wait_for(
        self, predicate: Callable[[list[LogEntry]], object], timeout: float = PATIENCE
    ) -> list[LogEntry]:
        """The entries, as soon as the predicate holds for them; TimeoutError at the deadline."""
        deadline = time.monotonic() + timeout
        while not predicate(entries := self.entries()):
            if time.monotonic() >= deadline:
                tail = "\n".join(str(entry) for entry in entries[-10:])
                raise TimeoutError(
                    f"{self.path} did not show what was waited for in {timeout} s. It ends:\n{tail}"
                )
            time.sleep(_STEP)
        return entries

    def wait_for_message(
        self, method: str, count: int = 1, timeout: float = PATIENCE
    ) -> dict[str, Any]:
        """The count-th message of a method, as soon as the server has it."""

        def seen(entries: list[LogEntry]) -> list[dict[str, Any]]:
            got = [entry.got for entry in entries if entry.got is not None]
            return [message for message in got if message.get("method") == method]

        return seen(self.wait_for(lambda entries: len(seen(entries)) >= count, timeout))[count - 1]


def read_log(path: Path | str) -> list[LogEntry]:
    """All entries so far; none if the file is not there yet. A line that is being written waits."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    # Not msgspec's own decoder: it refuses lone surrogates, and a client may have sent one.
    return [convert(json.loads(line), LogEntry) for line in data.split(b"\n")[:-1]]
