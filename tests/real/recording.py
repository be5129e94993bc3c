"""What lspkit sends to a real server, kept on the way by `tee`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.real.reading import units


def recorded(argv: Sequence[str], log: Path, *, by_process: bool = False) -> list[str]:
    """A command that runs `argv` and copies its standard input to `log`.

    With `by_process` the process id is added to the name, so that a second process of the server
    does not overwrite it.

    The shell becomes the server, so that process ids, signals and exit status are those of the
    server; `tee` is a child of it, and ends with the input.
    """
    bash = shutil.which("bash")
    if bash is None or shutil.which("tee") is None:
        pytest.skip("no bash or no tee to record with")
    name = "$0.$$" if by_process else "$0"
    return [bash, "-c", f'exec "$@" < <(tee "{name}")', str(log), *argv]


def sent(log: Path) -> list[dict[str, Any]]:
    """The messages that were sent so far; of one that is still being written, nothing."""
    data = log.read_bytes() if log.exists() else b""
    messages = []
    while True:
        header, end, rest = data.partition(b"\r\n\r\n")
        if not end:
            return messages
        length = int(header.lower().partition(b"content-length:")[2].split()[0])
        if len(rest) < length:
            return messages
        messages.append(json.loads(rest[:length]))
        data = rest[length:]


def texts_sent(log: Path, uri: str, encoding: str) -> list[str]:
    """The texts of a document as the server saw them, one after the other."""
    texts: list[str] = []
    for message in sent(log):
        params = message.get("params") or {}
        if (params.get("textDocument") or {}).get("uri") != uri:
            continue
        if message["method"] == "textDocument/didOpen":
            texts.append(params["textDocument"]["text"])
        elif message["method"] == "textDocument/didChange":
            text = texts[-1]
            for change in params["contentChanges"]:
                text = _changed(text, change, encoding)
            texts.append(text)
    return texts


def _changed(text: str, change: dict[str, Any], encoding: str) -> str:
    new: str = change["text"]
    if "range" not in change:
        return new
    start, end = (_offset(text, change["range"][one], encoding) for one in ("start", "end"))
    return text[:start] + new + text[end:]


def _offset(text: str, place: dict[str, int], encoding: str) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: place["line"]])
    line = lines[place["line"]]
    columns = (
        one for one in range(len(line) + 1) if units(line[:one], encoding) == place["character"]
    )
    return before + next(columns)
