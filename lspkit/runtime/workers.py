"""The few threads behind everything that no caller waits for in its own thread.

They start servers, clean up after them, and carry `submit`'s calls from one answer to the next.
Nothing that runs here waits for a server: what would have to wait is continued by the answer.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

log = logging.getLogger("lspkit.runtime")

#: More would not help: a step takes microseconds, a start some milliseconds.
THREADS = 4


class Workers:
    """A small pool of threads, which start with the first job."""

    def __init__(self) -> None:
        #: Guards the two fields below.
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._closed = False

    def do(self, job: Callable[[], object]) -> bool:
        """Run a job soon. False if it cannot be: after `close`, at the interpreter's end, or when
        the process has nothing left to start a thread with.
        """
        try:
            from concurrent.futures import ThreadPoolExecutor  # here, to keep `import lspkit` quick

            with self._lock:
                if self._closed:
                    return False
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="lspkit-worker")
                self._executor.submit(_safely, job)
        except (RuntimeError, OSError, ImportError) as problem:
            log.debug("a job cannot be run: %s", problem)
            return False
        return True

    def close(self) -> None:
        """Finish what has begun, and end the threads."""
        with self._lock:
            executor, self._executor, self._closed = self._executor, None, True
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)


def _safely(job: Callable[[], object]) -> None:
    try:
        job()
    except Exception:
        log.exception("a job of lspkit failed")
