"""Several servers for one file, of which some fail: the answer is partial, and says who."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

import lspkit
from lspkit.agent import Toolbox
from lspkit.testing import Diagnostics, Fault, Say, Script
from tests.agent.tools.calling import PLACE, TEXT, able, check_form, codes, served
from tests.scripted import config_for

HOVER = "textDocument/hover"


@contextmanager
def two(folder, first, second):
    """A toolbox whose one file has two servers, `scripted` and `second`."""
    (folder / "a.scr").write_text(TEXT, encoding="utf-8")
    config = config_for(first)
    config["lsp"]["second"] = {"command": second, "extensions": [".scr"]}
    with lspkit.Workspace(folder, config=config) as ws:
        yield Toolbox(ws)


def test_all_servers_that_answer_count(tmp_path, scripted):
    with two(tmp_path, scripted(able(tmp_path)), scripted(able(tmp_path))) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
        symbols = toolbox.call({"operation": "workspaceSymbol", "query": "gr"})
    for one in (envelope, symbols):
        assert one["meta"]["serverHits"] == 2
        assert not one["meta"]["partial"]


@pytest.mark.parametrize(
    ("fault", "code", "late"),
    [
        (Fault(HOVER, "hang"), "ETIMEDOUT", True),
        (Fault(HOVER, "error", message="not today"), "ELSP", False),
        (Fault(HOVER, "crash", code=3), "EBROKEN", False),
        (Fault("initialize", "crash"), "EUNAVAILABLE", False),
    ],
)
def test_a_server_that_fails_beside_one_that_answers_is_named(
    tmp_path, scripted, fault, code, late
):
    with two(tmp_path, scripted(Script()), scripted(Script(faults=[fault]))) as toolbox:
        answer = toolbox.answer("lsp_hover", PLACE, timeout=3)
    envelope = answer.envelope
    check_form(envelope)
    assert envelope["ok"]
    assert envelope["data"]["contents"] == ["def greet"]
    assert envelope["meta"]["partial"]
    assert envelope["meta"]["timedOut"] is late
    assert envelope["meta"]["serverHits"] == 1
    assert [(one["serverId"], one["code"]) for one in envelope["errors"]] == [("second", code)]
    assert answer.text.splitlines()[0] == "> def greet"
    assert answer.text.splitlines()[1].startswith("Note: second did not answer")


def test_nothing_found_beside_a_missing_program_is_not_nothing_at_all(tmp_path, scripted):
    told = {HOVER: None}
    with two(tmp_path, scripted(Script(answers=told)), ["no-such-program-anywhere"]) as toolbox:
        answer = toolbox.answer("lsp_hover", PLACE)
    assert answer.envelope["meta"]["partial"]
    assert answer.envelope["meta"]["empty"]
    assert codes(answer.envelope) == ["EUNAVAILABLE"]
    assert answer.text.startswith(
        "No results found.\nNote: second did not answer, or not in full: "
    )


def test_a_server_that_cannot_do_a_thing_has_not_failed(tmp_path, scripted):
    unable = Script(capabilities={"hoverProvider": None})
    with two(tmp_path, scripted(Script()), scripted(unable)) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
    assert envelope["meta"]["serverHits"] == 1
    assert not envelope["meta"]["partial"]
    assert envelope["errors"] == []


def linted(folder, scripted, trusted):
    """A workspace with a type checker, and a linter that is held back or ends at its start."""
    (folder / "a.js").write_text(TEXT, encoding="utf-8")
    (folder / "eslint.config.js").touch()
    (folder / "jsconfig.json").write_text("{}")
    ends = Script(faults=[Fault("initialize", "crash", code=3)])
    lsp = {
        "vtsls": {"command": scripted(Script())},
        "typescript": {"disabled": True},
        "eslint": {"command": scripted(ends)},
        "biome": {"disabled": True},
        "oxlint": {"disabled": True},
    }
    return lspkit.Workspace(folder, config={"lsp": lsp}, trusted=trusted)


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        {"operation": "hover", **PLACE},
        {"operation": "goToDefinition", **PLACE},
        {"operation": "workspaceSymbol", "query": "gr"},
    ],
    ids=lambda asked: asked["operation"],
)
def test_a_linter_that_does_not_run_has_not_failed_to_navigate(tmp_path, scripted, asked, trusted):
    with linted(tmp_path, scripted, trusted) as ws:
        envelope = Toolbox(ws).call({**asked, "filePath": "a.js"})
    assert envelope["ok"]
    assert envelope["errors"] == []
    assert not envelope["meta"]["partial"]


@pytest.mark.parametrize("trusted", [False, True])
def test_but_it_has_failed_to_find_anything(tmp_path, scripted, trusted):
    with linted(tmp_path, scripted, trusted) as ws:
        assert ws.check("a.js").verdict.unknown


def test_where_all_fail_each_is_named(tmp_path, scripted):
    first = Script(faults=[Fault(HOVER, "error", message="not today")])
    second = Script(faults=[Fault(HOVER, "error", message="never")])
    with two(tmp_path, scripted(first), scripted(second)) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
    check_form(envelope)
    assert not envelope["ok"]
    assert not envelope["meta"]["partial"]
    assert [one["serverId"] for one in envelope["errors"]] == ["scripted", "second"]


def test_a_server_whose_answer_makes_no_sense_has_failed(tmp_path, scripted):
    nonsense = Script(answers={HOVER: 42})
    with two(tmp_path, scripted(Script()), scripted(nonsense)) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
    check_form(envelope)
    assert envelope["data"]["contents"] == ["def greet"]
    assert (envelope["meta"]["partial"], envelope["meta"]["serverHits"]) == (True, 1)
    assert [(one["serverId"], one["code"]) for one in envelope["errors"]] == [("second", "ELSP")]


def test_where_nothing_makes_sense_nothing_is_not_the_answer(tmp_path, scripted):
    with served(tmp_path, scripted(Script(answers={HOVER: "error"}))) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
    check_form(envelope)
    assert (envelope["ok"], envelope["meta"]["empty"]) == (False, False)
    assert (envelope["meta"]["serverHits"], codes(envelope)) == (0, ["ELSP"])


def test_an_answer_that_was_read_in_part_is_partial(tmp_path, scripted):
    method = "textDocument/definition"
    start = {"line": 0, "character": 4}
    place = {"uri": (tmp_path / "a.scr").as_uri(), "range": {"start": start, "end": start}}
    with served(tmp_path, scripted(Script(answers={method: [place, {"uri": 7}]}))) as toolbox:
        answer = toolbox.answer("lsp_definition", PLACE)
    envelope = answer.envelope
    check_form(envelope)
    assert envelope["ok"]
    assert (envelope["meta"]["partial"], envelope["meta"]["serverHits"]) == (True, 1)
    assert codes(envelope) == ["ELSP"]
    assert f"1 part of the answer of scripted to {method} cannot be read" in answer.text


def test_findings_that_cannot_be_read_are_not_passed_over_in_silence(tmp_path, scripted):
    bad = {"range": "?", "message": "wrong"}
    params = {"uri": (tmp_path / "a.scr").as_uri(), "version": 1, "diagnostics": [bad]}
    note = {"method": "textDocument/publishDiagnostics", "params": params}
    script = Script(
        diagnostics=Diagnostics(how="none"), say=[Say("textDocument/didOpen", notification=note)]
    )
    with served(tmp_path, scripted(script)) as toolbox:
        toolbox.call({"operation": "diagnostics", "filePath": "a.scr"})
        envelope = toolbox.call({"operation": "diagnostics"})
    check_form(envelope)
    assert not envelope["ok"]
    assert codes(envelope) == ["ELSP"]


def test_a_server_that_has_crashed_is_broken_to_every_check(tmp_path, scripted):
    crashing = scripted(Script(faults=[Fault("textDocument/didOpen", "crash", code=3)]))
    with two(tmp_path, scripted(Script()), crashing) as toolbox:
        for _ in range(2):  # the second time it is too early to start it again
            envelope = toolbox.call({"operation": "diagnostics", "filePath": "a.scr"})
            assert [(one["serverId"], one["code"]) for one in envelope["errors"]] == [
                ("second", "EBROKEN")
            ]
