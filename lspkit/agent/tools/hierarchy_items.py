"""Checks the items of a call hierarchy that a model passes back.

An item contains a URI, which a model may have changed. So the file must be inside the boundary. A
server's own items may be outside, in a library: these are recorded when they are returned, and
accepted later.
"""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from lspkit.protocol.uris import uri_to_path
from lspkit.types import Call, CallItem
from lspkit.workspace_boundary import Boundary, locate

#: Most items that are recorded.
MOST = 2_000


class HierarchyItems:
    """The items that were returned to the model. Thread-safe."""

    def __init__(self) -> None:
        #: Digests. Each operation on the deque is atomic, so it needs no lock.
        self._known: collections.deque[bytes] = collections.deque(maxlen=MOST)

    def note(self, result: Any) -> None:
        """Record the items of a result."""
        self._known.extend([_digest(item) for item in _items(result)])

    def refuse_foreign(self, item: CallItem, boundary: Boundary) -> None:
        """Raise a `PathError` unless the item was recorded, or is inside the boundary."""
        path = uri_to_path(item.uri)
        if path is not None and _digest(item) not in tuple(self._known):
            locate(path, boundary, may_be_missing=True)


def _items(result: Any) -> Iterable[CallItem]:
    for one in result if isinstance(result, list) else ():
        item = one.item if isinstance(one, Call) else one
        if isinstance(item, CallItem) and item.raw:
            yield item


def _digest(item: CallItem) -> bytes:
    """A digest that does not depend on the formatting of the JSON."""
    raw = json.dumps(json.loads(item.raw), sort_keys=True)
    return hashlib.sha256(f"{item.server}\0{raw}".encode("utf-8", "surrogatepass")).digest()
