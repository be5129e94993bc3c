"""The parts of a server's definition, one class for each subject.

Every field has a default that suits an ordinary server. What only one server needs is code, in
`adapters/`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lspkit.protocol.events import Signal
from lspkit.protocol.text import Encoding

#: How a server notices that another file has changed on disk: by `didChangeWatchedFiles` or by its
#: own watcher (`watched`); only when the checked document changes as well (`touch`); or by the
#: command that reloads its projects (`reload`).
LooksAgain = Literal["watched", "touch", "reload"]

#: How a server sees the unsaved text of another document: after `didOpen` (`opened`); only after
#: `didChange` (`changed`); not at all, since it reads other files from disk (`never`). `untried`:
#: no test has shown which.
Unsaved = Literal["opened", "changed", "never", "untried"]


class Roots(msgspec.Struct, frozen=True, kw_only=True):
    """Where the root of a project is, and in which projects the server runs."""

    #: Names or globs of files that mark the root of a project.
    markers: tuple[str, ...] = ()
    #: If several folders above a file have one of these, the outermost is the root. For example the
    #: workspace of a Cargo or Go project, whose members have markers of their own.
    outermost: tuple[str, ...] = ()
    #: The server does not run for a file with one of these in its folder or above.
    kept_out_by: tuple[str, ...] = ()
    #: The server runs only if one of these is in a folder between the file and the workspace root.
    only_with: tuple[str, ...] = ()
    #: Whether the markers are those of another language, so that only a file of its own languages
    #: shows that a project needs the server.
    shares_markers: bool = False


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How the server is started, and what `initialize` says."""

    #: Command lines in order of preference: the first whose program is found runs.
    commands: tuple[tuple[str, ...], ...] = ()
    #: `initializationOptions`.
    initialization: Any = None
    #: The settings that `workspace/configuration` and `didChangeConfiguration` carry.
    settings: dict[str, Any] = {}
    #: Position encodings that the client offers. Only a user's configuration changes them.
    encodings: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")
    #: Timeout of `initialize` in milliseconds, for a server that needs more than the default.
    initialize_timeout_ms: int | None = None


class UntrustedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a server run no code of the project. Merged over the rest of the definition.

    The placeholders `"{python}"`, `"{packages}"`, `"{tsserver}"`, `"{commands}"` and `"{flags}"`
    are replaced by what is found outside of the project (`trust_profile.py`).
    """

    initialization: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    #: Environment variables. They override those of the user and of the configuration.
    environment: dict[str, str] = {}


class TrustProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What the server does with code of the project."""

    #: How it runs in an untrusted project. None: it executes code of the project, or nobody has
    #: tried, and it is not started there.
    untrusted: UntrustedRun | None = None
    #: Settings in a trusted project; all other settings override them. The placeholder
    #: `"{interpreter}"` is replaced by the project's Python interpreter.
    trusted_settings: dict[str, Any] = {}
    #: Files, relative to the root, that the server executes or takes commands from in a trusted
    #: project, besides the interpreter.
    risky_files: tuple[str, ...] = ()


#: For a server that runs no code of the project, as it is.
HARMLESS = TrustProfile(untrusted=UntrustedRun())


class ProjectSigns(msgspec.Struct, frozen=True, kw_only=True):
    """What shows that a project uses this one of several type checkers."""

    #: Its package of Python: also the name of its table below `tool` in `pyproject.toml`, and of
    #: its program in a virtual environment.
    package: str
    #: Names of files that configure it.
    files: tuple[str, ...] = ()


class Compiler(msgspec.Struct, frozen=True, kw_only=True):
    """The npm package of a compiler. Its major version in a project decides which server runs."""

    package: str
    #: The first major version that the server serves, and the first that it does not serve.
    least: int = 0
    below: int = 1_000_000
    #: Programs of that package: they count only in a version that the server serves.
    programs: tuple[str, ...] = ()

    def serves(self, major: int | None) -> bool:
        """Whether it serves a major version; None is an unknown one."""
        return major is None or self.least <= major < self.below


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """When the server has loaded its project, so that its answers count."""

    #: For a server that loads the project after the first `didOpen` and reports progress: seconds
    #: in which the progress begins, if there is anything to load. None: its first answer counts.
    load_begins_within: float | None = None
    #: The project is loaded. Progress may come in several pieces with pauses, so this is more
    #: reliable.
    ready_by: Signal | None = None
    #: The server loads the project again: nothing counts until it is ready again.
    unready_by: Signal | None = None


class ProjectQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A request that tells which configuration a document belongs to, if it belongs to one."""

    method: str
    #: The placeholders `"{path}"` and `"{uri}"` are replaced by those of the document.
    params: dict[str, Any]
    #: Where in the result the path of the configuration is. It is empty, or in `/dev/null`, for a
    #: document that no configuration includes.
    result: tuple[str, ...]
    #: The names of such configurations.
    configs: tuple[str, ...]
    #: Whether `workspace/symbol` searches only the project of the document that the last request
    #: was about. Then it is sent once for each project.
    searches_one: bool = False


class DocumentSync(msgspec.Struct, frozen=True, kw_only=True):
    """How the server treats the text of other open documents."""

    #: If it does not see an unsaved text, the verdicts about other files are unknown.
    unsaved: Unsaved = "untried"
    #: Whether it also sees the unsaved text of a file that does not exist on disk; `in folders`:
    #: only if its folder exists.
    unsaved_files: bool | Literal["in folders"] = False
    #: A request about an open document after which other documents see its changes at once, for a
    #: server that otherwise needs a while.
    takes_in_by: str = ""
    #: Whether it keeps reporting a module as missing whose file is created while its unsaved text
    #: is open. Then `disk.refresh` is sent, or the server is restarted.
    misses_created: bool = False
    #: Whether of several documents that changed on disk together only one gets a `didSave`: it is
    #: about all of them, or tells the server nothing that it does not know from the changes.
    saves_once: bool = False
    #: Characters that it takes for line ends, unlike the protocol. A document with one is closed
    #: and opened instead of changed.
    other_line_ends: str = ""


class ConfigFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that configure a server which does not read them again as soon as they change."""

    #: Names or globs, at any depth below the root. With `/` before it: directly in the root.
    files: tuple[str, ...] = ()
    #: Whether `files` in the folders above the root count as well.
    above: bool = False
    #: Names of files in the root. The files that they import or extend count as well.
    imports: tuple[str, ...] = ()
    #: Whether they may import packages: then installed packages below the root count as well.
    packages: bool = False
    #: Whether the server reads only the first of `files` that exists.
    first_only: bool = False
    #: Log lines of which one comes when the server has read the files again. Without any, and if
    #: none comes in time, the server is restarted.
    says: tuple[Signal, ...] = ()
    #: Messages which say that it cannot read them. Its findings prove nothing from then on, and the
    #: next change of a file of data restarts it.
    fails: tuple[Signal, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files that configure it, in its root or above."""
        plain = (name.removeprefix("/") for name in self.files if "*" not in name)
        return tuple(dict.fromkeys((*plain, *self.imports)))


class Refresh(msgspec.Struct, frozen=True, kw_only=True):
    """The message that makes a server read all files again, and when it is sent.

    It is sent when installed packages change, and in the cases below.
    """

    #: A notification, or `workspace/executeCommand`.
    method: str
    #: Its params. The placeholder `"{root}"` is replaced by the URI of the root.
    params: dict[str, Any]
    #: Names or globs: sent when one of them changes outside of the root, or inside without the
    #: server having asked to be notified of it.
    files: tuple[str, ...] = ()
    #: Path depth (from `/`) down to which the server's own watcher misses new and deleted sources.
    path_depth: int = 0


class DiskReactions(msgspec.Struct, frozen=True, kw_only=True):
    """How the server learns of changes on disk."""

    looks_again: LooksAgain = "watched"
    #: Names or globs of files that its findings may depend on, besides its languages and markers:
    #: imported data, headers without an extension, settings. `*`: any file on disk, except for logs
    #: and other by-products. The unsaved text of a file counts only if a closer pattern fits.
    reads: tuple[str, ...] = ("*",)
    #: Globs of files that it is notified of although it has not registered for them.
    told_of: tuple[str, ...] = ()
    #: Whether it reads files of the work tree around the workspace, and registers for them too late
    #: or not at all. Then the work tree is watched from the start.
    reads_work_tree: bool = False
    #: `FileChangeType`: the types that are sent in its place, in this order.
    told_as: dict[int, tuple[int, ...]] = {}
    #: Whether it sorts the changes of one notification by type, and takes a file that was deleted
    #: and created for deleted. Then the two are sent in two notifications.
    sorts_changes: bool = False
    #: Whether it is not notified of changed files that are open documents: it goes by their text,
    #: and would only do its work once more.
    skips_open: bool = False
    #: The folder of installed packages that it reads: `node_modules` or `site-packages`.
    packages: str = ""
    config: ConfigFiles | None = None
    refresh: Refresh | None = None
    #: Folders in the root that it searches for modules if they exist when it reads its
    #: configuration. When one is created or deleted, `refresh` is sent, or the server is restarted.
    source_folders: tuple[str, ...] = ()
    #: Whether a changed source is opened and closed, since the server reads it again at `didClose`:
    #: `always`, or only if its modification time does not show the change (`old`).
    reads_closed: Literal["never", "always", "old"] = "never"


class Admission(msgspec.Struct, frozen=True, kw_only=True):
    """A log line by which a server says that it does not check files (any more)."""

    says: Signal
    #: What that means for its findings, and what a user can do about it.
    means: str
    #: Whether a new process checks files again. The server is restarted if files have changed.
    afresh: bool = False
    #: Whether the process is useless: it is stopped, and started again after a while.
    ends: bool = False


class Caveats(msgspec.Struct, frozen=True, kw_only=True):
    """When an empty list of findings proves nothing."""

    #: The server's next findings do not count, about the file that the message names or about all
    #: files: until another message of the same method, or until the end of the `$/progress`.
    doubts: tuple[Signal, ...] = ()
    #: How diagnostics begin which say that the server has not checked the file.
    disclaimers: tuple[str, ...] = ()
    #: Log lines which say that it checks no file.
    admissions: tuple[Admission, ...] = ()
    #: Folders that it does not check by default, not even open documents in them: names or globs,
    #: at any depth of the workspace, or of a project around the workspace. With `/` before it:
    #: directly in the project's root. With `./`: at any depth of the server's root. With `**/`:
    #: anywhere on the path.
    skipped_folders: tuple[str, ...] = ()
    #: Whether `workspace/diagnostic`, where the server offers it, gets a complete answer that
    #: includes all changes of which the server was notified before.
    workspace_pull: bool = True
