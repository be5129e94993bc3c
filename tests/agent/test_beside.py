"""Other files after an edit: what of that which is known still holds."""

from __future__ import annotations

from pathlib import Path

from lspkit.agent.beside import (
    Standing,
    confirmed_by,
    doubtful_of,
    holding,
    introduced,
    standing_of,
)
from lspkit.diagnostics.report import Evidence, Report
from lspkit.types import Diagnostic, Position, Range, Severity, Verdict

A, B, C = (Path(f"/project/{name}.py") for name in "abc")


def finding(
    server: str, line: int = 1, message: str = "wrong", severity: Severity = Severity.ERROR
) -> Diagnostic:
    place = Range(Position(line, 1), Position(line, 2))
    return Diagnostic(B, place, severity, message, "file:///b", servers=(server,))


def report(path: Path, *evidence: tuple[str, str]) -> Report:
    servers = [Evidence(server, 1, how, 0.0) for server, how in evidence]
    return Report(path, Verdict.UNKNOWN, [], servers, 0.0)


def test_who_was_asked_who_told_and_who_kept_silent():
    evidence = [("ty", "pull"), ("ruff", "version"), ("slow", "none"), ("disk", "not applicable")]
    assert standing_of([report(A, *evidence)]) == Standing(
        asked=frozenset({"ty"}), silent=frozenset({"slow"}), answered=frozenset({"ty", "ruff"})
    )


def test_a_server_that_answered_for_one_of_the_files_is_not_silent():
    reports = [report(A, ("ty", "none")), report(B, ("ty", "pull"))]
    assert standing_of(reports).silent == frozenset()


STANDING = Standing(
    asked=frozenset({"ty"}), silent=frozenset({"slow"}), answered=frozenset({"ty", "ruff"})
)


def test_what_a_server_tells_by_itself_holds():
    assert holding({B: [finding("ruff")]}, STANDING, set(), ()) == {B: [finding("ruff")]}


def test_what_an_unrelated_server_says_holds():
    assert holding({B: [finding("gopls")]}, STANDING, set(), ()) == {B: [finding("gopls")]}


def test_what_a_silent_server_said_before_does_not_hold():
    assert holding({B: [finding("slow")]}, STANDING, set(), ()) == {}


def test_what_a_server_that_has_to_be_asked_said_holds_once_it_is_confirmed():
    known = {B: [finding("ty")], C: [finding("ty")]}
    assert holding(known, STANDING, {(B, "ty")}, ()) == {B: [finding("ty")]}


def test_the_edited_files_are_no_other_files():
    assert holding({A: [finding("ruff")]}, STANDING, set(), [A]) == {}


def test_a_finding_of_two_servers_is_one_with_the_worse_severity():
    warning = finding("gopls", severity=Severity.WARNING)
    assert holding({B: [warning, finding("ruff")]}, STANDING, set(), ()) == {B: [finding("ruff")]}


def test_files_are_asked_about_again_that_have_findings_that_count():
    hint = finding("ty", severity=Severity.HINT)
    known = {A: [finding("ty")], B: [finding("ty"), finding("ty", 2)], C: [hint, finding("ruff")]}
    assert doubtful_of(known, STANDING, ("error",)) == [B, A]


def test_a_file_is_confirmed_by_a_server_that_has_proven_all_its_sources():
    reports = {
        A: report(A, ("ty", "pull"), ("disk", "not applicable")),
        B: report(B, ("rust", "pull"), ("rust", "none")),
        C: report(C, ("ty", "quiet")),
    }
    assert confirmed_by(reports) == {(A, "ty")}


def test_what_is_new_in_other_files():
    before = {B: [finding("ty"), finding("ty", 2)]}
    now = {B: [finding("ty"), finding("ty", 3)], C: [finding("ty")], A: []}
    assert introduced(now, before) == {B: [finding("ty", 3)], C: [finding("ty")]}
