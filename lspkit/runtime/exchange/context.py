"""What everything that a call does needs: the workspace, and the limits of the call."""

from __future__ import annotations

from typing import NamedTuple

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
