"""What a pool keeps about one server, across its processes."""

from __future__ import annotations

import enum
import signal

import msgspec

from lspkit.config import Config
from lspkit.config.model import TimingConfig
from lspkit.errors import ServerBrokenError, ServerUnavailableError
from lspkit.install.install_hint import InstallHint
from lspkit.runtime.process.backoff import FailureRecord, Restart, after_failure
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.metrics import Metrics
from lspkit.runtime.server.process_state import End
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
    usual, configured = TimingConfig().initialize_timeout_ms, config.timing.initialize_timeout_ms
    known = choice.definition.launch.initialize_timeout_ms if configured == usual else None
    return (choice.config.timing.initialize_timeout_ms or known or configured) / 1000


class Step(enum.Enum):
    """What to do for a call that needs a server."""

    #: The server takes the call.
    USE = "use"
    #: There is none, or it has ended.
    START = "start"
    #: It is outdated, or may do more or less than its root allows now: calls that use it may end,
    #: and then it is stopped.
    REPLACE = "replace"


def next_step(slot: Slot | None, choice: Choice, now: float) -> Step:
    """What to do for a call that needs the server of a slot.

    Raises while it is too early to start a failed server again. One whose program does not work is
    started at once if that is another program now.
    """
    if slot is None:
        return Step.START
    server, end = slot.server, slot.server.end
    if end is None:
        is_permitted = server.choice.permit.trusted == choice.permit.trusted
        return Step.USE if server.takes_calls and is_permitted else Step.REPLACE
    if isinstance(end.error, ServerUnavailableError):
        if now - slot.started_at < LOOK_AGAIN and choice.argv == server.choice.argv:
            raise end.error.copy()
    elif now < slot.record.retry_at:
        raise failure_errors.too_early(end.error, slot.record, now)
    return Step.START


def record_end(
    slot: Slot, end: End, restart: Restart, hint: InstallHint | None, *, now: float, dice: float
) -> End:
    """Record that the server has failed, and when it may be restarted. `dice` is from -1 to 1.

    `hint` is there if it ended by itself at its start. Returns the end as its callers see it.
    """
    if isinstance(end.error, ServerUnavailableError):
        return end
    slot.metrics.crashes += 1
    ran_for, adapter = now - slot.started_at, slot.server.adapter
    is_odd = end.blocked_itself or (not end.was_of_use and adapter.is_false_start(ran_for))
    may_ask_again = end.may_ask_again
    if is_odd and not restart.never and not slot.record.attempts:
        slot.record, may_ask_again = FailureRecord(1, now), True
    else:
        slot.record = after_failure(
            slot.record, restart, ran_for=ran_for, now=now, dice=dice, was_of_use=end.was_of_use
        )
    error, attempts = failure_errors.with_record(end.error, slot.record, now), slot.record.attempts
    if hint is not None and attempts >= MOST_STARTS:
        error = failure_errors.never_started(slot.server.choice, error, attempts, hint)
    return msgspec.structs.replace(end, error=error, may_ask_again=may_ask_again)


def ended_at_start(end: End) -> bool:
    """Whether the program of a server has ended by itself before it was up."""
    status = end.error.exit_status if isinstance(end.error, ServerBrokenError) else None
    return status is not None and status not in KILLED_BY_OTHERS and not end.was_up


def starts_alike(
    server: Server, config: Config, permits: Permits, workspace: str, folders: list[str]
) -> bool:
    """Whether a server runs and would be started identically with this configuration."""
    old = server.choice
    own_config = config.server(old.id, old.definition.aliases)
    again = [definition for definition in definitions(config) if definition.id == old.id]
    if not server.takes_calls or server.channel.observations.admitted:
        return False
    if not again or own_config.disabled or not config.enabled:
        return False
    permit, at = permits(old.root), begins_at(workspace, permits(workspace))
    new = permitted(again[0], own_config, old.root, workspace, folders, permit, at)
    return new.as_chosen_like(old) == old
