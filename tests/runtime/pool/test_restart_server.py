"""`restart()` replaces the processes of one server at once, also of one that has failed."""

from __future__ import annotations

import pytest

import lspkit
from lspkit.servers.status import RootStatus, ServerState
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, comes_true, config_for, lives, workspace


def root_of(ws: lspkit.Workspace, server: str = "scripted") -> RootStatus:
    [row] = [one for one in ws.status().rows if one.server == server]
    [root] = row.roots
    return root


def test_a_new_process_replaces_the_old_one(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        before = root_of(ws).pid
        assert before is not None
        assert ws.restart("scripted") == [str(tmp_path)]
        assert not lives(before)
        assert comes_true(lambda: root_of(ws).state is ServerState.ACTIVE)
        assert root_of(ws).pid not in (None, before)
        assert ask(ws) == "1:5"
        assert len(Log.of(argv).messages("initialize")) == 2


def test_its_open_documents_are_opened_again(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        ws.restart("scripted")
        assert comes_true(lambda: len(Log.of(argv).messages("textDocument/didOpen")) == 2)
        again = Log.of(argv).messages("textDocument/didOpen")[-1]["params"]["textDocument"]
        assert again["text"] == SOURCE


def test_a_broken_server_need_not_wait(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/definition", "crash", run=1)]))
    never = {"policy": "never"}
    with workspace(tmp_path, argv, restart=never) as ws:
        with pytest.raises(lspkit.ServerBrokenError):
            ask(ws)
        with pytest.raises(lspkit.ServerBrokenError):
            ask(ws)
        ws.restart("scripted")
        assert ask(ws) == "1:5"
        assert root_of(ws).broken is None


def test_only_that_server_is_restarted_in_all_its_roots(tmp_path, scripted):
    argv, other = scripted(Script()), scripted(Script())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "root.marker").touch()
        (tmp_path / name / "a.scr").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.other").write_text(SOURCE, encoding="utf-8")
    config = config_for(argv, roots=["root.marker"])
    config["lsp"]["other"] = {"command": other, "extensions": [".other"]}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        for file in ("one/a.scr", "two/a.scr", "b.other"):
            assert ws.definition(file, 2, 4)
        kept = root_of(ws, "other").pid
        assert ws.restart("scripted") == [str(tmp_path / "one"), str(tmp_path / "two")]
        assert root_of(ws, "other").pid == kept


def test_a_server_that_does_not_run_is_not_started(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ws.restart("scripted") == []
        assert ws.restart("python") == []
    assert not Log.of(argv).messages("initialize")


def test_an_unknown_name_is_an_error(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        with pytest.raises(lspkit.NoServerError, match="no server is called 'none'"):
            ws.restart("none")
        with pytest.raises(TypeError):
            ws.restart(3)  # type: ignore[arg-type]


def test_a_server_that_hangs_is_stopped_even_if_the_caller_gives_up(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("shutdown", "hang")]))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        before = root_of(ws).pid
        assert before is not None
        with pytest.raises(lspkit.RequestTimeoutError):
            ws.restart("scripted", timeout=0.01)
        assert comes_true(lambda: not lives(before))
        assert ask(ws) == "1:5"


def test_a_call_that_waits_for_a_server_that_is_restarted_is_answered_by_the_next(
    tmp_path, scripted
):
    slow = Fault("textDocument/definition", "delay", seconds=60, run=1)
    argv = scripted(Script(faults=[slow]))
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        call = ws.submit(ws.definition, "a.scr", 2, 4)
        assert comes_true(lambda: Log.of(argv).messages("textDocument/definition"))
        ws.restart("scripted")
        assert str(call.result(30)[0].range.start) == "1:5"
