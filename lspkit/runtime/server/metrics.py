"""What is counted about a server for its status, and the log line about its findings."""

from __future__ import annotations

import collections
import logging
from collections.abc import Iterable
from typing import Any

from lspkit.protocol.wire.results import read_raw_items
from lspkit.servers.status import Checks, Requests

log = logging.getLogger("lspkit.runtime")

#: How many of the last latencies are kept.
KEPT = 256


class _Tally:
    """How often something was done, how often in vain, and how long it took."""

    def __init__(self) -> None:
        self.count = self.timeouts = 0
        self.latencies: collections.deque[float] = collections.deque(maxlen=KEPT)

    def figures(self) -> dict[str, Any]:
        """For the status."""
        ordered = sorted(self.latencies)
        p50, p95 = _percentile(ordered, 0.5), _percentile(ordered, 0.95)
        return {"count": self.count, "p50": p50, "p95": p95, "timeouts": self.timeouts}


class Metrics:
    """Requests to one server id and root, and checks by it, over all its processes.

    Guarded by the lock of the server, of which an earlier process has another one: its last calls
    may lose a count. The starts and crashes are guarded by the lock of the pool.
    """

    def __init__(self) -> None:
        self._requests, self._checks = _Tally(), _Tally()
        self.starts = 0
        self.crashes = 0

    def answered(self, seconds: float) -> None:
        """A request was answered after so long."""
        self._requests.count += 1
        self._requests.latencies.append(seconds)

    def timed_out(self) -> None:
        """A request timed out."""
        self._requests.count += 1
        self._requests.timeouts += 1

    def checked(self, seconds: float | None, *, timed_out: bool) -> None:
        """A file was checked, in `seconds`; None if there is no result."""
        self._checks.count += 1
        self._checks.timeouts += timed_out
        self._checks.latencies.extend(() if seconds is None else (seconds,))

    def checks(self, files: int) -> Checks:
        """The counts of checks now; `files` have findings."""
        return Checks(**self._checks.figures(), files=files)

    def taken(self, in_flight: tuple[str, ...]) -> Requests:
        """The counts now."""
        counts = {"crashes": self.crashes, "starts": self.starts}
        return Requests(**self._requests.figures(), **counts, in_flight=in_flight)


def log_findings(server: str, about: str, lists: Iterable[bytes], how: str) -> None:
    """Log one line about the findings of a server in one file, at debug level."""
    if log.isEnabledFor(logging.DEBUG):
        number = sum(len(read_raw_items(items).items) for items in lists)
        log.debug("%s: %d findings of %s, %s", about, number, server, how)


def _percentile(ordered: list[float], part: float) -> float:
    """Milliseconds, rounded for reading."""
    if not ordered:
        return 0.0
    return round(ordered[min(int(len(ordered) * part), len(ordered) - 1)] * 1000, 3)
