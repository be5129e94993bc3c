"""The exit status, and which files are skipped, unknown or neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lspkit.batch.check_outcome import CheckOutcome, sort_reports
from lspkit.cli.check.check_command import exit_status
from lspkit.cli.check.check_text import as_text
from lspkit.diagnostics.report import Evidence, Report
from lspkit.types import Verdict

A, B = Path("/p/a.py"), Path("/p/b.py")


def report(path: Path, verdict: Verdict = Verdict.CLEAN, **facts: str) -> Report:
    how = "pull" if verdict is Verdict.CLEAN else "none"
    return Report(path, verdict, [], [Evidence("ty", None, how, 0.1, **facts)], 0.1)


def unchecked(code: str, **facts: str) -> Report:
    return report(B, Verdict.UNKNOWN, code=code, reason=f"{B} is odd", **facts)


@pytest.mark.parametrize("code", ["ENOSERVER", "EUNAVAILABLE", "EBINARY", "EEXCLUDED"])
def test_a_file_that_no_server_can_check_is_skipped(code):
    reports, skipped, failed = sort_reports({A: report(A), B: unchecked(code)})
    assert ([one.path for one in reports], skipped, failed) == ([A], {B: "is odd"}, {})
    outcome = CheckOutcome(base="/p", reports=reports, skipped=skipped)
    assert (exit_status(outcome), exit_status(outcome, strict=True)) == (0, 3)


def test_a_named_file_that_no_server_can_check_counts():
    outcome = CheckOutcome(
        base="/p", reports=[report(A)], skipped={B: "is odd"}, named=frozenset({A, B})
    )
    assert (outcome.named_in_vain, exit_status(outcome)) == ([B], 3)


@pytest.mark.parametrize("code", ["EOUTSIDE", "ENOENT"])
def test_a_file_that_cannot_be_accessed_counts(code):
    reports, skipped, failed = sort_reports({A: report(A), B: unchecked(code)})
    assert ([one.path for one in reports], skipped, failed) == ([A], {}, {B: "is odd"})
    assert exit_status(CheckOutcome(base="/p", reports=reports, failed=failed)) == 3


@pytest.mark.parametrize("code", ["EBROKEN", "ETIMEDOUT", "ELSP", ""])
def test_a_server_that_failed_leaves_the_file_unknown(code):
    reports, skipped, failed = sort_reports({A: report(A), B: unchecked(code)})
    assert (len(reports), skipped, failed) == (2, {}, {})
    assert exit_status(CheckOutcome(base="/p", reports=reports)) == 3


def test_a_server_that_may_not_run_leaves_the_file_unknown():
    reports, skipped, _ = sort_reports({B: unchecked("EUNAVAILABLE", rule="untrusted")})
    assert (len(reports), skipped) == (1, {})


def test_nothing_checked_is_not_clean():
    assert exit_status(CheckOutcome(base="/p", reports=[], skipped={A: "no server"})) == 3
    assert exit_status(CheckOutcome(base="/p", reports=[])) == 3


def test_a_path_that_does_not_exist_outweighs_everything():
    outcome = CheckOutcome(base="/p", reports=[report(A)], missing={B: "does not exist"})
    assert exit_status(outcome) == 2


def test_hints_come_last_and_are_one_line_each():
    outcome = CheckOutcome(base="/p", reports=[report(A)], hints=("one\ntwo", "three"))
    assert as_text(outcome) == "1 file: 1 clean\none two\nthree"


def test_in_an_untrusted_project_a_file_of_its_own_server_is_unknown(bare, tmp_path):
    (tmp_path / ".lspkit").mkdir()
    own = {"lsp": {"own": {"command": ["/bin/false"], "extensions": [".own"]}}}
    (tmp_path / ".lspkit" / "lsp.json").write_text(json.dumps(own), encoding="utf-8")
    (tmp_path / "a.own").touch()
    done = bare("check", ".", cwd=tmp_path, LSPKIT_TRUST="never", LSPKIT_STATE=str(tmp_path / "s"))
    assert done.returncode == 3
    assert "unknown a.own: " in done.stdout


def test_files_of_a_server_that_the_user_configured_are_found_in_a_folder(check_with, tmp_path):
    check_with([])
    done = check_with([], ".", name="deep/b.scr")
    assert (done.returncode, done.stdout) == (0, "2 files: 2 clean\n")
