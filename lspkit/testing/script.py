"""Scripts for the scripted language server, written in Python.

A Script is a frozen value. `command(folder)` writes it into a folder and returns the argv that
runs it; log.py reads what the server wrote down. What each field means is in docs/testing.md.
The values are checked by the server itself, so that a file written by hand is checked, too.

    script = Script(faults=[Fault("textDocument/hover", "hang")])
    argv = script.command(folder)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

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
