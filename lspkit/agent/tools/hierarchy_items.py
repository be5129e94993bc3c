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

from lspkit.agent.tools.result_data import shorten
from lspkit.errors import PathError
from lspkit.protocol.uris import uri_to_path
from lspkit.types import Call, CallItem
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import Boundary, locate

#: Most items that are recorded.
MOST = 2_000
#: Characters of a URI in a message.
LONGEST_SHOWN = 60


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
        if _digest(item) in tuple(self._known):
            return
        path = uri_to_path(item.uri)
        if path is not None:
            locate(path, boundary, may_be_missing=True)
        elif item.uri[:5].lower() == "file:":
            # A server may find a file by it nevertheless.
            shown = shorten(one_line(item.uri), LONGEST_SHOWN)
            message = f"{shown} names no file of this machine that could be checked"
            raise PathError(message, code="EOUTSIDE", path=shown, boundary=boundary.root)


def _items(result: Any) -> Iterable[CallItem]:
    for one in result if isinstance(result, list) else ():
        item = one.item if isinstance(one, Call) else one
        if isinstance(item, CallItem) and item.raw:
            yield item


def _digest(item: CallItem) -> bytes:
    """A digest that does not depend on the formatting of the JSON."""
    raw = json.dumps(json.loads(item.raw), sort_keys=True)
    return hashlib.sha256(f"{item.server}\0{raw}".encode("utf-8", "surrogatepass")).digest()
