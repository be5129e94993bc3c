"""What a scripted server was told, by its log; and how to give it rules of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.uris import path_to_uri, uri_to_path
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.adapter_table import ADAPTERS, ORDINARY
from lspkit.servers.adapters.systems_adapters import RustAnalyzer
from lspkit.servers.definition import Definition
from lspkit.servers.selection import choose
from lspkit.testing import Diagnostics, Log, Say, Script

OPEN, CHANGE = "textDocument/didOpen", "textDocument/didChange"
SAVE, CLOSE = "textDocument/didSave", "textDocument/didClose"
PULL, PUBLISH = "textDocument/diagnostic", "textDocument/publishDiagnostics"
WHOLE, REFRESH = "workspace/diagnostic", "workspace/diagnostic/refresh"
WATCHED = "workspace/didChangeWatchedFiles"
#: A request that means nothing: the moment at which a script does something.
POKE = "test/poke"

#: `FileChangeType`.
CREATED, CHANGED, DELETED = 1, 2, 3


def define(
    patch: pytest.MonkeyPatch, *proofs: ProofRule, adapter: Adapter = ORDINARY, **fields: Any
) -> None:
    """Adds a row to the table of servers: what is known about the one called `scripted`."""
    patch.setitem(ADAPTERS, "scripted", adapter)
    row = Definition(id="scripted", family="scripted", languages={}, proofs=proofs, **fields)
    patch.setattr(choose, "BUILT_IN", (*choose.BUILT_IN, row))


def adapter_with(base: type[Adapter] = Adapter, **hooks: Any) -> Adapter:
    """An adapter with these hooks and attributes, and for the rest as another one."""
    return type("Scripted", (base,), hooks)()  # type: ignore[no-any-return]


def starting(start: str, stop: str = "") -> Adapter:
    """The adapter of a server that does work when it gets a notification, as rust-analyzer does."""
    return adapter_with(RustAnalyzer, text_request="", start_work=start, stop_work=stop)


def finding(message: str = "wrong", line: int = 0, first: int = 0, last: int = 1) -> dict[str, Any]:
    """An error as a server writes it."""
    start, end = {"line": line, "character": first}, {"line": line, "character": last}
    return {"range": {"start": start, "end": end}, "severity": 1, "message": message}


def published(path: Path, *found: dict[str, Any], version: int | None = None) -> dict[str, Any]:
    """The notification that says so."""
    params: dict[str, Any] = {"uri": path_to_uri(str(path)), "diagnostics": list(found)}
    if version is not None:
        params["version"] = version
    return {"method": PUBLISH, "params": params}


def full(*found: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The answer to a pull."""
    return {"kind": "full", "items": list(found), **more}


def several(*identifiers: str, whole: bool = False, **more: Any) -> Script:
    """A server with several kinds of findings, each of which is asked for by itself."""
    registrations = [
        {
            "id": name,
            "method": PULL,
            "registerOptions": {"identifier": name, "workspaceDiagnostics": whole},
        }
        for name in identifiers
    ]
    params = {"registrations": registrations}
    register = {"method": "client/registerCapability", "params": params}
    say = Say("initialized", request=register, wait=True)
    return Script(diagnostics=Diagnostics(how="none"), say=[say], **more)


def messages_of(report: Any) -> list[str]:
    return [one.message for one in report.diagnostics]


# The log


def told(log: Log) -> list[str]:
    """The notifications about documents, by their last word and the name of the file."""
    return [
        f"{message['method'].rpartition('/')[2]} {name_of(message)}"
        for message in log.messages()
        if str(message.get("method")).startswith("textDocument/did")
    ]


def name_of(message: dict[str, Any]) -> str:
    """The file that a message is about, by its name."""
    return last_part(message["params"]["textDocument"]["uri"])


def last_part(uri: str) -> str:
    """The name of the file."""
    return Path(uri_to_path(uri) or "").name


def asked(log: Log, method: str = PULL) -> list[str]:
    """The files that a question was about, in order."""
    return [name_of(message) for message in log.messages(method)]


def batches(log: Log) -> list[list[tuple[str, int]]]:
    """What it was told about files on disk, by name and kind of change, note by note."""
    return [
        [
            (Path(uri_to_path(one["uri"]) or "").name, one["type"])
            for one in note["params"]["changes"]
        ]
        for note in log.messages(WATCHED)
    ]


def heard(log: Log) -> list[tuple[str, int]]:
    """The same, as one list."""
    return [one for batch in batches(log) for one in batch]


def wait_until_heard(log: Log, name: str, kind: int = CREATED) -> None:
    """Until it was told of this change."""
    log.wait_for(lambda _: (name, kind) in heard(log))


# Other processes


def outside(code: str, *arguments: Path | str) -> None:
    """Lets another process run this; `paths` are the arguments."""
    start = (
        "import os, sys\nfrom pathlib import Path\npaths = [Path(one) for one in sys.argv[1:]]\n"
    )
    argv = [sys.executable, "-I", "-S", "-c", start + code, *map(str, arguments)]
    subprocess.run(argv, check=True, timeout=60)


def written_outside(path: Path, text: str | bytes) -> None:
    """Another process gives a file this text, in one step: nobody sees half of it."""
    data = text.encode() if isinstance(text, str) else text
    code = f"paths[1].write_bytes({data!r}); paths[1].replace(paths[0])"
    outside(code, path, path.with_name(f".{path.name}.new"))
