"""What everything that a call does needs: the workspace, and the limits of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from lspkit.errors import WorkspaceClosedError
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.files import Files
from lspkit.runtime.pool.pool import Pool


class Context(NamedTuple):
    """The files and the servers of one workspace, and one call."""

    files: Files
    pool: Pool
    #: For parts of the call that wait on their own.
    threads: ThreadCache
    call: Call

    def part(self, seconds: float | None) -> Context:
        """The same for a part of the call that ends after these seconds from now."""
        return self._replace(call=self.call.part(seconds))


T = TypeVar("T")


class Calls:
    """Carries out calls, and ends them when the workspace is closed. For any thread."""

    def __init__(self, files: Files, pool: Pool, threads: ThreadCache) -> None:
        self._files, self.pool, self._threads = files, pool, threads
        #: Those that are under way. Adding and removing are atomic.
        self._running: set[Call] = set()
        #: Why none can be begun any more; empty if they can.
        self.closed = ""

    def run(self, call: Call, work: Callable[[Context], T]) -> T:
        """Carry out a call in this thread."""
        self._running.add(call)
        try:
            if self.closed:
                raise WorkspaceClosedError(self.closed)
            return work(Context(self._files, self.pool, self._threads, call))
        finally:
            self._running.discard(call)
            call.end()

    def close(self, why: str) -> None:
        """Begin no call any more, for this reason."""
        self.closed = self.closed or why

    def stop(self) -> None:
        """End the calls that are under way: each raises the reason where it waits."""
        for call in self._running.copy():
            call.stop(WorkspaceClosedError(self.closed))

    def drop_after_fork(self, why: str) -> None:
        """In a forked child: the calls are the parent's."""
        self._running, self.closed = set(), why
