"""The `Host` of one call: what operations ask for, done on the servers of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lspkit.config.load import Loaded
from lspkit.diagnostics.compare import Before
from lspkit.diagnostics.report import Change
from lspkit.edit_types import ChangedFiles, WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.operations.host import OtherScope, Question
from lspkit.operations.host_results import (
    Dependents,
    Examination,
    FileServer,
    FoundFile,
    KnownDiagnostics,
    OthersExamined,
    Reply,
    Settings,
    TrustNotice,
)
from lspkit.operations.request import OPERATIONS, Request
from lspkit.protocol.text import Text
from lspkit.runtime.concurrency.waiter import Broadcast
from lspkit.runtime.exchange import replies
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.freshness import dependents, importers
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.freshness.begun_checks import show_files
from lspkit.runtime.freshness.check_file import FileCheck, check_file, check_others
from lspkit.runtime.host import change_disk, find_places, sync_files, workspace_status
from lspkit.runtime.host.ask_file import ask_servers_of_file
from lspkit.runtime.host.ask_project import ProjectQuestion, ask_project
from lspkit.runtime.host.do_all import do_all
from lspkit.runtime.host.find_words import find_word_files
from lspkit.runtime.host.replaced_files import ReplacedFiles
from lspkit.runtime.host.restart_server import restart_server
from lspkit.runtime.host.run_command import Command, run_command
from lspkit.servers.project.word_search import WordFiles
from lspkit.servers.status import WorkspaceStatus

T = TypeVar("T")


class Owner(Protocol):
    """What all calls of a workspace share besides its files and servers."""

    loaded: Loaded
    baselines: Baselines
    replaced: ReplacedFiles
    #: Counts the reports of all servers.
    reports: Broadcast

    def settings(self, known: int) -> Settings | None:
        """The configuration, unless the caller has this generation of it."""
        ...

    def reload(self) -> None:
        """Load the configuration again, and restart the servers that it changes."""
        ...


class CallHost:
    """As the protocol `Host`, whose methods are described there."""

    def __init__(self, owner: Owner, context: Context) -> None:
        self._owner, self._context = owner, context

    # Servers

    def ask(self, question: Question) -> list[Reply]:
        """The answers of the servers of a file."""
        return ask_servers_of_file(self._context, question)

    def ask_workspace(self, path: str | None, method: str, params: Any) -> list[Reply]:
        """The answers of the servers of a file, or of all running ones."""
        return ask_project(self._context, path, ProjectQuestion(method, params))

    def report_undecodable(
        self, problems: Sequence[LspkitError], failed: Sequence[str] = ()
    ) -> None:
        """Record answers that cannot be decoded."""
        replies.report_undecodable(self._context, problems, failed)

    def run_command(
        self,
        server: str,
        via: str,
        command: str,
        arguments: list[Any],
        make: Callable[[Reply], None],
    ) -> None:
        """Have a server execute a command, and apply the edits that it asks for meanwhile."""
        run_command(self._context, Command(server, via, command, arguments, make))

    # Files

    def read_text(self, path: str, text: str | None = None) -> Text:
        """The text of a file as its servers see it, or the text that the caller gives."""
        return find_places.read_text(self._context, path, text)

    def find_places(
        self,
        server: str,
        asked_uri: str,
        uris: Sequence[str],
        *,
        texts: bool,
        alone: bool = False,
    ) -> dict[str, FoundFile]:
        """The files that URIs of a server name."""
        wanted = find_places.Places(server, asked_uri, tuple(uris))
        return find_places.find_places(self._context, wanted, texts=texts, alone=alone)

    def find_words(
        self,
        path: str,
        declared: str,
        words: Sequence[str],
        near: Sequence[str] = (),
        seconds: float | None = None,
    ) -> WordFiles:
        """The source files that hold one of these words."""
        return find_word_files(self._context, path, declared, words, near, seconds)

    def sync_file(self, path: str, text: str | None) -> None:
        """Send the text of a file to its servers, without waiting."""
        sync_files.sync_file(self._context, path, text)

    # Findings

    def examine(
        self,
        path: str,
        text: str | None,
        others: OtherScope | None = None,
        seconds: float | None = None,
        beside: Mapping[str, str] | None = None,
    ) -> Examination:
        """Fresh diagnostics of a file from all its servers, and of other files."""
        context = self._context.part(seconds)
        wanted = FileCheck(path, text, others, beside or {})
        return check_file(context, self._owner.baselines, wanted)

    def show_files(self, paths: Sequence[str]) -> bool:
        """Bring files up to date in their servers, and ask about them, before any is examined."""
        return show_files(self._context, list(paths))

    def examine_others(self, paths: Sequence[str], scope: OtherScope) -> OthersExamined:
        """Fresh diagnostics of other files, from the servers of these files."""
        return check_others(self._context, paths, scope)

    def known_diagnostics(self, path: str | None) -> list[KnownDiagnostics]:
        """The last reports about a file, or about all."""
        files, pool = self._context.files, self._context.pool
        return workspace_status.known_reports(files, pool, path)

    # The state before an edit

    def find_dependents(
        self,
        path: str,
        old: str | None = None,
        text: str | None = None,
        seconds: float | None = None,
        ready_within: float | None = None,
    ) -> Dependents:
        """The files that refer to declarations which an edit changed or removed."""
        edited = dependents.Edited(path, old, text, seconds, ready_within)
        return dependents.find_dependents(self._context, self._owner.baselines, edited)

    def find_importers(self, paths: Sequence[str], seconds: float | None = None) -> Dependents:
        """The files that import files which no longer exist, by their text."""
        return importers.find_importers(self._context, paths, seconds)

    def note_text(self, path: str) -> None:
        """The text of a file as it is now is the one before the next edit."""
        dependents.note_text(self._context, self._owner.baselines, path)

    def baseline(self, path: str) -> Before | None:
        """The last proven findings of a file."""
        return self._owner.baselines.get(self._context.files.locate(path).path)

    def remember(self, path: Path, before: Before, *, keeps_text: bool = True) -> None:
        """Store proven findings, to compare the next ones with."""
        self._owner.baselines.remember(str(path), before, keeps_text=keeps_text)

    # Changes: the next part of the call sees the disk as it is then

    def write_file(self, path: str, text: str) -> Change:
        """Write a file, and notify the servers."""
        return self._change(
            lambda: change_disk.write_file(self._context, self._owner.replaced, path, text)
        )

    def delete_file(self, path: str) -> Change:
        """Delete a file, and notify the servers."""
        return self._change(lambda: change_disk.delete_file(self._context, path))

    def move_file(self, path: str, new_path: str) -> Change:
        """Move a file, and notify the servers."""
        return self._change(lambda: change_disk.move_file(self._context, path, new_path))

    def apply_edit(self, edit: WorkspaceEdit, versions: dict[str, int] | None = None) -> Change:
        """Apply an edit, all or none, and notify the servers."""
        return self._change(lambda: change_disk.apply_edit(self._context, edit, versions))

    def document_versions(self, edit: WorkspaceEdit) -> dict[str, int]:
        """The versions of the open documents of the edit's server."""
        return change_disk.document_versions(self._context, edit)

    def undo_edit(self, change: Change) -> Change:
        """Undo a change, all or none, and notify the servers."""
        return self._change(lambda: change_disk.undo_edit(self._context, change))

    def show_texts(self, texts: dict[str, str]) -> int:
        """Show the servers texts instead of files."""
        return self._change(lambda: change_disk.show_texts(self._context, texts))

    def end_overlay(self, number: int) -> None:
        """Show the servers the files again."""
        self._change(lambda: change_disk.end_overlay(self._context, number))

    def _change(self, change: Callable[[], T]) -> T:
        try:
            return change()
        finally:
            self._context.call.renew()

    # The call

    def do_all(
        self, requests: Iterable[Any], at_once: int = 0, seconds: float | None = None
    ) -> list[Any]:
        """The results and errors of other requests, in order."""
        return do_all(self._context.part(seconds), list(requests), self._run, at_once)

    def _run(self, request: Request[Any], context: Context) -> Any:
        return OPERATIONS[type(request)].run(request, CallHost(self._owner, context))

    def raise_if_cancelled(self) -> None:
        """Raise `CancelledError` if the caller has cancelled the call."""
        self._context.call.raise_if_cancelled()

    # The workspace

    def status(self, root: str | None) -> WorkspaceStatus:
        """The state of all servers, or of those of one root."""
        files, pool, *_ = self._context
        return workspace_status.take_status(files, pool, self._owner.loaded, root)

    def warnings(self) -> tuple[str, ...]:
        """The warnings of the status alone."""
        return workspace_status.take_warnings(self._context.pool, self._owner.loaded)

    def file_servers(self, path: str | None) -> list[FileServer]:
        """The servers of a file, running or not; without one, all that run."""
        return workspace_status.find_servers(self._context.files, self._context.pool, path)

    def settings(self, known: int = 0) -> Settings | None:
        """The configuration; None if the caller has this generation of it already."""
        return self._owner.settings(known)

    def trust_notice(self) -> TrustNotice:
        """What may not run in an untrusted project."""
        return workspace_status.take_trust_notice(self._owner.loaded)

    def reload(self) -> None:
        """Load the configuration again, and restart the servers that it changes."""
        self._owner.reload()

    def restart_server(self, server: str) -> list[str]:
        """Replace all processes of a server, and forget its failures."""
        return restart_server(self._context, server)

    def changed_files(self, after: int | None) -> ChangedFiles:
        """The files that have changed on disk since a mark."""
        return sync_files.changed_files(self._context, after)

    def wait_for_change(self, after: int) -> int:
        """Wait until the epoch is newer than this."""
        return self._owner.reports.wait_beyond(after, self._context.call.wait)
