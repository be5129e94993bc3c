"""When a failed server may be restarted. Pure: clock and dice are passed in."""

from __future__ import annotations

import msgspec

from lspkit.config import RestartConfig


class Restart(msgspec.Struct, frozen=True):
    """The delays of restarts."""

    #: Seconds before the second start.
    base: float = 5.0
    factor: float = 2.0
    most: float = 60.0
    #: Each delay varies by this part of itself, so that many clients do not start at once.
    jitter: float = 0.2
    #: A server that ran this long without a failure is restarted at once. So is one that has
    #: answered, unless it was restarted at once less than this long ago.
    well: float = 60.0
    #: Whether a failed server is never restarted.
    never: bool = False


def restart_of(config: RestartConfig) -> Restart:
    """The configured delays, in seconds."""
    return Restart(
        base=config.base_ms / 1000,
        factor=config.factor,
        most=config.max_ms / 1000,
        jitter=config.jitter,
        never=config.policy == "never",
    )


class FailureRecord(msgspec.Struct, frozen=True):
    """The failures of one server."""

    attempts: int = 0
    #: The earliest time of the next start.
    retry_at: float = 0.0
    #: When it was last restarted at once after a failure.
    spared_at: float = float("-inf")

    def after_success(self) -> FailureRecord:
        """The record without earlier failures."""
        return FailureRecord(spared_at=self.spared_at)


def after_failure(
    record: FailureRecord,
    restart: Restart,
    *,
    ran_for: float,
    now: float,
    dice: float,
    was_of_use: bool = False,
) -> FailureRecord:
    """The record after one more failure. `dice` is between -1 and 1."""
    if restart.never:
        return FailureRecord(record.attempts + 1, float("inf"))
    is_first = was_of_use and now - record.spared_at >= restart.well
    if record.attempts == 0 and (is_first or ran_for >= restart.well):
        return FailureRecord(1, now, now)
    # Far beyond any limit; a power with an unbounded exponent would overflow.
    doublings = min(record.attempts, 64)
    delay = min(restart.base * restart.factor**doublings, restart.most)
    retry_at = now + delay * (1 + restart.jitter * dice)
    return FailureRecord(record.attempts + 1, retry_at, record.spared_at)
