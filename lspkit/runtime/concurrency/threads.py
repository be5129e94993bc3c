"""Threads of lspkit. They end with their workspace, and never keep a program from ending."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

#: Seconds that a thread of lspkit waits for others to end: they may wait for it.
PATIENCE = 2.0


class OwnThread(threading.Thread):
    """Runs only code of lspkit and callbacks of futures."""

    def __init__(self, job: Callable[[], object], name: str) -> None:
        super().__init__(target=job, name=f"lspkit-{name}", daemon=True)
        #: Python before 3.13 regards a thread as ended when a `join` is interrupted.
        self.over = threading.Event()

    def run(self) -> None:
        """Do the job."""
        try:
            super().run()
        finally:
            self.over.set()


def on_own_thread() -> bool:
    """Whether this is a thread of lspkit. Others may wait for it; it gets no interrupts."""
    return isinstance(threading.current_thread(), OwnThread)


def joined(threads: Iterable[OwnThread], timeout: float | None = None) -> bool:
    """Wait for threads to end, except the current one; False if one still runs."""
    if timeout is None and on_own_thread():
        timeout = PATIENCE
    deadline = None if timeout is None else time.monotonic() + timeout
    ended = True
    for thread in threads:
        if thread.ident is None:
            continue  # it was never started: an interrupt, or no resources
        if thread is threading.current_thread():
            ended = False
        elif thread.over.wait(None if deadline is None else max(0.0, deadline - time.monotonic())):
            thread.join()
        else:
            ended = False
    return ended
