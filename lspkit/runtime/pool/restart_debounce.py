"""Starting a server anew whose files keep changing, as they do while packages are installed.

A process that would be outdated before it can answer is of no use. So the one after a process that
has not lived for long is started when the files have been still for a moment, and those who want
it wait for that as for any start.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.pool.slot import Slot

log = logging.getLogger("lspkit.runtime")

#: Seconds without a change, and after which a server is started in spite of changes.
STILL, LATEST = 0.3, 10.0
#: A process that is outdated after less than so many seconds has not lived for long.
BRIEF = 2.0


class RestartDebounce:
    """Servers that are not started yet."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        #: Guards the field below.
        self._lock = threading.Lock()
        #: By identity of their slots.
        self._waiting: set[int] = set()

    def then(self, slot: Slot, start: Callable[[], object]) -> None:
        """Call `start` when the files of a slot's server are still, once for all who want that."""
        latest = time.monotonic() + LATEST

        def look() -> None:
            when = min(slot.changed_at + STILL, latest)
            try:
                if time.monotonic() < when:
                    self._timers.at(when, look)
                    return
            except RuntimeError:
                log.debug("no thread is left to wait for still files")
            with self._lock:
                self._waiting.discard(id(slot))
            start()

        with self._lock:
            if id(slot) in self._waiting:
                return
            self._waiting.add(id(slot))
        look()
