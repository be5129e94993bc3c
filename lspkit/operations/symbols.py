"""Symbols of a file and of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import lspkit.types as types
from lspkit.answer import Answer
from lspkit.diagnostics.store import is_empty
from lspkit.errors import LspkitError
from lspkit.operations.host import Host, Question, about_the_file
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import Translator, make_translator, sort_unique
from lspkit.operations.reply_parsing import answer_from, decode_replies
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.operations.symbol_names import Chain, find_name, name_parts, rank, symbol_chains
from lspkit.protocol.capabilities import DOCUMENT_SYMBOLS
from lspkit.protocol.wire.results import NOWHERE, SYMBOL_KINDS, WireSymbol, read_symbols

#: Most files whose symbols are read to find the members of a class.
MOST_FILES = 20
#: The version of a document that has not changed since it was opened.
FIRST_VERSION = 1


class DocumentSymbolsRequest(FileRequest[Answer[types.Symbol]], frozen=True, kw_only=True):
    """Get the symbols of a file."""


class WorkspaceSymbolsRequest(Request[Answer[types.Symbol]], frozen=True, kw_only=True):
    """Find symbols by name."""

    query: str
    path: str | None = None


@operation("document_symbols", DocumentSymbolsRequest, list[types.Symbol])
def document_symbols(request: DocumentSymbolsRequest, host: Host) -> Answer[types.Symbol]:
    """All symbols in text order, as a tree if the server sends one."""
    question = Question(request.path, request.text, DOCUMENT_SYMBOLS, about_the_file)
    replies = host.ask(question)
    if any(_may_be_too_early(reply) for reply in replies):
        replies = host.ask(question)
    symbols = translate_symbols(host, replies)
    return Answer(sort_unique(symbols, text_order), symbols.caveats)


def _may_be_too_early(reply: Reply) -> bool:
    """Whether the server may not have read the file: nothing is in it as it was opened."""
    return reply.view.version == FIRST_VERSION and is_empty(reply.result)


@operation("workspace_symbols", WorkspaceSymbolsRequest, list[types.Symbol])
def workspace_symbols(request: WorkspaceSymbolsRequest, host: Host) -> Answer[types.Symbol]:
    """The symbols that the servers find: exact names first, then beginnings, then the others.

    Among these they are sorted by path, line and column.
    """
    *scope, name = name_parts(request.query)
    symbols = _search(request, host, name if scope else request.query)
    if scope:
        inside = _members(request, host, symbols, tuple(scope), name)
        # Some servers themselves take a qualified name, or a part of a path.
        symbols = inside or _search(request, host, request.query)
    return Answer(
        sort_unique(
            symbols,
            lambda symbol: (
                rank(symbol.name, name),
                str(symbol.path or symbol.uri),
                *text_order(symbol),
            ),
        ),
        symbols.caveats,
    )


def _search(request: WorkspaceSymbolsRequest, host: Host, query: str) -> Answer[types.Symbol]:
    replies = host.ask_workspace(request.path, "workspace/symbol", {"query": query})
    return translate_symbols(host, replies)


def _members(
    request: WorkspaceSymbolsRequest,
    host: Host,
    symbols: Answer[types.Symbol],
    scope: Chain,
    name: str,
) -> Answer[types.Symbol]:
    """The symbols of this name inside a class or module."""
    named = [symbol for symbol in symbols if rank(symbol.name, name) < 2]
    inside = [
        symbol
        for symbol in named
        if (*scope, name)[-len(scope) - 1 :] == _full_name(symbol)[-len(scope) - 1 :]
    ]
    if inside:
        return Answer(inside, symbols.caveats)
    # Not every server says in what a symbol is, or lists the members of a class.
    outer = _search(request, host, scope[-1])
    around = [symbol for symbol in outer if rank(symbol.name, scope[-1]) == 0]
    paths = dict.fromkeys(
        str(symbol.path) for symbol in (*named, *around) if symbol.path is not None
    )
    results: list[Answer[types.Symbol] | LspkitError] = host.do_all(
        [DocumentSymbolsRequest(path=path) for path in list(paths)[:MOST_FILES]]
    )
    members = [
        symbol
        for result in results
        if isinstance(result, Answer)
        for chain, symbol in symbol_chains(result)
        if chain[-len(scope) - 1 :] == (*scope, name)
    ]
    return Answer(members, (*symbols.caveats, *outer.caveats))


def _full_name(symbol: types.Symbol) -> Chain:
    container = name_parts(symbol.container) if symbol.container else ()
    return (*container, *name_parts(symbol.name))


def translate_symbols(host: Host, replies: list[Reply]) -> Answer[types.Symbol]:
    """The symbols of all answers."""
    symbols: list[types.Symbol] = []
    decoded = decode_replies(host, replies, read_symbols)
    for reply, wires in decoded:
        # The text shows where the name is, which a server may not say.
        texts = any(wire.location is not None for wire in wires)
        uris = (reply.view.uri, *_uris(wires))
        translate = make_translator(host, reply, uris, texts=texts)
        symbols += [_symbol(wire, reply.view.uri, translate, "") for wire in wires]
    return answer_from(decoded, symbols)


def _uris(wires: Sequence[WireSymbol]) -> Iterator[str]:
    for wire in wires:
        if wire.location is not None and (place := wire.location.place) is not None:
            yield place[0]
        if wire.children:
            yield from _uris(wire.children)


def text_order(symbol: types.Symbol) -> tuple[Any, ...]:
    """A sort key for text order: some servers sort by name."""
    return (symbol.selection, symbol.name, symbol.kind)


def _symbol(wire: WireSymbol, uri: str, translate: Translator, container: str) -> types.Symbol:
    place = wire.location.place if wire.location is not None else None
    if place is not None:
        uri, whole = place
        name = whole
    else:
        whole = wire.range or wire.selection_range or NOWHERE
        name = wire.selection_range or whole
    at = translate.place(uri)
    range = translate.range(at.text, whole)
    given = range if name is whole else translate.range(at.text, name)
    return types.Symbol(
        name=wire.name,
        kind=SYMBOL_KINDS.get(wire.kind) or str(wire.kind),
        path=at.path,
        range=range,
        selection=find_name(at.text, wire.name, range, given),
        uri=uri,
        detail=wire.detail or "",
        container=wire.container_name or container,
        children=_children(wire, uri, translate) if wire.children else (),
    )


def _children(wire: WireSymbol, uri: str, translate: Translator) -> tuple[types.Symbol, ...]:
    children = [_symbol(child, uri, translate, wire.name) for child in wire.children or ()]
    # Most have one at most.
    return tuple(sorted(children, key=text_order) if len(children) > 1 else children)
