"""The symbols of a file, and the place of a symbol by its name."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Any

import lspkit.types as types
from lspkit.errors import PositionError
from lspkit.operations.effects import Ask, Effect, ReadText, Reply
from lspkit.operations.places import Translator, translator
from lspkit.operations.request import FileRequest, PositionRequest, operation
from lspkit.protocol.shapes import NOWHERE, SYMBOL_KINDS, WireSymbol, read_symbols
from lspkit.protocol.text import Encoding, Text

#: So many names are suggested when one is not found.
SUGGESTED = 20


class DocumentSymbols(FileRequest, frozen=True, kw_only=True):
    """What is in this file?"""


def _whole(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}}


@operation("document_symbols", DocumentSymbols, list[types.Symbol])
def document_symbols(request: DocumentSymbols) -> Generator[Effect, Any, list[types.Symbol]]:
    """All symbols, as a tree where the server gives one, in the order of the text."""
    replies: list[Reply] = yield Ask(
        request.path, request.text, "textDocument/documentSymbol", _whole
    )
    found: dict[tuple[Any, ...], types.Symbol] = {}
    for reply in replies:
        wires = read_symbols(reply.result).items
        uris = [place[0] for wire in wires if (place := _place(wire)) is not None]
        translate = yield from translator(reply, uris)
        for wire in wires:
            symbol = _symbol(wire, reply.view.uri, translate, "")
            found.setdefault((symbol.selection, symbol.name, symbol.kind), symbol)
    return [found[key] for key in sorted(found)]


def _place(wire: WireSymbol) -> tuple[str, Any] | None:
    return wire.location.place if wire.location is not None else None


def _symbol(wire: WireSymbol, uri: str, translate: Translator, container: str) -> types.Symbol:
    place = _place(wire)
    if place is not None:
        uri, whole = place
        name = whole
    else:
        whole = wire.range or wire.selection_range or NOWHERE
        name = wire.selection_range or whole
    at = translate.place(uri)
    return types.Symbol(
        name=wire.name,
        kind=SYMBOL_KINDS.get(wire.kind, str(wire.kind)),
        path=at.path,
        range=translate.range(at.text, whole),
        selection=translate.range(at.text, name),
        uri=uri,
        detail=wire.detail or "",
        container=wire.container_name or container,
        children=tuple(_symbol(child, uri, translate, wire.name) for child in wire.children or ()),
    )


def position_of(request: PositionRequest) -> Generator[Effect, Any, tuple[int, int]]:
    """Line and column that the request means."""
    if request.symbol is None:
        # A request is refused when it is made, unless it has both.
        return request.line or 1, request.column or 1
    if request.line is not None:
        return (yield from _on_line(request, request.line, request.symbol))
    return (yield from _by_name(request, request.symbol))


def _by_name(request: PositionRequest, name: str) -> Generator[Effect, Any, tuple[int, int]]:
    symbols = yield from document_symbols(DocumentSymbols(path=request.path, text=request.text))
    named = list(_chains(symbols, ()))
    wanted = name.split(".")
    matches = [(chain, one) for chain, one in named if list(chain[-len(wanted) :]) == wanted]
    exact = [match for match in matches if len(match[0]) == len(wanted)]
    if len(exact) == 1 or len(matches) == 1:
        at = (exact if len(exact) == 1 else matches)[0][1].selection.start
        return at.line, at.column
    if matches:
        raise _unclear(f"{name} is ambiguous in {request.path}", matches)
    near = [entry for entry in named if wanted[-1].lower() in entry[0][-1].lower()] or named
    raise _unclear(f"{request.path} has no symbol {name}", near)


def _unclear(what: str, among: list[tuple[tuple[str, ...], types.Symbol]]) -> PositionError:
    told = [f"{'.'.join(chain)} at {one.selection.start}" for chain, one in among[:SUGGESTED]]
    choices = "; ".join(told) or "it has no symbols at all"
    return PositionError(f"{what}; candidates: {choices}", candidates=tuple(told))


def _chains(
    symbols: tuple[types.Symbol, ...] | list[types.Symbol], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], types.Symbol]]:
    for symbol in symbols:
        # Some servers write `feed(char *)`, some `ns::feed`: people mean the plain name.
        bare = re.split(r"[(<]", symbol.name, maxsplit=1)[0].strip() or symbol.name
        parts = tuple(part for part in re.split(r"::|\.", bare) if part) or (bare,)
        container = symbol.container.split(".") if symbol.container and not above else []
        chain = (*above, *(part for part in container if part), *parts)
        yield chain, symbol
        yield from _chains(symbol.children, chain)


def _on_line(
    request: PositionRequest, line: int, name: str
) -> Generator[Effect, Any, tuple[int, int]]:
    text: Text = yield ReadText(request.path, request.text)
    return line, _word(text, line, name)


def _word(text: Text, line: int, name: str) -> int:
    if line > text.line_count:
        raise PositionError(
            f"line {line} is beyond the end: the file has lines 1 to {text.line_count}",
            bounds=f"line 1 to {text.line_count}",
        )
    written = text.line(line - 1)
    columns = [match.start() + 1 for match in re.finditer(_whole_word(name), written)]
    if len(columns) == 1:
        return columns[0]
    if columns:
        told = tuple(f"{name} at {line}:{column}" for column in columns)
        raise PositionError(
            f"{name} stands more than once on line {line}; give a column: {'; '.join(told)}",
            candidates=told,
        )
    words = tuple(dict.fromkeys(re.findall(r"\w+", written)))[:SUGGESTED]
    raise PositionError(
        f"line {line} has no word {name}; it has: {', '.join(words) or 'no words'}",
        candidates=words,
    )


def _whole_word(name: str) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)"
