"""What `LSPKIT_LOG` and `LSPKIT_TRACE` record, in a program and in the service that it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.service.site import PATIENCE, Site

PROGRAM = """
import sys, lspkit
with lspkit.Workspace(sys.argv[1]) as ws:
    ws.check("a.scr")
"""


def messages_in(file: Path) -> list[tuple[str, str, str]]:
    """The server, the sender and the method of the messages that have one."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    requests: list[dict[str, Any]] = [one for one in lines if "method" in one["message"]]
    return [(one["server"], one["sender"], one["message"]["method"]) for one in requests]


@pytest.mark.parametrize("door", ["program", "command", "service"])
def test_the_log_and_the_messages_are_recorded_at_every_door(site: Site, door: str) -> None:
    trace, log = site.base / "trace", site.base / "log"
    environ = {"LSPKIT_LOG": f"debug:{log}", "LSPKIT_TRACE": str(trace)}
    if door == "program":
        command = [sys.executable, "-c", PROGRAM, str(site.project)]
        subprocess.run(command, env={**site.environ, **environ}, timeout=PATIENCE, check=True)
    else:
        options = ["--no-service"] if door == "command" else []
        assert site.run("check", *options, "a.scr", **environ).returncode == 0
    messages = messages_in(trace)
    assert ("scripted", "lspkit", "initialize") in messages
    assert ("scripted", "lspkit", "textDocument/didOpen") in messages
    assert ("scripted", "server", "textDocument/publishDiagnostics") in messages
    assert "DEBUG lspkit.runtime" in log.read_text(encoding="utf-8")
    assert [file.stat().st_mode & 0o777 for file in (trace, log)] == [0o600, 0o600]


def test_the_log_goes_to_standard_error_without_a_file(site: Site) -> None:
    done = site.run("check", "--no-service", "a.scr", LSPKIT_LOG="debug")
    assert (done.returncode, "DEBUG lspkit.runtime" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("LSPKIT_LOG", "loud", "LEVEL or LEVEL:FILE is needed"),
        ("LSPKIT_LOG", "debug:here", "an absolute path is needed"),
        ("LSPKIT_TRACE", "here", "an absolute path is needed"),
        ("LSPKIT_TRACE", "/no/such/folder/file", "No such file or directory"),
    ],
)
def test_a_value_that_cannot_be_used_is_a_warning(
    site: Site, name: str, value: str, reason: str
) -> None:
    done = site.run("check", "--no-service", "a.scr", **{name: value})
    assert done.returncode == 0
    assert reason in done.stderr
