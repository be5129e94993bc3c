"""Scripts for the scripted language server, written in Python.

A Script is a frozen value. `command(folder)` writes it into a folder and returns the argv that
runs it; a Log reads what the server wrote down. What each field means is in docs/testing.md.
The values are checked by the server itself, so that a file written by hand is checked, too.

    script = Script(faults=[Fault("textDocument/hover", "hang")])
    argv = script.command(folder)
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from lspkit.msgspec_types import convert

#: The file to run with `python -I -S`. It needs no installed package.
SERVER_FILE = Path(__file__).with_name("scripted_server.py")

Encoding = Literal["utf-8", "utf-16", "utf-32"]
FaultName = Literal[
    "crash",
    "hang",
    "delay",
    "stop-reading",
    "close-output",
    "drip",
    "garbage",
    "half-frame",
    "huge-length",
    "header",
    "bad-json",
    "bad-utf8",
    "lone-surrogate",
    "twice",
    "reverse",
    "wrong-id",
    "result",
    "error",
    "flood",
    "stderr",
]


@dataclass(frozen=True)
class Fault:
    """One thing to go wrong: on which message, and what. Options left out have the defaults of
    docs/testing.md; an option that the fault does not know makes the server refuse the script.
    """

    #: A method, of either side; `"*"` for every request of the client; `"start"`.
    on: str
    do: FaultName
    _: KW_ONLY
    #: The occurrence, counted from 1, at which it begins.
    nth: int | UnsetType = UNSET
    #: For so many occurrences; 0 is without end. Default: 1 with `nth`, else 0.
    times: int | UnsetType = UNSET
    #: Only in this start of the script, counted from 1.
    run: int | UnsetType = UNSET
    at: Literal["before", "during", "after"] | UnsetType = UNSET
    code: int | str | UnsetType = UNSET
    signal: str | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    text: str | UnsetType = UNSET
    mute: bool | UnsetType = UNSET
    length: int | str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    rate: float | UnsetType = UNSET
    uri: str | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    message: str | UnsetType = UNSET
    id: Any = UNSET
    result: Any = UNSET


@dataclass(frozen=True)
class Say:
    """Something that the server says of itself: a request or a notification, at a moment."""

    #: `"start"`, a method of the client, or `"*"`.
    when: str
    _: KW_ONLY
    #: `{"method": …, "params": …}`, and `"id"` where the default will not do.
    request: Mapping[str, Any] | UnsetType = UNSET
    notification: Mapping[str, Any] | UnsetType = UNSET
    #: Handle nothing else until the client has answered the request.
    wait: bool | UnsetType = UNSET
    #: So long after the moment; the server goes on meanwhile.
    seconds: float | UnsetType = UNSET
    nth: int | UnsetType = UNSET
    times: int | UnsetType = UNSET
    run: int | UnsetType = UNSET


@dataclass(frozen=True)
class Diagnostics:
    """How the server reports what it finds: ERROR, WARN, and what is needed in vain."""

    how: Literal["push", "pull", "both", "none"] = "push"
    #: Do pushes carry the document's version?
    version: bool = True
    on: Sequence[Literal["open", "change", "save"]] = ("open", "change")


@dataclass(frozen=True)
class Grandchild:
    """A process that the server starts."""

    kind: Literal["group", "session", "escaped"]
    #: It keeps the server's standard output and standard error open.
    inherit: bool = False
    #: `"start"` or a method of the client.
    when: str = "start"


@dataclass(frozen=True, kw_only=True)
class Script:
    """What the server does. The empty script is a well-behaved server."""

    #: Used where the client offers it; else UTF-16.
    encoding: Encoding = "utf-16"
    #: Laid over the defaults; None removes one.
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    #: Results by method, in place of the computed ones.
    answers: Mapping[str, Any] = field(default_factory=dict)
    faults: Sequence[Fault] = ()
    say: Sequence[Say] = ()
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    ignore: Sequence[Literal["shutdown", "exit", "eof", "SIGTERM"]] = ()
    grandchildren: Sequence[Grandchild] = ()
    #: Default: `log.jsonl` in the folder of the script.
    log: Path | str | None = None

    def command(self, folder: Path | str) -> list[str]:
        """Writes `script.json` into the folder (made if missing) and returns the argv to run it."""
        place = Path(folder).absolute()
        place.mkdir(parents=True, exist_ok=True)
        content = {
            name: value for name, value in msgspec.to_builtins(self).items() if value is not None
        }
        content.setdefault("log", str(place / "log.jsonl"))
        file = place / "script.json"
        # Not msgspec: it refuses lone surrogates, by which scripts name bytes that are no UTF-8.
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
        return [sys.executable, "-I", "-S", str(SERVER_FILE), str(file)]


def watchers(
    *globs: str | Mapping[str, Any], when: str = "initialized", name: str = "watch"
) -> Say:
    """The server registers for changes of the files that match.

    A mapping is a whole `FileSystemWatcher`, with a relative pattern or a `kind`.
    """
    wanted = [{"globPattern": glob} if isinstance(glob, str) else glob for glob in globs]
    options = {"watchers": wanted}
    method = "workspace/didChangeWatchedFiles"
    registration = {"id": name, "method": method, "registerOptions": options}
    params = {"registrations": [registration]}
    return Say(when, request={"method": "client/registerCapability", "params": params}, wait=True)


def configuration(*sections: str, when: str = "initialized") -> Say:
    """The server asks for these sections of its settings."""
    params = {"items": [{"section": section} for section in sections]}
    return Say(when, request={"method": "workspace/configuration", "params": params}, wait=True)


def progress(token: str, *, when: str = "initialized", seconds: float = 0.1) -> list[Say]:
    """The server creates a progress token, begins at once, and ends after so many seconds."""

    def note(value: dict[str, Any]) -> dict[str, Any]:
        return {"method": "$/progress", "params": {"token": token, "value": value}}

    create = {"method": "window/workDoneProgress/create", "params": {"token": token}}
    return [
        Say(when, request=create, wait=True),
        Say(when, notification=note({"kind": "begin", "title": token})),
        Say(when, notification=note({"kind": "end"}), seconds=seconds),
    ]


# Reads the log of a scripted server: what it received, and what it noticed.
#
# Each line of the file is one `LogEntry`. Reading never waits; `Log.wait_for` looks again every few
# milliseconds until its deadline, since the writer is another process.

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
