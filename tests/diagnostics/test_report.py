"""The verdict, and the report that carries it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.diagnostics.report import Evidence, OtherFiles, Report, verdict_of
from lspkit.types import Diagnostic, Position, Range, Severity, Verdict

PLACE = Range(Position(1, 1), Position(1, 2))
WRONG = Diagnostic(Path("/a"), PLACE, Severity.ERROR, "wrong", "file:///a")
MILD = Diagnostic(Path("/a"), PLACE, Severity.WARNING, "mild", "file:///a")


def evidence(how: str, server: str = "s", reason: str = "") -> Evidence:
    return Evidence(server, 1, how, 0.1, reason=reason)


@pytest.mark.parametrize(
    ("counted", "ways", "verdict"),
    [
        ([], ["pull"], Verdict.CLEAN),
        ([], ["version"], Verdict.CLEAN),
        ([], ["pull", "version"], Verdict.CLEAN),
        ([], ["quiet"], Verdict.UNKNOWN),
        ([], ["none"], Verdict.UNKNOWN),
        ([], ["pull", "quiet"], Verdict.UNKNOWN),
        ([], ["none", "version"], Verdict.UNKNOWN),
        ([], ["something new"], Verdict.UNKNOWN),
        ([], [], Verdict.UNKNOWN),
        ([WRONG], ["pull"], Verdict.DIRTY),
        ([WRONG], ["quiet"], Verdict.DIRTY),
        ([WRONG], ["version", "none"], Verdict.DIRTY),
    ],
)
def test_dirty_by_anybody_clean_only_by_everybody(counted, ways, verdict):
    assert verdict_of(counted, [evidence(how) for how in ways]) is verdict


def report(*findings: Diagnostic, servers: list[Evidence], **more: object) -> Report:
    verdict = verdict_of(list(findings), servers)
    return Report(Path("/a"), verdict, list(findings), servers, 0.1, **more)


def test_a_report_prints_the_findings_that_count():
    text = str(report(WRONG, MILD, servers=[evidence("pull")]))
    assert "ERROR [1:1] wrong" in text
    assert "mild" not in text
    both = report(WRONG, MILD, servers=[evidence("pull")], severity=Severity.WARNING)
    assert "WARNING [1:1] mild" in str(both)


def test_the_repr_of_a_report_is_one_short_line():
    others = OtherFiles(coverage="open", verdict=Verdict.DIRTY, diagnostics={"/b": [WRONG]})
    told = report(WRONG, MILD, servers=[evidence("pull")], other_files=others)
    assert repr(told) == "<Report dirty /a: 1 error, findings in 1 other file>"
    assert repr(report(servers=[evidence("pull")])) == "<Report clean /a: 0 errors>"


def test_a_report_that_knows_nothing_says_who_is_to_blame():
    told = report(servers=[evidence("pull", "a"), evidence("none", "b", "slow"), evidence("quiet")])
    assert told.why == "b: slow; s: quiet"
    assert str(told) == "/a: unknown (b: slow; s: quiet)"


def test_a_reason_that_is_no_servers_stands_alone():
    told = report(servers=[evidence("none", "", "no server is defined for .x files")])
    assert str(told) == "/a: unknown (no server is defined for .x files)"


def test_a_verdict_is_no_bool():
    with pytest.raises(TypeError):
        bool(report(servers=[]).verdict)
