"""A verdict and its proof, for every way in which servers report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.report import TOO_LATE
from lspkit.operations.checks.check import AT_ONCE
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import told
from tests.scripted import config_for, workspace

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
CHANGE = "textDocument/didChange"
NONE = Diagnostics(how="none")


def checked(folder: Path, argv: list[str], text: str, **limits: Any) -> lspkit.Report:
    with workspace(folder, argv, text=text) as ws:
        return ws.check("a.scr", **limits)


def how(report: lspkit.Report) -> list[str]:
    return [one.how for one in report.servers]


@pytest.mark.parametrize(
    ("diagnostics", "text", "verdict", "proof"),
    [
        (Diagnostics(), "ERROR\n", "dirty", "version"),
        (Diagnostics(), "WARN\n", "clean", "version"),
        (Diagnostics(), "fine\n", "clean", "version"),
        (Diagnostics(version=False), "ERROR\n", "dirty", "quiet"),
        (Diagnostics(version=False), "fine\n", "unknown", "quiet"),
        (Diagnostics(how="pull"), "ERROR\n", "dirty", "pull"),
        (Diagnostics(how="pull"), "fine\n", "clean", "pull"),
        (Diagnostics(how="both"), "ERROR\n", "dirty", "pull"),
        (Diagnostics(how="both", version=False), "fine\n", "clean", "pull"),
    ],
    ids=str,
)
def test_the_verdict_goes_by_the_proof(tmp_path, scripted, diagnostics, text, verdict, proof):
    report = checked(tmp_path, scripted(Script(diagnostics=diagnostics)), text, timeout=30)
    assert (report.verdict.value, how(report)) == (verdict, [proof])
    assert report.servers[0].version == 1
    assert not report.servers[0].timed_out
    assert report.path == tmp_path / "a.scr"


def test_an_edit_turns_the_verdict_and_back(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        broken = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
        fixed = ws.check("a.scr")
    assert (broken.verdict.value, broken.servers[0].version) == ("dirty", 2)
    assert (fixed.verdict.value, fixed.servers[0].version) == ("clean", 3)


def test_a_second_check_of_the_same_text_needs_no_news(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        first, second = ws.check("a.scr"), ws.check("a.scr", timeout=5)
    assert first.diagnostics == second.diagnostics
    assert second.verdict.dirty


def test_a_silent_server_is_unknown_within_the_timeout(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=NONE)), text="fine\n") as ws:
        ws.document_symbols("a.scr")
        began = time.monotonic()
        report = ws.check("a.scr", timeout=0.3)
        took = time.monotonic() - began
    assert report.verdict.unknown
    assert report.servers[0].timed_out
    assert report.servers[0].version is None
    assert "scripted" in report.why
    assert 0.25 < took < 5


def test_a_push_of_an_older_version_is_not_taken_for_the_new_text(tmp_path, scripted):
    silent_later = Fault(PUBLISH, "hang", nth=2, times=0)
    with workspace(tmp_path, scripted(Script(faults=[silent_later])), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        assert ws.check("a.scr", timeout=0.5).verdict.unknown


def test_the_last_push_of_a_burst_counts(tmp_path, scripted):
    """Some servers push what they find quickly, and the rest a little later."""
    uri = (tmp_path / "a.scr").as_uri()
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    found = {"range": place, "severity": 1, "message": "late"}
    params = {"uri": uri, "version": 1, "diagnostics": [found]}
    late = Say(
        "textDocument/didOpen", notification={"method": PUBLISH, "params": params}, seconds=0.1
    )
    with workspace(tmp_path, scripted(Script(say=[late])), text="fine\n") as ws:
        report = ws.check("a.scr", timeout=30)
        patient = ws.check("a.scr", timeout=30)
    assert patient.verdict.dirty
    assert report.verdict.dirty


def registering(seconds: float | None = None) -> Script:
    options = {"identifier": "dyn", "documentSelector": [{"pattern": "**/*.scr"}]}
    registration = {"id": "d", "method": PULL, "registerOptions": options}
    request = {"method": "client/registerCapability", "params": {"registrations": [registration]}}
    if seconds is None:
        say = Say("initialized", request=request, wait=True)
    else:
        say = Say("textDocument/didOpen", request=request, seconds=seconds)
    return Script(diagnostics=NONE, say=[say])


@pytest.mark.parametrize("seconds", [None, 0.2], ids=["at-once", "after-the-document-was-opened"])
def test_a_pull_that_is_registered_later_is_used(tmp_path, scripted, seconds):
    argv = scripted(registering(seconds))
    report = checked(tmp_path, argv, "ERROR\n", timeout=30)
    assert report.verdict.dirty
    assert how(report) == ["pull"]
    [asked] = Log.of(argv).messages(PULL)
    assert asked["params"]["identifier"] == "dyn"


def test_a_server_that_dies_during_a_check_is_named(tmp_path, scripted):
    argv = scripted(
        Script(diagnostics=NONE, faults=[Fault("textDocument/didOpen", "crash", code=3)])
    )
    report = checked(tmp_path, argv, "fine\n", timeout=30)
    assert report.verdict.unknown
    assert "exit status 3" in report.why


@pytest.mark.parametrize("code", [-32802, -32801, -32800])
def test_a_pull_that_the_server_gave_up_is_asked_again(tmp_path, scripted, code):
    gave_up = Fault(PULL, "error", code=code, message="again", nth=1)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[gave_up]))
    assert checked(tmp_path, argv, "ERROR\n", timeout=30).verdict.dirty


@pytest.mark.parametrize(
    "result",
    [
        42,
        "x",
        [],
        {"kind": "full", "items": 7},
        {"kind": "full", "items": [17]},
    ],
    ids=str,
)
def test_an_answer_to_a_pull_that_makes_no_sense_is_unknown(tmp_path, scripted, result):
    nonsense = Fault(PULL, "result", result=result)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[nonsense]))
    assert checked(tmp_path, argv, "ERROR\n", timeout=30).verdict.unknown


# Two servers


def two(folder: Path, first: list[str], second: list[str], **timing: Any) -> lspkit.Workspace:
    (folder / "a.scr").write_text("WARN and ERROR\n", encoding="utf-8")
    servers = {
        name: {"command": argv, "extensions": [".scr"], "proof": "pull"}
        for name, argv in (("first", first), ("second", second))
    }
    return lspkit.Workspace(folder, config={"lsp": servers, "timing": timing})


def test_findings_of_two_servers_are_one_with_both_names(tmp_path, scripted):
    with two(tmp_path, scripted(Script()), scripted(Script(encoding="utf-8"))) as ws:
        report = ws.check("a.scr", timeout=30)
    assert report.verdict.dirty
    assert [one.servers for one in report.diagnostics] == [("first", "second")] * 2


def test_a_silent_server_beside_a_clean_one_is_unknown(tmp_path, scripted):
    with two(tmp_path, scripted(Script()), scripted(Script(diagnostics=NONE))) as ws:
        ws.document_symbols("a.scr")
        dirty = ws.check("a.scr", timeout=0.6)
        clean = ws.check("a.scr", text="fine\n", timeout=0.6)
    assert dirty.verdict.dirty
    assert clean.verdict.unknown
    assert clean.why.startswith("second: ")


def test_a_broken_server_beside_a_clean_one_stays_unknown(tmp_path, scripted):
    crash = Script(faults=[Fault("textDocument/didOpen", "crash", code=3)])
    with two(tmp_path, scripted(Script()), scripted(crash)) as ws:
        assert ws.check("a.scr", text="fine\n", timeout=30).verdict.unknown
        assert ws.check("a.scr", text="fine\n", timeout=30).verdict.unknown


def test_a_missing_server_beside_a_clean_one_is_unknown(tmp_path, scripted):
    with two(tmp_path, scripted(Script()), ["/no/such/program"]) as ws:
        assert ws.check("a.scr", text="fine\n", timeout=30).verdict.unknown


@pytest.mark.parametrize("hung", ["first", "second"])
def test_what_one_server_found_is_told_while_another_still_starts(tmp_path, scripted, hung):
    starting = scripted(Script(faults=[Fault("initialize", "hang")]))
    servers = [starting, scripted(Script())]
    with two(tmp_path, *(servers if hung == "first" else servers[::-1])) as ws:
        assert ws.check("a.scr", timeout=4).verdict.dirty


def test_a_server_that_is_late_does_not_take_the_answer_of_another_away(tmp_path, scripted):
    late = scripted(Script(faults=[Fault("textDocument/documentSymbol", "hang")]))
    with two(tmp_path, late, scripted(Script()), requestTimeoutMs=400) as ws:
        found = ws.document_symbols("a.scr", text="def f\n")
    assert [one.name for one in found] == ["f"]


def test_the_cap_of_the_configuration_holds(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text="ERROR\n" * 5, diagnostics={"maxPerFile": 2}) as ws:
        assert "... and 3 more" in str(ws.check("a.scr"))


# Many files


def test_many_files_are_checked_together_and_those_without_a_server_are_unknown(tmp_path, scripted):
    delay = Fault(PULL, "delay", seconds=0.3)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[delay]))
    for number in range(100):
        text = "ERROR\n" if number % 10 == 0 else "fine\n"
        (tmp_path / f"f{number}.scr").write_text(text, encoding="utf-8")
    (tmp_path / "notes.unheard").touch()
    names = [*(f"f{number}.scr" for number in range(100)), "notes.unheard", "missing.scr"]
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        reports = ws.check_all(names, timeout=60)
    verdicts = [report.verdict.value for report in reports.values()]
    assert len(reports) == 102
    assert list(reports) == sorted(reports)
    assert (verdicts.count("dirty"), verdicts.count("clean")) == (10, 90)
    unknown = {path.name: report.why for path, report in reports.items() if report.verdict.unknown}
    assert set(unknown) == {"notes.unheard", "missing.scr"}
    assert ".unheard" in unknown["notes.unheard"]
    assert unknown["missing.scr"] == f"missing.scr does not exist in {tmp_path}"
    assert tmp_path / "missing.scr" in reports


def test_of_many_files_one_may_be_named_as_models_do(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    scripts(tmp_path, 2, "fine\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        reports = ws.check_all(["@f0.scr", "f1.scr", "@none.scr", "a\0b.scr"], timeout=60)
    assert [report.verdict.value for report in reports.values()] == [
        *("unknown", "clean", "clean", "unknown")
    ]
    assert reports[tmp_path / "none.scr"].why == f"@none.scr does not exist in {tmp_path}"


def test_of_many_files_those_that_are_not_begun_in_time_are_unknown_and_never_shown(
    tmp_path, scripted
):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[Fault(PULL, "hang")]))
    names = scripts(tmp_path, 3 * AT_ONCE, "fine\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        reports = ws.check_all(names, timeout=1)
        opened = [one for one in told(Log.of(argv)) if one.startswith("didOpen")]
    assert len(opened) <= AT_ONCE
    assert all(report.verdict.unknown for report in reports.values())
    assert sum(TOO_LATE in report.why for report in reports.values()) == 2 * AT_ONCE


def scripts(folder: Path, count: int, text: str) -> list[str]:
    """So many files with this text, each in one step: nobody sees one that is half written."""
    names = [f"f{number}.scr" for number in range(count)]
    for name in names:
        (folder / "draft").write_text(text, encoding="utf-8")
        (folder / "draft").replace(folder / name)
    return names


@pytest.mark.parametrize(
    ("diagnostics", "method"),
    [(Diagnostics(how="pull"), PULL), (Diagnostics(), PUBLISH)],
    ids=["asked for", "pushed"],
)
def test_many_files_are_under_way_at_the_same_time(tmp_path, scripted, diagnostics, method):
    # The server says nothing about any of them before it has something to say about all.
    together = Fault(method, "reverse", count=20)
    argv = scripted(Script(diagnostics=diagnostics, faults=[together]))
    names = scripts(tmp_path, 20, "ERROR\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        opened = ws.check_all(names, timeout=60)
    assert {report.verdict.value for report in opened.values()} == {"dirty"}


def test_many_edits_are_under_way_at_the_same_time(tmp_path, scripted):
    # As above. Where a server pushes, it is made to look again: how often is not known before.
    together = Fault(PULL, "reverse", count=20)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[together]))
    names = scripts(tmp_path, 20, "fine\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        opened = ws.check_all(names, timeout=60)
        scripts(tmp_path, 20, "ERROR\n")
        edited = ws.check_all(names, timeout=60)
    assert {report.verdict.value for report in opened.values()} == {"clean"}
    assert {report.verdict.value for report in edited.values()} == {"dirty"}


def test_all_edits_are_told_before_the_first_question(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    names = scripts(tmp_path, 20, "fine\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.check_all(names)
        before = len(Log.of(argv).messages())
        scripts(tmp_path, 20, "ERROR\n")
        ws.check_all(names)
        told = [one["method"] for one in Log.of(argv).messages()[before:]]
    said = [method for method in told if method in (CHANGE, PULL)]
    assert said == [CHANGE] * 20 + [PULL] * 20


def test_every_check_of_many_files_is_about_the_last_edit(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    names = scripts(tmp_path, 5, "fine.\n")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.check_all(names)
        # As quick as it goes, and all texts of one size: no time stamp tells them apart.
        for number in range(30):
            text, verdict = ("ERROR\n", "dirty") if number % 2 == 0 else ("fine.\n", "clean")
            scripts(tmp_path, 5, text)
            reports = ws.check_all(names)
            assert {one.verdict.value for one in reports.values()} == {verdict}, number


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scope": "projct"}, '"file" or "project", not \'projct\''),
        ({"severity": "wrning"}, "one of error warning info hint, not 'wrning'"),
    ],
)
def test_an_option_that_is_no_choice_is_refused_with_the_choices(tmp_path, options, words):
    (tmp_path / "main.scr").write_text("")
    with (
        lspkit.Workspace(tmp_path, trusted=True) as ws,
        pytest.raises(ValueError, match=words),
    ):
        ws.check("main.scr", **options)
