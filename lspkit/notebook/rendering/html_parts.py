"""The parts of which all renderings are made: escaped text, places, tables.

All text that comes from files, servers and paths goes through `text` or `code`: it is made visible,
cut, and escaped for HTML. Styles are attributes, because notebooks remove style sheets, and their
colours are translucent, because the background may be light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lspkit.types import Position, display_path
from lspkit.visible_text import fold_lines, one_line

#: A line of a file, counted from 1; empty if it is not known.
Sources = Callable[[Path, int], str]

#: Rows of a table, and characters of a text in it.
MOST_ROWS = 100
LONGEST = 300

_CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"
_MUTED = "opacity:.65"


def cut(shown: str, longest: int = LONGEST) -> str:
    """The first characters of a text, with a mark if there are more."""
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def text(value: object, longest: int = LONGEST) -> str:
    """A text on one line, with spaces folded, escaped for HTML."""
    # Cut before, so that a huge text is not looked through.
    return html.escape(cut(fold_lines(str(value)[: 4 * longest]), longest))


def exact(value: object, longest: int = LONGEST) -> str:
    """As `text`, with spaces kept."""
    shown = str(value)[: longest + 1].replace("\t", "    ").rstrip("\r\n")
    return html.escape(cut(one_line(shown), longest))


def joined(values: Sequence[object], separator: str = ", ", longest: int = LONGEST) -> str:
    """Several texts as one, of which each is cut before they are joined."""
    return text(separator.join(str(value)[: 4 * longest] for value in values[:20]), longest)


def code(value: object, longest: int = LONGEST) -> str:
    """A text in a fixed-width font."""
    return f'<code style="background:none;padding:0">{text(value, longest)}</code>'


def muted(inner: str) -> str:
    """A part that matters less. `inner` is HTML."""
    return f'<span style="{_MUTED}">{inner}</span>'


def badge(word: object, colour: str) -> str:
    """A coloured word."""
    style = f"background:rgba({colour},.2);border-radius:3px;padding:0 5px;font-weight:bold"
    return f'<span style="{style}">{text(word, 40)}</span>'


def place(path: Path | None, uri: str, at: Position) -> str:
    """`path:line:column`."""
    shown = display_path(path, str(uri)[:LONGEST])
    # The end of a long path says more than its beginning.
    name = shown if len(shown) <= LONGEST else f"…{shown[-LONGEST:]}"
    return code(f"{name}:{at}", LONGEST + 40)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], more: int = 0) -> str:
    """A table of HTML cells, and how many rows are not shown."""
    parts = ['<table style="border-collapse:collapse">']
    if heads:
        cells = "".join(f'<th style="{_CELL}">{text(head)}</th>' for head in heads)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for row in rows:
        parts.append("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>")
    parts.append("</tbody></table>")
    return "".join(parts) + left_out(more)


def left_out(number: int) -> str:
    """How many are not shown; empty for none."""
    return line(muted(f"… and {number} more")) if number > 0 else ""


def line(inner: str) -> str:
    """A line of HTML."""
    return f"<div>{inner}</div>"
