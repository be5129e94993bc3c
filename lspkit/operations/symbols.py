"""Symbols of a file and of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import lspkit.types as types
from lspkit.operations.effects import Ask, AskWorkspace, Effects, Reply
from lspkit.operations.position_translation import Translator, make_translator, sort_unique
from lspkit.operations.reply_parsing import decode_replies
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.results import NOWHERE, SYMBOL_KINDS, WireSymbol, read_symbols


class DocumentSymbolsRequest(FileRequest[list[types.Symbol]], frozen=True, kw_only=True):
    """Get the symbols of a file."""


class WorkspaceSymbolsRequest(Request[list[types.Symbol]], frozen=True, kw_only=True):
    """Find symbols by name."""

    query: str
    path: str | None = None


def _document_params(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}}


@operation("document_symbols", DocumentSymbolsRequest, list[types.Symbol])
def document_symbols(request: DocumentSymbolsRequest) -> Effects[list[types.Symbol]]:
    """All symbols in text order, as a tree if the server sends one."""
    replies: list[Reply] = yield Ask(
        request.path, request.text, "textDocument/documentSymbol", _document_params
    )
    return sort_unique((yield from translate_symbols(replies)), text_order)


@operation("workspace_symbols", WorkspaceSymbolsRequest, list[types.Symbol])
def workspace_symbols(request: WorkspaceSymbolsRequest) -> Effects[list[types.Symbol]]:
    """The symbols that the servers find, sorted by path, line and column."""
    replies: list[Reply] = yield AskWorkspace(
        request.path, "workspace/symbol", {"query": request.query}
    )
    found = yield from translate_symbols(replies)
    return sort_unique(found, lambda one: (str(one.path or one.uri), *text_order(one)))


def translate_symbols(replies: list[Reply]) -> Effects[list[types.Symbol]]:
    """The symbols of all answers."""
    found: list[types.Symbol] = []
    for reply, wires in (yield from decode_replies(replies, read_symbols)):
        translate = yield from make_translator(reply, _uris(wires))
        found += [_symbol(wire, reply.view.uri, translate, "") for wire in wires]
    return found


def _place(wire: WireSymbol) -> tuple[str, Any] | None:
    return wire.location.place if wire.location is not None else None


def _uris(wires: Sequence[WireSymbol]) -> Iterator[str]:
    for wire in wires:
        if (place := _place(wire)) is not None:
            yield place[0]
        yield from _uris(wire.children or ())


def text_order(symbol: types.Symbol) -> tuple[Any, ...]:
    """A sort key for text order: some servers sort by name."""
    return (symbol.selection, symbol.name, symbol.kind)


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
        children=tuple(
            sorted(
                (_symbol(child, uri, translate, wire.name) for child in wire.children or ()),
                key=text_order,
            )
        ),
    )
