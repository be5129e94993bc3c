"""Printing for people and pipes."""

from __future__ import annotations

import os
import sys


def say(text: str) -> None:
    """Print the result. A reader who has seen enough (`| head`) is no mistake of anybody."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
