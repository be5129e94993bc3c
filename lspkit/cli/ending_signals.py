"""Signals that end a command, as errors: so it removes what it has made."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as an error would, so that it can clean up."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [one for one in ("SIGTERM", "SIGHUP") if hasattr(signal, one)]
    before = {getattr(signal, one): signal.signal(getattr(signal, one), end) for one in names}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
