"""Who calls whom, and what derives from what.

An item goes back to the server that gave it, byte for byte: servers keep marks of their own in it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

import msgspec

from lspkit.errors import PositionError
from lspkit.operations.effects import Ask, Effect, Reply
from lspkit.operations.places import Translator, translator
from lspkit.operations.positions import ask_at
from lspkit.operations.reading import readable
from lspkit.operations.request import PositionRequest, T_co, operation
from lspkit.protocol.pieces import read_items, read_others
from lspkit.protocol.shapes import SYMBOL_KINDS, WireItem
from lspkit.types import Call, CallItem, HierarchyItem, TypeItem

Item = TypeVar("Item", bound=HierarchyItem)


class PrepareCallHierarchy(PositionRequest[list[CallItem]], frozen=True, kw_only=True):
    """What here calls and is called?"""


class ItemRequest(PositionRequest[T_co], Generic[T_co], frozen=True, kw_only=True):
    """About an item of an earlier answer, or about what is at a place."""

    path: str = ""
    item: HierarchyItem | None = None

    def __post_init__(self) -> None:
        if self.item is None:
            super().__post_init__()


class IncomingCalls(ItemRequest[list[Call]], frozen=True, kw_only=True):
    """Who calls this?"""

    item: CallItem | None = None


class OutgoingCalls(ItemRequest[list[Call]], frozen=True, kw_only=True):
    """Whom does this call?"""

    item: CallItem | None = None


class Supertypes(ItemRequest[list[TypeItem]], frozen=True, kw_only=True):
    """What does this type derive from?"""

    item: TypeItem | None = None


class Subtypes(ItemRequest[list[TypeItem]], frozen=True, kw_only=True):
    """What derives from this type?"""

    item: TypeItem | None = None


@operation("prepare_call_hierarchy", PrepareCallHierarchy, list[CallItem])
def prepare_call_hierarchy(
    request: PrepareCallHierarchy,
) -> Generator[Effect, Any, list[CallItem]]:
    """The items at the place, of all servers."""
    return (yield from _prepare(request, "textDocument/prepareCallHierarchy", CallItem))


@operation("incoming_calls", IncomingCalls, list[Call])
def incoming_calls(request: IncomingCalls) -> Generator[Effect, Any, list[Call]]:
    """The calls of the item; the ranges are in the callers' files."""
    return (yield from _calls(request, request.item, "callHierarchy/incomingCalls"))


@operation("outgoing_calls", OutgoingCalls, list[Call])
def outgoing_calls(request: OutgoingCalls) -> Generator[Effect, Any, list[Call]]:
    """The calls in the item; the ranges are in the item's own file."""
    return (yield from _calls(request, request.item, "callHierarchy/outgoingCalls"))


@operation("supertypes", Supertypes, list[TypeItem])
def supertypes(request: Supertypes) -> Generator[Effect, Any, list[TypeItem]]:
    """The types directly above."""
    return (yield from _types(request, request.item, "typeHierarchy/supertypes"))


@operation("subtypes", Subtypes, list[TypeItem])
def subtypes(request: Subtypes) -> Generator[Effect, Any, list[TypeItem]]:
    """The types directly below."""
    return (yield from _types(request, request.item, "typeHierarchy/subtypes"))


def _prepare(
    request: PositionRequest[Any], method: str, kind: type[Item]
) -> Generator[Effect, Any, list[Item]]:
    replies = yield from ask_at(request, method)
    found: list[Item] = []
    for reply, items in (yield from readable(replies, read_items)):
        found += yield from _items(reply, items, request.path, kind)
    return sorted(found, key=_place)


def _place(item: HierarchyItem) -> tuple[Any, ...]:
    return (str(item.path or item.uri), item.selection, item.name)


def _items(
    reply: Reply, read: list[tuple[bytes, WireItem]], via: str, kind: type[Item]
) -> Generator[Effect, Any, list[Item]]:
    """Items of an answer, each with its own bytes."""
    translate = yield from translator(reply, [wire.uri for _, wire in read])
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


def _start(
    request: ItemRequest[Any], item: Item | None, kind: type[Item]
) -> Generator[Effect, Any, Item]:
    """The item that is meant: the one given, or the first at the place."""
    if item is not None:
        return item
    method = "textDocument/prepareCallHierarchy"
    if kind is not CallItem:
        method = "textDocument/prepareTypeHierarchy"
    items = yield from _prepare(request, method, kind)
    if not items:
        what = "function" if kind is CallItem else "type"
        raise PositionError(f"there is no {what} at this place of {request.path}")
    return items[0]


def _ask_about(item: HierarchyItem, method: str) -> Generator[Effect, Any, list[Reply]]:
    raw = msgspec.Raw(item.raw.encode())
    replies: list[Reply] = yield Ask(
        item.via, None, method, lambda *_: {"item": raw}, server=item.server, in_step=False
    )
    return replies


def _calls(
    request: ItemRequest[Any], given: CallItem | None, method: str
) -> Generator[Effect, Any, list[Call]]:
    item = yield from _start(request, given, CallItem)
    found: list[Call] = []
    replies = yield from _ask_about(item, method)
    for reply, read in (yield from readable(replies, read_others)):
        ends = [(call.item, wire) for call, wire in read]
        others = yield from _items(reply, ends, item.via, CallItem)
        translate = yield from translator(reply, [item.uri, *(one.uri for one in others)])
        incoming = method.endswith("incomingCalls")
        for (wire, _), other in zip(read, others, strict=True):
            text = translate.place((other if incoming else item).uri).text
            ranges = tuple(translate.range(text, one) for one in wire.from_ranges or ())
            found.append(Call(other, ranges))
    return sorted(found, key=lambda call: _place(call.item))


def _types(
    request: ItemRequest[Any], given: TypeItem | None, method: str
) -> Generator[Effect, Any, list[TypeItem]]:
    item = yield from _start(request, given, TypeItem)
    found: list[TypeItem] = []
    replies = yield from _ask_about(item, method)
    for reply, items in (yield from readable(replies, read_items)):
        found += yield from _items(reply, items, item.via, TypeItem)
    return sorted(found, key=_place)
