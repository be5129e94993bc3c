"""Findings as text, for people and for models.

What comes from a repository is data: it cannot close the tag that it stands in, hide itself, or
pass for the tool's own words. `render` makes the text of one report; the summary of an edit, which
is about several files, is made from the same parts in `agent/hooks/summary.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lspkit.types import Diagnostic, Verdict, display_path
from lspkit.visible_text import UNSEEN

#: So many findings of one file are shown, unless the caller says otherwise.
MOST = 20
#: A message is cut after so many characters.
LONGEST = 500
#: So is a code.
LONGEST_CODE = 100

#: Control characters, those that change the direction of text around them, and those that nobody
#: sees but a model reads. Joiners, which some scripts and many pictures need, stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    f"\ufff9-\ufffb\U000e0000-\U000e007f{UNSEEN}]"
)
#: Halves of characters, as in a name of a file that is no UTF-8: nothing can encode them.
_HALVES = re.compile("[\ud800-\udfff]")


def plain_line(text: str, longest: int = LONGEST) -> str:
    """One line of harmless text."""
    text = " ".join(_UNSEEN.sub("", text.replace("\r", "\n")).split())
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    text = _HALVES.sub("\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line_of(finding: Diagnostic) -> str:
    """`ERROR [42:5] message (code)`."""
    code = plain_line(finding.code, LONGEST_CODE)
    place = finding.range.start
    severity = finding.severity.value.upper()
    told = f"{severity} [{place.line}:{place.column}] {plain_line(finding.message)}"
    return f"{told} ({code})" if code else told


def sort_key(finding: Diagnostic) -> tuple[Any, ...]:
    """What findings are ordered by, and what tells equal ones apart for good."""
    return (finding.range, finding.message, finding.code, finding.source, finding.severity.rank)


def select_worst(findings: Sequence[Diagnostic], most: int) -> list[Diagnostic]:
    """The worst ones, in line order."""
    worst = sorted(findings, key=lambda one: (one.severity.rank, *sort_key(one)))[:most]
    return sorted(worst, key=sort_key)


def name_of(path: Path, root: Path) -> str:
    """A path as a model should write it: relative to the workspace, where it lies in it."""
    whole, folder = str(path), str(root).rstrip(os.sep) + os.sep
    return plain_line(whole[len(folder) :] if whole.startswith(folder) else whole)


def findings_word(severities: Sequence[str]) -> str:
    """What findings of these severities are called."""
    return "errors" if set(severities) <= {"error"} else "findings"


def block(name: str, lines: Sequence[str], left_out: int) -> list[str]:
    """The findings of one file in their tag. `name` and `lines` are harmless already."""
    quoted = name.replace('"', "&quot;")
    more = [f"... and {left_out} more"] if left_out else []
    return [f'<diagnostics file="{quoted}">', *lines, *more, "</diagnostics>"]


def render(
    path: Path, verdict: Verdict, findings: Sequence[Diagnostic], why: str, most: int = MOST
) -> str:
    """A report as text: what was found, or that nothing was, or that nobody knows and why."""
    name = plain_line(display_path(path))
    if verdict.clean:
        return f"{name}: no errors"
    if verdict.unknown:
        return f"{name}: unknown ({plain_line(why)})" if why else f"{name}: unknown"
    what = findings_word([one.severity.value for one in findings])
    lines = [line_of(one) for one in select_worst(findings, most)]
    heading = f"LSP {what} detected in this file, please fix:"
    return "\n".join([heading, *block(name, lines, len(findings) - len(lines))])
