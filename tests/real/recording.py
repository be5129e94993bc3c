"""What lspkit sends to a real server, kept on the way by `tee`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest


def recorded(argv: Sequence[str], log: Path) -> list[str]:
    """A command that runs `argv` and copies its standard input to `log`.

    The shell becomes the server, so that process ids, signals and exit status are those of the
    server; `tee` is a child of it, and ends with the input.
    """
    bash = shutil.which("bash")
    if bash is None or shutil.which("tee") is None:
        pytest.skip("no bash or no tee to record with")
    return [bash, "-c", 'exec "$@" < <(tee "$0")', str(log), *argv]


def sent(log: Path) -> list[dict[str, Any]]:
    """The messages that were sent so far."""
    data = log.read_bytes() if log.exists() else b""
    messages = []
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        length = int(header.lower().partition(b"content-length:")[2].split()[0])
        messages.append(json.loads(rest[:length]))
        data = rest[length:]
    return messages
