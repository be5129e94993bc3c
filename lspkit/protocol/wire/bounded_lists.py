"""Raw lists that are longer than anybody can use: their first items, and how many others there are.

A list is cut before its items are decoded, since to make values of them is what takes the time.
"""

from __future__ import annotations

import itertools

import msgspec

from lspkit.limits import LARGEST_REPORT, MOST_FINDINGS
from lspkit.protocol.wire.framing import MAX_BODY
from lspkit.protocol.wire.messages import replace_lone_surrogates

#: No finding, and nothing that can be read: it stands for those that were left out.
_UNREADABLE = b"null"


def first_items(raw: bytes, most: int, size: int = MAX_BODY) -> tuple[bytes, int]:
    """A raw list with no more than so many of its items and bytes, and how many were left out."""
    if len(raw) < 2 * most and len(raw) <= size:
        return raw, 0  # an item has a character, and a comma behind it
    try:
        items = msgspec.json.decode(replace_lone_surrogates(raw), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return raw, 0  # no list, or one that nobody can read
    kept = [bytes(one) for one in items[:most]]
    if len(raw) > size:
        ends = itertools.accumulate(len(one) + 1 for one in kept)
        kept = kept[: sum(end <= size for end in ends)]
    if len(kept) == len(items):
        return raw, 0
    return b"[%b]" % b",".join(kept), len(items) - len(kept)


def bounded_report(items: bytes) -> tuple[bytes, int]:
    """The findings of one report as they are remembered, and how many are not.

    Whoever reads a list that was cut learns that something in it could not be read, so that it
    proves nothing about the file.

    >>> bounded_report(b"[]")
    (b'[]', 0)
    """
    kept, dropped = first_items(items, MOST_FINDINGS, LARGEST_REPORT)
    if dropped:
        kept = kept[:-1] + (b"," if len(kept) > 2 else b"") + _UNREADABLE + b"]"
    elif len(kept) > LARGEST_REPORT:
        return b"[%b]" % _UNREADABLE, 1  # no list at all
    return kept, dropped
