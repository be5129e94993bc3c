"""The shape of a configuration, with its defaults. Values only; `reading.py` fills them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from lspkit.protocol.text import Encoding

Milliseconds = Annotated[int, msgspec.Meta(ge=1)]


class Timing(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
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
    debounce_ms: Annotated[int, msgspec.Meta(ge=0)] = 150
    #: A server that nobody asked for so long is stopped; 0 means never.
    idle_shutdown_ms: Annotated[int, msgspec.Meta(ge=0)] = 0


class ServerTiming(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What one server has differently."""

    initialize_timeout_ms: Milliseconds | None = None
    request_timeout_ms: Milliseconds | None = None


class ServerConfig(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What is said about one server; None stands for "nothing said"."""

    command: list[str] | None = None
    extensions: list[str] | None = None
    roots: list[str] | None = None
    env: dict[str, str] = {}
    initialization: Any = None
    settings: dict[str, Any] | None = None
    language_ids: dict[str, str] = {}
    #: Units of columns to offer, for a server that gets one of them wrong.
    position_encodings: tuple[Encoding, ...] | None = None
    #: Programs that run beside the server, in its root, for as long as it does.
    watch: tuple[tuple[str, ...], ...] = ()
    timing: ServerTiming = ServerTiming()
    disabled: bool | None = None

    @property
    def selects(self) -> bool:
        """Whether this makes the server run, rather than only setting something about it."""
        return not self.disabled and (self.command is not None or self.disabled is False)


class Security(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What may be touched."""

    allow_external_paths: bool = False
    exclude: tuple[str, ...] = ("**/node_modules/**", "**/.git/**")


class Diagnosing(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Which findings count, and how many are shown."""

    include_severities: tuple[Literal["error", "warning", "info", "hint"], ...] = ("error",)
    max_per_file: Annotated[int, msgspec.Meta(ge=0)] = 20


class Restarting(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What happens after a server has failed."""

    #: `never`: it stays broken until the configuration is read again.
    policy: Literal["backoff", "never"] = "backoff"
    base_ms: int = 5_000
    factor: float = 2
    max_ms: int = 60_000
    #: Each delay varies by this part of itself.
    jitter: float = 0.2


class Config(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Everything that can be set."""

    #: By server id; `false` switches everything off.
    lsp: dict[str, ServerConfig] | bool = {}
    timing: Timing = Timing()
    security: Security = Security()
    diagnostics: Diagnosing = Diagnosing()
    restart: Restarting = Restarting()

    @property
    def enabled(self) -> bool:
        """Whether any server may run."""
        return self.lsp is not False

    def server(self, id: str, aliases: Iterable[str] = ()) -> ServerConfig:
        """What is said about a server, by its id or by one of its other names."""
        said = self.lsp if isinstance(self.lsp, dict) else {}
        return next((said[name] for name in (id, *aliases) if name in said), NOTHING_SAID)


NOTHING_SAID = ServerConfig()
