"""How a process that serves others ends: by a signal, and not too late."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator

log = logging.getLogger("lspkit.service")

#: Seconds to end in, before the process is killed with its servers.
END_TIMEOUT = 5.0


@contextlib.contextmanager
def end_signals() -> Iterator[Callable[[Callable[[str], None]], None]]:
    """Gives a function that says what SIGTERM, SIGINT and SIGHUP call.

    A signal before that is not lost: the function is called as soon as it is known.
    """
    ending: list[Callable[[str], None]] = []
    received: list[str] = []

    def on_signal(number: int, _: object) -> None:
        received.append(f"signal {signal.Signals(number).name}")
        for end in ending:
            end(received[0])

    def call_on_signal(end: Callable[[str], None]) -> None:
        ending.append(end)
        if received:
            end(received[0])

    names = ("SIGTERM", "SIGINT", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield call_on_signal
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def killed_if_late() -> Iterator[None]:
    """The process is killed if the block takes too long. The guardian then ends its servers."""
    watchdog = threading.Timer(END_TIMEOUT, _kill_self)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def _kill_self() -> None:
    log.error("the process did not end within %.0f s, and is killed", END_TIMEOUT)
    os.kill(os.getpid(), signal.SIGKILL)
