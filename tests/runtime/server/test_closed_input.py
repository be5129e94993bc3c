"""Servers that close their standard input: they are of no use any more, also if they live on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.runtime.server import connection
from tests.scripted import SOURCE, comes_true, config_for, lives

PATIENCE = 20.0
WHERE = "textDocument/definition"
#: Closes its input at a moment, and ends when it is told to. In its later runs it behaves well.
CLOSES = """
import json, os, pathlib, sys, time
folder, moment = pathlib.Path(sys.argv[1]), sys.argv[2]
number = len(list(folder.glob("[0-9]")))
(folder / str(number)).write_text(str(os.getpid()))
def read():
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        byte = os.read(0, 1)
        if not byte: os._exit(0)
        head += byte
    size, body = int(head.split(b":")[1]), b""
    while len(body) < size: body += os.read(0, size - len(body))
    return json.loads(body)
def write(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    os.write(1, b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
def close_input():
    if number: return
    os.close(0)
    (folder / "closed").write_text("")
    while not (folder / "go").exists(): time.sleep(0.005)
    os._exit(3)
if moment == "start": close_input()
while True:
    message = read()
    if message["method"] == "initialize":
        capabilities = {"definitionProvider": True, "textDocumentSync": 1}
        write(id=message["id"], result={"capabilities": capabilities})
    elif "id" in message:
        if message["method"] != "x/hang": write(id=message["id"], result=None)
        if message["method"] == moment: close_input()
    elif message["method"] == "exit":
        os._exit(0)
"""


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each run of the server notes its process, and that it has closed its input."""
    return tmp_path_factory.mktemp("runs")


def opened(root: Path, folder: Path, moment: str) -> lspkit.Workspace:
    (root / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = [sys.executable, "-I", "-S", "-c", CLOSES, str(folder), moment]
    config: dict[str, Any] = {**config_for(argv), "timing": {"requestTimeoutMs": 600_000}}
    return lspkit.Workspace(root, config=config)


def problem_of(call: Any) -> str:
    """Why a call without a timeout fails."""
    problem = call.exception(PATIENCE)
    assert isinstance(problem, lspkit.ServerBrokenError)
    return str(problem)


def test_one_that_lives_on_is_broken_and_started_again(tmp_path, folder):
    with opened(tmp_path, folder, "x/hang") as ws:
        call = ws.submit(ws.request, "a.scr", "x/hang")
        assert problem_of(call).startswith("scripted is gone: it closed its input")
        pid = int((folder / "0").read_text())
        assert comes_true(lambda: not lives(pid))
        ws.reload()
        assert ws.definition("a.scr", 2, 4) == []


def test_one_that_never_reads_is_broken_before_its_time_to_start_is_over(tmp_path, folder):
    with opened(tmp_path, folder, "start") as ws:
        call = ws.submit(ws.definition, "a.scr", 2, 4)
        assert problem_of(call).startswith("scripted is gone: it closed its input")


def test_nobody_has_to_ask_before_it_is_noticed(tmp_path, folder):
    with opened(tmp_path, folder, WHERE) as ws:
        assert ws.definition("a.scr", 2, 4) == []
        [server] = ws._engine.pool.servers()
        assert comes_true(lambda: server.state.value == "ended")


def test_how_it_ended_is_told_if_it_ends_soon(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(connection, "INPUT_CLOSED", 2 * PATIENCE)
    with opened(tmp_path, folder, "x/hang") as ws:
        call = ws.submit(ws.request, "a.scr", "x/hang")
        assert comes_true((folder / "closed").exists)
        assert not call.done()
        (folder / "go").write_text("")
        assert "it ended with exit status 3" in problem_of(call)


def test_a_server_that_is_asked_to_end_may_close_its_input_first(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(connection, "INPUT_CLOSED", 0.0)
    (folder / "go").write_text("")
    with opened(tmp_path, folder, "shutdown") as ws:
        assert ws.definition("a.scr", 2, 4) == []
        [server] = ws._engine.pool.servers()
    assert server.channel.connection.child.status() == 3
