"""The rows and totals of the panel as plain values, made from a status. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import Value


class PanelBroken(Value, frozen=True, rename="camel"):
    """What is wrong with a server, and when it is restarted."""

    attempts: int
    #: Milliseconds since 1970; None: not before a reload or a restart.
    retry_at: int | None
    last_error: str


class PanelDiagnostics(Value, frozen=True, rename="camel"):
    """The known diagnostics of a server."""

    error: int = 0
    warning: int = 0
    info: int = 0
    hint: int = 0
    total: int = 0


class PanelRow(Value, frozen=True, rename="camel"):
    """One server."""

    server_id: str
    #: `built-in`, or where else its definition comes from.
    source: str
    disabled: bool
    extensions: tuple[str, ...]
    #: Names of files that mark a root.
    configured_roots: tuple[str, ...]
    #: Folders for which a process answers, and for which one starts.
    connected_roots: tuple[str, ...]
    spawning_roots: tuple[str, ...]
    broken: PanelBroken | None
    diagnostics: PanelDiagnostics
    #: When it last sent a message, in milliseconds since 1970.
    last_seen_at: int | None


class PanelTotals(Value, frozen=True, rename="camel"):
    """How many servers there are, and how many in each state."""

    configured: int = 0
    connected: int = 0
    spawning: int = 0
    broken: int = 0
    disabled: int = 0


class Panel(Value, frozen=True, rename="camel"):
    """All that the panel shows as data."""

    #: Milliseconds since 1970.
    generated_at: int
    totals: PanelTotals
    rows: tuple[PanelRow, ...]
    #: Why nothing can run; empty if something can.
    unavailable: str = ""
    warnings: tuple[str, ...] = ()


def panel_of(status: WorkspaceStatus) -> Panel:
    """Rows and totals of a status."""
    return Panel(
        generated_at=_milliseconds(status.generated_at),
        totals=totals(status),
        rows=tuple(rows(status)),
        unavailable=status.unavailable,
        warnings=status.warnings,
    )


def rows(status: WorkspaceStatus) -> list[PanelRow]:
    """A row for every server: broken, spawning, connected, idle, disabled; then by id."""
    return [_row(server, status.generated_at) for server in ordered(status.rows)]


def totals(status: WorkspaceStatus) -> PanelTotals:
    """How many servers are in which state. A server with several roots counts once."""
    states = [server.state for server in status.rows]
    return PanelTotals(
        configured=len(states),
        connected=states.count(ServerState.ACTIVE),
        spawning=states.count(ServerState.STARTING),
        broken=states.count(ServerState.BROKEN),
        disabled=states.count(ServerState.DISABLED),
    )


def ordered(servers: Iterable[ServerStatus]) -> list[ServerStatus]:
    """The servers in the order of the panel."""
    return sorted(servers, key=lambda server: (server.state.rank, server.server))


def most_broken(server: ServerStatus) -> RootStatus | None:
    """The broken root with the most failures, for a server with several."""
    broken = [root for root in server.roots if root.state is ServerState.BROKEN]
    return max(broken, key=lambda root: root.broken.attempts if root.broken else 0, default=None)


def _row(server: ServerStatus, now: float) -> PanelRow:
    seen = [root.last_seen for root in server.roots if root.last_seen is not None]
    counts = {name: server.diagnostics.get(name, 0) for name in _SEVERITIES}
    return PanelRow(
        server_id=server.server,
        source=server.source,
        disabled=server.state is ServerState.DISABLED,
        extensions=server.extensions,
        configured_roots=server.markers,
        connected_roots=_roots(server, ServerState.ACTIVE),
        spawning_roots=_roots(server, ServerState.STARTING),
        broken=_broken(server, now),
        diagnostics=PanelDiagnostics(**counts),
        last_seen_at=_milliseconds(now - min(seen)) if seen else None,
    )


_SEVERITIES = PanelDiagnostics.__struct_fields__


def _roots(server: ServerStatus, state: ServerState) -> tuple[str, ...]:
    return tuple(root.root for root in server.roots if root.state is state)


def _broken(server: ServerStatus, now: float) -> PanelBroken | None:
    root = most_broken(server)
    if root is None or root.broken is None:
        return None
    again = root.broken.retry_in
    retry_at = None if again is None else _milliseconds(now + again)
    return PanelBroken(root.broken.attempts, retry_at, root.broken.error)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
