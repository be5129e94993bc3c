"""Lists whose items are sent back to the server byte for byte, or are decoded only in part.

Like the readers of `results.py`, these never raise: invalid items are left out and counted.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable

import msgspec

from lspkit.msgspec_types import make_decoder
from lspkit.protocol.wire import results
from lspkit.protocol.wire.messages import replace_lone_surrogates


def read_raw_items(raw: bytes) -> results.Read[bytes]:
    """The raw items of a list; null is an empty list, any other value a list of one."""
    try:
        mended = replace_lone_surrogates(raw).strip()
        if mended == b"null":
            return results.Read([])
        if not mended.startswith(b"["):
            msgspec.json.decode(mended)
            return results.Read([mended])
        pieces = msgspec.json.decode(mended, type=list[msgspec.Raw])
    except results.BAD:
        return results.Read([], 1)
    return results.Read([bytes(piece) for piece in pieces])


def join_lists(lists: Iterable[bytes]) -> bytes:
    """Several lists as one."""
    return b"[" + b",".join(item for raw in lists for item in read_raw_items(raw).items) + b"]"


class _Severity(msgspec.Struct, gc=False):
    severity: int | None = None


_severities = make_decoder(list[_Severity])


def read_severities(raw: bytes) -> collections.Counter[int | None]:
    """The number of findings of each severity in a list. Fast, since only this is decoded."""
    try:
        return collections.Counter(one.severity for one in _severities.decode(raw))
    except results.BAD:
        return collections.Counter(one.severity for one in results.read_diagnostics(raw).items)


def read_location_ranges(raw: bytes) -> results.Read[tuple[str, results.WireRange]]:
    """The URI and the range of each location."""
    read = results.read_locations(raw)
    named = [place for item in read.items if (place := item.place) is not None]
    return results.Read(named, read.dropped + len(read.items) - len(named))


def read_hierarchy_items(raw: bytes) -> results.Read[tuple[bytes, results.WireItem]]:
    """The items of a hierarchy, each with its raw bytes."""
    pieces = read_raw_items(raw)
    read = [(piece, results.read_item(piece)) for piece in pieces.items]
    found = [(piece, wire) for piece, one in read for wire in one.items]
    return results.Read(found, pieces.dropped + sum(not one.items for _, one in read))


def read_calls_with_items(raw: bytes) -> results.Read[tuple[results.WireCall, results.WireItem]]:
    """Calls, each with its caller or callee."""
    pieces = read_raw_items(raw)
    calls = [call for piece in pieces.items for call in results.read_calls(piece).items]
    read = [(call, results.read_item(call.item)) for call in calls]
    found = [(call, one.items[0]) for call, one in read if one.items]
    return results.Read(found, pieces.dropped + len(pieces.items) - len(found))


def read_actions(raw: bytes) -> results.Read[tuple[bytes, results.WireAction]]:
    """Code actions, each with its raw bytes. An action with an invalid part is left out."""
    pieces = read_raw_items(raw)
    read = [(piece, results.read_action(piece)) for piece in pieces.items]
    good = [(piece, one.items[0]) for piece, one in read if one.items and not one.dropped]
    return results.Read(good, pieces.dropped + len(read) - len(good))
