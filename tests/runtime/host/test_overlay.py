"""Texts that the servers see in place of files for a while."""

from __future__ import annotations

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.servers.definition_parts import DocumentSync
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.runtime.server_log import CHANGE, CLOSE, OPEN, POKE, define, messages_of, told
from tests.scripted import SOURCE, ask, config_for, workspace

#: Defines what SOURCE does not.
DRAFT = "  def other\nother\n"


def where(ws: lspkit.Workspace) -> list[str]:
    """Where the word on line 2 is defined."""
    return [str(one.range.start) for one in ws.definition("a.scr", 2, 1)]


def test_questions_are_about_the_text_until_the_block_ends(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        with ws.overlay({"a.scr": DRAFT}):
            assert where(ws) == ["1:7"]
            assert [one.name for one in ws.document_symbols("a.scr")] == ["other"]
        assert ask(ws) == "1:5"
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == SOURCE
    assert Log.of(argv).complaints() == []


@pytest.mark.parametrize("how", ["push", "pull"])
def test_a_check_is_about_the_text_and_then_about_the_disk(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        before = ws.check("a.scr")
        with ws.overlay({"a.scr": "ERROR\n"}):
            within = [ws.check("a.scr"), ws.check("a.scr")]
        after = ws.check("a.scr")
    assert before.verdict.clean
    assert [messages_of(one) for one in within] == [["ERROR"], ["ERROR"]]
    assert after.verdict.clean


@pytest.mark.parametrize("how", ["push", "pull"])
def test_other_files_are_checked_against_the_text(tmp_path, scripted, how, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="opened"))
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    (tmp_path / "b.scr").write_text("NEED greet\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        verdicts = [ws.check("b.scr").verdict.value]
        with ws.overlay({"a.scr": "def meet\n"}):
            verdicts.append(ws.check("b.scr").verdict.value)
        verdicts.append(ws.check("b.scr").verdict.value)
    assert verdicts == ["clean", "dirty", "clean"]


def test_nothing_is_said_to_be_saved(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        with ws.overlay({"a.scr": DRAFT}):
            ws.check("a.scr")
            with ws.overlay({"a.scr": "more\n"}):
                ws.check("a.scr")
            ws.check("a.scr")
            changes = ["didOpen a.scr", *["didChange a.scr"] * 3]
            assert told(Log.of(argv)) == changes


def test_what_sees_the_disk_has_nothing_to_say_about_it(tmp_path, scripted, monkeypatch):
    build = ProofRule(how="progress", source="build", token="build", sees="disk")
    define(monkeypatch, ProofRule(how="version"), build)
    argv = scripted(Script())
    with workspace(tmp_path, argv, text="ERROR\n") as ws, ws.overlay({"a.scr": "fine\n"}):
        report = ws.check("a.scr", timeout=30)
    assert report.verdict.clean
    assert [one.how for one in report.servers] == ["version", "not applicable"]


def test_a_text_that_is_shown_before_a_server_runs_is_what_it_is_opened_with(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws, ws.overlay({"a.scr": DRAFT}):
        assert where(ws) == ["1:7"]
        [opened] = Log.of(argv).messages(OPEN)
    assert opened["params"]["textDocument"]["text"] == DRAFT


def test_of_nested_texts_the_inner_one_is_seen_and_then_the_outer_one(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="def disk\n") as ws:

        def seen() -> list[str]:
            return [one.name for one in ws.document_symbols("a.scr")]

        with ws.overlay({"a.scr": "def outer\n"}):
            with ws.overlay({"a.scr": "def inner\n", "b.scr": "def b\n"}):
                assert seen() == ["inner"]
                assert [one.name for one in ws.document_symbols("b.scr")] == ["b"]
            assert seen() == ["outer"]
            with pytest.raises(lspkit.PathError):
                ws.document_symbols("b.scr")
        assert seen() == ["disk"]


def test_an_outer_text_that_ends_first_leaves_the_inner_one(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="def disk\n") as ws:

        def seen() -> list[str]:
            return [one.name for one in ws.document_symbols("a.scr")]

        outer, inner = ws.overlay({"a.scr": "def outer\n"}), ws.overlay({"a.scr": "def inner\n"})
        outer.__enter__()
        inner.__enter__()
        outer.__exit__(None, None, None)
        assert seen() == ["inner"]
        inner.__exit__(None, None, None)
        assert seen() == ["disk"]


def test_a_text_of_one_call_goes_before_it_and_leaves_it(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="def disk\n") as ws:
        ws.document_symbols("a.scr")
        with ws.overlay({"a.scr": "fine\n"}):
            assert ws.check("a.scr", text="ERROR\n").verdict.dirty
            assert ws.check("a.scr").verdict.clean
            assert ws.document_symbols("a.scr") == []


@pytest.mark.parametrize("how", ["push", "pull"])
def test_a_file_that_is_not_there_is_so_again_afterwards(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    with workspace(tmp_path, argv) as ws:
        with ws.overlay({"sub/new.scr": "ERROR\n"}):
            assert ws.check("sub/new.scr").verdict.dirty
        Log.of(argv).wait_for_message(CLOSE)
        with pytest.raises(lspkit.PathError) as caught:
            ws.check("sub/new.scr")
        assert told(Log.of(argv)) == ["didOpen new.scr", "didClose new.scr"]
    assert caught.value.code == "ENOENT"
    assert not (tmp_path / "sub").exists()
    assert Log.of(argv).complaints() == []


def test_a_file_that_is_deleted_meanwhile_is_closed_afterwards(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        with ws.overlay({"a.scr": DRAFT}):
            (tmp_path / "a.scr").unlink()
            assert where(ws) == ["1:7"]
        Log.of(argv).wait_for_message(CLOSE)
        with pytest.raises(lspkit.PathError):
            ws.document_symbols("a.scr")


def test_a_change_on_disk_meanwhile_is_seen_afterwards(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="def old\n") as ws:
        with ws.overlay({"a.scr": "def shown\n"}):
            ws.document_symbols("a.scr")
            (tmp_path / "a.scr").write_text("def new\n", encoding="utf-8")
            assert [one.name for one in ws.document_symbols("a.scr")] == ["shown"]
        assert [one.name for one in ws.document_symbols("a.scr")] == ["new"]


def test_the_servers_see_the_disk_again_without_being_asked(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, text="def disk\n") as ws:
        with ws.overlay({"a.scr": "def shown\n"}):
            ws.document_symbols("a.scr")
        change = Log.of(argv).wait_for_message(CHANGE)
    assert [one["text"] for one in change["params"]["contentChanges"]] == ["disk"]


def test_an_exception_in_the_block_ends_it_as_well(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        with pytest.raises(lspkit.PositionError), ws.overlay({"a.scr": DRAFT}):
            ws.definition("a.scr", 99, 1)
        assert ask(ws) == "1:5"


def test_a_file_outside_is_refused_and_nothing_is_shown(tmp_path, scripted):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.scr").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "out.scr").write_text("", encoding="utf-8")
    argv = scripted(Script())
    with lspkit.Workspace(folder, config=config_for(argv)) as ws:
        texts = {"a.scr": DRAFT, "../out.scr": "def x\n"}
        with pytest.raises(lspkit.PathError) as caught, ws.overlay(texts):
            pytest.fail("the block was entered")
        assert Log.of(argv).entries() == []
        assert ask(ws) == "1:5"
    assert caught.value.code == "EOUTSIDE"


def test_a_file_that_no_server_knows_disturbs_nobody(tmp_path, scripted):
    texts = {"notes.unheard": "text\n", "a.scr": DRAFT}
    with workspace(tmp_path, scripted(Script())) as ws, ws.overlay(texts):
        assert where(ws) == ["1:7"]


def test_a_restarted_server_sees_the_text(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(POKE, "crash", code=3)]))
    with workspace(tmp_path, argv, restart={"baseMs": 0}) as ws:
        with ws.overlay({"a.scr": DRAFT}):
            with pytest.raises(lspkit.ServerBrokenError):
                ws.request("a.scr", POKE)
            assert where(ws) == ["1:7"]
        assert ask(ws) == "1:5"
