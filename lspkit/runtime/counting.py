"""What is counted about a server, for its status."""

from __future__ import annotations

import collections
import threading

from lspkit.servers.status import Requests

#: Latencies are kept of so many last requests.
KEPT = 256


class Counts:
    """Requests of one server id and root, over all its processes."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._latencies: collections.deque[float] = collections.deque(maxlen=KEPT)
        self._requests = 0
        self._timeouts = 0
        self.starts = 0
        self.crashes = 0

    def answered(self, seconds: float) -> None:
        """A request was answered after so long."""
        with self._lock:
            self._requests += 1
            self._latencies.append(seconds)

    def timed_out(self) -> None:
        """A request was given up."""
        with self._lock:
            self._requests += 1
            self._timeouts += 1

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


def _percentile(ordered: list[float], part: float) -> float:
    """Milliseconds, rounded for reading."""
    if not ordered:
        return 0.0
    return round(ordered[min(int(len(ordered) * part), len(ordered) - 1)] * 1000, 3)
