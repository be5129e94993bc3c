"""Findings as text, for people and for models.

What comes from a repository is data: it cannot close the tag that it stands in, hide itself, or
pass for the tool's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lspkit.types import Diagnostic, Verdict, shown

#: So many findings of one file are shown, unless the caller says otherwise.
MOST = 20
#: A message is cut after so many characters.
LONGEST = 500

#: Control characters, and the ones that change the direction of text around them.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """One line of harmless text."""
    text = " ".join(_UNSEEN.sub("", text.replace("\r", "\n")).split())
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line_of(finding: Diagnostic) -> str:
    """`ERROR [42:5] message (code)`."""
    code = f" ({plain(finding.code)})" if finding.code else ""
    place = finding.range.start
    severity = finding.severity.value.upper()
    return f"{severity} [{place.line}:{place.column}] {plain(finding.message)}{code}"


def surviving(findings: Sequence[Diagnostic], most: int) -> list[Diagnostic]:
    """The worst ones, in line order."""

    def place(one: Diagnostic) -> tuple[Any, ...]:
        return (one.range, one.message, one.code, one.source)

    worst = sorted(findings, key=lambda one: (one.severity.rank, *place(one)))[:most]
    return sorted(worst, key=lambda one: (*place(one), one.severity.rank))


def render(
    path: Path, verdict: Verdict, findings: Sequence[Diagnostic], why: str, most: int = MOST
) -> str:
    """A report as text: what was found, or that nothing was, or that nobody knows and why."""
    name = plain(shown(path))
    if verdict.clean:
        return f"{name}: no errors"
    if verdict.unknown:
        return f"{name}: unknown ({plain(why)})" if why else f"{name}: unknown"
    only_errors = all(one.severity.value == "error" for one in findings)
    what = "errors" if only_errors else "findings"
    lines = [line_of(one) for one in surviving(findings, most)]
    if len(findings) > most:
        lines.append(f"... and {len(findings) - most} more")
    quoted = name.replace('"', "&quot;")
    heading = f"LSP {what} detected in this file, please fix:"
    return "\n".join([heading, f'<diagnostics file="{quoted}">', *lines, "</diagnostics>"])
