"""Servers that do not read: what waits for them is bounded, and so is everybody's patience."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

import lspkit
from lspkit.runtime.server import change_clock, connection
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, comes_true, config_for, workspace

MEGABYTE = 1_000_000
#: Stops reading with the first text that it is shown.
DEAF = Script(faults=[Fault("textDocument/didOpen", "stop-reading")])
#: Asks for its settings again and again, and never reads them.
ASKS = """
import json, os
def frame(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body)
head = b""
while not head.endswith(b"\\r\\n\\r\\n"): head += os.read(0, 1)
os.read(0, int(head.split(b":")[1]))
os.write(1, frame({"id": 1, "result": {"capabilities": {"definitionProvider": True}}}))
params = {"items": [{"section": "long"}] * 20}
ask = {"id": "more", "method": "workspace/configuration", "params": params}
while True: os.write(1, frame(ask) * 100)
"""


@pytest.fixture
def little(monkeypatch) -> int:
    """Not so much may pile up as usual."""
    monkeypatch.setattr(connection, "PILED_UP", 16 * MEGABYTE)
    return 16 * MEGABYTE


def _kept(ws: lspkit.Workspace) -> int:
    """Bytes that wait for the server."""
    [server] = ws._engine.pool.servers()
    return sum(len(one or b"") for one in server.channel.connection._queue)


def test_a_server_that_never_reads_what_it_asked_for_is_given_up(tmp_path, little):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = [sys.executable, "-I", "-S", "-c", ASKS]
    config = config_for(argv, settings={"long": {"value": "x" * 2000}})
    with lspkit.Workspace(tmp_path, config=config) as ws:
        with pytest.raises(lspkit.ServerBrokenError, match="has stopped reading its input, and"):
            ws.definition("a.scr", 2, 4, timeout=60)
        assert _kept(ws) <= little + MEGABYTE


def test_texts_do_not_pile_up_for_a_server_that_has_stopped_reading(tmp_path, scripted, little):
    argv = scripted(DEAF)
    with workspace(tmp_path, argv) as ws:
        ws.sync("a.scr")
        Log.of(argv).wait_for_message("textDocument/didOpen")
        with pytest.raises(lspkit.ServerBrokenError, match="has stopped reading its input, and"):
            _sync_without_end(ws, little + 10 * MEGABYTE)


def test_a_server_whose_queue_is_full_holds_up_no_question_to_the_others(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(connection, "QUEUE_LIMIT", MEGABYTE)
    argvs = {"deaf": scripted(DEAF), "well": scripted(Script())}
    servers = {name: {"command": argv, "extensions": [".scr"]} for name, argv in argvs.items()}
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.sync("a.scr")
        Log.of(argvs["deaf"]).wait_for_message("textDocument/didOpen")
        ws.sync("a.scr", "x" * 3 * MEGABYTE)
        deaf, well = ws._engine.pool.servers()
        assert comes_true(lambda: well.is_free and not deaf.is_free)
        waiting = ws.submit(ws.definition, "b.scr", 2, 4, timeout=60)
        Log.of(argvs["well"]).wait_for_message("textDocument/definition")
        assert not waiting.done()


def _sync_without_end(ws: lspkit.Workspace, most: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ws.sync("a.scr", text=f"{time.monotonic()}" * 100_000)
        assert _kept(ws) <= most


def test_many_large_texts_at_once_are_no_pile(tmp_path, scripted):
    argv = scripted(Script())
    for number in range(64):
        text = SOURCE + "x" * MEGABYTE
        (tmp_path / f"{number}.scr").write_text(text, encoding="utf-8")
    patient = {**config_for(argv), "timing": {"requestTimeoutMs": 300_000}}
    with lspkit.Workspace(tmp_path, config=patient) as ws:
        for number in range(64):
            ws.sync(f"{number}.scr")
        assert [one.name for one in ws.document_symbols("63.scr")] == ["greet"]
    assert len(Log.of(argv).pids()) == 1


def test_who_waits_for_room_hears_of_the_end_of_the_server(tmp_path, scripted):
    argv = scripted(DEAF)
    with workspace(tmp_path, argv, timing={"requestTimeoutMs": 600_000}) as ws:
        ws.sync("a.scr")
        Log.of(argv).wait_for_message("textDocument/didOpen")
        [server] = ws._engine.pool.servers()
        while server.channel.connection.has_room():
            ws.sync("a.scr", text=f"{time.monotonic()}" * 100_000)
        ended = []

        def caller() -> None:
            with pytest.raises(lspkit.ServerBrokenError):
                ask(ws)
            ended.append(True)

        thread = threading.Thread(target=caller, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.channel.connection._want_room and time.monotonic() < deadline:
            threading.Event().wait(0.005)
        os.kill(Log.of(argv).pids()[0], signal.SIGKILL)
        thread.join(20)
        assert ended


def test_what_was_told_about_documents_that_are_closed_is_forgotten(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(change_clock, "TOLD_OF", 10)
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        for number in range(40):
            path = tmp_path / f"{number}.scr"
            for text in ("", SOURCE):
                path.write_text(text, encoding="utf-8")
                ws.sync(path)
            ask(ws)
            path.unlink()
        ask(ws)
        [server] = ws._engine.pool.servers()
        opened = {one.key.uri for one in server.channel.documents}
        clock = server.channel.clock
        tables = (clock._written, clock._looked, clock._pending)
        assert len(opened) == 1
        assert max(map(len, tables)) <= 10 + len(opened)
        assert opened <= set(clock._written)
