"""Which servers a file gets by the configuration, the roots, and the programs that are there.

Starts nothing, and knows no running server.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from lspkit.config import Config
from lspkit.config.model import DISABLED
from lspkit.errors import NoServerError
from lspkit.protocol.watching.registrations import CHANGED, FileEvent
from lspkit.runtime.files import Files
from lspkit.runtime.pool.slot import LOOK_AGAIN
from lspkit.runtime.server import failure_errors
from lspkit.servers.project.config_inputs import Markers
from lspkit.servers.restriction.trust_profile import Permits
from lspkit.servers.selection.choose import Choice, choose, definitions
from lspkit.servers.selection.program_lookup import search_folders


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
        #: Programs that were found but do not work, and until when to skip them.
        self._unusable_programs: dict[str, float] = {}
        #: Made on first use.
        self._markers: Markers | None = None

    def reconfigure(self, config: Config, permits: Permits) -> None:
        """Choose by a new configuration. The pool's lock is held."""
        self.config, self.permits = config, permits
        self._markers = None

    def for_file(self, path: str) -> list[Choice]:
        """The servers that the configuration and the roots give a file. Raises if it has none."""
        extension = os.path.splitext(path)[1] or os.path.basename(path)
        if not self.config.enabled:
            raise NoServerError(DISABLED, extension=extension)
        workspace, now = self._files.boundary.root, self._clock()
        unusable = {
            program for program, until in list(self._unusable_programs.items()) if now < until
        }
        choices = choose(path, workspace, self.config, self.folders(), unusable, self.permits)
        if not choices:
            raise NoServerError(f"no server is defined for {extension} files", extension=extension)
        return choices

    def folders(self) -> list[str]:
        """The folders in which programs are looked for."""
        workspace = self._files.boundary.root
        return search_folders(
            workspace, trusted=self.permits(workspace).trusted, environ=self._environ
        )

    def require_program(self, choice: Choice) -> None:
        """Raise if no program may be started for a choice."""
        # Without any command: the project's configuration was not allowed to name one.
        if choice.held_back and (choice.argv or not choice.definition.launch.commands):
            raise failure_errors.held_back(choice, self.folders())
        if not choice.argv:
            raise failure_errors.missing(choice, self.folders())

    def skip(self, program: str, now: float) -> None:
        """A program does not work: choose others for a while. The pool's lock is held."""
        # Another thread may be going through the old table.
        self._unusable_programs = {**self._unusable_programs, program: now + LOOK_AGAIN}

    def depend_on(self, events: list[FileEvent]) -> bool:
        """Whether these changes of files may change which servers are chosen."""
        self._markers = markers = self._markers or Markers(definitions(self.config))
        return any(one.kind != CHANGED and markers.hold(one.path) for one in events)
