"""Other files after an edit: what of that which is found is new."""

from __future__ import annotations

from pathlib import Path

from lspkit.agent.hooks.errors_elsewhere import findings_by_path, new_findings
from lspkit.diagnostics.report import OtherFiles
from lspkit.types import Diagnostic, Position, Range, Severity, Verdict

A, B, C = (Path(f"/project/{name}.py") for name in "abc")


def finding(line: int = 1, path: Path | None = B) -> Diagnostic:
    place = Range(Position(line, 1), Position(line, 2))
    return Diagnostic(path, place, Severity.ERROR, "wrong", "file:///b", servers=("ty",))


def test_what_nobody_can_place_is_left_out():
    found = {str(B): [finding()], "untitled:1": [finding(path=None)]}
    assert findings_by_path(OtherFiles("open", Verdict.DIRTY, found)) == {B: [finding()]}


def test_what_is_new_in_other_files():
    before = {B: [finding(), finding(2)]}
    now = {B: [finding(), finding(3)], C: [finding()], A: []}
    assert new_findings(now, before) == {B: [finding(3)], C: [finding()]}
