"""Lists whose items are sent back to the server byte for byte, or are decoded only in part.

Like the readers of `results.py`, these never raise: invalid items are left out and counted.
"""

from __future__ import annotations

import collections

import msgspec

from lspkit.protocol.wire.messages import replace_lone_surrogates
from lspkit.protocol.wire.results import (
    BAD,
    Read,
    WireAction,
    WireCall,
    WireItem,
    WireRange,
    read_action,
    read_calls,
    read_diagnostics,
    read_item,
    read_locations,
)


def read_raw_items(raw: bytes) -> Read[bytes]:
    """The raw items of a list; null is an empty list, any other value a list of one."""
    try:
        mended = replace_lone_surrogates(raw).strip()
        if mended == b"null":
            return Read([])
        if not mended.startswith(b"["):
            msgspec.json.decode(mended)
            return Read([mended])
        pieces = msgspec.json.decode(mended, type=list[msgspec.Raw])
    except BAD:
        return Read([], 1)
    return Read([bytes(piece) for piece in pieces])


class _Severity(msgspec.Struct, gc=False):
    severity: int | None = None


_severities = msgspec.json.Decoder(list[_Severity])


def read_severities(raw: bytes) -> collections.Counter[int | None]:
    """The number of findings of each severity in a list. Fast, since only this is decoded."""
    try:
        return collections.Counter(one.severity for one in _severities.decode(raw))
    except BAD:
        return collections.Counter(one.severity for one in read_diagnostics(raw).items)


def read_location_ranges(raw: bytes) -> Read[tuple[str, WireRange]]:
    """The URI and the range of each location."""
    read = read_locations(raw)
    places = [item.place for item in read.items]
    named = [place for place in places if place is not None]
    return Read(named, read.dropped + len(places) - len(named))


def read_hierarchy_items(raw: bytes) -> Read[tuple[bytes, WireItem]]:
    """The items of a hierarchy, each with its raw bytes."""
    pieces = read_raw_items(raw)
    read = [(piece, read_item(piece)) for piece in pieces.items]
    found = [(piece, wire) for piece, one in read for wire in one.items]
    return Read(found, pieces.dropped + sum(not one.items for _, one in read))


def read_calls_with_items(raw: bytes) -> Read[tuple[WireCall, WireItem]]:
    """Calls, each with its caller or callee."""
    pieces = read_raw_items(raw)
    calls = [call for piece in pieces.items for call in read_calls(piece).items]
    read = [(call, read_item(call.item)) for call in calls]
    found = [(call, one.items[0]) for call, one in read if one.items]
    return Read(found, pieces.dropped + len(pieces.items) - len(found))


def read_actions(raw: bytes) -> Read[tuple[bytes, WireAction]]:
    """Code actions, each with its raw bytes. An action with an invalid part is left out."""
    pieces = read_raw_items(raw)
    read = [(piece, read_action(piece)) for piece in pieces.items]
    good = [(piece, one.items[0]) for piece, one in read if one.items and not one.dropped]
    return Read(good, pieces.dropped + len(read) - len(good))
