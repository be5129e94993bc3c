"""The loop that every contestant of `client_cost.py` runs in its own process.

The driver sends one line of JSON per block, `{"operation": "hover", "calls": 100}`, and
gets one line back with the time of each call in nanoseconds. So blocks of all contestants
can be interleaved in one run, while each keeps its own interpreter and packages. Standard
library only, since it is imported under the peers' environments as well.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

#: An operation of a contestant: makes one call and returns what it got.
Call = Callable[[], Any]


def serve_blocks(
    calls: Mapping[str, Call], before: Mapping[str, Call] | None = None, **facts: Any
) -> None:
    """Answer the driver until its pipe closes.

    `before` holds what an operation needs between calls and what is not measured, such as
    emptying a peer's cache. `facts` are said once, at the start.
    """
    replies = os.fdopen(os.dup(1), "w")
    # What a peer prints must not mix with the replies.
    os.dup2(2, 1)
    sizes = {name: _size(call()) for name, call in calls.items()}
    print(json.dumps({"results": sizes, **facts}), file=replies, flush=True)
    for line in sys.stdin:
        block = json.loads(line)
        name = block["operation"]
        times = _times(calls[name], (before or {}).get(name), block["calls"])
        print(json.dumps(times), file=replies, flush=True)


def _times(call: Call, before: Call | None, count: int) -> list[int]:
    clock = time.perf_counter_ns
    times = []
    for _ in range(count):
        if before is not None:
            before()
        start = clock()
        call()
        times.append(clock() - start)
    return times


def _size(result: Any) -> int:
    """How many things came back; the driver compares it between contestants."""
    if isinstance(result, tuple):
        result = result[0]
    if hasattr(result, "root_symbols"):
        result = result.root_symbols
    if isinstance(result, list):
        return len(result)
    return 0 if result is None else 1
