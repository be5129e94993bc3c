"""Call hierarchy and type hierarchy.

An item is sent back to its server byte for byte: servers keep their own data in it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from lspkit.answer import NOT_ASKED, UNEXPLAINED, Answer
from lspkit.errors import CancelledError, LspkitError, PathError, PositionError
from lspkit.operations.checks.changed_declarations import FUNCTIONS
from lspkit.operations.host import Host, Question
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import Translator, make_translator, sort_unique
from lspkit.operations.references.references import ReferencesRequest, references
from lspkit.operations.references.word_net import MOST_PLACES, SHOWN, symbols_around
from lspkit.operations.reply_parsing import (
    OWN_FAULTS,
    answer_from,
    decode_replies,
    failure_caveats,
)
from lspkit.operations.request import PositionRequest, Request, T_co, operation
from lspkit.operations.symbol_positions import ask_at
from lspkit.operations.symbols import DocumentSymbolsRequest, document_symbols
from lspkit.protocol.wire.results import (
    SYMBOL_KINDS,
    WireItem,
    read_calls_with_items,
    read_hierarchy_items,
)
from lspkit.types import Call, CallItem, Caveat, HierarchyItem, Location, Position, TypeItem

#: What stands behind the name of a function that is called.
_CALLED = re.compile(r"\s*(?:<[^()]*>\s*)?!?\(")

T = TypeVar("T")
Item = TypeVar("Item", bound=HierarchyItem)


class CallHierarchyRequest(PositionRequest[Answer[CallItem]], frozen=True, kw_only=True):
    """Get the items of the call hierarchy at a position."""


class ItemRequest(PositionRequest[T_co], Generic[T_co], frozen=True, kw_only=True):
    """About an item of an earlier answer, or about a position."""

    path: str = ""
    item: HierarchyItem | None = None
    #: Whether a position without an item is an error, rather than an empty result.
    needs_item: bool = False

    def __post_init__(self) -> None:
        if self.item is None:
            super().__post_init__()
        else:
            Request.__post_init__(self)


class IncomingCallsRequest(ItemRequest[Answer[Call]], frozen=True, kw_only=True):
    """Get the calls to the item; the ranges are in the callers' files."""

    item: CallItem | None = None


class OutgoingCallsRequest(ItemRequest[Answer[Call]], frozen=True, kw_only=True):
    """Get the calls in the item; the ranges are in the item's own file."""

    item: CallItem | None = None


class SupertypesRequest(ItemRequest[Answer[TypeItem]], frozen=True, kw_only=True):
    """Get the types directly above."""

    item: TypeItem | None = None


class SubtypesRequest(ItemRequest[Answer[TypeItem]], frozen=True, kw_only=True):
    """Get the types directly below."""

    item: TypeItem | None = None


@operation("prepare_call_hierarchy", CallHierarchyRequest, list[CallItem])
def prepare_call_hierarchy(request: CallHierarchyRequest, host: Host) -> Answer[CallItem]:
    """The items at the position, of all servers."""
    items = _prepare(request, host, "textDocument/prepareCallHierarchy", CallItem)
    return Answer(sort_unique(items, _sort_key), items.caveats)


def _prepare(
    request: PositionRequest[Any], host: Host, method: str, kind: type[Item]
) -> Answer[Item]:
    replies = ask_at(request, host, method)
    all_items: list[Item] = []
    decoded = decode_replies(host, replies, read_hierarchy_items)
    for reply, items in decoded:
        all_items += _items(host, reply, items, request.path, kind)
    return answer_from(decoded, all_items)


def _sort_key(item: HierarchyItem) -> tuple[Any, ...]:
    return (str(item.path or item.uri), item.selection, item.name)


def _items(
    host: Host, reply: Reply, read: list[tuple[bytes, WireItem]], via: str, kind: type[Item]
) -> list[Item]:
    """The items of an answer, each with its raw bytes."""
    translate = make_translator(host, reply, [wire.uri for _, wire in read])
    return [_item(wire, raw, reply.server, via, translate, kind) for raw, wire in read]


def _item(
    wire: WireItem, raw: bytes, server: str, via: str, translate: Translator, kind: type[Item]
) -> Item:
    place = translate.place(wire.uri)
    return kind(
        name=wire.name,
        kind=SYMBOL_KINDS.get(wire.kind, str(wire.kind)),
        path=place.path,
        range=translate.range(place.text, wire.range),
        selection=translate.range(place.text, wire.selection_range or wire.range),
        uri=wire.uri,
        detail=wire.detail or "",
        server=server,
        via=via,
        raw=raw.decode(),
    )


def _ask_each(
    request: ItemRequest[Answer[T]],
    host: Host,
    given: Item | None,
    kind: type[Item],
    ask: Callable[[Item], Answer[T]],
) -> tuple[list[tuple[Item, Answer[T]]], list[Caveat]]:
    """The results for the given item, or for each item at the position, and all caveats.

    A position may have several items: overloads, or one item per server.
    """
    items = Answer([given]) if given else _items_at_position(request, host, kind)
    caveats = list(items.caveats)
    if len(items) < 2:
        answers = [(items[0], ask(items[0]))] if items else []
    else:
        results: list[Answer[T] | LspkitError] = host.do_all(
            [msgspec.structs.replace(request, item=item) for item in items]
        )
        answers, failed = _complete_servers(host, list(zip(items, results, strict=True)))
        caveats += failed
    return answers, [*caveats, *(caveat for _, answer in answers for caveat in answer.caveats)]


def _items_at_position(request: ItemRequest[Any], host: Host, kind: type[Item]) -> Answer[Item]:
    """The distinct items at the position."""
    method = "textDocument/prepareCallHierarchy"
    if kind is not CallItem:
        method = "textDocument/prepareTypeHierarchy"
    items = _prepare(request, host, method, kind)
    if not items and request.needs_item:
        what = "function" if kind is CallItem else "type"
        raise PositionError(f"there is no {what} at this position in {request.path}")
    distinct = {(item.server, item.raw): item for item in items}
    return Answer(sorted(distinct.values(), key=_sort_key), items.caveats)


def _complete_servers(
    host: Host, results: list[tuple[Item, Answer[T] | LspkitError]]
) -> tuple[list[tuple[Item, Answer[T]]], tuple[Caveat, ...]]:
    """The results of the servers that have answered for all of their items, and caveats.

    The other servers count as failed, as after a single request.
    """
    failed: dict[str, LspkitError] = {}
    for item, result in results:
        if isinstance(result, OWN_FAULTS):
            failed.setdefault(item.server, result)
        elif isinstance(result, LspkitError):
            raise result
    complete = [
        (item, result)
        for item, result in results
        if item.server not in failed and not isinstance(result, LspkitError)
    ]
    if failed:
        host.report_undecodable(list(failed.values()), list(failed))
        if not complete:
            raise next(iter(failed.values()))
    return complete, failure_caveats(failed.values())


def _ask_about(host: Host, item: HierarchyItem, method: str) -> list[Reply]:
    raw = msgspec.Raw(item.raw.encode())
    return host.ask(
        Question(
            item.via,
            None,
            method,
            lambda *_: {"item": raw},
            server=item.server,
            in_step=False,
            span="project",
        )
    )


def _calls(
    request: ItemRequest[Answer[Call]], host: Host, given: CallItem | None, method: str
) -> Answer[Call]:
    """The calls of all items, merged by caller or callee."""
    ask = functools.partial(_calls_of, host, method=method)
    results, caveats = _ask_each(request, host, given, CallItem, ask)
    calls = _merge(results, method)
    if method.endswith("outgoingCalls") or not results:
        return Answer(calls, caveats)
    missing, doubts = _calls_left_out(host, results[0][0], calls)
    if missing:
        # Their files are open by now, so the server knows them.
        results, caveats = _ask_each(request, host, given, CallItem, ask)
        calls = _merge(results, method)
        missing = [place for place in missing if not _has_call(calls, place)]
    more, nobody = _calls_at(host, missing)
    if nobody:
        message = f"it is also called at {', '.join(map(str, nobody[:SHOWN]))}"
        doubts.append(Caveat(UNEXPLAINED, message, places=tuple(nobody[:MOST_PLACES])))
    calls = _merge([*results, (results[0][0], Answer(more))], method)
    return Answer(calls, [*caveats, *doubts])


def _calls_left_out(
    host: Host, item: CallItem, calls: list[Call]
) -> tuple[list[Location], list[Caveat]]:
    """References that are calls and that no caller has, and why there may be more of them."""
    if item.path is None:
        return [], []
    start = item.selection.start
    request = ReferencesRequest(
        path=str(item.path), line=start.line, column=start.column, include_declaration=False
    )
    try:
        places = references(request, host)
    except CancelledError:
        raise
    except LspkitError:
        return [], []
    missing: list[Location] = []
    for place in places:
        if place.path is not None and not _has_call(calls, place):
            try:
                text = host.read_text(str(place.path))
            except PathError:
                continue  # outside, or excluded by the configuration
            end = place.range.end
            if _CALLED.match(text.line(end.line - 1)[end.column - 1 :]):
                missing.append(place)
    return missing, [caveat for caveat in places.caveats if caveat.kind in (UNEXPLAINED, NOT_ASKED)]


def _has_call(calls: list[Call], place: Location) -> bool:
    return any(
        call.item.path == place.path
        and any(
            call_range.start <= place.range.start <= call_range.end for call_range in call.ranges
        )
        for call in calls
    )


def _calls_at(host: Host, places: list[Location]) -> tuple[list[Call], list[Location]]:
    """The calls at these places by the functions around them, and the places outside of any."""
    calls: list[Call] = []
    nobody: list[Location] = []
    for place in places[:MOST_PLACES]:
        try:
            callers = _callers_at(host, str(place.path), place.range.start)
        except CancelledError:
            raise
        except LspkitError:
            callers = []
        if callers:
            calls.append(Call(callers[0], (place.range,)))
        else:
            nobody.append(place)
    return calls, [*nobody, *places[MOST_PLACES:]]


def _callers_at(host: Host, path: str, place: Position) -> list[CallItem]:
    """The item of the function around a place; none outside of any."""
    symbols = document_symbols(DocumentSymbolsRequest(path=path), host)
    around = symbols_around(symbols, place)
    function = next((symbol for symbol in reversed(around) if symbol.kind in FUNCTIONS), None)
    if function is None:
        return []
    start = function.selection.start
    return prepare_call_hierarchy(
        CallHierarchyRequest(path=path, line=start.line, column=start.column), host
    )


def _merge(results: list[tuple[CallItem, Answer[Call]]], method: str) -> list[Call]:
    """The calls of all items, each caller or callee once, in order."""
    by_key: dict[tuple[Any, ...], Call] = {}
    for item, calls in results:
        # The ranges of outgoing calls are in the item's own file, so they are merged per file.
        where = "" if method.endswith("incomingCalls") else str(item.path or item.uri)
        for call in calls:
            key = (_sort_key(call.item), where)
            ranges = {*call.ranges, *(by_key[key].ranges if key in by_key else ())}
            first = by_key.get(key, call).item
            by_key[key] = Call(first, tuple(sorted(ranges)))
    return [by_key[key] for key in sorted(by_key)]


def _calls_of(host: Host, item: CallItem, method: str) -> Answer[Call]:
    calls: list[Call] = []
    replies = _ask_about(host, item, method)
    decoded = decode_replies(host, replies, read_calls_with_items)
    for reply, read in decoded:
        ends = [(call.item, wire) for call, wire in read]
        others = _items(host, reply, ends, item.via, CallItem)
        translate = make_translator(host, reply, [item.uri, *(end.uri for end in others)])
        incoming = method.endswith("incomingCalls")
        for (wire, _), other in zip(read, others, strict=True):
            text = translate.place((other if incoming else item).uri).text
            ranges = tuple(
                translate.range(text, wire_range) for wire_range in wire.from_ranges or ()
            )
            calls.append(Call(other, ranges))
    return answer_from(decoded, calls)


def _types(
    request: ItemRequest[Answer[TypeItem]], host: Host, given: TypeItem | None, method: str
) -> Answer[TypeItem]:
    ask = functools.partial(_types_of, host, method=method)
    results, caveats = _ask_each(request, host, given, TypeItem, ask)
    return Answer(sort_unique((item for _, types in results for item in types), _sort_key), caveats)


def _types_of(host: Host, item: TypeItem, method: str) -> Answer[TypeItem]:
    all_items: list[TypeItem] = []
    replies = _ask_about(host, item, method)
    decoded = decode_replies(host, replies, read_hierarchy_items)
    for reply, items in decoded:
        all_items += _items(host, reply, items, item.via, TypeItem)
    return answer_from(decoded, all_items)


@operation("incoming_calls", IncomingCallsRequest, list[Call])
def incoming_calls(request: IncomingCallsRequest, host: Host) -> Answer[Call]:
    """The calls to the item, by caller."""
    return _calls(request, host, request.item, "callHierarchy/incomingCalls")


@operation("outgoing_calls", OutgoingCallsRequest, list[Call])
def outgoing_calls(request: OutgoingCallsRequest, host: Host) -> Answer[Call]:
    """The calls in the item, by callee."""
    return _calls(request, host, request.item, "callHierarchy/outgoingCalls")


@operation("supertypes", SupertypesRequest, list[TypeItem])
def supertypes(request: SupertypesRequest, host: Host) -> Answer[TypeItem]:
    """The types directly above, in order."""
    return _types(request, host, request.item, "typeHierarchy/supertypes")


@operation("subtypes", SubtypesRequest, list[TypeItem])
def subtypes(request: SubtypesRequest, host: Host) -> Answer[TypeItem]:
    """The types directly below, in order."""
    return _types(request, host, request.item, "typeHierarchy/subtypes")
