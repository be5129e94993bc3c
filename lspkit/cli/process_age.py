"""How long this process has run: a timeout of a command begins when the command does."""

from __future__ import annotations

import os
import time

#: Seconds within which any interpreter starts. A larger age is that of another clock.
OLDEST = 60.0


def process_age() -> float:
    """The seconds since this process was started. Its caller has waited all the time."""
    try:
        with open("/proc/self/stat", "rb") as file:
            # The name of the program, in parentheses, may contain spaces.
            start = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # not on Linux
        age = -1.0
    # If it is not known: at least the time that was used, unless this is no command but a program
    # that has run for long.
    known = age if 0 <= age < OLDEST else time.process_time()
    return known if known < OLDEST else 0.0
