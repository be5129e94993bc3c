"""Types of command-line arguments."""

from __future__ import annotations

import argparse
import math
import re

#: Three years: the most that the timers of every system take.
LONGEST_SECONDS = 100_000_000.0


class UsageError(Exception):
    """A mistake in the call. The usage is shown as well, if there is one."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


def path(word: str) -> str:
    """A path. An empty one is probably an unset variable, not the current folder."""
    if not word:
        raise argparse.ArgumentTypeError("a path cannot be empty")
    return word


def revision(word: str) -> str:
    """A git revision, which git must not take for an option."""
    if not word or word.startswith("-"):
        raise argparse.ArgumentTypeError(f"expected a git revision, found {word!r}")
    return word


def loopback_address(word: str) -> str:
    """`127.0.0.1:PORT`. What comes before the port is checked when it is used."""
    if not re.fullmatch(r".+:\d{1,5}", word):
        raise argparse.ArgumentTypeError(f"expected 127.0.0.1:PORT, found {word!r}")
    return word


def seconds(word: str) -> float:
    """A finite number of seconds. More than a timer takes are as good as no limit."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, 0 or more, found {word!r}")
    return min(number, LONGEST_SECONDS)
