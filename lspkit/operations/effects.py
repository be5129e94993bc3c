"""The effects that operations yield, and that the engine carries out.

The values that it sends back for them are in `effect_results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from lspkit.edit_types import AppliedEdit, WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.operations.effect_results import Reply
from lspkit.protocol.text import Encoding, Text

if TYPE_CHECKING:
    from lspkit.diagnostics.compare import Before

#: Makes the params of a request from the document's URI, its text and the server's encoding. Pure;
#: raises a `PositionError` for a position that the text does not have.
Build = Callable[[str, Text, Encoding], Any]


def about_the_file(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
    """A `Build` of params that name the document and nothing else."""
    return {"textDocument": {"uri": uri}}


class Effect(msgspec.Struct, frozen=True):
    """What an operation asks of the engine. The engine sends a result back, or raises an error."""


#: What an answer spans.
Span = Literal["file", "definitions", "project", "all"]

T = TypeVar("T")
#: An operation or a part of one: it yields effects, and returns its result.
Effects = Generator[Effect, Any, T]


class Ask(Effect, frozen=True):
    """A request to every server of a file that supports it. Sent back: `list[Reply]`.

    Servers that failed are left out if at least one has answered; if none has, the first error is
    raised in the operation.
    """

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


class ReportUndecodable(Effect, frozen=True):
    """Answers that cannot be decoded, completely or in part. Sent back: None."""

    problems: tuple[LspkitError, ...]
    #: The servers whose whole answer cannot be decoded.
    failed: tuple[str, ...] = ()


class ReadText(Effect, frozen=True):
    """The text of a file as its servers see it. Sent back: `Text`."""

    path: str
    text: str | None


class FindPlaces(Effect, frozen=True):
    """The files that URIs of a server name. Sent back: `dict[str, FoundFile]`."""

    server: str
    #: The document of the request: it distinguishes servers with the same id.
    asked_uri: str
    uris: tuple[str, ...]
    #: Whether the texts are needed, to convert protocol columns to characters.
    texts: bool
    #: Whether the server had no other document open.
    alone: bool = False


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


class Examine(Effect, frozen=True):
    """Fresh diagnostics of a file from all its servers. Sent back: `Examination`."""

    path: str
    text: str | None
    #: Which other files are examined; None: none.
    others: OtherScope | None = None
    #: Seconds for all of it; None: the time of the call.
    seconds: float | None = None
    #: Texts of other files, by path, which the servers are shown meanwhile; only with a `text`.
    beside: dict[str, str] = {}


class ExamineOthers(Effect, frozen=True):
    """Fresh diagnostics of other files, from the servers of these files.

    Sent back: `OthersExamined`.
    """

    paths: tuple[str, ...]
    scope: OtherScope


class FindDependents(Effect, frozen=True):
    """The files that refer to declarations which an edit changed or removed.

    Sent back: `Dependents`. The servers are asked with the text before the edit.
    """

    path: str
    #: The text before the edit; None: the text of which the engine was told last.
    old: str | None = None
    #: The text after the edit, if it is not on disk.
    text: str | None = None
    #: Seconds for the requests, from the moment when the server is ready; None: no limit.
    seconds: float | None = None
    #: Seconds until the server has to be ready; None: no limit.
    ready_within: float | None = None


class FindImporters(Effect, frozen=True):
    """The files that import files which no longer exist, by their text. Sent back: `Dependents`."""

    paths: tuple[str, ...]
    #: Seconds; None: the time of the call.
    seconds: float | None = None


class FindWords(Effect, frozen=True):
    """The source files that hold one of these words, and may mean what a file declares by it.

    Sent back: `WordFiles`.
    """

    #: The file of the call.
    path: str
    #: The file that declares them.
    declared: str
    words: tuple[str, ...]
    #: Names that decide which files come first; see `find_words`.
    near: tuple[str, ...] = ()
    #: Seconds; None: the time of the call.
    seconds: float | None = None


class NoteText(Effect, frozen=True):
    """The text of a file as it is now is the one before the next edit. Sent back: None."""

    path: str


class TakeBaseline(Effect, frozen=True):
    """The last proven findings of a file, None if there are none. Sent back: `Before | None`."""

    path: str


class Remember(Effect, frozen=True):
    """Store proven findings, to compare the next ones with. Sent back: None."""

    path: Path
    before: Before
    #: Whether its text is the one before the next edit, if none is known. Not if the file was
    #: checked for the sake of another: it may have been edited just now.
    keeps_text: bool = True


class Overlay(Effect, frozen=True):
    """Show servers texts instead of files. Sent back: the number for `EndOverlay`."""

    texts: dict[str, str]


class EndOverlay(Effect, frozen=True):
    """Show servers the files again. Sent back: None."""

    number: int


class TakeConfig(Effect, frozen=True):
    """The configuration. Sent back: `Settings`, or None if the caller has it."""

    #: The generation that the caller has.
    known: int = 0


class TakeTrustNotice(Effect, frozen=True):
    """What may not run in an untrusted project. Sent back: `TrustNotice`."""


class Apply(Effect, frozen=True):
    """Apply an edit, all or none, and notify the servers. Sent back: `AppliedEdit`."""

    edit: WorkspaceEdit
    #: The versions of documents that the edit has to be for, by URI; None: the present ones.
    versions: dict[str, int] | None = None


class TakeVersions(Effect, frozen=True):
    """The versions of the open documents of the edit's server. Sent back: `dict[str, int]`.

    A check may open a document, or give it a new version with the same text.
    """

    edit: WorkspaceEdit


class Undo(Effect, frozen=True):
    """Undo an edit, all or none, and notify the servers. Sent back: None."""

    applied: AppliedEdit


class RaiseIfCancelled(Effect, frozen=True):
    """Raises `CancelledError` if the caller has cancelled the call. Sent back: None."""


class ChangeDisk(Effect, frozen=True):
    """Write, move or delete a file and notify the servers. Sent back: None."""

    kind: str
    path: str
    text: str = ""
    new_path: str = ""


class AskWorkspace(Effect, frozen=True):
    """A request to the servers of a file, or to all running ones. Sent back: `list[Reply]`.

    If none is running, the servers for the workspace's files are started.
    """

    path: str | None
    method: str
    params: Any


class TakeKnownDiagnostics(Effect, frozen=True):
    """The last reports about a file, or about all. Sent back: `list[KnownDiagnostics]`."""

    path: str | None


class RunCommand(Effect, frozen=True):
    """Let a server execute a command, and apply the edits that it requests meanwhile.

    Sent back: None, when the server has answered. An edit that failed is raised then.
    """

    server: str
    #: A file of the server.
    via: str
    command: str
    arguments: list[Any]
    #: Applies one edit, which is passed as a reply of the server.
    make: Callable[[Reply], Effects[None]]


class SyncFile(Effect, frozen=True):
    """Send the text of a file to its servers, without waiting. Sent back: None."""

    path: str
    text: str | None


class TakeStatus(Effect, frozen=True):
    """The state of all servers, without waiting. Sent back: `WorkspaceStatus`."""

    root: str | None


class TakeWarnings(Effect, frozen=True):
    """The warnings of the status alone, without waiting. Sent back: `tuple[str, ...]`."""


class FindServers(Effect, frozen=True):
    """The servers of a file, running or not; without one, all that run.

    Sent back: `list[FileServer]`.
    """

    path: str | None


class DoAll(Effect, frozen=True):
    """Run other requests concurrently. Sent back: a list of results and errors, in order.

    None is begun after the deadline.
    """

    requests: tuple[Any, ...]
    #: How many run at the same time; 0: all.
    at_once: int = 0
    #: Seconds for all of them; None: the time of the call.
    seconds: float | None = None


class Reread(Effect, frozen=True):
    """Reload the configuration, and restart the servers that it changes. Sent back: None."""


class RestartServer(Effect, frozen=True):
    """Replace all processes of a server, and forget its failures. Sent back: their roots."""

    server: str


class TakeChanges(Effect, frozen=True):
    """The files that have changed on disk since a mark. Sent back: `ChangedFiles`."""

    after: int | None


class AwaitChange(Effect, frozen=True):
    """Wait until the epoch is newer than this. Sent back: the epoch."""

    after: int
