"""Summaries of findings that are given by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lspkit.agent.hooks.agent_session import SortedFindings
from lspkit.agent.hooks.summary import Summary
from lspkit.types import Diagnostic

ROOT = Path("/project")
Findings = Mapping[Path, Sequence[Diagnostic]]


def _new(found: Sequence[Diagnostic]) -> SortedFindings:
    return SortedFindings(new=tuple(found), all=tuple(found))


def text_of(
    summary: Summary,
    edited: Findings,
    others: Findings | None = None,
    *,
    old: Sequence[Diagnostic] = (),
    still: Findings | None = None,
) -> str:
    """The text about findings that are new, those from before and those of earlier edits."""
    touched = {path: _new(found) for path, found in edited.items()}
    if old:
        touched[ROOT / "with old findings.py"] = SortedFindings(old=tuple(old))
    elsewhere = {path: _new(found) for path, found in (others or {}).items()}
    elsewhere |= {path: SortedFindings(still=tuple(kept)) for path, kept in (still or {}).items()}
    return summary.text(touched, elsewhere, root=ROOT)
