"""The state of the servers as a table."""

from __future__ import annotations

from collections.abc import Sequence

from lspkit.notebook.rendering.html_parts import (
    MOST_ROWS,
    Sources,
    badge,
    code,
    joined,
    left_out,
    line,
    muted,
    table,
    text,
)
from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.visible_text import bytes_text

#: Red, green and blue.
_GREY = "128,128,128"
STATE_COLOURS = {
    ServerState.BROKEN: "220,40,40",
    ServerState.STARTING: "230,150,0",
    ServerState.ACTIVE: "40,160,60",
}
#: Servers in these states are only counted, unless they were tried.
QUIET = (ServerState.UNAVAILABLE, ServerState.DISABLED)
#: Roots and warnings.
MOST_DETAILS = 10


def status_html(found: WorkspaceStatus, sources: Sources) -> str:
    """The totals, the servers that can run, and warnings."""
    told = [row for row in found.rows if row.roots or row.state not in QUIET]
    warnings = [line(f"warning: {text(one)}") for one in found.warnings[:MOST_DETAILS]]
    shown = servers_html(told, sources) if told else ""
    more = left_out(len(found.warnings) - MOST_DETAILS)
    return line(text(found)) + shown + "".join(warnings) + more


def servers_html(found: Sequence[ServerStatus], _: Sources) -> str:
    """A row for each server."""
    rows = [
        (
            badge(one.state.value, STATE_COLOURS.get(one.state, _GREY)),
            f"<b>{text(one.server, 60)}</b>",
            joined(one.languages, longest=80),
            "".join(map(_root, one.roots[:MOST_DETAILS])) or muted(text(one.reason)),
            text(one.diagnostics.get("total", "")),
        )
        for one in found[:MOST_ROWS]
    ]
    heads = ("state", "server", "languages", "processes", "findings")
    return table(heads, rows, len(found) - len(rows))


def _root(one: RootStatus) -> str:
    told = [f"pid {one.pid}"] if one.pid else []
    if one.requests.count:
        told.append(f"{one.requests.count} requests, median {one.requests.p50:.0f} ms")
    if one.memory_bytes:
        told.append(bytes_text(one.memory_bytes))
    told += one.busy_with[:3]
    if one.broken is not None:
        told.append(one.broken.error)
    return line(f"{code(one.root)} {muted(joined(told, '; '))}")
