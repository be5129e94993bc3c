"""What a server process needs besides its command: environment, temporary folder, sidecars,
options.

Servers leave temporary files behind, so each process has its own folder for them, which is removed
with it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.child import Child
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.process.sidecar import Sidecar, stop_all
from lspkit.servers.restriction.launch_environment import clean_environment
from lspkit.servers.restriction.python_interpreter import interpreter_of
from lspkit.servers.selection.choose import Choice
from lspkit.servers.sidecar_commands import Commands
from lspkit.types import Interpreter
from lspkit.workspace_boundary import project_tree


class ProcessSetup:
    """The setup of one server process. Call `clean_up` once, at the end."""

    def __init__(
        self, choice: Choice, workspace: str, environ: Mapping[str, str], guardian: Guardian
    ) -> None:
        self._choice = choice
        self._workspace = workspace
        self._environ = environ
        self._guardian = guardian
        #: The folder for temporary files.
        self._scratch = ""
        self._environment: dict[str, str] = {}
        #: For a server of Python: the interpreter whose packages it uses, and why.
        self.interpreter: Interpreter | None = None
        #: Programs that run beside the server, and why others do not.
        self.sidecars: list[Sidecar] = []
        self.sidecar_warnings: tuple[str, ...] = ()

    def launch(self) -> Child:
        """Start the process. Raises `LaunchError` or `OSError`."""
        choice = self._choice
        self._scratch = self._guardian.new_folder()
        folders = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._scratch)
        folders |= choice.adapter.environment(self._scratch)
        self._environment = environment_of(choice, folders, self._workspace, self._environ)
        self.interpreter = interpreter_of(choice, self._environment)
        # Some interpreters import from the folder that they start in, and some launchers read
        # there which program they run. A restricted server is told its root by `initialize`.
        folder = self._scratch if choice.trust == "restricted" else choice.root
        return self._guardian.launch(choice.argv, cwd=folder, env=self._environment)

    def start_sidecars(self, programs: Commands, restart: Restart) -> None:
        """Start the programs that run beside the server."""
        self.sidecar_warnings = programs.warnings
        where = self._choice.root, self._environment, self._guardian
        self.sidecars = [Sidecar(argv, *where, restart=restart) for argv in programs.commands]
        for sidecar in self.sidecars:
            sidecar.start()

    def stop_sidecars(self) -> None:
        """End the programs that run beside the server."""
        stop_all(self.sidecars)

    def clean_up(self) -> None:
        """Remove the folder for temporary files."""
        scratch, self._scratch = self._scratch, ""
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)

    def drop_after_fork(self) -> None:
        """In a forked child: the sidecars are the parent's."""
        for sidecar in self.sidecars:
            sidecar.drop_after_fork()
        self.sidecars = []


def environment_of(
    choice: Choice, scratch: dict[str, str], workspace: str, environ: Mapping[str, str]
) -> dict[str, str]:
    """The user's variables, those of the configuration, and those for an untrusted project."""
    if choice.permit.trusted:
        return {**environ, **scratch, **choice.config.env}
    # `python -m` and its kind do not import from the current folder (Python 3.11 and newer).
    made = {**environ, "PYTHONSAFEPATH": "1", **scratch, **choice.config.env}
    restricted = choice.definition.trust.untrusted
    made |= restricted.environment if restricted is not None else {}
    # No program of the project, nor one that happens to be in the current folder.
    cleaned = made | clean_environment(made, project_tree(workspace))
    # The server's own temporary folder is kept, wherever it lies, and takes the place of one in the
    # project: for some servers an empty variable means the current folder.
    own = {
        name: folder
        for name, folder in scratch.items()
        if made[name] == folder or not cleaned[name]
    }
    return cleaned | own


def initialize_options(choice: Choice, version: str) -> InitializeOptions:
    """What a server is told in `initialize`."""
    definition = choice.definition
    options = InitializeOptions(
        root_uri=path_to_uri(choice.root),
        root_name=os.path.basename(choice.root) or choice.root,
        process_id=os.getpid(),
        client_version=version,
        initialization=definition.launch.initialization,
        settings=definition.launch.settings,
        encodings=definition.launch.encodings,
    )
    return choice.adapter.initialize(options)
