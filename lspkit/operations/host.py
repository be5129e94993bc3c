"""What operations may ask of the runtime: the servers, files and texts of a workspace.

The runtime implements `Host` for each call. In a test, an object with a few of its methods is
enough. The values that the methods return are in `host_results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from lspkit.diagnostics.report import Change
from lspkit.edit_types import ChangedFiles, WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.protocol.text import Encoding, Text

if TYPE_CHECKING:
    from lspkit.diagnostics.compare import Before
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
    from lspkit.servers.project.word_search import WordFiles
    from lspkit.servers.status import WorkspaceStatus

#: Makes the params of a request from the document's URI, its text and the server's encoding. Pure;
#: raises a `PositionError` for a position that the text does not have.
Build = Callable[[str, Text, Encoding], Any]


def about_the_file(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
    """A `Build` of params that name the document and nothing else."""
    return {"textDocument": {"uri": uri}}


#: What an answer spans.
Span = Literal["file", "definitions", "project", "all"]


class Question(msgspec.Struct, frozen=True):
    """A request to every server of a file that supports it."""

    path: str
    text: str | None
    method: str
    build: Build
    #: If given, only this server is asked.
    server: str = ""
    #: Whether the document must be synchronised first.
    in_step: bool = True
    #: Whether to ask also a server that does not announce the method.
    ignore_capabilities: bool = False
    #: Whether the file may be of a library that an answer has named. Not for what is to be changed.
    may_be_library: bool = True
    #: What the answer has to span: a `file`, or a whole `project` as the server knows it; `all` is
    #: for answers that are useless if something is missing. Definitions in other files are for
    #: most servers a matter of the file.
    span: Span = "file"
    #: Whether references are requested without declarations: some servers omit others then.
    omits_declarations: bool = False


class OtherScope(msgspec.Struct, frozen=True):
    """Which other files are examined besides the files of the call.

    Always the files with findings of a server, and its open documents.
    """

    #: Paths of files that are examined first, and opened if necessary.
    first: tuple[str, ...] = ()
    #: Paths of files that refer to what has changed: they come before all others, and a server that
    #: checks each file for itself is not asked about them.
    dependents: tuple[str, ...] = ()
    #: Most files of each server; None: all dependents, and all of its open documents.
    most: int | None = None
    #: Whether only the named files are examined.
    only: bool = False
    #: Seconds for all of them; None: the time of the call.
    seconds: float | None = None


class Host(Protocol):
    """What operations may ask of the runtime: `CallHost` in `runtime/host/call_host.py` does it.

    Each method blocks until it is done, the time of the call is up, or the call is cancelled.
    `seconds` is a limit of its own; None: the time of the call.
    """

    # Servers

    def ask(self, question: Question) -> list[Reply]:
        """The answers of the servers of a file.

        Servers that failed are left out if at least one has answered; if none has, the first error
        is raised.
        """
        ...

    def ask_workspace(self, path: str | None, method: str, params: Any) -> list[Reply]:
        """The answers of the servers of a file, or of all running ones.

        If none is running, the servers for the workspace's files are started.
        """
        ...

    def report_undecodable(
        self, problems: Sequence[LspkitError], failed: Sequence[str] = ()
    ) -> None:
        """Record answers that cannot be decoded; of the servers `failed`, no part could be."""
        ...

    def run_command(
        self,
        server: str,
        via: str,
        command: str,
        arguments: list[Any],
        make: Callable[[Reply], None],
    ) -> None:
        """Have a server execute a command, and apply the edits that it asks for meanwhile.

        `via` is a file of the server. `make` applies one edit, which is passed as a reply of the
        server. An edit that failed is raised when the server has answered.
        """
        ...

    # Files

    def read_text(self, path: str, text: str | None = None) -> Text:
        """The text of a file as its servers see it, or the text that the caller gives."""
        ...

    def find_places(
        self,
        server: str,
        asked_uri: str,
        uris: Sequence[str],
        *,
        texts: bool,
        alone: bool = False,
    ) -> dict[str, FoundFile]:
        """The files that URIs of a server name; with `texts`, what is in them.

        `asked_uri` is the document of the request: it distinguishes servers with the same id.
        `alone`: the server had no other document open.
        """
        ...

    def find_words(
        self,
        path: str,
        declared: str,
        words: Sequence[str],
        near: Sequence[str] = (),
        seconds: float | None = None,
    ) -> WordFiles:
        """The source files that hold one of these words, and may mean what `declared` declares.

        `path` is the file of the call. `near` decides which files come first, as in `find_words`.
        """
        ...

    def sync_file(self, path: str, text: str | None) -> None:
        """Send the text of a file to its servers, without waiting."""
        ...

    # Findings

    def examine(
        self,
        path: str,
        text: str | None,
        others: OtherScope | None = None,
        seconds: float | None = None,
        neighbours: Mapping[str, str] | None = None,
    ) -> Examination:
        """Fresh diagnostics of a file from all its servers, and of other files.

        `neighbours` are texts of other files, by path, which the servers are shown meanwhile; only
        with a `text`.
        """
        ...

    def examine_others(self, paths: Sequence[str], scope: OtherScope) -> OthersExamined:
        """Fresh diagnostics of other files, from the servers of these files."""
        ...

    def known_diagnostics(self, path: str | None) -> list[KnownDiagnostics]:
        """The last reports about a file, or about all."""
        ...

    # The state before an edit

    def find_dependents(
        self,
        path: str,
        old: str | None = None,
        text: str | None = None,
        seconds: float | None = None,
        ready_within: float | None = None,
    ) -> Dependents:
        """The files that refer to declarations which an edit changed or removed.

        `old` is the text before the edit; None: the text of which the runtime was told last. `text`
        is the text after it, if that is not on disk. `seconds` count from the moment when the
        server is ready, which it has to be in `ready_within` seconds.
        """
        ...

    def find_importers(self, paths: Sequence[str], seconds: float | None = None) -> Dependents:
        """The files that import files which no longer exist, by their text."""
        ...

    def note_text(self, path: str) -> None:
        """The text of a file as it is now is the one before the next edit."""
        ...

    def baseline(self, path: str) -> Before | None:
        """The last proven findings of a file."""
        ...

    def remember(self, path: Path, before: Before, *, keeps_text: bool = True) -> None:
        """Store proven findings, to compare the next ones with.

        `keeps_text`: the text is the one before the next edit, if none is known. Not if the file
        was checked for the sake of another: it may have been edited just now.
        """
        ...

    # Changes

    def write_file(self, path: str, text: str) -> Change:
        """Write a file, and notify the servers."""
        ...

    def delete_file(self, path: str) -> Change:
        """Delete a file, and notify the servers."""
        ...

    def move_file(self, path: str, new_path: str) -> Change:
        """Move a file, and notify the servers."""
        ...

    def apply_edit(self, edit: WorkspaceEdit, versions: dict[str, int] | None = None) -> Change:
        """Apply an edit, all or none, and notify the servers.

        `versions` are those of documents that the edit has to be for, by URI; None: the present
        ones.
        """
        ...

    def document_versions(self, edit: WorkspaceEdit) -> dict[str, int]:
        """The versions of the open documents of the edit's server.

        A check may open a document, or give it a new version with the same text.
        """
        ...

    def undo_edit(self, change: Change) -> Change:
        """Undo a change, all or none, and notify the servers. Also after a cancel."""
        ...

    def show_texts(self, texts: dict[str, str]) -> int:
        """Show the servers texts instead of files; returns the number for `end_overlay`."""
        ...

    def end_overlay(self, number: int) -> None:
        """Show the servers the files again. Also after a cancel."""
        ...

    # The call

    def do_all(
        self, requests: Iterable[Any], at_once: int = 0, seconds: float | None = None
    ) -> list[Any]:
        """The results and errors of other requests, in order.

        `at_once` of them run at the same time; 0: all. None is begun after the deadline.
        """
        ...

    def raise_if_cancelled(self) -> None:
        """Raise `CancelledError` if the caller has cancelled the call."""
        ...

    # The workspace

    def status(self, root: str | None) -> WorkspaceStatus:
        """The state of all servers, or of those of one root. Does not wait."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """The warnings of the status alone."""
        ...

    def file_servers(self, path: str | None) -> list[FileServer]:
        """The servers of a file, running or not; without one, all that run."""
        ...

    def settings(self, known: int = 0) -> Settings | None:
        """The configuration; None if the caller has this generation of it already."""
        ...

    def trust_notice(self) -> TrustNotice:
        """What may not run in an untrusted project."""
        ...

    def reload(self) -> None:
        """Load the configuration again, and restart the servers that it changes."""
        ...

    def restart_server(self, server: str) -> list[str]:
        """Replace all processes of a server, and forget its failures; returns their roots."""
        ...

    def changed_files(self, after: int | None) -> ChangedFiles:
        """The files that have changed on disk since a mark."""
        ...

    def wait_for_change(self, after: int) -> int:
        """Wait until the epoch is newer than this; returns the epoch."""
        ...
