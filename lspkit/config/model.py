"""The structure of a configuration and its defaults.

The types define what is valid: `type_check.py` checks values against them, and `json_schema.py`
generates the JSON Schema from them. The description of a type is used in error messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from lspkit.msgspec_types import prepare_struct
from lspkit.protocol.text import Encoding

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
    """How long to wait for what, in milliseconds."""

    #: From the start of a server to its answer to `initialize`.
    initialize_timeout_ms: Milliseconds = 15_000
    #: For one request, from the moment when the server is ready.
    request_timeout_ms: Milliseconds = 10_000
    #: For fresh diagnostics after an edit, in hooks and tools.
    diagnostics_wait_timeout_ms: Milliseconds = 3_000
    #: The same, at the first touch of a server that is starting.
    first_touch_timeout_ms: Milliseconds = 10_000
    #: How long a server must be quiet where silence is the only sign that it is done.
    debounce_ms: MillisecondsOrZero = 150
    #: A server that nobody asked for so long is stopped; 0 means never.
    idle_shutdown_ms: MillisecondsOrZero = 0


class ServerTimingConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What one server has differently."""

    #: From its start to its answer to `initialize`.
    initialize_timeout_ms: Milliseconds | None = None
    #: For one request, from the moment when it is ready.
    request_timeout_ms: Milliseconds | None = None


class ServerConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What is said about one server; None stands for "nothing said"."""

    #: Program and arguments. Giving it selects the server.
    command: Command | None = None
    #: Of the files that it is for, each with its dot.
    extensions: list[Extension] | None = None
    #: Names or globs of files that mark the root of a project.
    roots: list[str] | None = None
    #: Variables that its process has besides those of the user.
    env: dict[VariableName, VariableValue] = {}
    #: Sent as `initializationOptions`.
    initialization: Any = None
    #: What it is answered when it asks for its configuration.
    settings: dict[str, Any] | None = None
    #: By extension or name of a file: what the protocol calls its language.
    language_ids: dict[str, str] = {}
    #: Units of columns to offer, for a server that gets one of them wrong.
    position_encodings: tuple[Encoding, ...] | None = None
    #: Programs that run beside the server, in its root, for as long as it does.
    watch: tuple[Annotated[tuple[Word, ...], _WORDS], ...] = ()
    #: Its own times.
    timing: ServerTimingConfig = ServerTimingConfig()
    #: True: never; false: selects it.
    disabled: bool | None = None

    @property
    def selects(self) -> bool:
        """Whether this makes the server run, rather than only setting something about it."""
        return not self.disabled and (self.command is not None or self.disabled is False)


class SecurityConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What may be touched, and whose word counts. Only the user's own file can say it."""

    #: When what a project's configuration says about programs is followed.
    project_config_policy: ProjectConfigPolicy = "trusted-only"
    #: Folders, or globs of folders, whose projects are trusted with whatever they contain.
    trusted_project_roots: tuple[str, ...] = ()
    #: Whether paths outside of the workspace may be asked about.
    allow_external_paths: bool = False
    #: Globs of paths that are never touched.
    exclude: tuple[str, ...] = ("**/node_modules/**", "**/.git/**")


class EditsConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What edits may change. Only the user's own file can say it."""

    #: `worktree`: all of the git work tree around the workspace, unless the home folder is in it.
    boundary: Literal["workspace", "worktree"] = "workspace"


class DiagnosticsConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which findings count, and how many are shown."""

    #: A finding of another severity is known, and does not count.
    include_severities: tuple[SeverityName, ...] = ("error",)
    #: Findings of one file in a summary.
    max_per_file: Count = 20
    #: Files in a summary besides those that were edited.
    max_other_files: Count = 5
    #: Lines of a whole summary.
    max_total_lines: Count = 50
    #: Bytes of a whole summary.
    max_bytes: Count = 4096
    #: Whether only findings are shown that an edit has brought.
    new_only: bool = False


class RestartConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What happens after a server has failed."""

    #: `never`: it stays broken until the configuration is read again.
    policy: Literal["backoff", "never"] = "backoff"
    #: Before the first new start.
    base_ms: MillisecondsOrZero = 5_000
    #: Each wait is so many times the one before.
    factor: Factor = 2
    #: No wait is longer.
    max_ms: MillisecondsOrZero = 60_000
    #: Each wait varies by this part of itself.
    jitter: Part = 0.2


@prepare_struct
class Config(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Everything that can be set."""

    #: By server id; `false` switches everything off.
    lsp: dict[str, ServerConfig] | bool = {}
    #: Whether tools for navigation are offered to a model.
    navigation_tools: bool = True
    #: By name of a tool.
    permissions: dict[str, Permission] = {}
    #: How long to wait for what.
    timing: TimingConfig = TimingConfig()
    #: Which findings count, and how many are shown.
    diagnostics: DiagnosticsConfig = DiagnosticsConfig()
    #: What happens after a server has failed.
    restart: RestartConfig = RestartConfig()
    #: What may be touched. Not in a project's own file.
    security: SecurityConfig = SecurityConfig()
    #: What edits may change. Not in a project's own file.
    edits: EditsConfig = EditsConfig()

    @property
    def enabled(self) -> bool:
        """Whether any server may run."""
        return self.lsp is not False

    def server(self, id: str, aliases: Iterable[str] = ()) -> ServerConfig:
        """What is said about a server, by its id or by one of its other names."""
        said = self.lsp if isinstance(self.lsp, dict) else {}
        return next((said[name] for name in (id, *aliases) if name in said), NOTHING_SAID)


NOTHING_SAID = ServerConfig()
