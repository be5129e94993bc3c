"""Hovers as Markdown that is safe to show.

A hover contains documentation from any package, and Markdown may contain HTML, scripts in links,
and formulas. Only blocks of code are kept as they are, with fences that this module writes. In all
other text `<` and `$` are escaped, links lead to web pages only, and images are links.
"""

from __future__ import annotations

import re

from lspkit.types import Hover
from lspkit.visible_text import several_lines

#: Characters of a hover, and lines.
LONGEST = 10_000
MOST_LINES = 300

#: The first line of a block of code, with its language; a fence may be indented by a list.
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+#.-]{0,30})[^`]*")
#: Entities, which are never a mark of Markdown. A backslash could be escaped by one before it.
_HARMLESS = (
    (re.compile("<"), "&lt;"),
    (re.compile(r"\$"), "&#36;"),
    (re.compile(r"!(?=\[)"), "&#33;"),
    # The target of a link, and the definition of one.
    (re.compile(r"(?<=\])\((?!https?://)"), "&#40;"),
    (re.compile(r"(?<=\]):"), "&#58;"),
)


def hover_markdown(hover: Hover) -> str:
    """The sections of a hover, with a rule between them."""
    return "\n\n---\n\n".join(filter(None, map(safe_markdown, _bounded(hover.contents))))


def _bounded(contents: list[str]) -> list[str]:
    left, kept = LONGEST, list[str]()
    for section in contents:
        if left <= 0:
            break
        kept.append(section if len(section) <= left else f"{section[:left]}…")
        left -= len(section)
    return kept


def safe_markdown(section: str) -> str:
    """A text in Markdown without HTML, scripts and formulas."""
    parts: list[str] = []
    code: list[str] | None = None
    fence = language = ""
    # Also carriage returns end a line of Markdown.
    for line in several_lines(re.sub(r"\r\n?", "\n", section)).split("\n")[:MOST_LINES]:
        opened = _FENCE.fullmatch(line) if code is None else None
        if opened is not None:
            code, fence, language = [], opened[1], opened[2]
        elif code is None:
            parts.append(_harmless(line))
        elif line.strip().startswith(fence) and not line.strip(f" \t{fence[0]}"):
            parts.append(_block(code, language))
            code = None
        else:
            code.append(line)
    if code is not None:
        parts.append(_block(code, language))
    return "\n".join(parts).strip("\n")


def _harmless(text: str) -> str:
    for pattern, instead in _HARMLESS:
        text = pattern.sub(instead, text)
    return text


def _block(code: list[str], language: str) -> str:
    """A block of code, with a fence that is longer than any run of backticks in it."""
    runs = re.findall("`+", "\n".join(code))
    fence = "`" * max(3, *(len(run) + 1 for run in runs), 3)
    # An empty line ends a paragraph or list, inside of which a fence might be read as text.
    return "\n".join(["", f"{fence}{language}", *code, fence, ""])
