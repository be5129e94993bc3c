"""The bodies of requests and responses, and how they are made of what a workspace has.

`routes.py` makes the schemas of the OpenAPI document from these types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lspkit.diagnostics.report import Report
from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import Diagnostic, Severity, Verdict
from lspkit.workspace_boundary import is_inside

#: Diagnostics of one workspace in a body.
MOST_DIAGNOSTICS = 2000
#: Characters of a message.
LONGEST_MESSAGE = 4000

#: Known diagnostics by file.
Known = Mapping[Path, Sequence[Diagnostic]]


class _Body(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The keys are in camel case."""


def _pattern(text: str) -> msgspec.Meta:
    """Only for the document: the endpoint refuses other values, and says why."""
    return msgspec.Meta(extra_json_schema={"pattern": text})


class SetCwd(_Body, frozen=True, forbid_unknown_fields=True):
    """The folder of a conversation: an absolute path."""

    cwd: Annotated[str, _pattern(r"^/[^\x00]*$")]


class CheckFile(_Body, frozen=True, forbid_unknown_fields=True):
    """A file to check, by its path in the folder of the conversation."""

    path: Annotated[str, _pattern(r"^[^\x00]+$")]


class ConversationCwd(_Body, frozen=True):
    """The folder of a conversation, as a real path."""

    conversation_id: str
    cwd: str


class Counts(_Body, frozen=True):
    """Numbers of diagnostics."""

    error: int = 0
    warning: int = 0
    info: int = 0
    hint: int = 0
    total: int = 0


class Conversations(_Body, frozen=True):
    """The conversations; those whose folder was set last come first."""

    conversations: list[ConversationCwd]
    #: Conversations that are left out, because there are too many.
    omitted: int


class ConversationServer(_Body, frozen=True):
    """A server that runs for the folder of a conversation, has failed there, or cannot run."""

    id: str
    #: None for one that cannot run, although there are files for it: it is missing, or held back in
    #: an untrusted project.
    root: str | None
    state: ServerState
    languages: list[str]
    diagnostics: Counts
    #: Why it does not run.
    reason: str
    #: The command that installs a missing one.
    install: str


class ConversationLsp(_Body, frozen=True):
    """The servers of a conversation. It is connected if one of them is active."""

    conversation_id: str
    cwd: str
    connected: bool
    servers: list[ConversationServer]


class DiagnosticBody(_Body, frozen=True):
    """A diagnostic. Lines and columns count from 1."""

    line: int
    column: int
    severity: Severity
    message: str
    code: str
    source: str
    servers: list[str]


class CheckedFile(_Body, frozen=True):
    """The report on a file."""

    path: str
    verdict: Verdict
    #: Why it is not known whether the file is clean; empty if it is known.
    why: str
    diagnostics: list[DiagnosticBody]


class ServerBody(ConversationServer, frozen=True):
    """One process of a server; one that does not run has no root."""

    source: str
    pid: int | None
    memory_bytes: int
    busy_with: list[str]


class FileBody(_Body, frozen=True):
    """The known diagnostics of a file."""

    path: str
    diagnostics: list[DiagnosticBody]


class WorkspaceBody(_Body, frozen=True):
    """A workspace of the service."""

    root: str
    #: Why nothing can run; empty if something can.
    unavailable: str
    warnings: list[str]
    #: The number of servers that are configured, and in each state.
    totals: dict[str, int]
    servers: list[ServerBody]
    #: Files with diagnostics, in the order of their paths.
    files: list[FileBody]
    #: Diagnostics that are left out of `files`, because there are too many.
    omitted: int


class ServiceBody(_Body, frozen=True):
    """The service itself."""

    version: str
    pid: int
    root: str
    #: The clients of its socket.
    clients: int


class Status(_Body, frozen=True):
    """The service and its workspaces; its own is the first."""

    service: ServiceBody
    workspaces: list[WorkspaceBody]


class EventBody(_Body, frozen=True, omit_defaults=True):
    """The data of an event; the fields that its kind does not need are left out."""

    kind: Literal["state", "diagnostics", "dropped"]
    #: The root of the workspace.
    workspace: str = ""
    server: str = ""
    #: The root of the server.
    root: str = ""
    state: ServerState | None = None
    #: The file with new diagnostics.
    path: str = ""
    #: How many events are missing, because they were not read in time.
    count: int = 0


class Problem(_Body, frozen=True):
    """A problem document (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    #: What is wrong, for programs.
    code: str
    detail: str


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
    connected = any(server.state is ServerState.ACTIVE for server in servers)
    return ConversationLsp(conversation_id=id, cwd=cwd, connected=connected, servers=servers)


def check_body(report: Report) -> CheckedFile:
    """The report on a file."""
    return CheckedFile(
        path=str(report.path),
        verdict=report.verdict,
        why=report.why,
        diagnostics=diagnostic_bodies(report.diagnostics[:MOST_DIAGNOSTICS]),
    )


def diagnostic_bodies(findings: Iterable[Diagnostic]) -> list[DiagnosticBody]:
    """Diagnostics without their ends and related places."""
    return [
        DiagnosticBody(
            line=finding.range.start.line,
            column=finding.range.start.column,
            severity=finding.severity,
            message=finding.message[:LONGEST_MESSAGE],
            code=finding.code,
            source=finding.source,
            servers=list(finding.servers),
        )
        for finding in findings
    ]


def _server_bodies(row: ServerStatus, known: Known) -> list[ServerBody]:
    """One for each root of a server, or one without a root."""
    roots = [root.root for root in row.roots]
    return [_server_body(row, running, known, roots) for running in row.roots or (None,)]


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
    for path, findings in known.items():
        around = [root for root in roots if is_inside(str(path), root)]
        if max(around, key=len, default=roots[0]) == root:
            for finding in findings:
                numbers[finding.severity.value] += server in finding.servers
    return Counts(**numbers, total=sum(numbers.values()))
