"""The proof rules of definitions: what makes findings fresh, where a version or a pull does not."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal
from lspkit.servers.definition_parts import Caveats, DiskReactions
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, progress
from tests.runtime.server_log import (
    CHANGE,
    OPEN,
    POKE,
    PULL,
    SAVE,
    adapter_with,
    finding,
    messages_of,
    name_of,
    published,
    told,
    written_outside,
)
from tests.scripted import workspace

SYMBOLS = "textDocument/documentSymbol"
COMMAND = "workspace/executeCommand"
#: Looks at files when they are saved, and says when it is at work.
BUILD = ProofRule(how="progress", source="build", token="build", sees="disk")
#: Publishes before it answers the next question.
BARRIER = ProofRule(how="ordered", ask=SYMBOLS)
QUIET = ProofRule(how="quiet", debounce=0.1)
TRUSTED = ProofRule(how="quiet", debounce=0.1, trusted=True)
VERSION = ProofRule(how="version", single=True)
NO_VERSION = Diagnostics(version=False)
ON_SAVE = Diagnostics(on=["save"])


def undescribed(argv: list[str], **more: Any) -> dict[str, Any]:
    """The configuration of the scripted server, without a word about its proofs."""
    return {"scripted": {"command": argv, "extensions": [".scr"], **more}}


def work(kind: str, token: str = "build/1") -> dict[str, Any]:
    """A piece of work begins or ends."""
    value = {"kind": kind, "title": "Building"}
    return {"method": "$/progress", "params": {"token": token, "value": value}}


def ways(report: lspkit.Report) -> list[tuple[str, str]]:
    return [(one.source, one.how) for one in report.servers]


# By progress


def test_work_that_began_after_the_save_and_ended_is_a_proof(tmp_path, scripted, rules):
    rules(BUILD)
    argv = scripted(Script(diagnostics=ON_SAVE, say=progress("build/1", when=SAVE, seconds=0)))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        first = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        broken = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("fine again\n", encoding="utf-8")
        fixed = ws.check("a.scr")
    assert [one.verdict.value for one in (first, broken, fixed)] == ["clean", "dirty", "clean"]
    assert ways(first) == ways(broken) == ways(fixed) == [("build", "progress")]


def test_the_verdict_waits_for_the_end_of_the_work(tmp_path, scripted, rules):
    rules(BUILD)
    late = published(tmp_path / "a.scr", finding("late"), version=1)
    say = [
        Say(SAVE, notification=work("begin")),
        Say(POKE, notification=late),
        Say(POKE, notification=work("end")),
    ]
    argv = scripted(Script(diagnostics=ON_SAVE, say=say, answers={POKE: None}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        checking = ws.submit(ws.check, "a.scr")
        ws.wait_for_change(0, timeout=30)  # it has said that the file is in order
        assert not checking.done()
        ws.request("a.scr", POKE)
        assert messages_of(checking.result(30)) == ["late"]


def test_work_that_began_before_the_save_proves_nothing(tmp_path, scripted, rules):
    rules(BUILD)
    say = [Say(OPEN, notification=work("begin")), Say(SAVE, notification=work("end"))]
    argv = scripted(Script(diagnostics=ON_SAVE, say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("a.scr")
        (tmp_path / "a.scr").write_text("fine again\n", encoding="utf-8")
        report = ws.check("a.scr", timeout=1)
    assert report.verdict.unknown
    [evidence] = report.servers
    assert (evidence.how, evidence.timed_out) == ("none", True)
    assert report.why == "scripted: build did not finish in time"


def test_other_work_proves_nothing(tmp_path, scripted, rules):
    rules(BUILD)
    argv = scripted(Script(diagnostics=ON_SAVE, say=progress("index", when=SAVE, seconds=0)))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr", timeout=1).verdict.unknown


def test_what_sees_the_disk_is_not_asked_about_another_text(tmp_path, scripted, rules):
    rules(VERSION, BUILD)
    argv = scripted(Script(say=progress("build/1", when=SAVE, seconds=0)))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        draft = ws.check("a.scr", text="fine\n")
        on_disk = ws.check("a.scr")
    assert draft.verdict.clean
    assert ways(draft) == [("", "version"), ("build", "not applicable")]
    assert draft.why == ""
    assert ways(on_disk) == [("", "version"), ("build", "progress")]


def test_a_text_that_nobody_can_judge_is_not_clean(tmp_path, scripted, rules):
    rules(BUILD)
    with workspace(tmp_path, scripted(Script(diagnostics=ON_SAVE)), text="fine\n") as ws:
        report = ws.check("a.scr", text="fine\n", timeout=5)
    assert report.verdict.unknown
    assert [one.applies for one in report.servers] == [False]


# By order


def test_an_answer_that_comes_after_the_pushes_is_a_proof(tmp_path, scripted, rules):
    rules(BARRIER)
    argv = scripted(Script(diagnostics=NO_VERSION))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        clean = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        dirty = ws.check("a.scr")
        order = [message["method"] for message in Log.of(argv).messages()][-3:]
    assert (clean.verdict.value, dirty.verdict.value) == ("clean", "dirty")
    assert ways(clean) == ways(dirty) == [("", "ordered")]
    assert order == [CHANGE, SAVE, SYMBOLS]


def test_what_is_pushed_just_before_the_answer_counts(tmp_path, scripted, rules):
    rules(BARRIER)
    late = Say(SYMBOLS, notification=published(tmp_path / "a.scr", finding("late")))
    argv = scripted(Script(diagnostics=NO_VERSION, say=[late]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert messages_of(ws.check("a.scr")) == ["late"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (Script(faults=[Fault(SYMBOLS, "error", message="no")]), "refused"),
        (Script(faults=[Fault(SYMBOLS, "hang")]), "did not answer"),
        (Script(diagnostics=Diagnostics(how="none")), "published nothing"),
    ],
    ids=["refused", "never", "nothing-published"],
)
def test_without_that_answer_or_without_pushes_it_is_unknown(
    tmp_path, scripted, rules, script, why
):
    rules(BARRIER)
    with workspace(tmp_path, scripted(script), text="fine\n") as ws:
        ws.hover("a.scr", 1, 1)
        report = ws.check("a.scr", timeout=1)
    assert report.verdict.unknown
    assert why in report.why


def typescript(text: str, category: str = "error") -> dict[str, Any]:
    """A finding of TypeScript's own server."""
    place = {"start": {"line": 1, "offset": 1}, "end": {"line": 1, "offset": 5}}
    return {**place, "text": text, "category": category, "code": 2304}


def test_typescripts_own_answers_are_put_together(tmp_path, scripted, rules):
    rules(ProofRule(how="ordered", ask="tsserver"))
    bodies = [[typescript("syntax")], [typescript("types")], [typescript("hint", "suggestion")]]
    faults = [
        Fault(COMMAND, "result", nth=number, result={"success": True, "body": body})
        for number, body in enumerate(bodies, 1)
    ]
    clean = {"success": True, "body": []}
    argv = scripted(Script(diagnostics=NO_VERSION, faults=faults, answers={COMMAND: clean}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        dirty = ws.check("a.scr")
        known = ws.diagnostics()
        again = ws.check("a.scr")
        forgotten = ws.diagnostics()
    assert messages_of(dirty) == ["hint", "syntax", "types"]
    assert dirty.verdict.dirty
    assert ways(dirty) == [("", "ordered")]
    assert known == {tmp_path / "a.scr": dirty.diagnostics}
    assert again.verdict.clean
    assert forgotten == {}


def test_an_answer_of_typescripts_own_server_that_is_none_is_unknown(tmp_path, scripted, rules):
    rules(ProofRule(how="ordered", ask="tsserver"))
    clean, failed = {"success": True, "body": []}, {"success": False, "message": "No Project"}
    argv = scripted(
        Script(
            diagnostics=NO_VERSION,
            faults=[Fault(COMMAND, "result", nth=2, result=failed)],
            answers={COMMAND: clean},
        )
    )
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.unknown
        assert ws.check("a.scr").verdict.clean


# By silence


@pytest.mark.parametrize(
    ("rule", "text", "verdict", "how"),
    [
        (TRUSTED, "fine\n", "clean", "silence"),
        (TRUSTED, "ERROR\n", "dirty", "silence"),
        (QUIET, "fine\n", "unknown", "quiet"),
        (QUIET, "ERROR\n", "dirty", "quiet"),
    ],
    ids=["trusted-clean", "trusted-dirty", "clean", "dirty"],
)
def test_silence_after_a_push_proves_as_much_as_it_is_trusted(
    tmp_path, scripted, rules, rule, text, verdict, how
):
    rules(rule)
    with workspace(tmp_path, scripted(Script(diagnostics=NO_VERSION)), text=text) as ws:
        report = ws.check("a.scr")
    assert (report.verdict.value, ways(report)) == (verdict, [("", how)])


def test_a_server_of_the_table_keeps_its_rule_when_it_is_configured(tmp_path, scripted):
    (tmp_path / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    config = {"lsp": {"yaml": {"command": scripted(Script(diagnostics=NO_VERSION))}}}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        report = ws.check("a.yaml")
    assert report.verdict.clean
    assert ways(report) == [("", "silence")]


@pytest.mark.parametrize(("alone", "version"), [(True, 1), (False, 2)])
def test_a_push_from_before_another_change_counts_only_where_files_stand_alone(
    tmp_path, scripted, rules, alone, version
):
    rules(ProofRule(how="quiet", debounce=0.1, trusted=True, alone=alone))
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script(diagnostics=NO_VERSION)), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        ws.document_symbols("b.scr")
        (tmp_path / "b.scr").write_text("new\n", encoding="utf-8")
        report = ws.check("a.scr")
    assert report.verdict.clean
    assert report.servers[0].version == version  # another one: it was made to look again


# Looking again


def test_after_a_change_elsewhere_a_document_is_looked_at_again(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "b.scr").write_text("def greet\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="NEED greet\n") as ws:
        ws.document_symbols("b.scr")
        before = ws.check("a.scr")
        (tmp_path / "b.scr").write_text("def meet\n", encoding="utf-8")
        after, again = ws.check("a.scr"), ws.check("a.scr")
        changes = [one for one in Log.of(argv).messages(CHANGE) if name_of(one) == "a.scr"]
    assert before.verdict.clean
    assert (after.verdict.value, messages_of(after)) == ("dirty", ["NEED greet"])
    assert [one.servers[0].version for one in (before, after, again)] == [1, 2, 2]
    nowhere = {"line": 0, "character": 0}
    [change] = changes
    assert change["params"]["textDocument"]["version"] == 2
    assert change["params"]["contentChanges"] == [
        {"range": {"start": nowhere, "end": nowhere}, "text": ""}
    ]
    assert Log.of(argv).complaints() == []


def test_a_document_that_is_merely_opened_is_no_change(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "b.scr").write_text("def greet\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        ws.document_symbols("b.scr")
        assert ws.check("a.scr").verdict.clean
        assert told(Log.of(argv)) == ["didOpen a.scr", "didOpen b.scr"]


@pytest.mark.parametrize(("name", "version"), [("unopened.scr", 2), ("notes.txt", 2)])
def test_a_change_on_disk_that_the_server_may_have_read_makes_it_look_again(
    tmp_path, scripted, name, version
):
    (tmp_path / name).write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        assert ws.check("a.scr").servers[0].version == 1
        written_outside(tmp_path / name, "new\n")
        after = ws.check("a.scr")
    assert (after.verdict.value, after.servers[0].version) == ("clean", version)


@pytest.mark.parametrize(("how", "method"), [("touch", CHANGE), ("reload", COMMAND)])
def test_a_server_that_does_not_look_at_the_disk_by_itself_is_made_to(
    tmp_path, scripted, rules, how, method
):
    rules(ProofRule(how="pull"), disk=DiskReactions(looks_again=how))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), answers={COMMAND: None}))
    (tmp_path / "unopened.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "unopened.scr", "new\n")
        assert [ws.check("a.scr").verdict.value for _ in range(2)] == ["clean"] * 2
        methods = [message.get("method") for message in Log.of(argv).messages()]
    assert [one for one in methods if one in (PULL, CHANGE, COMMAND)] == [PULL, method, PULL, PULL]


def test_what_an_adapter_says_with_a_change_and_with_a_second_look_is_sent(
    tmp_path, scripted, rules
):
    rules(
        VERSION,
        adapter=adapter_with(change_params={"want": True}, touch_params={"rebuild": True}),
    )
    argv = scripted(Script())
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        ws.check("a.scr")
        (tmp_path / "b.scr").write_text("new\n", encoding="utf-8")
        assert ws.check("a.scr").verdict.clean
        params = {name_of(one): one["params"] for one in Log.of(argv).messages(CHANGE)}
    assert (params["b.scr"]["want"], params["b.scr"].get("rebuild")) == (True, None)
    assert (params["a.scr"]["want"], params["a.scr"].get("rebuild")) == (True, True)
    assert params["a.scr"]["contentChanges"] == [{"text": "fine\n"}]


# Doubts

STATE = "scripted/state"


@pytest.mark.parametrize("how", ["push", "pull"])
def test_a_server_that_doubts_itself_is_not_believed_until_it_does_no_more(
    tmp_path, scripted, rules, how
):
    rules(ProofRule(), caveats=Caveats(doubts=(Signal(STATE, {"broken": True}),)))
    about = {"uri": (tmp_path / "a.scr").as_uri()}
    doubt = {"method": STATE, "params": {**about, "broken": True, "message": "no settings"}}
    lifted = {"method": STATE, "params": {**about, "broken": False}}
    say = [Say(OPEN, notification=doubt), Say(CHANGE, notification=lifted)]
    argv = scripted(Script(diagnostics=Diagnostics(how=how), say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        doubted = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("fine again\n", encoding="utf-8")
        believed = ws.check("a.scr")
    assert doubted.verdict.unknown
    assert doubted.why == "scripted: scripted/state: no settings"
    assert believed.verdict.clean


def test_a_doubt_may_be_told_by_a_part_of_what_is_said_to_people(tmp_path, scripted, rules):
    rules(ProofRule(), caveats=Caveats(doubts=(Signal(STATE, contains="cannot build"),)))
    say = [
        Say(OPEN, notification={"method": STATE, "params": {"message": "Sorry: cannot build: no"}}),
        Say(CHANGE, notification={"method": STATE, "params": {"message": None}}),
    ]
    with workspace(tmp_path, scripted(Script(say=say)), text="fine\n") as ws:
        doubted = ws.check("a.scr")
        believed = ws.check("a.scr", text="fine again\n")
    assert (doubted.verdict.value, believed.verdict.value) == ("unknown", "clean")


def test_a_server_that_doubts_itself_by_a_piece_of_work_is_not_believed_while_it_lasts(
    tmp_path, scripted, rules
):
    def note(**value):
        params = {"token": "1", "value": value}
        return {"method": "$/progress", "params": params}

    rules(ProofRule(), caveats=Caveats(doubts=(Signal("$/progress", {"title": "Cannot load"}),)))
    begin, end = note(kind="begin", title="Cannot load"), note(kind="end")
    say = [Say(OPEN, notification=begin), Say(CHANGE, notification=end)]
    with workspace(tmp_path, scripted(Script(say=say)), text="fine\n") as ws:
        doubted = ws.check("a.scr")
        believed = ws.check("a.scr", text="fine again\n")
    assert doubted.verdict.unknown
    assert doubted.why == "scripted: it says: Cannot load"
    assert believed.verdict.clean


@pytest.mark.parametrize(
    ("about", "verdict"), [({"uri": "file:///other.scr"}, "clean"), ({}, "unknown")], ids=str
)
def test_a_doubt_is_about_the_file_that_it_names_or_about_all(
    tmp_path, scripted, rules, about, verdict
):
    rules(ProofRule(), caveats=Caveats(doubts=(Signal(STATE),)))
    say = Say(OPEN, notification={"method": STATE, "params": {"textDocument": about}})
    with workspace(tmp_path, scripted(Script(say=[say])), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.value == verdict


# By a pull


def test_an_empty_pull_proves_nothing_until_somebody_says_so(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text="fine\n", lsp=undescribed(argv)) as ws:
        clean = ws.check("a.scr")
        dirty = ws.check("a.scr", text="ERROR\n")
    assert clean.verdict.unknown
    assert 'set lsp.scripted.proof to "pull"' in clean.why
    assert dirty.verdict.dirty
    with workspace(tmp_path, argv, text="fine\n", lsp=undescribed(argv, proof="pull")) as ws:
        assert ws.check("a.scr").verdict.clean


def test_what_is_published_about_the_text_counts_beside_an_empty_pull(tmp_path, scripted):
    empty = {"kind": "full", "items": []}
    say = [Say(PULL, notification=published(tmp_path / "a.scr", finding("pushed"), version=1))]
    pulls = {"diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": False}}
    argv = scripted(
        Script(
            capabilities=pulls,
            diagnostics=Diagnostics(how="none"),
            say=say,
            answers={PULL: empty},
        )
    )
    with workspace(tmp_path, argv, text="fine\n", lsp=undescribed(argv)) as ws:
        report = ws.check("a.scr")
    assert report.verdict.dirty
    assert messages_of(report) == ["pushed"]


def test_versions_count_for_a_server_whose_pulls_are_known_to_be_empty(tmp_path, scripted):
    argv = scripted(
        Script(
            capabilities={"diagnosticProvider": {"workspaceDiagnostics": False}},
            answers={PULL: {"kind": "full", "items": []}},
        )
    )
    with workspace(tmp_path, argv, text="fine\n", lsp=undescribed(argv, proof="version")) as ws:
        clean = ws.check("a.scr")
        dirty = ws.check("a.scr", text="ERROR\n")
        assert Log.of(argv).messages(PULL) == []
    assert ways(clean) == [("", "version")]
    assert (clean.verdict.value, dirty.verdict.value) == ("clean", "dirty")


def test_a_request_is_answered_between_the_text_and_the_pull(tmp_path, scripted, rules):
    rules(ProofRule(how="pull", ask=SYMBOLS))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        report = ws.check("a.scr", text="ERROR\n")
        sent = [message["method"] for message in Log.of(argv).messages()]
    assert report.verdict.dirty
    at = sent.index(CHANGE)
    assert sent[at : at + 3] == [CHANGE, SYMBOLS, PULL]
