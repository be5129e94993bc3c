"""What a pool keeps: about one server, over all processes that it has had, and about one file."""

from __future__ import annotations

import msgspec

from lspkit.errors import LspkitError, ServerBroken, ServerUnavailable
from lspkit.runtime.backoff import Record
from lspkit.runtime.counting import Counts
from lspkit.runtime.server import Server

#: Seconds after which programs and markers are looked for again: they come and go.
LOOK_AGAIN = 5.0


class Seat(msgspec.Struct):
    """What is kept for one key."""

    server: Server
    started_at: float
    counts: Counts = msgspec.field(default_factory=Counts)
    record: Record = Record()


class Serving(msgspec.Struct, frozen=True):
    """Which servers a file has: taken for granted until then, or until `PATH` is another."""

    until: float
    path_variable: str
    servers: list[Server]
    failures: list[LspkitError]


def may_restart(seat: Seat, now: float) -> None:
    """Raises while it is too early to start a failed server again."""
    failure, record = seat.server.failure, seat.record
    if isinstance(failure, ServerUnavailable):
        if now - seat.started_at < LOOK_AGAIN:
            raise failure.renewed()
        return
    if failure is not None and now < record.retry_at:
        wait = record.retry_at - now
        again = "not before a reload" if wait == float("inf") else f"in {wait:.0f} s"
        raise ServerBroken(
            f"{failure} (failed {record.attempts} times; next try {again})",
            server=seat.server.id,
            exit_status=getattr(failure, "exit_status", None),
            attempts=record.attempts,
            retry_in=wait,
            stderr=getattr(failure, "stderr", ""),
        )
