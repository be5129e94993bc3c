"""The arguments that several commands have in common, and when their timeout begins."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from lspkit.cli import argument_types as types


class Argument(NamedTuple):
    """One argument: its names, and the keywords of `add_argument`."""

    names: tuple[str, ...]
    keywords: dict[str, Any]


def argument(*names: str, **keywords: Any) -> Argument:
    """An argument, as `add_argument` takes it."""
    return Argument(names, keywords)


#: Metavars of paths. Shells complete them.
FILES, FOLDERS = ("FILE", "PATH", "FILE[:LINE[:COL]]"), ("DIR",)

JSON = argument("--json", action="store_true", help="print JSON")
DEFAULT_ROOT = "the workspace (default: the project around the current folder)"
ROOT = argument("--root", type=types.path, metavar="DIR", help=DEFAULT_ROOT)
NO_SERVICE = argument(
    "--no-service", action="store_true", help="start own servers, also if a service runs"
)
TIMEOUT = argument(
    "--timeout",
    type=types.seconds,
    default=60.0,
    metavar="SECONDS",
    help="for the whole call (default: 60)",
)
COMMON = (ROOT, TIMEOUT, NO_SERVICE, JSON)

POSITION = argument(
    "target",
    type=types.path,
    metavar="FILE[:LINE[:COL]]",
    help="a position, counted from 1; without a column, --symbol is needed",
)
SYMBOL = argument(
    "--symbol",
    metavar="NAME",
    help="a symbol of the file (Class.method), or, with a line, a word on that line",
)
AT = (POSITION, SYMBOL, *COMMON)

SERVICE_ROOT = argument(
    "root",
    nargs="?",
    type=types.path,
    metavar="DIR",
    help=DEFAULT_ROOT,
)

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
