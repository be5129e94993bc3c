"""Which servers a file gets by the configuration, the roots, and the programs that are there.

Starts nothing, and knows no running server.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from lspkit.config import Config
from lspkit.config.load import Loaded
from lspkit.config.model import DISABLED
from lspkit.config.trust.decision import trust_of
from lspkit.errors import NoServerError
from lspkit.protocol.registrations import CHANGED, FileEvent
from lspkit.runtime.files import Files
from lspkit.runtime.server import failure_errors
from lspkit.servers.definition import Definition
from lspkit.servers.project.config_inputs import Markers
from lspkit.servers.restriction.trust_profile import Permit, Permits
from lspkit.servers.selection.choose import (
    Choice,
    choose,
    definitions,
    disabled_rivals,
    disabled_servers,
    disabled_text,
    is_reached,
)
from lspkit.servers.selection.program_lookup import TOOLS_VARIABLE, search_folders
from lspkit.servers.selection.project_tools import decides, stamp_of
from lspkit.workspace_boundary import is_inside, work_tree

#: Seconds for which the folders of programs are not looked at again: for all files of a call.
LOOK_LASTS = 1.0
#: Seconds after which a program that did not work, and has not changed since, is tried again.
TRY_AGAIN = 300.0
#: How many names of files are remembered with the definitions that know them.
MOST_NAMES = 4096
#: The variables that these folders depend on.
FOLDER_VARIABLES = ("PATH", TOOLS_VARIABLE, "XDG_DATA_HOME", "HOME")


class ServerChoices:
    """The choice of servers in one workspace. For any thread.

    Only `reconfigure` and `skip` need the pool's lock: each field is replaced as a whole.
    """

    def __init__(
        self,
        config: Config,
        permits: Permits,
        files: Files,
        environ: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        self.config = config
        self.permits = permits
        self._files = files
        #: The variables of the user.
        self._environ = environ
        self._clock = clock
        #: Programs that were found but do not work, as they were then, and until when to skip them.
        self._unusable_programs: dict[str, tuple[float, tuple[int, ...]]] = {}
        #: The definitions that know a file name.
        self._by_name: dict[str, list[Definition]] = {}
        #: The names of the files that decide which servers are chosen.
        self._markers = Markers(definitions(config))
        #: The folders of programs: what they depend on, until when they hold, and the folders.
        self._folders: tuple[object, float, list[str]] = (None, 0.0, [])

    def reconfigure(self, config: Config, permits: Permits) -> None:
        """Choose by a new configuration. The pool's lock is held."""
        self.config, self.permits = config, permits
        self._unusable_programs = {}
        self._by_name, self._markers = {}, Markers(definitions(config))

    def for_file(self, path: str) -> list[Choice]:
        """The servers that the configuration and the roots give a file. Raises if it has none."""
        extension = os.path.splitext(path)[1] or os.path.basename(path)
        if not self.config.enabled:
            raise NoServerError(DISABLED, extension=extension)
        workspace, now = self._files.boundary.root, self._clock()
        unusable = {
            program
            for program, (until, stamp) in self._unusable_programs.items()
            if now < until and stamp_of(program) == stamp
        }
        known = self._definitions_for(os.path.basename(path))
        choices = choose(
            path,
            workspace,
            self.config,
            self.folders(),
            unusable,
            self.permits,
            known,
        )
        if not choices:
            what = f"no server is defined for {extension} files"
            if disabled := disabled_servers(self.config, known):
                what = f"no server runs for {extension} files: {disabled_text(disabled)}"
            raise NoServerError(what, extension=extension)
        return choices

    def folders(self) -> list[str]:
        """The folders in which programs are looked for."""
        workspace = self._files.boundary.root
        trusted = self.permits(workspace).trusted
        basis = (workspace, trusted, *map(self._environ.get, FOLDER_VARIABLES))
        earlier, until, folders = self._folders
        if earlier != basis or self._clock() >= until:
            folders = search_folders(workspace, trusted=trusted, environ=self._environ)
            self._folders = (basis, self._clock() + LOOK_LASTS, folders)
        return folders

    def _definitions_for(self, name: str) -> list[Definition]:
        """The definitions that know files of this name."""
        by_name = self._by_name
        known = by_name.get(name)
        if known is None:
            if len(by_name) > MOST_NAMES:
                by_name.clear()
            known = [
                definition
                for definition in definitions(self.config)
                if definition.language_of(name) is not None
            ]
            by_name[name] = known
        return known

    def admits(self, choice: Choice, path: str) -> bool:
        """Whether the server of a choice may be shown a file."""
        if not choice.adapter.takes_path(path):
            return False
        # A server that names the source of a library has read it already.
        return path in self._files.libraries or is_reached(path, choice.root, self.permits)

    def require_path(self, choice: Choice, path: str) -> None:
        """Raise if the server of a choice must not be told of a file at this path."""
        if not choice.adapter.takes_path(path):
            raise failure_errors.unusable_path(choice)

    def require_program(self, choice: Choice) -> None:
        """Raise if no program may be started for a choice."""
        # Without any command: the project's configuration was not allowed to name one.
        if choice.held_back and (choice.argv or not choice.definition.launch.commands):
            raise failure_errors.held_back(choice, self.folders())
        if not choice.argv:
            disabled = disabled_rivals(self.config, choice.definition)
            raise failure_errors.missing(choice, self.folders(), disabled)

    def skip(self, program: str, now: float) -> None:
        """A program does not work: choose others until it changes. The pool's lock is held."""
        state = now + TRY_AGAIN, stamp_of(program)
        # Another thread may be going through the old table.
        self._unusable_programs = {**self._unusable_programs, program: state}

    def depend_on(self, events: list[FileEvent]) -> bool:
        """Whether these changes of files may change which servers are chosen."""
        markers = self._markers
        return any(
            decides(event.path) or (event.kind != CHANGED and markers.hold(event.path))
            for event in events
        )


def permits_of(loaded: Loaded, workspace: str, trusted: bool | None) -> Permits:
    """A function that returns the permit of a root, and looks each up once.

    A root inside the workspace may be trusted less than the workspace: another clone inside a
    trusted repository is not trusted. A folder may become such a clone later.
    """
    known: dict[tuple[str, str], Permit] = {}
    vouched = loaded.vouched

    def permit(root: str) -> Permit:
        key = (root, work_tree(root))
        if key not in known:
            standing = whole = loaded.standing
            if root != workspace:
                security = loaded.config.security
                standing = trust_of(None, root, {}, security, loaded.environ, trusted, workspace)
                # A part of a project is stale if the project is.
                if whole.state == "stale" and is_inside(root, whole.candidate):
                    standing = whole
            allowed, state = standing.allows_programs, standing.state
            known[key] = Permit(allowed, state, standing.remedy, vouched)
        return known[key]

    return permit
