"""What a pool keeps about one server, across its processes."""

from __future__ import annotations

import signal

import msgspec

from lspkit.config import Config
from lspkit.config.model import TimingConfig
from lspkit.errors import LspkitError, ServerBrokenError, ServerUnavailableError
from lspkit.runtime.process.backoff import FailureRecord, Restart, after_failure
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.metrics import Metrics
from lspkit.runtime.server.server import Server
from lspkit.servers.restriction.trust_profile import Permits
from lspkit.servers.selection.choose import Choice, begins_at, definitions, permitted

#: Server id and root.
Key = tuple[str, str]

#: Seconds after which programs and markers are looked for again.
LOOK_AGAIN = 5.0
#: After so many starts in a row at which its program has ended, a server counts as unavailable.
MOST_STARTS = 3
#: Exit statuses of a program that somebody else has ended, or the kernel for want of memory.
KILLED_BY_OTHERS = (-signal.SIGKILL, -signal.SIGTERM)


class Slot(msgspec.Struct):
    """The state of one key."""

    server: Server
    started_at: float
    #: Why its server was last chosen among several; empty if there was nothing to choose.
    why: str = ""
    metrics: Metrics = msgspec.field(default_factory=Metrics)
    record: FailureRecord = FailureRecord()
    #: When files that its server reads only once have changed, by the monotonic clock.
    changed_at: float = 0.0
    #: Whether the previous server was outdated soon after its start.
    restless: bool = False


def initialize_timeout(choice: Choice, config: Config) -> float:
    """Seconds that a server has to start.

    A definition may give more than the default; a configured value that is not the default wins.
    """
    usual, said = TimingConfig().initialize_timeout_ms, config.timing.initialize_timeout_ms
    known = choice.definition.launch.initialize_timeout_ms if said == usual else None
    return (choice.config.timing.initialize_timeout_ms or known or said) / 1000


def may_restart(slot: Slot, choice: Choice, now: float) -> None:
    """Raise while it is too early to start a failed server again, by the same program."""
    failure, record = slot.server.channel.failure, slot.record
    if isinstance(failure, ServerUnavailableError):
        if now - slot.started_at < LOOK_AGAIN and choice.argv == slot.server.choice.argv:
            raise failure.copy()
    elif failure is not None and now < record.retry_at:
        raise failure_errors.too_early(failure, record, now)


def failed(slot: Slot, restart: Restart, *, now: float, dice: float) -> None:
    """Record that the server has failed, and when it may be restarted. `dice` is from -1 to 1."""
    server, ran_for = slot.server, now - slot.started_at
    if server.false_start:
        return  # its reader reports it once more
    slot.metrics.crashes += 1
    of_use = server.was_of_use
    is_false_start = not of_use and server.adapter.is_false_start(ran_for)
    may_fail = is_false_start or server.is_blocked
    if may_fail and not restart.never and not slot.record.attempts:
        slot.record, server.false_start = FailureRecord(1, now), True
    else:
        slot.record = after_failure(
            slot.record, restart, ran_for=ran_for, now=now, dice=dice, was_of_use=of_use
        )


def never_starts(slot: Slot, error: LspkitError) -> bool:
    """Whether its program has ended by itself at several starts in a row, before it was ready."""
    status = error.exit_status if isinstance(error, ServerBrokenError) else None
    by_itself = status is not None and status not in KILLED_BY_OTHERS
    return by_itself and not slot.server.came_up and slot.record.attempts >= MOST_STARTS


def starts_alike(
    server: Server, config: Config, permits: Permits, workspace: str, folders: list[str]
) -> bool:
    """Whether a server runs and would be started identically with this configuration."""
    old = server.choice
    said = config.server(old.id, old.definition.aliases)
    again = [one for one in definitions(config) if one.id == old.id]
    if not server.usable or server.channel.observations.admitted:
        return False
    if not again or said.disabled or not config.enabled:
        return False
    permit, at = permits(old.root), begins_at(workspace, permits(workspace))
    new = permitted(again[0], said, old.root, workspace, folders, permit, at)
    return new.as_chosen_like(old) == old
