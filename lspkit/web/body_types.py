"""The bodies of requests and responses. `openapi.py` makes the schemas from these types."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from lspkit.servers.status import ServerState
from lspkit.types import Severity, Verdict


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


class ServerBody(_Body, frozen=True):
    """One process of a server; one that does not run has no root."""

    id: str
    root: str | None
    state: ServerState
    source: str
    languages: list[str]
    diagnostics: Counts
    pid: int | None
    memory_bytes: int
    busy_with: list[str]
    #: Why it does not run.
    reason: str
    #: The command that installs a missing one.
    install: str


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
