"""What concerns the workspace as a whole, or a server as it is: symbols anywhere, what is known,
raw requests, status, and change."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import lspkit.types as types
from lspkit.config import Config
from lspkit.edit_types import ChangedFiles
from lspkit.errors import RequestFailedError
from lspkit.operations.check import both, findings
from lspkit.operations.effects import (
    Ask,
    AskWorkspace,
    AwaitChange,
    Effect,
    FileServer,
    FindServers,
    KnownDiagnostics,
    Reply,
    ReportUndecodable,
    Reread,
    SyncFile,
    TakeChanges,
    TakeConfig,
    TakeKnownDiagnostics,
    TakeStatus,
)
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.operations.symbols import symbols_of
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.wire.messages import decode_any
from lspkit.servers.status import WorkspaceStatus
from lspkit.servers.status import status_text as as_text


class WorkspaceSymbolsRequest(Request[list[types.Symbol]], frozen=True, kw_only=True):
    """Which symbols have such a name?"""

    query: str
    path: str | None = None


class DiagnosticsRequest(Request[dict[Path, list[types.Diagnostic]]], frozen=True, kw_only=True):
    """What is known now?"""

    path: str | None = None


class RawRequest(Request[Any], frozen=True, kw_only=True):
    """Any request of the protocol, to the first server of a file."""

    path: str
    method: str
    params: Any = None


class SyncRequest(FileRequest[None], frozen=True, kw_only=True):
    """Tell the servers."""


class StatusRequest(Request[WorkspaceStatus], frozen=True, kw_only=True):
    """How are the servers?"""

    root: str | None = None


class FileServersRequest(Request[list[FileServer]], frozen=True, kw_only=True):
    """How are the servers of a file?"""

    path: str


class StatusTextRequest(Request[str], frozen=True, kw_only=True):
    """The same in words."""


class ReloadRequest(Request[None], frozen=True, kw_only=True):
    """Read the configuration again."""


class SettingsRequest(Request[Config], frozen=True, kw_only=True):
    """What is configured?"""


class WaitForChangeRequest(Request[int], frozen=True, kw_only=True):
    """Has anything new been reported?"""

    after: int


class ChangedSinceRequest(Request[ChangedFiles], frozen=True, kw_only=True):
    """Which files have changed on disk?"""

    #: None to get no more than a mark.
    after: int | None = None


@operation("workspace_symbols", WorkspaceSymbolsRequest, list[types.Symbol])
def workspace_symbols(
    request: WorkspaceSymbolsRequest,
) -> Generator[Effect, Any, list[types.Symbol]]:
    """All that the servers find, by path, line and column."""
    replies: list[Reply] = yield AskWorkspace(
        request.path, "workspace/symbol", {"query": request.query}
    )
    found: dict[tuple[Any, ...], types.Symbol] = {}
    for symbol in (yield from symbols_of(replies)):
        key = (str(symbol.path or symbol.uri), symbol.selection, symbol.name, symbol.kind)
        found.setdefault(key, symbol)
    return [found[key] for key in sorted(found)]


@operation("diagnostics", DiagnosticsRequest, dict[Path, list[types.Diagnostic]])
def diagnostics(
    request: DiagnosticsRequest,
) -> Generator[Effect, Any, dict[Path, list[types.Diagnostic]]]:
    """By file, in order of path and line. Nothing is asked, and nothing waited for."""
    reports: list[KnownDiagnostics] = yield TakeKnownDiagnostics(request.path)
    by_file: dict[Path, dict[tuple[Any, ...], types.Diagnostic]] = {}
    for report in reports:
        nowhere = View("", Text(""), 0, report.encoding)
        reply = Reply(report.server, b"", nowhere)
        found, dropped = yield from findings(reply, report.uri, (report.items,))
        if dropped:
            message = f"{dropped} of the findings of {report.server} cannot be read"
            yield ReportUndecodable((RequestFailedError(message, server=report.server),))
        for finding in found:
            if finding.path is None:
                continue
            merged = by_file.setdefault(finding.path, {})
            key = (finding.range, finding.message)
            merged[key] = both(merged[key], finding) if key in merged else finding
    return {path: [by_file[path][key] for key in sorted(by_file[path])] for path in sorted(by_file)}


@operation("request", RawRequest, Any)
def raw_request(request: RawRequest) -> Generator[Effect, Any, Any]:
    """The server's result, as plain JSON values."""
    replies: list[Reply] = yield Ask(
        request.path, None, request.method, lambda *_: request.params, ignore_capabilities=True
    )
    return decode_any(replies[0].result)


@operation("sync", SyncRequest, None)
def sync(request: SyncRequest) -> Generator[Effect, Any, None]:
    """The servers hear of the text as soon as they can."""
    yield SyncFile(request.path, request.text)


@operation("status", StatusRequest, WorkspaceStatus)
def status(request: StatusRequest) -> Generator[Effect, Any, WorkspaceStatus]:
    """A snapshot; taking it changes nothing."""
    snapshot: WorkspaceStatus = yield TakeStatus(request.root)
    return snapshot


@operation("file_servers", FileServersRequest, list[FileServer])
def file_servers(request: FileServersRequest) -> Generator[Effect, Any, list[FileServer]]:
    """Also those that would be started for it. Starts nothing."""
    servers: list[FileServer] = yield FindServers(request.path)
    return servers


@operation("status_text", StatusTextRequest, str)
def status_text(_: StatusTextRequest) -> Generator[Effect, Any, str]:
    """The snapshot as text."""
    snapshot: WorkspaceStatus = yield TakeStatus(None)
    return as_text(snapshot)


@operation("reload", ReloadRequest, None)
def reload(_: ReloadRequest) -> Generator[Effect, Any, None]:
    """Servers whose configuration has changed restart; failures are forgotten."""
    yield Reread()


@operation("settings", SettingsRequest, Config)
def settings(_: SettingsRequest) -> Generator[Effect, Any, Config]:
    """All of it, defaults included."""
    config: Config = yield TakeConfig()
    return config


@operation("wait_for_change", WaitForChangeRequest, int)
def wait_for_change(request: WaitForChangeRequest) -> Generator[Effect, Any, int]:
    """The epoch, newer than the given one unless the time was up first."""
    epoch: int = yield AwaitChange(request.after)
    return epoch


@operation("changed_files", ChangedSinceRequest, ChangedFiles)
def changed_files(request: ChangedSinceRequest) -> Generator[Effect, Any, ChangedFiles]:
    """Also what has changed a moment ago."""
    changed: ChangedFiles = yield TakeChanges(request.after)
    return changed
