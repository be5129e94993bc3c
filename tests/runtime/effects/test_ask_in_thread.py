"""A server that is ready is asked in the thread of the caller, and nothing of the rest is lost.

Each test asks several times first: the first request starts the server, and the next ones find
where the path leads.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

import lspkit
from lspkit.protocol.session import Session
from lspkit.runtime import files
from lspkit.runtime.process.server_output import Claims, ServerOutput
from lspkit.runtime.server.connection import Connection
from lspkit.runtime.server.server import Server
from lspkit.servers.definition_parts import HARMLESS
from lspkit.testing import Script
from tests.interrupting import each_interrupt
from tests.runtime.server_log import define
from tests.runtime.watch.watching import needs_inotify
from tests.scripted import SOURCE, ask, comes_true, config_for, workspace

RUNTIME = Path(lspkit.__file__).parent / "runtime"
#: Requests after which a request is as warm as it gets.
SEVERAL = 3


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that have read answers."""
    names: list[str] = []
    receive = Session.receive_result

    def note(self: Session, id: int, result: bytes) -> object:
        names.append(threading.current_thread().name)
        return receive(self, id, result)

    monkeypatch.setattr(Session, "receive_result", note)
    return names


def ask_often(ws: lspkit.Workspace, path: str) -> None:
    for _ in range(SEVERAL):
        assert [str(one.range.start) for one in ws.definition(path, 2, 4)] == ["1:5"]


def server_of(ws: lspkit.Workspace) -> Server:
    return ws._engine.pool.servers()[0]  # type: ignore[attr-defined]


def test_the_caller_reads_its_own_answer(scripted, tmp_path, readers):
    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        readers.clear()
        ask_often(ws, "a.scr")
    own = threading.current_thread().name
    # The thread may be busy with something else that the server has said.
    assert own in readers


@needs_inotify
def test_the_output_is_claimed_before_the_request_is_written(scripted, tmp_path, monkeypatch):
    claimed: list[bool] = []
    write = Connection._write_here

    def note(self: Connection, frame: bytes) -> None:
        claimed.append(self._output._reading.locked())
        write(self, frame)

    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        monkeypatch.setattr(Connection, "_write_here", note)
        # Not while the thread is busy with something else that the server has said.
        assert comes_true(lambda: ask(ws) == "1:5" and claimed[-1])


@needs_inotify
def test_a_path_is_not_followed_again_while_nothing_moves(scripted, tmp_path, monkeypatch):
    followed: list[str] = []
    follow = files.leads_to

    def note(path: str) -> object:
        followed.append(path)
        return follow(path)

    def ask_and_count() -> int:
        followed.clear()
        assert ask(ws) == "1:5"
        return len(followed)

    monkeypatch.setattr(files, "leads_to", note)
    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        assert comes_true(lambda: ask_and_count() == 0)
        (tmp_path / "new").touch()
        assert ask_and_count() == 1
        assert ask_and_count() == 0


def test_an_interrupt_at_any_place_leaves_the_output_to_the_thread(scripted, tmp_path, monkeypatch):
    claimed: list[bool] = []
    claim = ServerOutput.claim

    def note(self: ServerOutput, claims: Claims) -> None:
        claim(self, claims)
        if sys.gettrace() is not None:  # of the call that is interrupted
            claimed.append(bool(claims))

    monkeypatch.setattr(ServerOutput, "claim", note)
    places = [
        str(RUNTIME / name)
        for name in (
            "engine.py",
            "effects/ask_in_thread.py",
            "exchange/ask_server.py",
            "exchange/request_routes.py",
            "process/server_output.py",
            "server/connection.py",
            "server/document_channel.py",
            "concurrency/drive.py",
        )
    ]
    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        output = server_of(ws).channel.connection._output  # type: ignore[union-attr]
        tried = 0
        for _ in each_interrupt(lambda: ask(ws), *places):
            tried += 1
            assert not server_of(ws).channel.lock.locked()
            assert not output._reading.locked() or is_soon_free(output)
            assert ask(ws, timeout=20) == "1:5"
            with output._reading:  # nobody keeps it
                assert not output._left
        assert tried > 50
        assert claimed.count(True) > tried / 2


def is_soon_free(output: ServerOutput) -> bool:
    """The reader thread may be reading."""
    return comes_true(lambda: not output._reading.locked())


def test_a_folder_that_is_swapped_for_a_link_is_noticed_by_the_next_request(scripted, tmp_path):
    work, away = tmp_path / "work", tmp_path / "away"
    for folder in (work / "inner" / "deep", away):
        folder.mkdir(parents=True)
    (work / "inner" / "deep" / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(work, config=config_for(scripted(Script()))) as ws:
        ask_often(ws, "inner/deep/a.scr")
        os.rename(work / "inner", away / "inner")
        (work / "inner").symlink_to(away / "inner")
        # The same file, with the same stamp; but it lies outside now.
        with pytest.raises(lspkit.PathError) as caught:
            ws.definition("inner/deep/a.scr", 2, 4)
        assert caught.value.code == "EOUTSIDE"
        (work / "inner").unlink()
        os.rename(away / "inner", work / "inner")
        ask_often(ws, "inner/deep/a.scr")


def test_a_file_that_is_replaced_by_another_is_noticed_by_the_next_request(scripted, tmp_path):
    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        (tmp_path / "other").write_text("\n" + SOURCE, encoding="utf-8")
        os.replace(tmp_path / "other", tmp_path / "a.scr")
        assert [str(one.range.start) for one in ws.definition("a.scr", 3, 4)] == ["2:5"]
        (tmp_path / "a.scr").unlink()
        with pytest.raises(lspkit.PathError):
            ws.definition("a.scr", 3, 4)


@pytest.mark.parametrize("git", ["folder", "file"])
def test_a_folder_that_becomes_a_repository_is_noticed_by_the_next_request(
    scripted, tmp_path, monkeypatch, git
):
    monkeypatch.delenv("LSPKIT_TRUST")
    define(monkeypatch, trust=HARMLESS)
    deep = tmp_path / "plain" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (deep / "a.scr").write_text(SOURCE, encoding="utf-8")
    config = config_for(scripted(Script())) | {"security": {"trustedProjectRoots": [str(tmp_path)]}}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        ask_often(ws, "plain/deep/a.scr")
        if git == "folder":
            (tmp_path / "plain" / ".git").mkdir()
        else:
            (tmp_path / "plain" / ".git").write_text("gitdir: elsewhere\n")
        ask_often(ws, "plain/deep/a.scr")
        servers = ws._engine.pool.servers()  # type: ignore[attr-defined]
        outer = next(one for one in servers if one.root == str(tmp_path))
        # Nor is it told of by those who do not look for its servers.
        file = ws._engine.files.locate("plain/deep/a.scr")  # type: ignore[attr-defined]
        with pytest.raises(lspkit.ServerUnavailableError):
            outer.channel.sync(file, None)
    assert {Path(one.root) for one in servers} == {tmp_path, tmp_path / "plain"}


def test_a_call_that_was_cancelled_before_it_began_is_not_answered(scripted, tmp_path):
    with workspace(tmp_path, scripted(Script())) as ws:
        ask_often(ws, "a.scr")
        cancel = lspkit.CancelToken()
        cancel.set()
        with pytest.raises(lspkit.CancelledError):
            ask(ws, cancel=cancel)
        assert ask(ws) == "1:5"
