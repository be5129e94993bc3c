"""What lspkit knows about a language server. A definition is data: adding one is adding a row."""

from __future__ import annotations

import fnmatch
import os
from typing import Any, Literal

import msgspec

from lspkit.diagnostics.proof import OFFERED, ProofRule
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.text import Encoding
from lspkit.protocol.uris import uri_to_path

#: `types`: of several for one language the first one found runs. `lint`: runs beside it.
Role = Literal["types", "lint"]

#: The `languageId` of a file of none of a server's languages, as editors call it.
UNKNOWN_LANGUAGE = "plaintext"

#: How a server comes to see files on disk that changed: it is told, or looks for itself
#: (`watched`); only when the document that is asked about changes, too (`touch`); or when it is
#: told to read its projects again, by a command (`reload`).
LooksAgain = Literal["watched", "touch", "reload"]

#: How a server comes to see a text of another document that is not on disk: as soon as that is open
#: (`opened`); only by a change while it is open (`changed`); not at all (`never`), since it reads
#: other files from disk; or nobody has tried (`untried`).
Unsaved = Literal["opened", "changed", "never", "untried"]


class Restricted(msgspec.Struct, frozen=True, kw_only=True):
    """How a server runs in a project that is not trusted, without running anything of it.

    Merged over the definition. `"{python}"`, `"{packages}"`, `"{tsserver}"`, `"{commands}"` and
    `"{flags}"` stand for what is found outside of the project (`trust_profile.py`).
    """

    initialization: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    #: Variables that nobody else has a say in.
    environment: dict[str, str] = {}


class Forwards(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of one server that another one answers. The client carries them to and fro.

    They come and are answered by notifications, which hold lists: a number, a command and its
    arguments; then the same number, and the answer or null.
    """

    #: The notification that asks.
    asks: str
    #: The one that answers.
    answers: str
    #: Who knows: the server of this id in the same root.
    to: str
    #: The command of that server which takes such a question.
    command: str


class Admission(msgspec.Struct, frozen=True, kw_only=True):
    """A line for people to read by which a server says that it does not look (any more)."""

    #: A part of the line.
    says: str
    #: What that means for its findings, and what a user can do about it.
    means: str
    #: Whether it looked before it was told of files that changed, and a new process does again.
    afresh: bool = False
    #: Whether it can do nothing at all, so that it is ended, and started again in a while.
    ends: bool = False


class Rereads(msgspec.Struct, frozen=True, kw_only=True):
    """Files that configure a server, and how it comes to go by them when they have changed.

    Not for a server that answers nothing from before once it was told of the change.
    """

    #: Names or globs, at any depth of its root. With `/` before it: directly in the root.
    files: tuple[str, ...] = ()
    #: Names of files in its root: what they import, or name as their base, is meant as well.
    imports: tuple[str, ...] = ()
    #: Whether they may import packages: those in its root are meant as well, where its definition
    #: says that these lie.
    packages: bool = False
    #: Whether it goes by the first of the files alone, if that is there.
    one: bool = False
    #: Parts of the lines of which it writes one when it has read them again. None for a server that
    #: has to be started anew, as is one that does not write it in time.
    says: tuple[str, ...] = ()


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One language server."""

    #: The name that people know.
    id: str
    #: Servers of one family and role `types` stand for each other.
    family: str
    role: Role = "types"
    #: Extension with its dot, whole file name, or beginning of one (`Dockerfile.*`): `languageId`.
    languages: dict[str, str]
    #: Other names for it: the language, for the first server of one.
    aliases: tuple[str, ...] = ()
    #: Names or globs of files that mark the root of a project.
    markers: tuple[str, ...] = ()
    #: Of several folders with one of these markers the outermost is the root: the workspace of a
    #: Cargo or Go project, whose members have markers of their own.
    outermost: tuple[str, ...] = ()
    #: A file with one of these markers beside or above it is another server's business.
    kept_out_by: tuple[str, ...] = ()
    #: Runs only if one of these is found on the way from the file to the workspace's root.
    only_with: tuple[str, ...] = ()
    #: Methods of all questions that it can be asked besides for findings; empty if that is not
    #: known before it runs.
    answers_only: tuple[str, ...] = ()
    #: In order of preference.
    commands: tuple[tuple[str, ...], ...]
    initialization: Any = None
    settings: dict[str, Any] = {}
    #: Variables that name a folder of its own, which is gone with it: besides those for temporary
    #: files, for a server that would else share a process with others by what lies there.
    own_folders: tuple[str, ...] = ()
    #: Whether it ends now and then as soon as it was started, by no fault of anything around it.
    #: Then whoever checks or asks about a file gets another one at once.
    start_may_fail: bool = False
    #: None for a server that runs the project's code, or was not tried: it is held back where the
    #: project is not trusted.
    restricted: Restricted | None = None
    #: Settings for a project that is trusted, under all others. `"{interpreter}"` stands for the
    #: project's own (`trust_profile.py`).
    own_settings: dict[str, Any] = {}
    #: Files of a project that is trusted, seen from its root, which it runs or takes commands from,
    #: besides the interpreter.
    own_files: tuple[str, ...] = ()
    #: A program, its npm package, and another package that comes with that one and is loaded by
    #: this server: `"{package}"` in its initialization stands for the folder of the first. Where
    #: they are not found, it does not run.
    borrows: tuple[str, str, str] | None = None
    #: Whether its markers are those of another language, so that only files tell of its own.
    shares_markers: bool = False
    #: What it asks for, and who answers.
    forwards: Forwards | None = None
    #: Package manager: the command that installs it.
    install: dict[str, str] = {}
    #: Milliseconds for its start, where the usual time is too short.
    initialize_timeout_ms: int | None = None
    #: For a server that loads its project when a first document is opened, and whose answers count
    #: when the progress of that has ended: seconds in which it begins, if there is anything to do.
    #: None for one whose first answers can be trusted.
    load_begins_within: float | None = None
    #: A notification that says that the project is loaded, and what its params hold then. Surer
    #: than progress, which comes in pieces with nothing going on in between.
    ready_by: tuple[str, dict[str, Any]] | None = None
    #: One that says that it is loading (again), so that nothing counts until it is ready again.
    unready_by: tuple[str, dict[str, Any]] | None = None
    #: How its findings prove themselves, one rule for each source of them.
    proofs: tuple[ProofRule, ...] = (OFFERED,)
    #: What every `didChange` to it says besides; and what one says on top of that, with the whole
    #: text, which changes nothing and is only to make it look again.
    change_with: dict[str, Any] = {}
    touch_with: dict[str, Any] = {}
    looks_again: LooksAgain = "watched"
    #: How it sees texts of other documents that are not on disk, and whether also one that stands
    #: for a file that is not there. What it cannot see makes its verdicts about the others unknown.
    unsaved: Unsaved = "untried"
    unsaved_files: bool = False
    #: Extensions of files that it reads from disk and takes in, besides those of its languages.
    reads: tuple[str, ...] = ()
    #: What it goes by that is no source.
    rereads: Rereads | None = None
    #: Names or globs of other files that its findings may depend on, besides its languages and its
    #: markers: data that a source takes in, headers without an extension, files of settings.
    depends_on: tuple[str, ...] = ("*",)
    #: Globs of files that it is told of, where it does not ask for them and yet goes by it.
    told_of: tuple[str, ...] = ()
    #: Kind of change: the kinds that it is told instead, one after the other, where it would
    #: else keep what it has read.
    told_as: dict[int, tuple[int, ...]] = {}
    #: Whether it sorts the changes of one note by their kind, and takes what is deleted and created
    #: for deleted. Then the two are told in two notes.
    sorts_changes: bool = False
    #: After so many changes of files with no request since, it loses the next change of a document.
    #: It is asked for a symbol then; 0 for one that does not.
    loses_edits_after: int = 0
    #: Whether it blocks itself for good when it is told of a new file while it works on a request.
    #: It is told of a change of an open document first, which ends that work. And one that says and
    #: does nothing for some seconds while somebody waits for its answer is replaced.
    blocks_on_new_files: bool = False
    #: Where installed packages lie that it reads: `node_modules` or `site-packages`.
    packages: str = ""
    #: What makes it read everything again, a notification or a command: when packages change, and
    #: files with one of these names that lie beyond its root, or that it has not asked for.
    #: `"{root}"` stands for the URI of its root.
    refreshed_by: tuple[str, dict[str, Any]] | None = None
    refreshed_for: tuple[str, ...] = ()
    #: So few names may the path of a folder have in which it does not notice that a source comes or
    #: goes, for it watches nothing so near to the top of the file system.
    unnoticed_within: int = 0
    #: Names of folders in its root in which it looks for modules, if they are there when it reads
    #: its configuration. When one comes or goes, it is made to read everything again, or started
    #: anew.
    source_folders: tuple[str, ...] = ()
    #: Names or globs of sources. When one comes or goes, and so an import may lead elsewhere, it
    #: does not look for the module again, and is started anew.
    modules: tuple[str, ...] = ()
    #: Whether it takes a file for unchanged whose time of the last change and size are those from
    #: before. When another content has both, it is started anew.
    compares_times: bool = False
    #: A request for the text of a file as it has it, where it reads files in the background.
    read_back: str = ""
    #: Whether it reads a file when that is closed, and otherwise comes to see a change of it late,
    #: or not at all where the file's time is an old one.
    reads_closed: Literal["never", "always", "old"] = "never"
    #: Whether it leaves out others, or others instead, when it is asked for references without the
    #: declarations. It is asked for all of them and for the declarations, which are taken away.
    confuses_declarations: bool = False
    #: Whether changes are sent as the whole text, also where it would take less.
    whole_texts: bool = False
    #: Whether it is told that a text is on disk, where it wants to hear of that.
    saves: bool = True
    #: A request by which it takes in the changes of an open document, where it does so for another
    #: document that depends on it only after a while.
    takes_in_by: str = ""
    #: Whether it can be asked for the findings of a whole project, where it offers that: its answer
    #: has an end, and knows of every change that it was told of before.
    tells_whole_project: bool = True
    #: A notification or request of its own, and what its params hold, by which it says that its
    #: next findings are worth nothing; or `$/progress` and the title of the work that says so.
    doubts: tuple[tuple[str, dict[str, Any]], ...] = ()
    #: Folders whose files it finds nothing wrong with, though it has them open: unless the project
    #: says otherwise, it leaves them out. A name or glob, at any depth of the workspace, or of a
    #: project that the workspace lies in. With `/` before it: directly in the project's root. With
    #: `./`: at any depth of the server's root. With `**/`: anywhere, even if all of it lies there.
    passes_over: tuple[str, ...] = ()
    #: How findings begin by which it says that it has not looked at the file.
    disclaimers: tuple[str, ...] = ()
    #: What it writes when it looks at no file at all.
    admissions: tuple[Admission, ...] = ()
    #: Names of files in its root, and in folders below it, that name files which it passes over, as
    #: git's do. It reads them when it starts.
    ignores_by: tuple[str, ...] = ()
    #: For so many seconds after it was told of a file, names that this one includes may be missing
    #: from its index. It does not say when they are there.
    indexed_within: float = 0.0
    #: Capabilities that only this server knows, told to it as `experimental`.
    experimental: dict[str, Any] = {}
    #: What is odd about it, in words, for the reference and for readers of this table.
    quirks: tuple[str, ...] = ()
    #: Units of columns that it is offered; fewer for a server that gets one of them wrong.
    encodings: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")
    #: The version it was tested with here, or `documentation`.
    verified: str = "documentation"

    @property
    def compares_files(self) -> bool:
        """Whether what it finds in a file may depend on another one."""
        return any(not rule.alone for rule in self.proofs)

    @property
    def how_to_install(self) -> str:
        """The command of the package manager that comes first; empty if none is known."""
        return next(iter(self.install.values()), "")

    def is_marker(self, name: str) -> bool:
        """Whether a file of this name marks the root of a project."""
        return any(fnmatch.fnmatchcase(name, one) for one in self.markers)

    def key_of(self, uri: str) -> DocumentKey:
        """A document as this server is told of it, and as its selectors see it."""
        language = self.language_of(os.path.basename(uri_to_path(uri) or uri))
        return DocumentKey(uri, language or UNKNOWN_LANGUAGE)

    def language_of(self, name: str) -> str | None:
        """The `languageId` of a file by its name, None if this server does not know it."""
        known = self.languages.get(name) or self.languages.get(name.partition(".")[0] + ".*")
        if known is not None:
            return known
        stem, dot, extension = name.rpartition(".")
        return self.languages.get("." + extension.lower()) if dot and stem else None
