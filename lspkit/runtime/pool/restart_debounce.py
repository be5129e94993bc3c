"""Delaying the restart of a server while its files keep changing, as during an installation.

A process that is outdated before it can answer is useless. So the successor of a short-lived
process is started when its files have not changed for a moment; callers wait for that as for any
start.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from lspkit.runtime.pool.slot import Slot

#: Seconds without a change before a start, and the longest delay of a start.
STILL, LATEST = 0.3, 10.0
#: A process that is outdated after less than this many seconds is short-lived.
BRIEF = 2.0


def wait_until_still(slot: Slot, pause: Callable[[float], bool]) -> None:
    """Wait until the files of a slot's server have not changed for a moment.

    `pause` waits until a time; False if that is not worth waiting for any more.
    """
    latest = time.monotonic() + LATEST
    while time.monotonic() < (when := min(slot.changed_at + STILL, latest)):
        if not pause(when):
            return
