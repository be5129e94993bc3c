"""Findings as text, for people and for models.

Text from a repository is data: it cannot close its tag, be invisible, or imitate lspkit's own text.
`render` makes the text of one report; `agent/hooks/summary.py` uses the same functions for the
summary of an edit of several files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lspkit.types import Diagnostic, Severity, Verdict, display_path
from lspkit.visible_text import UNSEEN, headline

#: Default number of findings of one file.
MOST = 20
#: Other files that are shown.
MOST_FILES = 20
#: Names in a list that are shown.
MOST_NAMES = 5
#: Characters of a message.
LONGEST = 500
#: Characters of a code.
LONGEST_CODE = 100

#: Control characters, characters that change the direction of text, and invisible characters. The
#: joiners that some scripts and many emoji need are kept.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    f"\ufff9-\ufffb\U000e0000-\U000e007f{UNSEEN}]"
)
#: Lone surrogates, as in a file name that is not UTF-8: they cannot be encoded.
_HALVES = re.compile("[\ud800-\udfff]")


def plain_line(text: str, longest: int = LONGEST) -> str:
    """The text as one line, without control characters and with XML characters escaped."""
    text = " ".join(_UNSEEN.sub("", text.replace("\r", "\n")).split())
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    text = _HALVES.sub("\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line_of(finding: Diagnostic, longest: int = LONGEST) -> str:
    """`ERROR [42:5] message (code)`."""
    code = plain_line(finding.code, LONGEST_CODE)
    place = finding.range.start
    severity = finding.severity.value.upper()
    line = (
        f"{severity} [{place.line}:{place.column}] {plain_line(headline(finding.message), longest)}"
    )
    return f"{line} ({code})" if code else line


def sort_key(finding: Diagnostic) -> tuple[Any, ...]:
    """A sort key for findings that gives a stable order."""
    return (finding.range, finding.message, finding.code, finding.source, finding.severity.rank)


def select_worst(findings: Sequence[Diagnostic], most: int) -> list[Diagnostic]:
    """The most severe findings, in line order."""
    worst = sorted(findings, key=lambda finding: (finding.severity.rank, *sort_key(finding)))[:most]
    return sorted(worst, key=sort_key)


def name_of(path: Path, root: Path) -> str:
    """A path for a model: relative to the workspace if it is inside it."""
    whole, folder = str(path), str(root).rstrip(os.sep) + os.sep
    return plain_line(whole[len(folder) :] if whole.startswith(folder) else whole)


def findings_word(severity: Severity) -> str:
    """The word for findings of this severity and worse."""
    return "errors" if severity is Severity.ERROR else "findings"


def block(name: str, lines: Sequence[str], left_out: int) -> list[str]:
    """The findings of one file in a tag. `name` and `lines` are escaped already."""
    quoted = name.replace('"', "&quot;")
    more = [f"... and {left_out} more"] if left_out else []
    return [f'<diagnostics file="{quoted}">', *lines, *more, "</diagnostics>"]


def render(
    path: Path, verdict: Verdict, findings: Sequence[Diagnostic], why: str, most: int = MOST
) -> str:
    """A report as text: the findings, or `no errors`, or `unknown` with the reason."""
    name = plain_line(display_path(path))
    if verdict.clean:
        return f"{name}: no errors"
    if verdict.unknown:
        return f"{name}: unknown ({plain_line(why)})" if why else f"{name}: unknown"
    mildest = max((finding.severity for finding in findings), key=lambda severity: severity.rank)
    what = findings_word(mildest)
    lines = [line_of(finding) for finding in select_worst(findings, most)]
    heading = f"LSP {what} detected in this file, please fix:"
    return "\n".join([heading, *block(name, lines, len(findings) - len(lines))])


def render_others(
    new: Mapping[Path, Sequence[Diagnostic]], severity: Severity, most: int = MOST
) -> list[str]:
    """The new findings in other files as lines, by file."""
    what = findings_word(severity)
    all_lines = [f"LSP {what} detected in other files:"] if new else []
    for path in sorted(new)[:MOST_FILES]:
        lines = [line_of(finding) for finding in select_worst(new[path], most)]
        all_lines += block(plain_line(display_path(path)), lines, len(new[path]) - len(lines))
    return all_lines + more_files(len(new) - MOST_FILES)


def more_files(count: int) -> list[str]:
    """How many files are not shown."""
    return [f"... and {count} more {'file' if count == 1 else 'files'}"] if count > 0 else []


def other_counts(what: str, old: int, left_out: int) -> list[str]:
    """The number of old findings in other files, and of files that were not checked."""
    lines = [f"LSP {what} in other files from before the edit: {old}"] if old else []
    unchecked = f"Files that use what the edit changed and could not be checked: {left_out}"
    return [*lines, unchecked] if left_out else lines


def unsearched_line(names: Sequence[str]) -> list[str]:
    """What the edit changed and whose uses could not be searched, in a tag on one line."""
    what = "What the edit changed and whose uses could not be searched"
    return tagged_list(what, "names", names)


def tagged_list(
    what: str, tag: str, items: Sequence[str], between: str = ", ", longest: int = LONGEST_CODE
) -> list[str]:
    """One line with the first items in a tag; none without items."""
    shown = between.join(plain_line(item, longest) for item in items[:MOST_NAMES])
    more = f" and {len(items) - MOST_NAMES} more" if len(items) > MOST_NAMES else ""
    return [f"{what}: <{tag}>{shown}{more}</{tag}>"] if items else []
