"""When this process was started: since then the user of a command waits.

This module is the first of the command line that is imported.
"""

from __future__ import annotations

import os
import time

#: When lspkit was imported, by the monotonic clock.
IMPORTED_AT = time.monotonic()
#: The processor time, in seconds, that the interpreter had used until then.
USED_BEFORE = time.process_time()
#: The interpreter's start takes at most so many times its processor time, on a machine that is not
#: busier than that.
MOST_WAITING = 10.0


def process_start() -> float:
    """When this process began to be the command, by the monotonic clock."""
    now = time.monotonic()
    used = time.process_time() - USED_BEFORE
    return now - waited(kernel_age(), now - IMPORTED_AT, USED_BEFORE, used)


def waited(age: float | None, since_import: float, used_before: float, used: float) -> float:
    """The seconds since the start of a command.

    The age of the process alone does not tell. After `exec lspkit` in a shell script it includes
    what the script did before, and the clock of a container may be another one. So the time before
    the import is limited by the processor time that was used, and by how long the process has had
    to wait for a processor since then: with fifty processes at once, a hundred times as long.
    """
    if age is None:
        return since_import + used_before
    slowness = max(MOST_WAITING, since_import / used if used > 0 else 0.0)
    return min(max(age, since_import), since_import + slowness * used_before)


def kernel_age() -> float | None:
    """The seconds since this process was created; None if the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            # The name of the program, in parentheses, may contain spaces.
            start = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # not on Linux
        return None
