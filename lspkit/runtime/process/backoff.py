"""When a server that has failed may be started again. Pure: clock and dice are passed in."""

from __future__ import annotations

import msgspec

from lspkit.config import RestartConfig


class Restart(msgspec.Struct, frozen=True):
    """How patient to be."""

    #: Seconds before the second start.
    base: float = 5.0
    factor: float = 2.0
    most: float = 60.0
    #: Each delay varies by this part of itself, so that many clients do not start as one.
    jitter: float = 0.2
    #: A server that ran so long without a fault is started again at once. So is one that was of
    #: use, unless that was done for it less than so long ago.
    well: float = 60.0
    #: Not at all, rather than later.
    never: bool = False


def restart_of(said: RestartConfig) -> Restart:
    """What the configuration says about it, in seconds."""
    return Restart(
        base=said.base_ms / 1000,
        factor=said.factor,
        most=said.max_ms / 1000,
        jitter=said.jitter,
        never=said.policy == "never",
    )


class FailureRecord(msgspec.Struct, frozen=True):
    """What is remembered of a server that fails."""

    attempts: int = 0
    #: Not before this time.
    retry_at: float = 0.0
    #: When it was last started again at once after a failure.
    spared_at: float = float("-inf")

    def after_success(self) -> FailureRecord:
        """Whatever was wrong is over."""
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
    # Far beyond any cap, and the power of a number that grows for ever overflows.
    doublings = min(record.attempts, 64)
    delay = min(restart.base * restart.factor**doublings, restart.most)
    retry_at = now + delay * (1 + restart.jitter * dice)
    return FailureRecord(record.attempts + 1, retry_at, record.spared_at)
