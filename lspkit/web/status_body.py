"""The state of workspaces as bodies. Pure functions of what a workspace tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from lspkit.diagnostics.report import Report
from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import Diagnostic
from lspkit.web.body_types import (
    CheckedFile,
    ConversationLsp,
    ConversationServer,
    Counts,
    DiagnosticBody,
    FileBody,
    ServerBody,
    WorkspaceBody,
)
from lspkit.workspace_boundary import is_inside

#: Diagnostics of one workspace in a body.
MOST_DIAGNOSTICS = 2000
#: Characters of a message.
LONGEST_MESSAGE = 4000

#: Known diagnostics by file.
Known = Mapping[Path, Sequence[Diagnostic]]


def workspace_body(root: str, status: WorkspaceStatus, known: Known) -> WorkspaceBody:
    """All servers and files of a workspace."""
    files, shown = [], 0
    for path in sorted(known):
        some = known[path][: MOST_DIAGNOSTICS - shown]
        shown += len(some)
        if some:
            files.append(FileBody(path=str(path), diagnostics=diagnostic_bodies(some)))
    servers = [body for row in status.rows for body in _server_bodies(row, known)]
    return WorkspaceBody(
        root=root,
        unavailable=status.unavailable,
        warnings=list(status.warnings),
        totals=status.totals,
        servers=servers,
        files=files,
        omitted=sum(map(len, known.values())) - shown,
    )


def conversation_body(
    id: str, cwd: str, status: WorkspaceStatus, known: Known, kinds: Set[str]
) -> ConversationLsp:
    """The servers in the folder of a conversation, and those that its files lack.

    `kinds` are the names and extensions of its files.
    """
    servers = [
        ConversationServer(
            id=server.id,
            root=server.root,
            state=server.state,
            languages=server.languages,
            diagnostics=server.diagnostics,
            reason=server.reason,
            install=server.install,
        )
        for row in status.rows
        for server in _server_bodies(row, known)
        if server.root is not None
        or (server.state is ServerState.UNAVAILABLE and not kinds.isdisjoint(row.extensions))
    ]
    connected = any(one.state is ServerState.ACTIVE for one in servers)
    return ConversationLsp(conversation_id=id, cwd=cwd, connected=connected, servers=servers)


def check_body(report: Report) -> CheckedFile:
    """The report on a file."""
    return CheckedFile(
        path=str(report.path),
        verdict=report.verdict,
        why=report.why,
        diagnostics=diagnostic_bodies(report.diagnostics[:MOST_DIAGNOSTICS]),
    )


def diagnostic_bodies(found: Iterable[Diagnostic]) -> list[DiagnosticBody]:
    """Diagnostics without their ends and related places."""
    return [
        DiagnosticBody(
            line=one.range.start.line,
            column=one.range.start.column,
            severity=one.severity,
            message=one.message[:LONGEST_MESSAGE],
            code=one.code,
            source=one.source,
            servers=list(one.servers),
        )
        for one in found
    ]


def _server_bodies(row: ServerStatus, known: Known) -> list[ServerBody]:
    """One for each root of a server, or one without a root."""
    roots = [one.root for one in row.roots]
    return [_server_body(row, one, known, roots) for one in row.roots or (None,)]


def _server_body(
    row: ServerStatus, at: RootStatus | None, known: Known, roots: Sequence[str]
) -> ServerBody:
    running = at or RootStatus("", row.state)
    return ServerBody(
        id=row.server,
        root=None if at is None else at.root,
        state=running.state,
        source=row.source,
        languages=list(row.languages),
        diagnostics=Counts() if at is None else counts(row.server, at.root, known, roots),
        pid=running.pid,
        memory_bytes=running.memory_bytes,
        busy_with=list(running.busy_with),
        reason=row.reason if running.broken is None else running.broken.error,
        install=row.install,
    )


def counts(server: str, root: str, known: Known, roots: Sequence[str]) -> Counts:
    """Diagnostics of a server in one of its roots. A file belongs to the innermost root."""
    numbers = {"error": 0, "warning": 0, "info": 0, "hint": 0}
    for path, found in known.items():
        around = [one for one in roots if is_inside(str(path), one)]
        if max(around, key=len, default=roots[0]) == root:
            for one in found:
                numbers[one.severity.value] += server in one.servers
    return Counts(**numbers, total=sum(numbers.values()))
