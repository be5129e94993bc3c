"""The `Host` of one call: what operations ask for, done on the servers of this process."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lspkit.config.load import Loaded
from lspkit.diagnostics.compare import Before
from lspkit.diagnostics.report import TOO_LATE, Change
from lspkit.edit_types import ChangedFiles, WorkspaceEdit
from lspkit.errors import CancelledError, LspkitError, NoServerError, RequestTimeoutError
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
from lspkit.protocol.uris import normalize_uri
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.concurrency.waiter import Broadcast, Waiter
from lspkit.runtime.exchange import ask_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import catch_up_with_disk, locate_to_read, note_libraries
from lspkit.runtime.freshness import dependents
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.freshness.check_file import FileCheck, check_file, check_others
from lspkit.runtime.host import change_disk, find_words, workspace_status
from lspkit.runtime.host.ask_file import ask_servers_of_file
from lspkit.runtime.host.ask_project import ProjectQuestion, ask_project
from lspkit.runtime.host.change_disk import ReplacedFiles
from lspkit.runtime.host.run_command import Command, run_command
from lspkit.runtime.pool.pool import Pool
from lspkit.servers.project.project_files import PASSED_OVER
from lspkit.servers.project.word_search import WordFiles
from lspkit.servers.selection.choose import definitions
from lspkit.servers.status import WorkspaceStatus
from lspkit.workspace_boundary import is_inside

T = TypeVar("T")
#: Seconds to wait for the old processes: more than it takes to kill those that hang.
STOP_LIMIT = 10.0
#: Files of answers that are remembered: the same ones come with many answers.
REMEMBERED = 4096


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
        ask_server.report_undecodable(self._context, problems, failed)

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
        if text is not None:
            return Text(text)
        return self._context.files.read(locate_to_read(self._context, path)).text

    def find_places(
        self,
        server: str,
        asked_uri: str,
        uris: Sequence[str],
        *,
        texts: bool,
        alone: bool = False,
    ) -> dict[str, FoundFile]:
        """The files that URIs of a server name.

        Those of libraries can be asked about afterwards.
        """
        files, places, unreadable = self._context.files, dict[str, FoundFile](), list[str]()
        has_others = texts and not alone and tuple(uris) != (asked_uri,)
        opened = self._open_texts(server, uris) if has_others else {}
        for uri in uris:
            place = files.place(uri)
            path, text, marked = place.readable, opened.get(uri), False
            is_asked = place.uri == asked_uri
            if path is None:
                unreadable.append(uri)
            elif text is None and texts and not is_asked:
                content = files.content_at(path)
                if content is not None:
                    text, marked = content.text, content.marked
            own = path is None or _is_own(path, files.boundary.root)
            places[uri] = FoundFile(place.path, text, marked, own, is_asked)
        if unreadable:
            note_libraries(self._context, server, asked_uri, unreadable)
        return places

    def _open_texts(self, server_id: str, uris: Sequence[str]) -> dict[str, Text]:
        """Texts of documents that a server has open: its answers refer to those, not the disk."""
        texts: dict[str, Text] = {}
        for server in self._context.pool.servers():
            channel = server.channel
            if server.id != server_id or len(channel.documents) < 2:
                continue
            with channel.lock:
                for uri in uris:
                    document = channel.documents.get(normalize_uri(uri))
                    if document is not None:
                        texts[uri] = document.text
        return texts

    def find_words(
        self,
        path: str,
        declared: str,
        words: Sequence[str],
        near: Sequence[str] = (),
        seconds: float | None = None,
    ) -> WordFiles:
        """The source files that hold one of these words."""
        return find_words.find_word_files(self._context, path, declared, words, near, seconds)

    def sync_file(self, path: str, text: str | None) -> None:
        """Send the text of a file to its servers, without waiting."""
        change_disk.sync_file(self._context, path, text)

    # Findings

    def examine(
        self,
        path: str,
        text: str | None,
        others: OtherScope | None = None,
        seconds: float | None = None,
        neighbours: Mapping[str, str] | None = None,
    ) -> Examination:
        """Fresh diagnostics of a file from all its servers, and of other files."""
        context = self._context.part(seconds)
        wanted = FileCheck(path, text, others, neighbours or {})
        return check_file(context, self._owner.baselines, wanted)

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
        return find_words.find_importers(self._context, paths, seconds)

    def note_text(self, path: str) -> None:
        """The text of a file as it is now is the one before the next edit."""
        file = self._context.files.locate(path)
        self._owner.baselines.note_text(file.path, self._context.files.read(file).text.value)

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
        context, left, results = self._context.part(seconds), list(requests), list[Any]()
        while left and not context.call.is_over:
            at_once = at_once or len(left)
            jobs = [partial(self._run, context, request) for request in left[:at_once]]
            results += in_parallel(context.threads, jobs)
            del left[:at_once]
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, LspkitError):
                raise result
        return results + [_too_late(context.call) for _ in left]

    def _run(self, context: Context, request: Request[Any]) -> Any:
        """The result of a request, whose turn may come after the deadline."""
        if context.call.is_over:
            raise _too_late(context.call)
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
        """Replace all processes of a server, and forget its failures.

        The old processes end first: they may lock files of the server.
        """
        pool, call = self._context.pool, self._context.call
        id = _id_of(server, pool)
        servers = sorted(
            (running for running in pool.servers() if running.id == id),
            key=lambda running: running.root,
        )
        for running in servers:
            pool.retire(running)
        stopped = Waiter()

        def stop() -> None:
            try:
                pool.retirement.stop(servers)
            finally:
                stopped.complete()

        if servers and pool.retirement.do(stop):
            call.wait(stopped, time.monotonic() + STOP_LIMIT)
            if call.is_over:
                raise RequestTimeoutError(f"{id} was stopped, but not started again in time")
        for running in servers:
            pool.server_of(running.choice, call)
        return [running.root for running in servers]

    def changed_files(self, after: int | None) -> ChangedFiles:
        """The files that have changed on disk since a mark."""
        catch_up_with_disk(self._context)
        return self._context.pool.disk_events.changed(after)

    def wait_for_change(self, after: int) -> int:
        """Wait until the epoch is newer than this."""
        return self._owner.reports.wait_beyond(after, self._context.call.wait)


def _too_late(call: Call) -> LspkitError:
    """The error of a request that was not begun."""
    if call.cancelled():
        return CancelledError("the call was cancelled")
    return RequestTimeoutError(TOO_LATE)


def _id_of(name: str, pool: Pool) -> str:
    """The id of a server that is called by its id or an alias."""
    for definition in definitions(pool.config):
        if name == definition.id or name in definition.aliases:
            return definition.id
    raise NoServerError(f"no server is called {name!r}: `lspkit status` shows all servers")


@functools.lru_cache(REMEMBERED)
def _is_own(readable: str, root: str) -> bool:
    """Whether a file is in none of the folders with code of others."""
    inside = readable[len(root) :] if is_inside(readable, root) else readable
    return PASSED_OVER.isdisjoint(inside.split(os.sep)[:-1])
