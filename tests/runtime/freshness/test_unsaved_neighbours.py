"""Texts that are not on disk, and the verdicts about other files: who sees them, and from when on.

The scripted server knows a name that another open document defines; what is on disk it never reads.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.servers.definition_parts import DiskReactions, DocumentSync, Refresh, Roots
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.runtime.server_log import CHANGE, OPEN, POKE, WHOLE, asked, define, full, outside, told
from tests.scripted import config_for, workspace

NEED, DRAFT = "NEED foo\n", "def foo\n"
HOW = pytest.mark.parametrize("how", ["push", "pull"])


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server called `scripted` is known to see such texts."""
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="opened", unsaved_files=True))


def other(folder: Path, text: str = "def bar\n", name: str = "b.scr") -> None:
    (folder / name).write_text(text, encoding="utf-8")


# From when on


@pytest.mark.usefixtures("seen")
@HOW
def test_a_server_that_starts_knows_the_text_before_it_is_asked(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        with ws.overlay({"b.scr": DRAFT}):
            assert ws.check("a.scr").verdict.clean
            assert asked(Log.of(argv), OPEN) == ["b.scr", "a.scr"]
        assert ws.check("a.scr").verdict.dirty


@pytest.mark.usefixtures("seen")
def test_a_text_that_ends_before_the_server_is_up_is_not_shown(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.5)]))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        with ws.overlay({"b.scr": DRAFT}):
            Log.of(argv).wait_for_message("initialize")
        assert ws.check("a.scr").verdict.dirty
        texts = [one["params"]["textDocument"]["text"] for one in Log.of(argv).messages(OPEN)]
    assert DRAFT not in texts


@pytest.mark.usefixtures("seen")
def test_of_two_syncs_of_one_file_before_the_server_is_up_the_last_one_counts(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.5)]))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        ws.sync("b.scr", text=DRAFT)
        ws.sync("b.scr")
        assert ws.check("a.scr").verdict.dirty


@pytest.mark.usefixtures("seen")
@HOW
def test_a_server_that_runs_and_has_not_opened_the_file_is_shown_it(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        verdicts = [ws.check("a.scr").verdict.value]
        with ws.overlay({"b.scr": DRAFT}):
            verdicts.append(ws.check("a.scr").verdict.value)
        verdicts.append(ws.check("a.scr").verdict.value)
    assert verdicts == ["dirty", "clean", "dirty"]


# A new process


def _crash(ws: lspkit.Workspace, _: Path, __: list[str]) -> None:
    with pytest.raises(lspkit.ServerBrokenError):
        ws.request("a.scr", POKE)


def _reload(ws: lspkit.Workspace, file: Path, _: list[str]) -> None:
    said = json.loads(file.read_text())
    said["lsp"]["scripted"]["settings"] = {"another": 1}
    file.write_text(json.dumps(said))
    ws.reload()


def _leave_idle(ws: lspkit.Workspace, _: Path, argv: list[str]) -> None:
    Log.of(argv).wait_for_message("exit")


RESTARTS = {"crash": _crash, "reload": _reload, "idle": _leave_idle}


def restarting(tmp_path: Path, argv: list[str], how: str) -> tuple[lspkit.Workspace, Path]:
    """A workspace whose server can be made to start again, and its configuration."""
    folder, file = tmp_path / "work", tmp_path / "lsp.json"
    folder.mkdir()
    (folder / "a.scr").write_text(NEED, encoding="utf-8")
    other(folder)
    timing = {"idleShutdownMs": 1000} if how == "idle" else {}
    config = {**config_for(argv), "restart": {"baseMs": 0}, "timing": timing}
    file.write_text(json.dumps(config))
    return lspkit.Workspace(folder, config=file), file


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("how", RESTARTS)
def test_the_next_process_knows_the_text_before_it_is_asked(tmp_path, scripted, how):
    argv = scripted(Script(faults=[Fault(POKE, "crash", code=3)]))
    ws, file = restarting(tmp_path, argv, how)
    with ws, ws.overlay({"b.scr": DRAFT}):
        verdicts = [ws.check("a.scr").verdict.value]
        RESTARTS[how](ws, file, argv)
        verdicts.append(ws.check("a.scr").verdict.value)
        assert asked(Log.of(argv), OPEN)[2] == "b.scr"
    assert verdicts == ["clean", "clean"]
    assert len(Log.of(argv).pids()) == 2


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("how", RESTARTS)
def test_the_next_process_knows_a_text_that_was_synced(tmp_path, scripted, how):
    argv = scripted(Script(faults=[Fault(POKE, "crash", code=3)]))
    ws, file = restarting(tmp_path, argv, how)
    with ws:
        ws.sync("b.scr", text=DRAFT)
        verdicts = [ws.check("a.scr").verdict.value]
        RESTARTS[how](ws, file, argv)
        verdicts.append(ws.check("a.scr").verdict.value)
    assert verdicts == ["clean", "clean"]


@pytest.mark.parametrize("how", RESTARTS)
def test_the_next_process_opens_what_was_open(tmp_path, scripted, how):
    argv = scripted(Script(faults=[Fault(POKE, "crash", code=3)]))
    ws, file = restarting(tmp_path, argv, how)
    with ws:
        ws.document_symbols("b.scr")
        ws.document_symbols("a.scr")
        RESTARTS[how](ws, file, argv)
        ws.document_symbols("a.scr")
        Log.of(argv).wait_for(lambda _: asked(Log.of(argv), OPEN)[2:].count("b.scr") == 1)


@pytest.mark.usefixtures("seen")
def test_a_text_that_was_shown_while_nothing_ran_is_known_to_who_starts_later(tmp_path, scripted):
    ws, file = restarting(tmp_path, scripted(Script()), "reload")
    enabled = file.read_text()
    file.write_text(json.dumps({**json.loads(enabled), "enabled": False}))
    ws.reload()
    with ws, ws.overlay({"b.scr": DRAFT}):
        file.write_text(enabled)
        ws.reload()
        assert ws.check("a.scr").verdict.clean


# Who sees it


def test_who_sees_only_changes_is_shown_the_disk_first(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="changed"))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        ws.check("a.scr")
        with ws.overlay({"b.scr": DRAFT}):
            assert ws.check("a.scr").verdict.clean
            log = Log.of(argv)
            assert told(log) == ["didOpen a.scr", "didOpen b.scr", "didChange b.scr"]
            assert log.messages(OPEN)[1]["params"]["textDocument"]["text"] == "def bar\n"
            assert len(log.messages(CHANGE)) == 1
    assert Log.of(argv).complaints() == []


def test_a_text_of_one_call_is_shown_to_it_in_the_same_way(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="changed"))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    other(tmp_path)
    with workspace(tmp_path, argv, text=NEED) as ws:
        ws.check("a.scr")
        report = ws.check("b.scr", text=DRAFT, scope="project")
        assert told(Log.of(argv))[:3] == ["didOpen a.scr", "didOpen b.scr", "didChange b.scr"]
    assert report.other_files.verdict.clean


UNSEEN = {
    "never": "it reads other files from disk, and the text of b.scr is not there",
    "untried": "it is not known whether it sees a text that is not on disk, such as that of b.scr",
}


@HOW
@pytest.mark.parametrize("text", ["fine\n", "ERROR\n"])
@pytest.mark.parametrize("unsaved", UNSEEN)
def test_where_it_is_not_seen_nothing_is_known(tmp_path, scripted, monkeypatch, unsaved, text, how):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved=unsaved))
    other(tmp_path)
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    with workspace(tmp_path, argv, text=text) as ws:
        before = ws.check("a.scr").verdict
        with ws.overlay({"b.scr": DRAFT}):
            within = ws.check("a.scr")
            own = ws.check("b.scr")
        ws.sync("b.scr", text=DRAFT)
        synced = ws.check("a.scr")
        ws.sync("b.scr")
        after = ws.check("a.scr").verdict
    assert (within.verdict.value, within.why) == ("unknown", f"scripted: {UNSEEN[unsaved]}")
    assert [one.message for one in within.stale_diagnostics] == text.split()[: text == "ERROR\n"]
    assert own.verdict.clean  # that text itself it does see
    assert (synced.verdict.value, synced.why) == ("unknown", within.why)
    assert before == after != within.verdict


def test_of_the_others_nothing_is_known_where_the_text_of_the_call_is_not_seen(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="never"))
    other(tmp_path)
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        ws.check("a.scr")
        draft = ws.check("b.scr", text=DRAFT, scope="project")
        same = ws.check("b.scr", text="def bar\n", scope="project")
    assert (draft.own_verdict.value, draft.verdict.value) == ("clean", "unknown")
    assert draft.other_files.verdict.unknown
    assert (same.verdict.value, same.other_files.verdict.value) == ("clean", "clean")


def test_nor_of_the_whole_project(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="never"))
    provider = {"interFileDependencies": True, "workspaceDiagnostics": True}
    script = Script(
        diagnostics=Diagnostics(how="pull"),
        capabilities={"diagnosticProvider": provider},
        answers={WHOLE: {"items": [{"uri": (tmp_path / "c.scr").as_uri(), **full()}]}},
    )
    other(tmp_path)
    with workspace(tmp_path, scripted(script), text="fine\n") as ws:
        with ws.overlay({"b.scr": DRAFT}):
            within = ws.check("a.scr", scope="project").other_files
        after = ws.check("a.scr", scope="project").other_files
    assert (within.verdict.value, after.verdict.value) == ("unknown", "clean")


def test_a_text_of_another_callers_question_is_not_for_longer(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="never"))
    slow = Fault("textDocument/diagnostic", "delay", nth=1, seconds=0.5)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[slow]))
    other(tmp_path)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        draft = ws.submit(ws.check, "b.scr", text=DRAFT)
        Log.of(argv).wait_for_message("textDocument/diagnostic")
        assert ws.check("a.scr").verdict.clean
        assert draft.result(30).verdict.clean


def test_a_file_that_is_not_there_may_not_be_seen(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="opened"))
    with workspace(tmp_path, scripted(Script()), text=NEED) as ws:
        with ws.overlay({"new.scr": DRAFT}):
            report = ws.check("a.scr")
        assert ws.check("a.scr").verdict.dirty
    assert report.verdict.unknown
    assert report.why == "scripted: it does not see files that are not on disk, such as new.scr"


def test_what_a_server_reads_and_is_not_shown_is_not_seen(tmp_path, scripted, monkeypatch):
    define(
        monkeypatch,
        OFFERED,
        documents=DocumentSync(unsaved="opened"),
        disk=DiskReactions(reads=("*", "*.dat")),
        roots=Roots(markers=("scr.conf",)),
    )
    names = ("x.dat", "scr.conf", "notes.txt")
    for name in names:
        other(tmp_path, "old\n", name)
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        reports = {}
        for name in names:
            with ws.overlay({name: "new\n"}):
                reports[name] = ws.check("a.scr")
    assert {name: one.why for name, one in reports.items()} == {
        "x.dat": "scripted: it reads x.dat from disk, and not the text that replaces it",
        "scr.conf": "scripted: it reads scr.conf from disk, and not the text that replaces it",
        "notes.txt": "",
    }


def test_nor_is_what_only_the_server_of_another_root_is_shown(tmp_path, scripted, monkeypatch):
    define(
        monkeypatch,
        OFFERED,
        documents=DocumentSync(unsaved="opened"),
        roots=Roots(markers=("scr.conf",)),
    )
    for root in ("one", "two"):
        (tmp_path / root).mkdir()
        other(tmp_path / root, "", "scr.conf")
        other(tmp_path / root, "fine\n", "a.scr")
    config = config_for(scripted(Script()))
    with lspkit.Workspace(tmp_path, config=config) as ws, ws.overlay({"one/a.scr": DRAFT}):
        report = ws.check("two/a.scr")
    assert report.verdict.unknown
    assert "it reads one/a.scr from disk" in report.why


def test_findings_about_one_file_alone_depend_on_no_other(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(how="version", alone=True))
    other(tmp_path)
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        ws.check("a.scr")
        with ws.overlay({"b.scr": DRAFT}):
            assert ws.check("a.scr").verdict.clean


@pytest.mark.parametrize(("text", "how"), [("fine\n", "not applicable"), ("ERROR\n", "quiet")])
def test_of_a_linter_what_it_has_found_counts_and_its_silence_says_nothing(
    tmp_path, scripted, monkeypatch, text, how
):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="never"), role="lint")
    other(tmp_path)
    with workspace(tmp_path, scripted(Script()), text=text) as ws, ws.overlay({"b.scr": DRAFT}):
        report = ws.check("a.scr")
    assert [one.how for one in report.servers] == [how]
    assert report.verdict.value == ("dirty" if how == "quiet" else "unknown")
    assert report.why == f"scripted: {UNSEEN['never']}"  # there is nobody else


def test_what_sees_the_disk_has_nothing_to_say_beside_it(tmp_path, scripted, monkeypatch):
    build = ProofRule(how="progress", source="build", token="build", sees="disk")
    define(monkeypatch, ProofRule(how="version"), build, documents=DocumentSync(unsaved="opened"))
    other(tmp_path)
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws, ws.overlay({"b.scr": DRAFT}):
        report = ws.check("a.scr", timeout=30)
    assert report.verdict.clean
    assert [one.how for one in report.servers] == ["version", "not applicable"]
    assert report.servers[1].reason == "it sees the disk, and b.scr is not there"


RELOAD = Refresh(method="scripted/reload", params={})


@pytest.mark.parametrize(
    ("misses", "refresh", "processes", "reloads"),
    [
        pytest.param(False, RELOAD, 1, 0, id="a server that notices it"),
        pytest.param(True, RELOAD, 1, 1, id="one that reads everything again"),
        pytest.param(False, None, 1, 0, id="one that notices it and cannot be made to read"),
        pytest.param(True, None, 2, 0, id="one that has to be restarted"),
    ],
)
def test_a_file_that_is_saved_after_its_text_was_synced_costs_only_who_misses_it(
    tmp_path, scripted, monkeypatch, misses, refresh, processes, reloads
):
    sync = DocumentSync(unsaved="opened", unsaved_files=True, misses_created=misses)
    define(monkeypatch, ProofRule(how="pull"), documents=sync, disk=DiskReactions(refresh=refresh))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv) as ws:
        ws.check("a.scr")
        ws.sync("new.scr", text="def mine\n")
        outside("paths[0].write_text('def mine\\n')", tmp_path / "new.scr")
        assert ws.check("a.scr").verdict.clean
    assert len(Log.of(argv).messages("initialize")) == processes
    assert len(Log.of(argv).messages("scripted/reload")) == reloads
