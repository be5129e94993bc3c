"""What is counted about a server for its status, and the log line about its findings."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Iterable

from lspkit.protocol.wire.raw_items import read_raw_items
from lspkit.servers.status import Checks, Requests

log = logging.getLogger("lspkit.runtime")

#: How many of the last latencies are kept.
KEPT = 256


class Metrics:
    """Requests to one server id and root, and checks by it, over all its processes."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._latencies: collections.deque[float] = collections.deque(maxlen=KEPT)
        self._requests = 0
        self._timeouts = 0
        self._check_latencies: collections.deque[float] = collections.deque(maxlen=KEPT)
        self._checks = 0
        self._check_timeouts = 0
        self.starts = 0
        self.crashes = 0

    def answered(self, seconds: float) -> None:
        """A request was answered after so long."""
        with self._lock:
            self._requests += 1
            self._latencies.append(seconds)

    def timed_out(self) -> None:
        """A request timed out."""
        with self._lock:
            self._requests += 1
            self._timeouts += 1

    def checked(self, seconds: float | None, *, timed_out: bool) -> None:
        """A file was checked, in `seconds`; None if there is no result."""
        with self._lock:
            self._checks += 1
            self._check_timeouts += timed_out
            if seconds is not None:
                self._check_latencies.append(seconds)

    def checks(self, files: int) -> Checks:
        """The counts of checks now; `files` have findings."""
        with self._lock:
            ordered = sorted(self._check_latencies)
            return Checks(
                count=self._checks,
                p50=_percentile(ordered, 0.5),
                p95=_percentile(ordered, 0.95),
                timeouts=self._check_timeouts,
                files=files,
            )

    def taken(self, in_flight: tuple[str, ...]) -> Requests:
        """The counts now."""
        with self._lock:
            ordered = sorted(self._latencies)
            return Requests(
                count=self._requests,
                p50=_percentile(ordered, 0.5),
                p95=_percentile(ordered, 0.95),
                timeouts=self._timeouts,
                crashes=self.crashes,
                starts=self.starts,
                in_flight=in_flight,
            )


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
