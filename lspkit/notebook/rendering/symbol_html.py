"""Symbols as a tree, and signatures."""

from __future__ import annotations

from collections.abc import Sequence

from lspkit.notebook.rendering.html_parts import Sources, left_out, line, muted, place, text
from lspkit.notebook.rendering.location_html import named
from lspkit.types import Signature, SignatureHelp, Symbol, display_path

#: Symbols of a tree, and levels of it.
MOST_SYMBOLS = 300
DEEPEST = 12


def symbols_html(found: Sequence[Symbol], _: Sources) -> str:
    """A tree. The file is shown once if all symbols are in it."""
    files = {(one.path, one.uri) for one in found}
    head = ""
    if len(files) == 1:
        path, uri = next(iter(files))
        head = line(f"<code>{text(display_path(path, uri))}</code>")
    lines, number = _tree(found, in_one_file=len(files) == 1)
    return head + "".join(lines) + left_out(number - MOST_SYMBOLS)


def _tree(found: Sequence[Symbol], *, in_one_file: bool) -> tuple[list[str], int]:
    """The lines that are shown, and the number of all symbols.

    Not recursive: a server may nest symbols deeper than Python nests calls.
    """
    lines: list[str] = []
    number, left = 0, [(one, 0) for one in reversed(found)]
    while left:
        symbol, depth = left.pop()
        number += 1
        left += [(child, depth + 1) for child in reversed(symbol.children)]
        if number <= MOST_SYMBOLS:
            lines.append(_line(symbol, min(depth, DEEPEST), in_one_file=in_one_file))
    return lines, number


def _line(one: Symbol, depth: int, *, in_one_file: bool) -> str:
    at = one.selection.start
    where = muted(text(at)) if in_one_file else place(one.path, one.uri, at)
    inside = f" {muted(f'in {text(one.container, 100)}')}" if one.container and not depth else ""
    shown = f"{named(one.kind, one.name, one.detail)}{inside} {where}"
    return f'<div style="padding-left:{depth * 1.5:g}em">{shown}</div>'


def signatures_html(found: SignatureHelp, _: Sources) -> str:
    """The signatures; in the active one the active parameter is bold."""
    lines = [
        _signature(one, found.active_parameter if number == found.active_signature else None)
        for number, one in enumerate(found.signatures[:20])
    ]
    return "".join(lines) + left_out(len(found.signatures) - len(lines))


def _signature(one: Signature, active: int | None) -> str:
    label, parameter = one.label, ""
    if active is not None and 0 <= active < len(one.parameters):
        parameter = one.parameters[active].label
    before, found, after = label.partition(parameter) if parameter else (label, "", "")
    shown = f"{text(before)}<b>{text(found)}</b>{text(after)}"
    about = line(muted(text(one.documentation))) if one.documentation else ""
    return line(f"<code>{shown}</code>") + about
