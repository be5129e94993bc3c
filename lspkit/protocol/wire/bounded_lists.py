"""Limits the length of raw lists.

A list is cut before its items are decoded, since decoding takes the time.
"""

from __future__ import annotations

import itertools

import msgspec

from lspkit.limits import LARGEST_REPORT, MOST_FINDINGS
from lspkit.protocol.wire.framing import MAX_BODY
from lspkit.protocol.wire.messages import replace_lone_surrogates

#: An item that cannot be decoded: it stands for the findings that were left out.
_UNREADABLE = b"null"


def first_items(raw: bytes, most: int, size: int = MAX_BODY) -> tuple[bytes, int]:
    """A raw list with at most so many items and bytes, and how many items were left out."""
    if len(raw) < 2 * most and len(raw) <= size:
        return raw, 0  # an item needs at least a character and a comma
    try:
        items = msgspec.json.decode(replace_lone_surrogates(raw), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return raw, 0  # not a valid list
    kept = [bytes(one) for one in items[:most]]
    if len(raw) > size:
        ends = itertools.accumulate(len(one) + 1 for one in kept)
        kept = kept[: sum(end <= size for end in ends)]
    if len(kept) == len(items):
        return raw, 0
    return b"[%b]" % b",".join(kept), len(items) - len(kept)


def bounded_report(items: bytes) -> tuple[bytes, int]:
    """The findings of one report that are kept, and how many are not.

    A list that was cut ends with an item that cannot be decoded, so that it proves nothing about
    the file.

    >>> bounded_report(b"[]")
    (b'[]', 0)
    """
    kept, dropped = first_items(items, MOST_FINDINGS, LARGEST_REPORT)
    if dropped:
        kept = kept[:-1] + (b"," if len(kept) > 2 else b"") + _UNREADABLE + b"]"
    elif len(kept) > LARGEST_REPORT:
        return b"[%b]" % _UNREADABLE, 1  # not a list
    return kept, dropped
