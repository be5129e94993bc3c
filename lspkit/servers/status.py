"""The state of the servers of a workspace: rows in a fixed order, totals, and their text."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from lspkit.config.model import DISABLED
from lspkit.protocol.uris import uri_to_path
from lspkit.types import Interpreter, Value
from lspkit.visible_text import count, fold_lines, one_line

#: Why a server that is not held back cannot run.
NOT_FOUND = "its program was not found"
#: Servers that are named on one line.
MOST_NAMES = 8


class ServerState(enum.StrEnum):
    """Worst first: rows are shown in this order."""

    BROKEN = "broken"
    STARTING = "starting"
    ACTIVE = "active"
    IDLE = "idle"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(ServerState).index(self)


#: States of servers that run, or that would run for a file.
USABLE = (ServerState.BROKEN, ServerState.STARTING, ServerState.ACTIVE, ServerState.IDLE)


class Broken(Value, frozen=True):
    """What is wrong with a server, and when it is restarted."""

    attempts: int
    #: Seconds; None: not before a reload.
    retry_in: float | None
    error: str


class Requests(Value, frozen=True):
    """Requests so far; times in milliseconds."""

    count: int = 0
    p50: float = 0.0
    p95: float = 0.0
    timeouts: int = 0
    crashes: int = 0
    starts: int = 0
    in_flight: tuple[str, ...] = ()


class Checks(Value, frozen=True):
    """Checks of files so far; times in milliseconds."""

    count: int = 0
    p50: float = 0.0
    p95: float = 0.0
    timeouts: int = 0
    #: Files with known findings.
    files: int = 0


class RootStatus(Value, frozen=True):
    """One process of a server."""

    root: str
    state: ServerState
    pid: int | None = None
    #: Name and version, as the server gives them.
    name: str = ""
    busy_with: tuple[str, ...] = ()
    #: Seconds for each of these.
    busy_for: tuple[float, ...] = ()
    requests: Requests = Requests()
    checks: Checks = Checks()
    broken: Broken | None = None
    documents: int = 0
    #: Of the process and its descendants.
    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    #: Seconds since its last message.
    last_seen: float | None = None
    stderr: str = ""
    #: Bytes on its standard output that were no message.
    noise: int = 0
    #: What it sent beyond a limit and was dropped, by kind.
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    #: Programs that run beside it.
    sidecars: tuple[SidecarStatus, ...] = ()


class ServerStatus(Value, frozen=True):
    """One server, with all its roots."""

    server: str
    state: ServerState
    languages: tuple[str, ...]
    extensions: tuple[str, ...]
    markers: tuple[str, ...]
    #: `built-in`, or where else its definition comes from.
    source: str
    #: Program and arguments as they would be run; empty where the program is missing.
    command: tuple[str, ...]
    #: The version it was tested with here, or `documentation`.
    verified: str
    #: `trusted`; in an untrusted project `restricted`, or `configured` for a server that runs
    #: because the user has given its command; or, for a server that does not run there, the state
    #: of the project: `untrusted` or `stale`.
    trust: str = "trusted"
    roots: tuple[RootStatus, ...] = ()
    #: By severity, and `total`.
    diagnostics: dict[str, int] = msgspec.field(default_factory=dict)
    #: Why it cannot run.
    reason: str = ""
    #: Why it was chosen among several for one language; empty until it is, or if there is only one.
    why: str = ""
    install: str = ""
    #: For a server of Python: the interpreter whose packages it uses, and why.
    interpreter: Interpreter | None = None

    def __str__(self) -> str:
        where = one_line(", ".join(root.root for root in self.roots))
        more = f" {where}" if where else f" {fold_lines(self.reason)}" if self.reason else ""
        return f"{self.state.value} {one_line(self.server)}{more}"


class WorkspaceStatus(Value, frozen=True):
    """All servers at one moment."""

    #: Seconds since 1970.
    generated_at: float
    rows: tuple[ServerStatus, ...]
    #: `configured`, and one number per state.
    totals: dict[str, int]
    #: Why nothing can run; empty if something can.
    unavailable: str = ""
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.unavailable == DISABLED:
            return DISABLED
        if self.unavailable:
            return fold_lines(f"LSP unavailable: {self.unavailable}")
        parts = [f"{number} {what}" for what, number in self.totals.items() if number]
        return ", ".join(parts)


def worst(states: Iterable[ServerState], otherwise: ServerState) -> ServerState:
    """The worst state, or `otherwise` if there is none."""
    return min(states, key=lambda state: state.rank, default=otherwise)


def why_nothing_runs(rows: Iterable[ServerStatus]) -> str:
    """Why none of the servers can run; empty if one can, or there is none."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.state is ServerState.DISABLED:
            what = "disabled"
        elif row.state is not ServerState.UNAVAILABLE:
            return ""
        elif row.reason == NOT_FOUND:
            what = "not found"
        else:
            what = "held back" if row.reason.startswith("held back") else "unusable"
        counts[what] = counts.get(what, 0) + 1
    summary = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    return f"no server can run ({summary})" if summary else ""


def snapshot(
    rows: Iterable[ServerStatus],
    at: float,
    *,
    unavailable: str = "",
    warnings: tuple[str, ...] = (),
) -> WorkspaceStatus:
    """The status with sorted rows and totals."""
    ordered = tuple(sorted(rows, key=lambda row: (row.state.rank, row.server)))
    totals = {"configured": len(ordered)}
    for state in ServerState:
        totals[state.value] = sum(row.state is state for row in ordered)
    return WorkspaceStatus(at, ordered, totals, unavailable, warnings)


def status_text(taken: WorkspaceStatus) -> str:
    """The servers that run or have a problem, then those that could run; the rest are counted."""
    if taken.unavailable:
        return str(taken)
    totals = [(taken.totals.get(state.value, 0), state.value) for state in USABLE]
    summary = ", ".join(f"{number} {state}" for number, state in totals if number)
    lines = [f"LSP servers: {summary or 'none'}"]
    for row in taken.rows:
        if not _has_lines(row):
            continue
        lines.append(f"  {row.server}: {row.state.value}")
        lines += [f"    chosen because {row.why}"] if row.why else []
        lines += [f"    interpreter: {row.interpreter}"] if row.interpreter is not None else []
        lines += [f"    {line}" for root in row.roots for line in _root_lines(root)]
    lines += [f"  {line}" for line in _other_lines(taken.rows)]
    lines += [f"  warning: {warning}" for warning in taken.warnings]
    return "\n".join(map(one_line, lines))


def _has_lines(row: ServerStatus) -> bool:
    """Whether lines of its own tell about a server: it runs, has a problem, or does not start."""
    if row.state is ServerState.UNAVAILABLE:
        return bool(row.roots)  # those for which its program was tried
    return row.state in USABLE and row.state is not ServerState.IDLE


def _other_lines(rows: Iterable[ServerStatus]) -> list[str]:
    """A line for each reason why servers do not run. Those that are not installed are counted."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.state in (ServerState.IDLE, ServerState.DISABLED):
            names.setdefault(row.state.value, []).append(row.server)
        elif row.state is ServerState.UNAVAILABLE and not _has_lines(row):
            why = "not installed" if row.reason == NOT_FOUND else "held back or unusable"
            names.setdefault(why, []).append(row.server)
    missing = len(names.pop("not installed", ()))
    lines = [f"{why}: {name_some(servers)}" for why, servers in names.items()]
    return lines + ([f"not installed: {missing}, see `lspkit servers`"] if missing else [])


def name_some(servers: list[str]) -> str:
    """The first of these names; the rest are counted."""
    rest = len(servers) - MOST_NAMES
    return ", ".join(servers[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _root_lines(root: RootStatus) -> list[str]:
    tallies = ((root.requests.count, "request"), (root.checks.count, "check"))
    summary = ", ".join(count(number, what) for number, what in tallies if number)
    pid = f", pid {root.pid}" if root.pid else ""
    lines = [f"{root.root}: {root.state.value}{pid}, {summary or 'nothing asked yet'}"]
    work = zip(root.busy_with, root.busy_for, strict=True)
    lines += [f"busy with {what} for {seconds:.0f} s" for what, seconds in work]
    lines += [f"beside it: {sidecar}" for sidecar in root.sidecars]
    if root.broken is not None and not root.broken.attempts:
        lines.append(root.broken.error)
    elif root.broken is not None:
        again = root.broken.retry_in
        when = "not before a reload" if again is None else f"next try in {again:.0f} s"
        lines.append(f"{root.broken.error} ({count(root.broken.attempts, 'failure')}, {when})")
    return lines


# The state of a program that runs beside a server.

#: `waiting`: it has ended, and will be restarted. `failed`: it has ended for good.
SidecarState = Literal["starting", "running", "waiting", "failed", "stopped"]


class SidecarStatus(Value, frozen=True):
    """One program that runs beside a server."""

    #: Program and arguments.
    command: tuple[str, ...]
    state: SidecarState
    pid: int | None = None
    #: How often it was restarted.
    restarts: int = 0
    #: Seconds until it is restarted.
    retry_in: float | None = None
    #: Why it last ended; empty if it never has.
    error: str = ""
    #: Its last output on standard error.
    stderr: str = ""

    def __str__(self) -> str:
        pid = f", pid {self.pid}" if self.pid else ""
        again = f", next try in {self.retry_in:.0f} s" if self.retry_in is not None else ""
        in_trouble = self.error and self.state in ("waiting", "failed")
        error = f": {one_line(self.error)}" if in_trouble else ""
        return f"{one_line(' '.join(self.command))}: {self.state}{pid}{again}{error}"


# What happens to the servers of a workspace, as values for those who watch it.

#: `dropped`: a watcher was too slow, and has missed events.
EventKind = Literal["state", "diagnostics", "progress", "dropped"]


class WorkspaceEvent(Value, frozen=True, omit_defaults=True):
    """One event. The fields that its kind does not need are empty."""

    kind: EventKind
    server: str = ""
    root: str = ""
    #: The new state of the server.
    state: ServerState | None = None
    #: The file with new diagnostics.
    path: str = ""
    #: What the server works on, and whether that is done.
    title: str = ""
    done: bool = False
    #: How many events are missing.
    count: int = 0

    def __str__(self) -> str:
        if self.kind == "dropped":
            return f"dropped: {count(self.count, 'event')}"
        state = self.state.value if self.state is not None else ""
        title = f"{fold_lines(self.title)} {'is done' if self.done else 'began'}"
        return f"{one_line(self.server)}: {state or one_line(self.path) or title}"


class Announcer:
    """Makes the events of one server. For any thread."""

    def __init__(self, id: str, root: str, on_event: Callable[[WorkspaceEvent], None]) -> None:
        self._id, self._root, self._on_event = id, root, on_event

    def state(self, state: ServerState) -> None:
        """Its state is new."""
        self._on_event(WorkspaceEvent("state", self._id, self._root, state))

    def diagnostics(self, uri: str) -> None:
        """There is a new report about a file."""
        path = uri_to_path(uri) or uri
        self._on_event(WorkspaceEvent("diagnostics", self._id, self._root, path=path))

    def progress(self, title: str, *, done: bool) -> None:
        """It has begun or ended some work."""
        self._on_event(WorkspaceEvent("progress", self._id, self._root, title=title, done=done))
