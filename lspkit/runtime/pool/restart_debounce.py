"""Delaying the restart of a server while its files keep changing, as during an installation.

A process that is outdated before it can answer is useless. So the successor of a short-lived
process is started when its files have not changed for a moment; callers wait for that as for any
start.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.pool.slot import Slot

log = logging.getLogger("lspkit.runtime")

#: Seconds without a change before a start, and the longest delay of a start.
STILL, LATEST = 0.3, 10.0
#: A process that is outdated after less than this many seconds is short-lived.
BRIEF = 2.0


class RestartDebounce:
    """Servers whose start is delayed."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        #: Guards the field below.
        self._lock = threading.Lock()
        #: The ids of their slots.
        self._waiting: set[int] = set()

    def then(self, slot: Slot, start: Callable[[], object]) -> None:
        """Call `start` once when the files of a slot's server have not changed for a moment."""
        latest = time.monotonic() + LATEST

        def look() -> None:
            when = min(slot.changed_at + STILL, latest)
            try:
                if time.monotonic() < when:
                    self._timers.at(when, look)
                    return
            except RuntimeError:
                log.debug("no thread can be started to wait for unchanged files")
            with self._lock:
                self._waiting.discard(id(slot))
            start()

        with self._lock:
            if id(slot) in self._waiting:
                return
            self._waiting.add(id(slot))
        look()
