"""Threads of lspkit's own. They end with their workspace, and never keep a program from ending."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

#: Seconds for which one thread of lspkit waits for others of them to end: they may wait for it.
PATIENCE = 2.0


class OwnThread(threading.Thread):
    """Runs code of lspkit, and of its user no more than the callbacks of futures."""

    def __init__(self, job: Callable[[], object], name: str) -> None:
        super().__init__(target=job, name=f"lspkit-{name}", daemon=True)
        #: Python before 3.13 takes a thread for ended when a `join` is interrupted.
        self.over = threading.Event()

    def run(self) -> None:
        """Do the job."""
        try:
            super().run()
        finally:
            self.over.set()


def on_own_thread() -> bool:
    """Whether a thread of lspkit runs this. Others may wait for it; no interrupt comes here."""
    return isinstance(threading.current_thread(), OwnThread)


def joined(threads: Iterable[OwnThread], timeout: float | None = None) -> bool:
    """Wait for threads to end, but not for the current one; False if one is left."""
    if timeout is None and on_own_thread():
        timeout = PATIENCE
    deadline = None if timeout is None else time.monotonic() + timeout
    ended = True
    for thread in threads:
        if thread.ident is None:
            continue  # whoever was to start it was interrupted, or had no means left
        if thread is threading.current_thread():
            ended = False
        elif thread.over.wait(None if deadline is None else max(0.0, deadline - time.monotonic())):
            thread.join()
        else:
            ended = False
    return ended
