"""The comparison itself: it sees what differs, and what was explained for nothing."""

from __future__ import annotations

from pathlib import Path

from lspkit import Diagnostic, Evidence, Position, Range, Report, Severity, Verdict
from tests.real.same.agreeing import broken
from tests.real.same.command_line import Finding, Said
from tests.real.same.comparing import CAPITAL, HINTS, Comparison, unknown
from tests.real.same.packages import PYTHON

FOLDER = Path("/project")
FILE = FOLDER / "a.py"
SAID = Finding("a.py", 3, "no such name")


def report(*findings: Diagnostic, verdict: Verdict = Verdict.DIRTY) -> dict[Path, Report]:
    evidence = Evidence("checker", None, "none", 0.1, reason="it was asleep")
    return {FILE: Report(FILE, verdict, list(findings), [evidence], 0.1)}


def finding(message: str, line: int = 3, severity: Severity = Severity.ERROR) -> Diagnostic:
    place = Range(Position(line, 1), Position(line, 2))
    return Diagnostic(FILE, place, severity, message, FILE.as_uri())


def test_what_both_say_is_no_difference_however_it_is_wrapped() -> None:
    reports = report(finding("no such\n   name"))
    assert Comparison(()).differences(FOLDER, reports, Said({SAID})) == []


def test_a_finding_that_check_all_lacks_is_a_difference() -> None:
    assert Comparison(()).differences(FOLDER, report(), Said({SAID})) == [
        ("only the command line", SAID)
    ]


def test_a_finding_that_only_check_all_has_is_a_difference() -> None:
    reports = report(finding("no such name"))
    assert Comparison(()).differences(FOLDER, reports, Said(set())) == [("only check_all", SAID)]


def test_the_same_words_on_another_line_are_two_differences() -> None:
    reports = report(finding("no such name", line=4))
    assert len(Comparison(()).differences(FOLDER, reports, Said({SAID}))) == 2


def test_what_is_explained_is_no_difference_and_counts_as_used() -> None:
    comparison = Comparison((HINTS, CAPITAL))
    reports = report(finding("No such name"), finding("unused", severity=Severity.HINT))
    assert comparison.differences(FOLDER, reports, Said({SAID})) == []
    assert comparison.unused() == set()


def test_an_explanation_that_nothing_needed_is_named() -> None:
    comparison = Comparison((HINTS, CAPITAL))
    comparison.differences(FOLDER, report(finding("no such name")), Said({SAID}))
    assert comparison.unused() == {HINTS.reason, CAPITAL.reason}


def test_a_report_without_a_verdict_is_listed_with_its_reason() -> None:
    (said,) = unknown(report(verdict=Verdict.UNKNOWN))
    assert "it was asleep" in said
    assert unknown(report(verdict=Verdict.CLEAN)) == []


def test_what_was_broken_is_byte_for_byte_as_before_afterwards(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.py" for number in range(9)]
    for path in files:
        path.write_bytes(b"def shared():\r\n    pass\n\ndef other():\n    return shared()\n")
    before = [path.read_bytes() for path in files]
    with broken(files, PYTHON, seed=1) as changed:
        assert {path for path in files if path.read_bytes() != before[files.index(path)]} == changed
        assert len(changed) > 3
    assert [path.read_bytes() for path in files] == before
