"""Raw requests, and what concerns the workspace as a whole: status, configuration, changes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec

from lspkit.config import Config
from lspkit.edit_types import ChangedFiles
from lspkit.operations.effect_results import FileServer, Reply
from lspkit.operations.effects import (
    Ask,
    AwaitChange,
    Effect,
    FindServers,
    NoteText,
    Reread,
    RestartServer,
    SyncFile,
    TakeChanges,
    TakeConfig,
    TakeStatus,
    TakeTrustNotice,
    TakeWarnings,
)
from lspkit.operations.request import FileRequest, Request, operation, single_effect
from lspkit.protocol.wire.messages import decode_any
from lspkit.servers.status import WorkspaceStatus
from lspkit.servers.status import status_text as as_text


class RawRequest(Request[Any], frozen=True, kw_only=True):
    """Send any request of the protocol to the first server of a file."""

    path: str
    method: str
    params: Any = None


class SyncRequest(FileRequest[None], frozen=True, kw_only=True):
    """Send the text of a file to its servers."""

    #: Whether the file as it is now is the state before the next edit.
    baseline: bool = False


class StatusRequest(Request[WorkspaceStatus], frozen=True, kw_only=True):
    """Get the state of all servers."""

    root: str | None = None


class WarningsRequest(Request[tuple[str, ...]], frozen=True, kw_only=True):
    """Get the warnings of the status, without the state of any server."""


class FileServersRequest(Request[list[FileServer]], frozen=True, kw_only=True):
    """Get the state of the servers of a file; without one, of all that run. Starts nothing."""

    path: str | None = None


class StatusTextRequest(Request[str], frozen=True, kw_only=True):
    """Get the state of all servers as text."""


class ReloadRequest(Request[None], frozen=True, kw_only=True):
    """Reload the configuration, restart the servers that it changes, and forget failures."""


class RestartServerRequest(Request[list[str]], frozen=True, kw_only=True):
    """Restart one server, in all its roots, and forget its failures."""

    #: Its id, or an alias of it.
    server: str


class Settings(msgspec.Struct, frozen=True):
    """The configuration, and how often it was loaded."""

    generation: int
    config: Config


class SettingsRequest(Request[Settings | None], frozen=True, kw_only=True):
    """Get the configuration; None if the caller has it already."""

    #: The generation that the caller has; 0 for none.
    known: int = 0


class TrustNotice(msgspec.Struct, frozen=True):
    """What users should know before they rely on the servers."""

    #: The folder that would have to be trusted.
    project: str
    #: What may not run in it, on one line; empty if nothing is held back.
    text: str
    #: Other warnings about the configuration.
    warnings: tuple[str, ...] = ()
    #: `trusted`, `untrusted` or `stale`, and why.
    state: str = ""
    why: str = ""
    #: What would run if the project were trusted, and what allows it.
    held_back: tuple[str, ...] = ()
    remedy: str = ""


class TrustNoticeRequest(Request[TrustNotice], frozen=True, kw_only=True):
    """Get the line about an untrusted project."""


class WaitForChangeRequest(Request[int], frozen=True, kw_only=True):
    """Wait for a report of diagnostics."""

    after: int


class ChangedSinceRequest(Request[ChangedFiles], frozen=True, kw_only=True):
    """Get the files that have changed on disk."""

    #: None: only return a mark.
    after: int | None = None


@operation("request", RawRequest, Any)
def raw_request(request: RawRequest) -> Generator[Effect, Any, Any]:
    """The server's result as plain JSON values."""
    replies: list[Reply] = yield Ask(
        request.path, None, request.method, lambda *_: request.params, ignore_capabilities=True
    )
    return decode_any(replies[0].result)


@operation("status_text", StatusTextRequest, str)
def status_text(_: StatusTextRequest) -> Generator[Effect, Any, str]:
    """The snapshot as text."""
    snapshot: WorkspaceStatus = yield TakeStatus(None)
    return as_text(snapshot)


@operation("sync", SyncRequest, None)
def sync(request: SyncRequest) -> Generator[Effect, Any, None]:
    """Send the text, and keep it if it is the one before the next edit."""
    if request.baseline:
        yield NoteText(request.path)
    yield SyncFile(request.path, request.text)


single_effect("status", StatusRequest, WorkspaceStatus, lambda one: TakeStatus(one.root))
single_effect("warnings", WarningsRequest, tuple[str, ...], lambda _: TakeWarnings())
single_effect(
    "file_servers", FileServersRequest, list[FileServer], lambda one: FindServers(one.path)
)
single_effect("reload", ReloadRequest, None, lambda _: Reread())
single_effect("restart", RestartServerRequest, list[str], lambda one: RestartServer(one.server))
single_effect("settings", SettingsRequest, Settings | None, lambda one: TakeConfig(one.known))
single_effect("trust_notice", TrustNoticeRequest, TrustNotice, lambda _: TakeTrustNotice())
single_effect("wait_for_change", WaitForChangeRequest, int, lambda one: AwaitChange(one.after))
single_effect(
    "changed_files", ChangedSinceRequest, ChangedFiles, lambda one: TakeChanges(one.after)
)
