"""The other files of a project after a check of one: how far it reaches, and their own verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED
from lspkit.servers.definition_parts import Caveats, DocumentSync
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import (
    CHANGE,
    OPEN,
    PULL,
    WHOLE,
    asked,
    define,
    finding,
    full,
    messages_of,
    name_of,
    several,
    written_outside,
)
from tests.scripted import config_for, workspace

BY_PULL = Diagnostics(how="pull")
PROVIDER = {"interFileDependencies": True, "workspaceDiagnostics": True}


def elsewhere(report: lspkit.Report) -> dict[str, list[str]]:
    """What was found in the other files, by their names."""
    found = report.other_files.diagnostics
    return {Path(path).name: [one.message for one in all] for path, all in found.items()}


def project(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.scr").write_text(text, encoding="utf-8")


def test_nothing_is_said_of_other_files_where_nobody_asked(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    project(tmp_path, b="ERROR\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr")
        assert asked(Log.of(argv)) == ["a.scr"]
    assert report.other_files.coverage == "none"
    assert report.other_files.verdict.unknown


@pytest.mark.parametrize("how", ["push", "pull"])
def test_every_open_document_is_judged_after_the_change(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    project(tmp_path, b="NEED greet\n", c="fine\n")
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        for name in ("a.scr", "b.scr", "c.scr"):
            ws.check(name)
        before = ws.check("a.scr", scope="project")
        (tmp_path / "a.scr").write_text("def meet\n", encoding="utf-8")
        after = ws.check("a.scr", scope="project")
    assert before.other_files.coverage == after.other_files.coverage == "open"
    assert (before.other_files.verdict.value, elsewhere(before)) == ("clean", {})
    assert after.own_verdict.clean
    assert after.other_files.verdict.dirty
    assert elsewhere(after) == {"b.scr": ["NEED greet"]}


def test_a_file_that_is_not_open_is_never_asked_about(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    project(tmp_path, b="fine\n", c="ERROR\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
        log = Log.of(argv)
        assert asked(log) == ["a.scr", "b.scr"]
        assert "c.scr" not in asked(log, OPEN)
    assert report.other_files.verdict.clean
    assert elsewhere(report) == {}


def test_a_file_that_was_closed_is_not_asked_about_either(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("new.scr", text="ERROR\n")
        Log.of(argv).wait_for_message("textDocument/didClose")
        report = ws.check("a.scr", scope="project")
        assert asked(Log.of(argv)) == ["new.scr", "a.scr"]
    assert report.other_files.verdict.clean


def test_a_file_alone_has_nothing_wrong_elsewhere(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="ERROR\n") as ws:
        report = ws.check("a.scr", scope="project")
    assert report.verdict.dirty
    assert (report.other_files.coverage, report.other_files.verdict.value) == ("open", "clean")


def test_no_answer_about_another_file_makes_only_the_other_verdict_unknown(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang", nth=2)]))
    project(tmp_path, b="fine\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project", timeout=3)
    assert report.own_verdict.clean
    assert report.other_files.verdict.unknown


@pytest.mark.parametrize(
    "fault", [Fault("initialize", "hang"), Fault(OPEN, "crash", code=3)], ids=["starting", "dead"]
)
def test_where_the_server_does_not_look_the_others_are_not_clean(tmp_path, scripted, fault):
    argv = scripted(Script(diagnostics=BY_PULL, faults=[fault]))
    project(tmp_path, b="ERROR\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", scope="project", timeout=2)
    assert report.verdict.unknown
    assert report.other_files.verdict.unknown


def test_where_one_of_the_servers_is_missing_the_others_are_not_clean(tmp_path, scripted):
    project(tmp_path, a="fine\n", b="fine\n")
    servers = {
        name: {"command": argv, "extensions": [".scr"], "proof": "pull"}
        for name, argv in (
            ("there", scripted(Script(diagnostics=BY_PULL))),
            ("missing", ["/no/such/program"]),
        )
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
    assert report.verdict.unknown
    assert report.other_files.verdict.unknown


def test_findings_that_do_not_count_leave_the_other_files_clean(tmp_path, scripted):
    project(tmp_path, b="WARN\n")
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="fine\n") as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
    assert report.other_files.verdict.clean
    assert elsewhere(report) == {"b.scr": ["WARN"]}


@pytest.mark.parametrize("how", ["push", "pull"])
def test_the_others_are_judged_by_the_text_of_the_call(tmp_path, scripted, how, monkeypatch):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved="opened"))
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    project(tmp_path, b="NEED greet\n")
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        for name in ("a.scr", "b.scr"):
            ws.check(name)
        draft = ws.check("a.scr", text="def meet\n", scope="project")
        on_disk = ws.check("a.scr", scope="project")
    assert draft.other_files.verdict.dirty
    assert elsewhere(draft) == {"b.scr": ["NEED greet"]}
    assert on_disk.other_files.verdict.clean


# A server that tells about the whole project


def telling(*entries: dict[str, Any], **more: Any) -> Script:
    """Answers a question about the whole project with these reports."""
    return Script(
        diagnostics=BY_PULL,
        capabilities={"diagnosticProvider": PROVIDER},
        answers={WHOLE: {"items": list(entries)}},
        **more,
    )


def entry(path: Path, *found: dict[str, Any]) -> dict[str, Any]:
    return {"uri": path.as_uri(), "version": None, **full(*found)}


def test_a_server_that_can_is_asked_about_the_whole_project(tmp_path, scripted):
    project(tmp_path, b="fine\n", c="wrong\n")
    entries = [
        entry(tmp_path / "a.scr", finding("mine")),
        entry(tmp_path / "b.scr"),
        entry(tmp_path / "c.scr", finding("over there")),
    ]
    argv = scripted(telling(*entries))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
        methods = [message.get("method") for message in Log.of(argv).messages()]
        assert asked(Log.of(argv)) == ["a.scr"]
    assert methods.index(WHOLE) > methods.index(PULL)
    assert report.own_verdict.clean
    assert report.other_files.coverage == "workspace"
    assert report.other_files.verdict.dirty
    assert elsewhere(report) == {"c.scr": ["over there"]}


@pytest.mark.parametrize("is_open", [False, True])
def test_findings_about_the_whole_project_have_the_columns_of_each_file(
    tmp_path, scripted, is_open
):
    project(tmp_path, b="import nothing\nx = '🙂🙂' + y\n")
    # In UTF-16 each emoji counts twice.
    found = [finding("no module", 0, 7, 14), finding("no y", 1, 11, 12)]
    argv = scripted(telling(entry(tmp_path / "b.scr", *found)))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        if is_open:
            ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
    [diagnostics] = report.other_files.diagnostics.values()
    assert {one.message: str(one.range) for one in diagnostics} == {
        "no module": "1:8-1:15",
        "no y": "2:10-2:11",
    }


def test_a_search_for_dependents_that_hangs_leaves_time_for_the_check(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL, faults=[Fault("textDocument/references", "hang")]))
    with workspace(tmp_path, argv, text="def greet\nERROR\n") as ws:
        report = ws.check("a.scr", scope="project", timeout=8)
        assert Log.of(argv).messages("textDocument/references")
    assert report.verdict.dirty
    assert [one.message for one in report.diagnostics] == ["ERROR"]
    assert report.other_files.verdict.unknown


@pytest.mark.parametrize("hangs", [False, True])
def test_what_a_server_tells_in_parts_counts_also_if_it_comes_to_no_end(tmp_path, scripted, hangs):
    project(tmp_path, b="wrong\n", c="wrong\n")
    parts = [entry(tmp_path / name, finding(f"in {name}")) for name in ("b.scr", "c.scr")]
    said = [
        {"method": "$/progress", "params": {"token": "lspkit-1", "value": {"items": [one]}}}
        for one in parts
    ]
    says = [Say(WHOLE, notification=one) for one in said]
    faults = [Fault(WHOLE, "hang")] if hangs else []
    argv = scripted(telling(say=says, faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", scope="project", timeout=3 if hangs else 60)
        [message] = Log.of(argv).messages(WHOLE)
    assert message["params"] == {
        # Who tells only what is new has to answer, also if there is nothing to tell.
        "previousResultIds": [{"uri": (tmp_path / "a.scr").as_uri(), "value": "lspkit"}],
        "partialResultToken": "lspkit-1",
    }
    assert elsewhere(report) == {"b.scr": ["in b.scr"], "c.scr": ["in c.scr"]}
    assert report.other_files.verdict.value == "dirty"


def test_a_whole_project_without_findings_is_clean(tmp_path, scripted):
    project(tmp_path, b="fine\n")
    argv = scripted(telling(entry(tmp_path / "b.scr")))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
    assert (others.coverage, others.verdict.value, others.diagnostics) == ("workspace", "clean", {})


@pytest.mark.parametrize(
    "fault",
    [
        Fault(WHOLE, "error", message="no"),
        Fault(WHOLE, "hang"),
        Fault(WHOLE, "result", result={"items": [17]}),
        Fault(WHOLE, "result", result=17),
        Fault(WHOLE, "result", result={"items": 17}),
        Fault(WHOLE, "result", result={"items": [{"uri": "file:///a", "kind": "busy"}]}),
    ],
    ids=["refused", "never", "nonsense", "no-answer", "no-list", "no-report"],
)
def test_a_project_that_nobody_tells_about_is_unknown(tmp_path, scripted, fault):
    argv = scripted(telling(faults=[fault]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", scope="project", timeout=3)
    assert report.own_verdict.clean
    assert report.other_files.verdict.unknown


def test_an_answer_by_registration_is_asked_for_as_well(tmp_path, scripted):
    argv = scripted(several("types", whole=True, answers={WHOLE: {"items": []}}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr", scope="project").other_files.coverage == "workspace"
        assert len(Log.of(argv).messages(WHOLE)) == 1


def test_a_definition_may_say_that_a_server_is_not_to_be_asked(tmp_path, scripted, monkeypatch):
    define(monkeypatch, OFFERED, caveats=Caveats(workspace_pull=False))
    argv = scripted(telling())
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr", scope="project").other_files.coverage == "open"
        assert Log.of(argv).messages(WHOLE) == []


def test_of_two_servers_the_one_that_sees_less_sets_the_coverage(tmp_path, scripted):
    project(tmp_path, a="fine\n", b="ERROR\n", c="wrong\n")
    whole = scripted(telling(entry(tmp_path / "c.scr", finding("over there"))))
    servers = {
        name: {"command": argv, "extensions": [".scr"], "proof": "pull"}
        for name, argv in (("whole", whole), ("open", scripted(Script(diagnostics=BY_PULL))))
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.document_symbols("b.scr")
        report = ws.check("a.scr", scope="project")
    assert report.other_files.coverage == "open"
    assert elsewhere(report) == {"b.scr": ["ERROR"], "c.scr": ["over there"]}


# Files that change while nobody looks


@pytest.mark.parametrize("how", ["push", "pull"])
def test_after_a_call_with_its_own_text_the_others_are_judged_by_the_disk(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    project(tmp_path, b="NEED greet\n")
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        for name in ("a.scr", "b.scr"):
            ws.check(name)
        ws.check("a.scr", text="def meet\n")
        assert ws.check("b.scr").verdict.clean


def test_an_open_document_that_another_process_has_changed_is_judged_as_it_is(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    project(tmp_path, b="fine\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("b.scr")
        (tmp_path / "b.scr").write_text("ERROR\n", encoding="utf-8")
        report = ws.check("a.scr", scope="project")
    assert report.own_verdict.clean
    assert elsewhere(report) == {"b.scr": ["ERROR"]}


def test_an_open_document_that_is_gone_is_no_other_file(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    project(tmp_path, b="ERROR\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("b.scr")
        (tmp_path / "b.scr").unlink()
        report = ws.check("a.scr", scope="project")
    assert report.other_files.verdict.clean
    assert elsewhere(report) == {}


@pytest.mark.parametrize("how", ["push", "pull"])
def test_nothing_is_known_any_more_about_a_file_that_is_gone(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    project(tmp_path, b="ERROR\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("b.scr").verdict.dirty
        (tmp_path / "b.scr").unlink()
        ws.check("a.scr")
        ws.document_symbols("a.scr")  # behind whatever the server says of its own accord
        assert ws.diagnostics() == {}


def test_all_that_is_said_about_others_costs_them_at_most_one_look(tmp_path, scripted):
    argv = scripted(Script())
    names = [f"f{number}" for number in range(5)]
    project(tmp_path, **dict.fromkeys(names, "fine\n"))
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.check_all([f"{name}.scr" for name in names])
        written_outside(tmp_path / "f0.scr", "fine again\n")
        report = ws.check("f0.scr", scope="project")
        changed = [name_of(message) for message in Log.of(argv).messages(CHANGE)]
    assert report.other_files.verdict.clean
    # The changed file itself is shown with its text before the change, too.
    assert sorted(set(changed)) == [f"{name}.scr" for name in names]
    assert sorted(one for one in changed if one != "f0.scr") == [f"{one}.scr" for one in names[1:]]
    assert messages_of(report) == []


def test_two_checks_of_a_project_do_not_wait_for_each_other(tmp_path, scripted):
    slow = Fault(PULL, "delay", seconds=0.3)  # both have begun before either looks at the other's
    argv = scripted(Script(diagnostics=BY_PULL, faults=[slow]))
    project(tmp_path, b="fine\n")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        for name in ("a.scr", "b.scr"):
            ws.check(name)
        checks = [
            ws.submit(ws.check, name, scope="project", timeout=20) for name in ("a.scr", "b.scr")
        ]
        reports = [check.result() for check in checks]
    assert [one.other_files.verdict.value for one in reports] == ["clean", "clean"]
    assert not any(evidence.timed_out for one in reports for evidence in one.servers)
