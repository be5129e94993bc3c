"""The values that the methods of a `Host` (`host.py`) return."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lspkit.config import Config
from lspkit.protocol.text import Encoding, Text
from lspkit.servers.status import ServerState
from lspkit.types import Caveat, Interpreter, Severity

if TYPE_CHECKING:
    from lspkit.diagnostics.compare import Before
    from lspkit.protocol.open_documents import View


class Reply(msgspec.Struct, frozen=True):
    """A server's raw answer, with the document as it was at the request."""

    server: str
    result: bytes
    view: View
    #: The method of the request.
    method: str = ""
    #: The number of the last change that the server was told of before the request.
    seq: int = 0
    #: Why the answer may be incomplete.
    caveats: tuple[Caveat, ...] = ()


class FoundFile(msgspec.Struct, frozen=True):
    """A file that a server names."""

    path: Path | None
    #: None if it is not known, not needed, or outside the boundary.
    text: Text | None
    #: Whether the server read the file from disk, and the file begins with a byte order mark: the
    #: server may count the mark as a character of the first line.
    marked: bool = False
    #: Whether it is a file of the project, rather than of a library.
    own: bool = True
    #: Whether it is the file that the server was asked about.
    is_asked: bool = False


class Examined(msgspec.Struct, frozen=True):
    """The result of one server: its raw lists of findings, and how their freshness is proven."""

    server: str
    view: View | None
    lists: tuple[bytes, ...]
    how: str
    duration: float
    timed_out: bool = False
    reason: str = ""
    #: The source of the findings, for a server with several.
    source: str = ""
    #: Earlier raw lists, if there are no fresh ones.
    memories: tuple[bytes, ...] = ()
    #: The code of the error, if there was one.
    code: str = ""
    #: For a server of Python.
    interpreter: Interpreter | None = None


class Elsewhere(msgspec.Struct, frozen=True):
    """The findings in another file."""

    uri: str
    servers: tuple[Examined, ...]


class OthersExamined(msgspec.Struct, frozen=True):
    """The findings in other files."""

    elsewhere: tuple[Elsewhere, ...] = ()
    #: `none`, `open` documents and files with findings, or the whole `workspace`.
    coverage: str = "none"
    severity: Severity = Severity.ERROR
    #: Seconds.
    duration: float = 0.0
    #: Whether they can be examined with the text of an edited file before the edit.
    sees_unsaved: bool = True


class Examination(msgspec.Struct, frozen=True):
    """The results of all servers of a file."""

    path: Path
    uri: str
    servers: tuple[Examined, ...]
    severity: Severity
    duration: float
    #: Most findings that are shown.
    most: int = 20
    #: Whether the text is the content of the file.
    on_disk: bool = True
    #: The last proven findings of the file.
    before: Before | None = None
    others: OthersExamined = OthersExamined()


class Dependents(msgspec.Struct, frozen=True):
    """The files that depend on an edit."""

    #: The edited file, with links resolved.
    path: str
    #: Their lines with references, by path, counted from 1; the most concerned files first.
    lines: dict[str, tuple[int, ...]] = {}
    #: The names of the changed declarations.
    names: tuple[str, ...] = ()
    #: The text before the edit, None if it is not known.
    old: str | None = None
    #: Why there may be more files; empty if all are known.
    reason: str = ""
    #: Names of changed declarations whose references are not known; the path of a file if not even
    #: its declarations are.
    unsearched: tuple[str, ...] = ()
    #: Whether only bodies of functions have changed, so that no other file can be concerned.
    is_internal: bool = False
    #: Seconds, without the time until the servers were ready.
    duration: float = 0.0
    #: Seconds until the servers were ready.
    waited: float = 0.0
    #: Whether it was the first search of a server, which takes longer.
    is_first: bool = False
    #: Seconds since the file was changed on disk.
    age: float = 0.0
    #: What files that are concerned may hold, though no reference leads there.
    words: tuple[str, ...] = ()
    #: Those of them that are the names of members, which other declarations have as well.
    members: tuple[str, ...] = ()
    #: Those of them that are classes whose members alone have changed.
    inside: tuple[str, ...] = ()
    #: Whether a line has changed that hands on all names of another file.
    has_star: bool = False


class KnownDiagnostics(msgspec.Struct, frozen=True):
    """A server's last report about a file, raw."""

    server: str
    uri: str
    items: bytes
    encoding: Encoding
    #: Seconds since it came.
    age: float = 0.0


class FileServer(msgspec.Struct, frozen=True):
    """The state of one server."""

    server: str
    root: str
    #: `idle` if it is not running yet.
    state: ServerState
    #: What it says it is doing.
    busy_with: tuple[str, ...] = ()


class Settings(msgspec.Struct, frozen=True):
    """The configuration, and how often it was loaded."""

    generation: int
    config: Config


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
