"""The structure of a configuration and its defaults.

The types define what is valid: `object_reader.py` checks values against them, and `json_schema.py`
generates the JSON Schema from them. The description of a type is used in error messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from lspkit.protocol.text import Encoding
from lspkit.workspace_boundary import Boundary, boundary_of

#: The message that is shown everywhere with `lsp: false`.
DISABLED = "LSP disabled by configuration"
#: The longest time in milliseconds that system calls accept: 24 days.
LONGEST = 2**31 - 1

Milliseconds = Annotated[
    int, msgspec.Meta(ge=1, le=LONGEST, description="a whole number of milliseconds, at least 1")
]
MillisecondsOrZero = Annotated[
    int, msgspec.Meta(ge=0, le=LONGEST, description="a whole number of milliseconds, 0 or more")
]
Count = Annotated[int, msgspec.Meta(ge=0, le=LONGEST, description="a whole number, 0 or more")]
#: A word of a command. The operating system ends words with a NUL.
Word = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]+$", description="a word that is not empty")]
_WORDS = msgspec.Meta(min_length=1, description="a list of words, none of them empty")
Command = Annotated[list[Word], _WORDS]
Extension = Annotated[
    str, msgspec.Meta(pattern=r"^\.", description="an extension that begins with a dot")
]
VariableName = Annotated[
    str, msgspec.Meta(pattern=r"^[^=\x00]+$", description="the name of an environment variable")
]
VariableValue = Annotated[
    str, msgspec.Meta(pattern=r"^[^\x00]*$", description="a text without a NUL")
]
Factor = Annotated[float, msgspec.Meta(ge=1, le=1000, description="a number from 1 to 1000")]
Part = Annotated[float, msgspec.Meta(ge=0, le=1, description="a number from 0 to 1")]

SeverityName = Literal["error", "warning", "info", "hint"]
#: What the host of a model should do when the model calls a tool.
Permission = Literal["allow", "ask", "deny"]
#: When a project's own configuration may name programs to run.
ProjectConfigPolicy = Literal["trusted-only", "always", "never"]


class TimingConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Timeouts and delays in milliseconds."""

    #: From the start of a server to its answer to `initialize`.
    initialize_timeout_ms: Milliseconds = 15_000
    #: For one request, from the moment when the server is ready.
    request_timeout_ms: Milliseconds = 10_000
    #: For fresh diagnostics after an edit, in hooks and tools.
    diagnostics_wait_timeout_ms: Milliseconds = 3_000
    #: For fresh diagnostics after an edit, if a server is starting.
    first_touch_timeout_ms: Milliseconds = 10_000
    #: For the files that depend on an edit, after the check of the edited file.
    dependents_timeout_ms: Milliseconds = 3_000
    #: How long a server must be silent if silence is the only sign that it is done.
    debounce_ms: MillisecondsOrZero = 150
    #: A server without requests for this time is stopped; 0 means never.
    idle_shutdown_ms: MillisecondsOrZero = 0


class ServerTimingConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Timeouts of one server."""

    #: From its start to its answer to `initialize`.
    initialize_timeout_ms: Milliseconds | None = None
    #: For one request, from the moment when it is ready.
    request_timeout_ms: Milliseconds | None = None


class ServerConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The settings of one server; None means that a setting is not given."""

    #: Program and arguments. A command selects the server.
    command: Command | None = None
    #: Extensions of its files, each with a dot.
    extensions: list[Extension] | None = None
    #: Names or globs of files that mark the root of a project.
    roots: list[str] | None = None
    #: Environment variables in addition to those of the user.
    env: dict[VariableName, VariableValue] = {}
    #: Sent as `initializationOptions`.
    initialization: Any = None
    #: The answer to its requests for configuration.
    settings: dict[str, Any] | None = None
    #: The language id of the protocol, by extension or file name.
    language_ids: dict[str, str] = {}
    #: Position encodings to offer, for a server with a faulty one.
    position_encodings: tuple[Encoding, ...] | None = None
    #: For a server that lspkit does not know: what proves that a file without findings is clean.
    #: `pull`: an empty answer to a pull; `version`: an empty push with the text's version.
    proof: Literal["pull", "version"] | None = None
    #: Commands that run in the server's root as long as the server.
    watch: tuple[Annotated[tuple[Word, ...], _WORDS], ...] = ()
    #: Timeouts of this server.
    timing: ServerTimingConfig = ServerTimingConfig()
    #: True: never start it; false: select it.
    disabled: bool | None = None

    @property
    def selects(self) -> bool:
        """Whether these settings select the server, rather than only configure it."""
        return not self.disabled and (self.command is not None or self.disabled is False)


class SecurityConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Accessible paths and trust. Only the user's own file can set it."""

    #: When settings of a project that name programs are applied.
    project_config_policy: ProjectConfigPolicy = "trusted-only"
    #: Folders, or globs of folders, whose projects are trusted with any content.
    trusted_project_roots: tuple[str, ...] = ()
    #: Whether paths outside the workspace may be read.
    allow_external_paths: bool = False
    #: Globs of paths that are never accessed.
    exclude: tuple[str, ...] = ("**/node_modules/**", "**/.git/**")


class EditsConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What edits may change. Only the user's own file can set it."""

    #: `worktree`: the whole git work tree around the workspace, unless the home folder is in it.
    boundary: Literal["workspace", "worktree"] = "workspace"


class DiagnosticsConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which findings count, and how many are shown."""

    #: Findings of this severity, and worse ones, count.
    severity: SeverityName = "error"
    #: Findings of one file in a summary.
    max_per_file: Count = 20
    #: Files in a summary besides those that were edited.
    max_other_files: Count = 5
    #: Files that are checked after an edit, because they refer to what it changed.
    max_dependents: Count = 20
    #: Lines of a whole summary.
    max_total_lines: Count = 50
    #: Bytes of a whole summary.
    max_bytes: Count = 4096
    #: Whether only findings that an edit introduced are shown, and those from before are counted.
    new_only: bool = True


class RestartConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Restarts after a server has failed."""

    #: `never`: it stays broken until the configuration is reloaded.
    policy: Literal["backoff", "never"] = "backoff"
    #: Delay before the first restart.
    base_ms: MillisecondsOrZero = 5_000
    #: Each delay is the previous one times this factor.
    factor: Factor = 2
    #: The longest delay.
    max_ms: MillisecondsOrZero = 60_000
    #: Each delay varies by this fraction.
    jitter: Part = 0.2


class Config(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """All settings."""

    #: By server id; `false` disables all servers.
    lsp: dict[str, ServerConfig] | bool = {}
    #: Whether tools for navigation are offered to a model.
    navigation_tools: bool = True
    #: Permissions by the name of a tool.
    permissions: dict[str, Permission] = {}
    #: Timeouts and delays.
    timing: TimingConfig = TimingConfig()
    #: Which findings count, and how many are shown.
    diagnostics: DiagnosticsConfig = DiagnosticsConfig()
    #: Restarts after a server has failed.
    restart: RestartConfig = RestartConfig()
    #: Accessible paths and trust. Not in a project's own file.
    security: SecurityConfig = SecurityConfig()
    #: What edits may change. Not in a project's own file.
    edits: EditsConfig = EditsConfig()

    @property
    def enabled(self) -> bool:
        """Whether any server may run."""
        return self.lsp is not False

    def boundary(self, root: str) -> Boundary:
        """The files that a workspace at `root`, which must be a folder, may access and change."""
        return boundary_of(
            root,
            exclude=self.security.exclude,
            allow_external=self.security.allow_external_paths,
            edit_work_tree=self.edits.boundary == "worktree",
        )

    def server(self, id: str, aliases: Iterable[str] = ()) -> ServerConfig:
        """The settings of a server, by its id or by one of its other names."""
        servers = self.lsp if isinstance(self.lsp, dict) else {}
        return next((servers[name] for name in (id, *aliases) if name in servers), NOTHING_SAID)


NOTHING_SAID = ServerConfig()
