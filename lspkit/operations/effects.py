"""What an operation may ask of the engine that drives it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec

from lspkit.diagnostics.compare import Before
from lspkit.edit_types import AppliedEdit, WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.servers.status import ServerState

#: Makes the params of a request from the document's URI, text and the server's encoding. It is
#: pure, and refuses with a `PositionError` what the text does not have.
Build = Callable[[str, Text, Encoding], Any]


class Ask(msgspec.Struct, frozen=True):
    """One question to every server of a file that can answer it. Sent back: `list[Reply]`.

    Servers that failed are left out as long as one has answered; if none has, their error is raised
    in the operation.
    """

    path: str
    text: str | None
    method: str
    build: Build
    #: Only this one, where it is given.
    server: str = ""
    #: Whether the question is about the document, which then has to be in step.
    in_step: bool = True
    #: Whether to ask also a server that does not say that it knows the method.
    ignore_capabilities: bool = False


class Reply(msgspec.Struct, frozen=True):
    """A server's answer, raw, with the document as the question saw it."""

    server: str
    result: bytes
    view: View
    #: What was asked.
    method: str = ""


class ReportUndecodable(msgspec.Struct, frozen=True):
    """Answers that are of no use after all, or not all of them. Sent back: None."""

    problems: tuple[LspkitError, ...]
    #: The servers that have answered nothing of use.
    failed: tuple[str, ...] = ()


class ReadText(msgspec.Struct, frozen=True):
    """The text of a file as its servers will see it. Sent back: `Text`."""

    path: str
    text: str | None


class FindPlaces(msgspec.Struct, frozen=True):
    """Where URIs of a server point to. Sent back: `dict[str, Place]`."""

    server: str
    #: The document that was asked about: it tells servers of one id apart.
    asked_uri: str
    uris: tuple[str, ...]
    #: Whether the texts are needed, to turn protocol columns into characters.
    texts: bool


class FoundFile(msgspec.Struct, frozen=True):
    """A file that a server names."""

    path: Path | None
    #: None if it is not known, not needed, or none of our business.
    text: Text | None
    #: Whether the server has read the file itself, and that begins with a byte order mark: it may
    #: count the mark as a character of the first line.
    marked: bool = False


class OtherScope(msgspec.Struct, frozen=True):
    """Which files are examined besides those that a call is about.

    Always those that a server has findings about, and its open documents.
    """

    #: Paths of files that come first, and are opened if they are not open.
    first: tuple[str, ...] = ()
    #: At most so many files of each server; None: all of its open documents.
    most: int | None = None


class Examine(msgspec.Struct, frozen=True):
    """Fresh diagnostics of a file from all its servers. Sent back: `Examination`."""

    path: str
    text: str | None
    #: Which other files are examined as well; None: none.
    others: OtherScope | None = None


class ExamineOthers(msgspec.Struct, frozen=True):
    """Fresh diagnostics of files besides these, from the servers of these.

    Sent back: `OthersExamined`.
    """

    paths: tuple[str, ...]
    scope: OtherScope


class Examined(msgspec.Struct, frozen=True):
    """What one server found: its raw lists of findings, and how that was known."""

    server: str
    view: View | None
    lists: tuple[bytes, ...]
    how: str
    duration: float
    timed_out: bool = False
    reason: str = ""
    #: Which of the server's sources, where it has more than one.
    source: str = ""
    #: Raw lists that it gave before, where it has nothing fresh to say.
    memories: tuple[bytes, ...] = ()
    #: Of the error, where there was one.
    code: str = ""


class Elsewhere(msgspec.Struct, frozen=True):
    """What was found in another file."""

    uri: str
    servers: tuple[Examined, ...]


class OthersExamined(msgspec.Struct, frozen=True):
    """What was found in other files."""

    elsewhere: tuple[Elsewhere, ...] = ()
    #: `none`, `open` documents and files with findings, or the whole `workspace`.
    coverage: str = "none"
    severities: tuple[str, ...] = ("error",)


class Examination(msgspec.Struct, frozen=True):
    """What all of them found."""

    path: Path
    uri: str
    servers: tuple[Examined, ...]
    severities: tuple[str, ...]
    duration: float
    #: So many findings are shown.
    most: int = 20
    #: Whether the text is that of the file.
    on_disk: bool = True
    #: The last proven findings about the file.
    before: Before | None = None
    others: OthersExamined = OthersExamined()


class Remember(msgspec.Struct, frozen=True):
    """These findings are proven: the next ones are compared with them. Sent back: None."""

    path: Path
    before: Before


class Overlay(msgspec.Struct, frozen=True):
    """Show texts instead of files until further notice. Sent back: the number to end it with."""

    texts: dict[str, str]


class EndOverlay(msgspec.Struct, frozen=True):
    """Show the disk again. Sent back: None."""

    number: int


class TakeConfig(msgspec.Struct, frozen=True):
    """The configuration. Sent back: `Config`."""


class Apply(msgspec.Struct, frozen=True):
    """Make an edit, all or none, and tell the servers. Sent back: `AppliedEdit`."""

    edit: WorkspaceEdit


class Undo(msgspec.Struct, frozen=True):
    """Take an edit back, all or none, and tell the servers. Sent back: None."""

    applied: AppliedEdit


class ChangeDisk(msgspec.Struct, frozen=True):
    """Write, move or delete a file and tell the servers. Sent back: None."""

    kind: str
    path: str
    text: str = ""
    new_path: str = ""


class AskWorkspace(msgspec.Struct, frozen=True):
    """One question to the servers of a file, or to all that run. Sent back: `list[Reply]`.

    If none runs, those are started that the workspace's own files call for.
    """

    path: str | None
    method: str
    params: Any


class TakeKnownDiagnostics(msgspec.Struct, frozen=True):
    """What servers have said about a file, or about all. Sent back: `list[KnownFindings]`."""

    path: str | None


class KnownDiagnostics(msgspec.Struct, frozen=True):
    """A server's last report about a file, raw."""

    server: str
    uri: str
    items: bytes
    encoding: Encoding


class RunCommand(msgspec.Struct, frozen=True):
    """Let a server run a command of its own, and make the edits that it asks for meanwhile.

    Sent back: None, once it has answered. An edit that could not be made is raised then.
    """

    server: str
    #: A file of the server.
    via: str
    command: str
    arguments: list[Any]
    #: Makes one edit, which comes as a reply of the server.
    make: Callable[[Reply], Generator[Effect, Any, None]]


class SyncFile(msgspec.Struct, frozen=True):
    """Tell the servers of a file about its text, and wait for nothing. Sent back: None."""

    path: str
    text: str | None


class TakeStatus(msgspec.Struct, frozen=True):
    """How all servers are. Waits for nothing. Sent back: `Snapshot`."""

    root: str | None


class FindServers(msgspec.Struct, frozen=True):
    """The servers of a file, also those that would be started. Sent back: `list[FileServer]`."""

    path: str


class FileServer(msgspec.Struct, frozen=True):
    """How one server of a file is."""

    server: str
    root: str
    #: `idle` if it would be started.
    state: ServerState


#: Why one of many requests has no result.
TOO_LATE = "the time of the call was up before this one had its turn"


class DoAll(msgspec.Struct, frozen=True):
    """Other requests, all at the same time. Sent back: a list of results and errors, in order."""

    requests: tuple[Any, ...]


class Reread(msgspec.Struct, frozen=True):
    """Read the configuration again, and restart what it changes. Sent back: None."""


class TakeChanges(msgspec.Struct, frozen=True):
    """The files that have changed on disk since a mark. Sent back: `ChangedFiles`."""

    after: int | None


class AwaitChange(msgspec.Struct, frozen=True):
    """Wait until the epoch is newer than this. Sent back: the epoch."""

    after: int


Effect = (
    Ask
    | AskWorkspace
    | ReportUndecodable
    | ReadText
    | FindPlaces
    | Examine
    | ExamineOthers
    | TakeKnownDiagnostics
    | SyncFile
    | TakeStatus
    | FindServers
    | DoAll
    | Reread
    | AwaitChange
    | TakeChanges
    | Remember
    | Overlay
    | EndOverlay
    | ChangeDisk
    | TakeConfig
    | Apply
    | Undo
    | RunCommand
)
