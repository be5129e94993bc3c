"""Raw requests, and what concerns the workspace as a whole: status, configuration, changes."""

from __future__ import annotations

from typing import Any

from lspkit.edit_types import ChangedFiles
from lspkit.operations.host import Host, Question
from lspkit.operations.host_results import FileServer, Settings, TrustNotice
from lspkit.operations.request import FileRequest, Request, StateRequest, operation
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

    shows_texts = True

    #: Whether the file as it is now is the state before the next edit.
    baseline: bool = False


class StatusRequest(StateRequest[WorkspaceStatus], frozen=True, kw_only=True):
    """Get the state of all servers."""

    root: str | None = None


class WarningsRequest(StateRequest[tuple[str, ...]], frozen=True, kw_only=True):
    """Get the warnings of the status, without the state of any server."""


class FileServersRequest(StateRequest[list[FileServer]], frozen=True, kw_only=True):
    """Get the state of the servers of a file; without one, of all that run. Starts nothing."""

    path: str | None = None


class StatusTextRequest(StateRequest[str], frozen=True, kw_only=True):
    """Get the state of all servers as text."""


class ReloadRequest(StateRequest[None], frozen=True, kw_only=True):
    """Reload the configuration, restart the servers that it changes, and forget failures."""


class RestartServerRequest(StateRequest[list[str]], frozen=True, kw_only=True):
    """Restart one server, in all its roots, and forget its failures."""

    #: Its id, or an alias of it.
    server: str


class SettingsRequest(StateRequest[Settings | None], frozen=True, kw_only=True):
    """Get the configuration; None if the caller has it already."""

    #: The generation that the caller has; 0 for none.
    known: int = 0


class TrustNoticeRequest(StateRequest[TrustNotice], frozen=True, kw_only=True):
    """Get the line about an untrusted project."""


class WaitForChangeRequest(StateRequest[int], frozen=True, kw_only=True):
    """Wait for a report of diagnostics."""

    after: int


class ChangedSinceRequest(StateRequest[ChangedFiles], frozen=True, kw_only=True):
    """Get the files that have changed on disk."""

    #: None: only return a mark.
    after: int | None = None


@operation("request", RawRequest, Any)
def raw_request(request: RawRequest, host: Host) -> Any:
    """The server's result as plain JSON values."""
    question = Question(
        request.path, None, request.method, lambda *_: request.params, ignore_capabilities=True
    )
    return decode_any(host.ask(question)[0].result)


@operation("sync", SyncRequest, None)
def sync(request: SyncRequest, host: Host) -> None:
    """Send the text, and keep it if it is the one before the next edit."""
    if request.baseline:
        host.note_text(request.path)
    host.sync_file(request.path, request.text)


@operation("status", StatusRequest, WorkspaceStatus)
def status(request: StatusRequest, host: Host) -> WorkspaceStatus:
    """The snapshot."""
    return host.status(request.root)


@operation("status_text", StatusTextRequest, str)
def status_text(_: StatusTextRequest, host: Host) -> str:
    """The snapshot as text."""
    return as_text(host.status(None))


@operation("warnings", WarningsRequest, tuple[str, ...])
def warnings(_: WarningsRequest, host: Host) -> tuple[str, ...]:
    """The warnings of the snapshot."""
    return host.warnings()


@operation("file_servers", FileServersRequest, list[FileServer])
def file_servers(request: FileServersRequest, host: Host) -> list[FileServer]:
    """The servers as they are now."""
    return host.file_servers(request.path)


@operation("reload", ReloadRequest, None)
def reload(_: ReloadRequest, host: Host) -> None:
    """Load the configuration again."""
    host.reload()


@operation("restart", RestartServerRequest, list[str])
def restart(request: RestartServerRequest, host: Host) -> list[str]:
    """Replace the processes of the server; its roots."""
    return host.restart_server(request.server)


@operation("settings", SettingsRequest, Settings | None)
def settings(request: SettingsRequest, host: Host) -> Settings | None:
    """The configuration, unless the caller has it."""
    return host.settings(request.known)


@operation("trust_notice", TrustNoticeRequest, TrustNotice)
def trust_notice(_: TrustNoticeRequest, host: Host) -> TrustNotice:
    """The notice as it is now."""
    return host.trust_notice()


@operation("wait_for_change", WaitForChangeRequest, int)
def wait_for_change(request: WaitForChangeRequest, host: Host) -> int:
    """The new epoch."""
    return host.wait_for_change(request.after)


@operation("changed_files", ChangedSinceRequest, ChangedFiles)
def changed_files(request: ChangedSinceRequest, host: Host) -> ChangedFiles:
    """The files, and the next mark."""
    return host.changed_files(request.after)
