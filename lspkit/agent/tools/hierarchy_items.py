"""Items of a call hierarchy that a model hands back, and which of them a server may see.

An item names a file, and whoever hands one back may have written another file's name into it. So
it has to lie inside of the boundary. A server's own items may lie outside, in a library: these are
remembered when they are handed out, and only they may come back.
"""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from lspkit.boundary import Boundary, locate
from lspkit.protocol.uris import uri_to_path
from lspkit.types import Call, CallItem

#: So many are remembered, the last ones.
MOST = 2_000


class HierarchyItems:
    """The items that were handed out. For any thread."""

    def __init__(self) -> None:
        #: Digests. Each step on it is a single one, so that it needs no lock.
        self._known: collections.deque[bytes] = collections.deque(maxlen=MOST)

    def note(self, result: Any) -> None:
        """Remember the items of a result."""
        self._known.extend([_digest(item) for item in _items(result)])

    def refuse_foreign(self, item: CallItem, boundary: Boundary) -> None:
        """Raise a `PathError` unless the item was handed out, or lies inside of the boundary."""
        path = uri_to_path(item.uri)
        if path is not None and _digest(item) not in tuple(self._known):
            locate(path, boundary, may_be_missing=True)


def _items(result: Any) -> Iterable[CallItem]:
    for one in result if isinstance(result, list) else ():
        item = one.item if isinstance(one, Call) else one
        if isinstance(item, CallItem) and item.raw:
            yield item


def _digest(item: CallItem) -> bytes:
    """The same for equal items, however their JSON is written."""
    raw = json.dumps(json.loads(item.raw), sort_keys=True)
    return hashlib.sha256(f"{item.server}\0{raw}".encode("utf-8", "surrogatepass")).digest()
