"""What `check_edit` takes for the state before an edit."""

from __future__ import annotations

import lspkit
from lspkit.operations import CheckEditRequest, EditedFile
from tests.operations.driving import PATH, Canned, Engine, at

FINDINGS = [{"range": at(0, 0, 3), "message": "wrong", "severity": 1}]


def checked(engine: Engine, before: str | None) -> lspkit.Report:
    [report] = engine.run(CheckEditRequest(files=(EditedFile(PATH, before),))).reports
    return report


def test_findings_of_the_text_before_the_edit_remain():
    engine = Engine([Canned(findings=FINDINGS)])
    checked(engine, None)
    assert engine.before is not None
    report = checked(engine, engine.text)
    assert [one.message for one in report.remaining] == ["wrong"]
    assert report.introduced == []


def test_findings_of_another_text_are_not_those_before_the_edit():
    engine = Engine([Canned(findings=FINDINGS)])
    checked(engine, None)
    engine.servers = [Canned()]
    report = checked(engine, "other\n")
    assert (report.introduced, report.remaining) == (None, None)


def test_what_another_call_finds_meanwhile_was_not_there_before_the_edit():
    """Nothing was known when the call began; then another one has checked the new text."""
    engine = Engine([Canned(findings=FINDINGS)])
    checked(engine, None)
    assert engine.before is not None
    report = checked(engine, None)
    assert [one.message for one in report.diagnostics] == ["wrong"]
    assert (report.introduced, report.remaining) == (None, None)
