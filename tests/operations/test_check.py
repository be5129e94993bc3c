"""What `check` makes of the findings of one server, and of several."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import lspkit
from lspkit.operations import CheckRequest
from lspkit.types import Severity
from tests.operations.driving import OTHER, PATH, Canned, Engine, at, location


def finding(message: str = "wrong", line: int = 0, start: int = 0, **more: Any) -> dict[str, Any]:
    return {"range": at(line, start, start + 1), "message": message, "severity": 1, **more}


def report(*servers: Canned, **more: Any) -> lspkit.Report:
    return Engine(list(servers), **more).run(CheckRequest(path=PATH))


def test_findings_are_read_with_all_that_servers_say():
    related = [{"location": location(OTHER, 2, 3), "message": "here"}]
    said = finding(
        code=17,
        source="tool",
        tags=[1, 2, 9],
        codeDescription={"href": "https://example.invalid"},
        relatedInformation=related,
    )
    result = report(Canned(findings=[said]))
    [found] = result.diagnostics
    assert str(found) == "/code/a.py:1:1 error wrong (17)"
    assert (found.source, found.href) == ("tool", "https://example.invalid")
    assert found.tags == ("unnecessary", "deprecated", "9")
    assert [(str(one.location), one.message) for one in found.related] == [
        ("/code/b.py:3:4", "here")
    ]
    assert found.servers == ("one",)
    assert (str(result.path), result.verdict) == (PATH, lspkit.Verdict.DIRTY)


@pytest.mark.parametrize(
    ("said", "meant"),
    [(1, "error"), (2, "warning"), (3, "info"), (4, "hint"), (None, "error"), (9, "info")],
)
def test_a_severity_that_is_missing_is_an_error_and_an_unknown_one_is_not_hidden(said, meant):
    [found] = report(Canned(findings=[finding(severity=said)])).diagnostics
    assert found.severity == meant


def test_findings_are_in_the_order_of_the_text():
    said = [finding("c", 1, 0), finding("b", 0, 2), finding("z", 0, 1), finding("a", 0, 1)]
    found = report(Canned(findings=said)).diagnostics
    assert [one.message for one in found] == ["a", "z", "b", "c"]
    assert report(Canned(findings=said[::-1])).diagnostics == found


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
def test_columns_are_characters(encoding, units):
    server = Canned(encoding=encoding, findings=[finding(start=units)])
    [found] = report(server, text="😀 x\n").diagnostics
    assert str(found.range) == "1:3-1:4"


def test_equal_findings_of_two_servers_are_one_with_both_names_and_the_worse_severity():
    one = Canned("one", findings=[finding(severity=2), finding("mine")])
    two = Canned("two", findings=[finding(severity=1), finding("other", code="X")])
    found = report(one, two).diagnostics
    assert [(d.message, d.servers, d.severity.value) for d in found] == [
        ("mine", ("one",), "error"),
        ("other", ("two",), "error"),
        ("wrong", ("one", "two"), "error"),
    ]


def test_servers_that_count_differently_report_one_finding():
    servers = [
        Canned(encoding, encoding, findings=[finding(start=units)])
        for encoding, units in (("utf-8", 5), ("utf-16", 3), ("utf-32", 2))
    ]
    # The end of the range is one unit behind the start, which is an ASCII letter: one character.
    assert len(report(*servers, text="😀 x\n").diagnostics) == 1


def test_a_clean_verdict_takes_the_proof_of_every_server():
    proven, quiet, silent = (
        Canned("proven", findings=[]),
        Canned("quiet", findings=[], how="quiet", reason="no version"),
        Canned("silent", reason="no answer"),
    )
    assert report(proven, proven).verdict.clean
    assert report(proven, quiet).verdict.unknown
    assert report(proven, silent).verdict.unknown
    assert report(proven, quiet, silent).why == "quiet: no version; silent: no answer"
    assert report(proven).why == ""


def test_a_finding_is_dirty_whoever_else_is_silent():
    quiet = Canned("quiet", findings=[finding()], how="quiet")
    assert report(quiet, Canned("silent")).verdict.dirty


def test_the_verdict_goes_by_the_severities_that_count_and_the_report_has_all():
    server = Canned(findings=[finding("w", severity=2), finding("h", 1, severity=4)])
    strict = report(server, severity=Severity.WARNING)
    mild = report(server)
    assert mild.verdict.clean
    assert strict.verdict.dirty
    assert [one.message for one in strict.counted] == ["w"]
    assert mild.diagnostics == strict.diagnostics
    assert len(mild.diagnostics) == 2


def test_the_evidence_names_version_way_and_time():
    result = report(Canned("a", findings=[], how="pull"), Canned("b", reason="slow"))
    first, second = result.servers
    assert (first.server, first.version, first.how, first.timed_out) == ("a", 7, "pull", False)
    assert (second.server, second.version, second.how, second.timed_out) == (
        "b",
        None,
        "none",
        True,
    )
    assert second.reason == "slow"
    assert result.duration == 0.5


def test_nothing_is_compared_at_the_first_touch():
    result = report(Canned(findings=[finding()]))
    assert (result.introduced, result.fixed, result.remaining) == (None, None, None)


def test_a_report_pickles_and_is_plain_json():
    result = report(Canned(findings=[finding()]), Canned("silent"))
    assert pickle.loads(pickle.dumps(result)) == result
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["verdict"] == "dirty"
    assert plain["path"] == PATH
    assert plain["diagnostics"][0]["range"]["start"] == {"line": 1, "column": 1}


@pytest.mark.parametrize("nonsense", [[{"message": "no range"}], [None], [17]])
def test_findings_that_make_no_sense_are_dropped(nonsense):
    found = report(Canned(findings=[*nonsense, finding()])).diagnostics
    assert [one.message for one in found] == ["wrong"]


def test_a_finding_that_could_not_be_read_is_no_proof_of_a_clean_file():
    assert report(Canned(findings=[{"message": "no range"}])).verdict.unknown
