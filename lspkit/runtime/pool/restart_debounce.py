"""Delaying the restart of a server while its files keep changing, as during an installation.

A process that is outdated before it can answer is useless. So the successor of a short-lived
process is started when its files have not changed for a moment; callers wait for that as for any
start.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.pool.slot import Slot

log = logging.getLogger("lspkit.runtime")

#: Seconds without a change before a start, and the longest delay of a start.
STILL, LATEST = 0.3, 10.0
#: A process that is outdated after less than this many seconds is short-lived.
BRIEF = 2.0


def start_when_still(timers: Timers, slot: Slot, start: Callable[[], object]) -> None:
    """Call `start` when the files of a slot's server have not changed for a moment.

    A server whose start several callers want is started once, by whoever comes first.
    """
    latest = time.monotonic() + LATEST

    def look() -> None:
        when = min(slot.changed_at + STILL, latest)
        try:
            if time.monotonic() < when:
                timers.at(when, look)
                return
        except RuntimeError:
            log.debug("no thread can be started to wait for unchanged files")
        start()

    look()
