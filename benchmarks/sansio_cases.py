"""Behaviour and weight of sansio-lsp-client: one function per statement, each runs its case.

No timing here; that is `sansio.py`. Every function feeds real bytes to a real client and
writes down what it saw, so that a fixed release would change the table by itself.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from sansio_lsp_client import Client
from sansio_lsp_client.client import CAPABILITIES
from sections import CACHE

MakeClient = Callable[..., Client]
Frame = Callable[[dict[str, Any]], bytes]

#: What its reading side raises, by its source; any of them is news to the caller.
RAISED = (AssertionError, NotImplementedError, ValueError, KeyError, TypeError)
#: What the protocol needs for lspkit and this client has no call for.
WANTED_CALLS = ("incomingCalls", "outgoingCalls", "diagnostic", "didChangeWatchedFiles")
#: Requests of a server which lspkit must answer.
WANTED_ANSWERS = ("client/unregisterCapability", "workspace/applyEdit", "workspace/foo/refresh")


def behaviour(make_client: MakeClient, framed: Frame, place: Any) -> list[dict[str, Any]]:
    """All cases, in the order of the decision page."""
    return [
        *_server_requests(make_client, framed),
        _wedged(make_client, framed, "an extra header", b"X-Trace: 1\r\n"),
        _wedged(make_client, framed, "a stray line on standard output", b"hello\n"),
        _progress_reply(make_client, framed),
        *(_identified(make_client, framed, place, name) for name in ("references", "definition")),
        _missing(),
    ]


def _events(client: Client, data: bytes) -> tuple[list[Any], str | None]:
    """What came out, and the name of the exception that ended it."""
    events: list[Any] = []
    try:
        events.extend(client.recv(data))
    except RAISED as error:
        return events, type(error).__name__
    return events, None


def _server_requests(make_client: MakeClient, framed: Frame) -> list[dict[str, Any]]:
    rows = []
    for method in ("window/unknownThing", *WANTED_ANSWERS):
        client = make_client()
        request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {}}
        _, error = _events(client, framed(request))
        answer = bytes(client.send())
        rows.append(
            {
                "case": f"server request {method}",
                "seen": f"raises {error or 'nothing'}, sends {len(answer)} bytes back",
                "raised": error,
                "answered": bool(answer),
            }
        )
    return rows


def _wedged(make_client: MakeClient, framed: Frame, what: str, prefix: bytes) -> dict[str, Any]:
    """Something odd before one good message, then ten more good messages."""
    client = make_client()
    log = {"type": 4, "message": "x"}
    good = framed({"jsonrpc": "2.0", "method": "window/logMessage", "params": log})
    _, error = _events(client, prefix + good)
    later = sum(len(_events(client, good)[0]) for _ in range(10))
    return {
        "case": what,
        "seen": f"raises {error or 'nothing'}; of 10 later messages {later} are read",
        "raised": error,
        "later_messages_read": later,
    }


def _progress_reply(make_client: MakeClient, framed: Frame) -> dict[str, Any]:
    client = make_client()
    method = "window/workDoneProgress/create"
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"token": "t"}}
    events, _ = _events(client, framed(request))
    for event in events:
        event.reply()
    body = json.loads(bytes(client.send()).split(b"\r\n\r\n", 1)[1])
    return {
        "case": f"reply to {method}",
        "seen": f"keys {', '.join(sorted(body))}; `result` present: {'result' in body}",
        "has_result": "result" in body,
    }


def _identified(make_client: MakeClient, framed: Frame, place: Any, name: str) -> dict[str, Any]:
    """Two questions in flight, answered in the other order: can they be told apart?"""
    client = make_client()
    asked = [getattr(client, name)(place) for _ in range(2)]
    data = b"".join(
        framed({"jsonrpc": "2.0", "id": identifier, "result": []}) for identifier in reversed(asked)
    )
    events, error = _events(client, data)
    told = [getattr(event, "message_id", None) for event in events]
    return {
        "case": f"two {name} in flight",
        "seen": f"asked as {asked}, events carry the ids {told}" + (f", {error}" if error else ""),
        "told_apart": told == list(reversed(asked)),
    }


def _missing() -> dict[str, Any]:
    names = {name.lower().replace("_", "") for name in dir(Client)}
    lacking = [call for call in WANTED_CALLS if call.lower() not in names]
    if "positionEncodings" not in json.dumps(CAPABILITIES):
        lacking.append("positionEncodings")
    return {"case": "calls that do not exist", "seen": ", ".join(lacking), "missing": lacking}


def installation() -> dict[str, Any]:
    """What comes along with it, how big that is, and what it would replace."""
    brought = _closure("sansio-lsp-client")
    sizes = {name: _size(name) for name in sorted(brought)}
    return {
        "packages": len(brought),
        "megabytes": round(sum(sizes.values()) / 1e6, 1),
        "largest": {
            name: round(size / 1e6, 1)
            for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:4]
        },
        "asks_for": [
            text
            for text in importlib.metadata.requires("sansio-lsp-client") or []
            if "python_version ==" not in text
        ],
        "replaces_in_an_up_to_date_environment": _replaced(),
    }


def _closure(name: str) -> set[str]:
    """The package and everything it requires here, by normalised name."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if current in found:
            continue
        found.add(current)
        for text in importlib.metadata.requires(current) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def _size(name: str) -> int:
    files = importlib.metadata.files(name) or []
    paths = [Path(file.locate()) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file())


def _replaced() -> list[str] | str:
    """Ask pip what it would change where the newest black and mypy are already installed."""
    place = CACHE / "sansio-downgrade"
    python = place / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    try:
        if not python.exists():
            venv.create(place, with_pip=True)
        subprocess.run([*pip, "install", "-q", "black", "mypy"], check=True, timeout=300)
        before = _versions(pip)
        plan = subprocess.run(
            [*pip, "install", "--dry-run", "--quiet", "--report", "-", "sansio-lsp-client"],
            check=True,
            timeout=300,
            capture_output=True,
            text=True,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"not measured: {error}"
    after = {item["metadata"]["name"].lower(): item for item in json.loads(plan)["install"]}
    return [
        f"{name} {before[name]} -> {item['metadata']['version']}"
        for name, item in sorted(after.items())
        if name in before
    ]


def _versions(pip: list[str]) -> dict[str, str]:
    listed = subprocess.run(
        [*pip, "list", "--format=json"], check=True, timeout=60, capture_output=True, text=True
    ).stdout
    return {item["name"].lower(): item["version"] for item in json.loads(listed)}


if __name__ == "__main__":
    sys.exit("Run benchmarks/sansio.py instead.")
