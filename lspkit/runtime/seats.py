"""What a pool keeps: about one server, over all processes that it has had, and about one file."""

from __future__ import annotations

import msgspec

from lspkit.config import Config
from lspkit.errors import LspkitError, ServerUnavailable
from lspkit.runtime import endings
from lspkit.runtime.backoff import Record
from lspkit.runtime.counting import Counts
from lspkit.runtime.server import Server
from lspkit.servers import Choice

#: Seconds after which programs and markers are looked for again: they come and go.
LOOK_AGAIN = 5.0


class Seat(msgspec.Struct):
    """What is kept for one key."""

    server: Server
    started_at: float
    counts: Counts = msgspec.field(default_factory=Counts)
    record: Record = Record()
    #: When files have changed that its server reads only once, by the monotonic clock.
    changed_at: float = 0.0
    #: Whether the server before this one was outdated soon after it was started.
    restless: bool = False


class Serving(msgspec.Struct, frozen=True):
    """Which servers a file has: taken for granted until then, or, if one is missing, until `PATH`
    is another.
    """

    until: float
    path_variable: str
    servers: list[Server]
    failures: list[LspkitError]


def initialize_timeout(choice: Choice, config: Config) -> float:
    """Seconds that a server has to come up."""
    return (
        choice.config.timing.initialize_timeout_ms
        or choice.definition.initialize_timeout_ms
        or config.timing.initialize_timeout_ms
    ) / 1000


def may_restart(seat: Seat, now: float) -> None:
    """Raises while it is too early to start a failed server again."""
    failure, record = seat.server.failure, seat.record
    if isinstance(failure, ServerUnavailable):
        if now - seat.started_at < LOOK_AGAIN:
            raise failure.renewed()
    elif failure is not None and now < record.retry_at:
        raise endings.too_early(failure, record, now)
