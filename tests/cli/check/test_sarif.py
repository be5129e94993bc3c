"""`lspkit check --format sarif` is valid SARIF 2.1.0, whatever a project and a server say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.batch.sarif_log import FINGERPRINT, as_sarif
from lspkit.diagnostics.report import Evidence, Report
from lspkit.types import (
    Diagnostic,
    Location,
    Position,
    Range,
    RelatedLocation,
    Severity,
    Verdict,
)
from tests.cli.check.conftest import finding
from tests.cli.test_terminal import EVIL

DATA = Path(__file__).resolve().parents[2] / "data" / "sarif" / "sarif-2.1.0.json"
SCHEMA: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


def valid(log: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a log, which must be valid."""
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    runs: list[dict[str, Any]] = log["runs"]
    return runs


def diagnostic(path: Path, line: int = 1, message: str = "wrong", **more: Any) -> Diagnostic:
    place = Range(Position(line, 2), Position(line, 4))
    facts = {"severity": Severity.ERROR, "servers": ("ty",), "uri": path.as_uri(), **more}
    return Diagnostic(path=path, range=place, message=message, **facts)


def outcome(base: Path, *found: Diagnostic, **more: Any) -> CheckOutcome:
    report = Report(
        base / "a.py",
        Verdict.DIRTY if found else Verdict.CLEAN,
        list(found),
        [Evidence("ty", 1, "pull", 0.1), Evidence("ruff", 1, "pull", 0.1)],
        0.1,
        severity=Severity.HINT,
    )
    return CheckOutcome(base=str(base), reports=[report], **more)


def test_the_schema_refuses_what_is_not_sarif():
    assert list(VALIDATOR.iter_errors({"version": "2.1.0"}))
    assert list(VALIDATOR.iter_errors({"version": "2.1.0", "runs": [{}]}))


def test_each_server_has_a_run_also_without_findings(tmp_path):
    runs = valid(as_sarif(outcome(tmp_path, diagnostic(tmp_path / "a.py"))))
    assert [run["tool"]["driver"]["name"] for run in runs] == ["ruff", "ty"]
    assert [len(run["results"]) for run in runs] == [0, 1]
    assert [run["automationDetails"]["id"] for run in runs] == ["lspkit/ruff/", "lspkit/ty/"]
    assert all(run["invocations"][0]["executionSuccessful"] for run in runs)


@pytest.mark.parametrize("why", ["missing", "failed", "uncompared"])
def test_a_run_with_files_that_nobody_has_checked_was_not_successful(tmp_path, why):
    unclear = {why: {tmp_path / "b.py": "no time was left"}}
    made = msgspec.structs.replace(outcome(tmp_path), **unclear)
    [first, *others] = [run["invocations"][0] for run in valid(as_sarif(made))]
    assert not first["executionSuccessful"]
    assert all(one["executionSuccessful"] for one in others)


def test_a_result_has_its_rule_place_and_level(tmp_path):
    other = RelatedLocation(
        Location(Path("/lib/x.py"), Range(Position(1, 1), Position(1, 2)), "file:///lib/x.py"),
        "defined here",
    )
    found = diagnostic(
        tmp_path / "src" / "a b.py",
        code="E1",
        href="https://rules.example/E1",
        severity=Severity.HINT,
        related=(other,),
    )
    [_, run] = valid(as_sarif(outcome(tmp_path, found)))
    [result], [rule] = run["results"], run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["helpUri"]) == ("E1", "https://rules.example/E1")
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("E1", 0, "note")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 4}
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{tmp_path.as_uri()}/"
    [related] = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {"uri": "file:///lib/x.py"}


def test_a_finding_of_two_servers_is_in_one_run(tmp_path):
    both = diagnostic(tmp_path / "a.py", servers=("ty", "ruff"))
    runs = valid(as_sarif(outcome(tmp_path, both)))
    assert sorted(len(run["results"]) for run in runs) == [0, 1]


def prints(base: Path, *found: Diagnostic) -> list[str]:
    [_, run] = valid(as_sarif(outcome(base, *found)))
    return [one["partialFingerprints"][FINGERPRINT] for one in run["results"]]


def test_a_fingerprint_stays_when_lines_are_inserted_above(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("one\ntwo\n", encoding="utf-8")
    [before] = prints(tmp_path, diagnostic(file, 2, "see line 7"))
    file.write_text("zero\none\ntwo\n", encoding="utf-8")
    [after] = prints(tmp_path, diagnostic(file, 3, "see line 8"))
    assert before == after
    [other] = prints(tmp_path, diagnostic(file, 2, "see line 8"))
    assert other != after


def test_equal_findings_on_equal_lines_have_fingerprints_of_their_own(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("same\nsame\n", encoding="utf-8")
    first, second = prints(tmp_path, diagnostic(file, 1), diagnostic(file, 2))
    assert first != second


@pytest.mark.parametrize("text", [EVIL, "{0} [a](b)", "\ud800", "", "%SRCROOT%"])
def test_whatever_the_text_is_the_log_is_valid(tmp_path, text):
    found = diagnostic(tmp_path / "a.py", 1, text, code=text, source=text, href=text)
    skipped = {tmp_path / os.fsdecode(b"\xe9.py"): text}
    log = as_sarif(outcome(tmp_path, found, skipped=skipped))
    valid(json.loads(json.dumps(log, ensure_ascii=False).encode("utf-8")))


def test_a_message_is_not_read_as_a_placeholder_or_a_link(tmp_path):
    found = diagnostic(tmp_path / "a.py", 1, "use {0} or [this](http://evil.example) [x]")
    [_, run] = valid(as_sarif(outcome(tmp_path, found)))
    text = run["results"][0]["message"]["text"]
    assert text == "use {{0}} or \\[this](http://evil.example) [x]"


def test_only_a_web_page_is_a_help_link(tmp_path):
    found = diagnostic(tmp_path / "a.py", href="javascript:alert(1)", code="E1")
    [_, run] = valid(as_sarif(outcome(tmp_path, found)))
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]


def test_what_was_not_checked_is_a_notification(tmp_path):
    skipped = {tmp_path / "b.xyz": "no server"}
    runs = valid(as_sarif(outcome(tmp_path, skipped=skipped, missing={tmp_path / "c": "gone"})))
    [first, second] = [run["invocations"][0] for run in runs]
    told = [(one["level"], one["message"]["text"]) for one in first["toolExecutionNotifications"]]
    assert told == [("warning", "gone"), ("note", "no server")]
    assert "toolExecutionNotifications" not in second


def test_what_is_new_since_a_revision_is_marked(tmp_path):
    new, old = diagnostic(tmp_path / "a.py", 1, "new"), diagnostic(tmp_path / "a.py", 2, "old")
    one = outcome(tmp_path, new, old, revision="HEAD")
    reports = [msgspec.structs.replace(one.reports[0], introduced=[new], remaining=[old])]
    [_, run] = valid(as_sarif(msgspec.structs.replace(one, reports=reports)))
    [result] = run["results"]
    assert (result["message"]["text"], result["baselineState"]) == ("new", "new")


def test_the_command_prints_a_valid_log(check_with):
    done = check_with([finding(), finding(2, code="E1")], "--format", "sarif")
    assert (done.returncode, done.stderr) == (1, "")
    [run] = valid(json.loads(done.stdout))
    assert [one["ruleId"] for one in run["results"]] == ["scripted", "E1"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (
        "a.scr"
    )
