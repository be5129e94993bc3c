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
#: On a busy machine, the interpreter's start takes at most so many times its processor time.
MOST_WAITING = 10.0


def process_start() -> float:
    """When this process began to be the command, by the monotonic clock."""
    now = time.monotonic()
    return now - waited(kernel_age(), now - IMPORTED_AT, USED_BEFORE)


def waited(age: float | None, since_import: float, used_before: float) -> float:
    """The seconds since the start of a command.

    The age of the process alone does not tell. After `exec lspkit` in a shell script it includes
    what the script did before, and the clock of a container may be another one. So the time before
    the import is limited by the processor time that was used.
    """
    if age is None:
        return since_import + used_before
    return min(max(age, since_import), since_import + MOST_WAITING * used_before)


def kernel_age() -> float | None:
    """The seconds since this process was created; None if the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            # The name of the program, in parentheses, may contain spaces.
            start = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # not on Linux
        return None
