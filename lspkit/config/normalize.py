"""Normalisation of all spellings to one form: camelCase, servers directly under `lsp`, no aliases.

The result is plain JSON values in the structure of `model.py`, without defaults. Values are checked
here, so that a fault is reported at the place and with the name in the file. If a setting occurs
under its own name and an alias, its own name takes precedence, in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.config import model
from lspkit.config.merge import merge_values
from lspkit.config.object_reader import (
    REFUSED,
    Object,
    members_of,
    open_object,
    sort_by_fields,
    to_json_values,
)
from lspkit.config.problems import Path, Problems

# Alternative names of keys, so that the files of other tools can be used.

#: Beside `lsp`: other names of the object that holds the servers.
SERVER_TABLES = ("lspServers", "servers")

#: Inside `lsp`: keys that are not servers, and the settings that they stand for.
INSIDE_LSP: dict[str, tuple[str, ...]] = {
    "timeout": ("timing", "requestTimeoutMs"),
    "diagnosticTimeout": ("timing", "diagnosticsWaitTimeoutMs"),
    "firstTouchTimeout": ("timing", "firstTouchTimeoutMs"),
    "maxDiagnosticsPerFile": ("diagnostics", "maxPerFile"),
    "maxProjectDiagnosticsFiles": ("diagnostics", "maxOtherFiles"),
    "navigationTools": ("navigationTools",),
}

#: Inside a server: alternative name and the setting that it stands for. The last one is used.
INSIDE_SERVER: tuple[tuple[str, str], ...] = (
    ("initOptions", "initialization"),
    ("initializationOptions", "initialization"),
    ("rootMarkers", "roots"),
    ("rootPatterns", "roots"),
    ("workspaceRootMarkers", "roots"),
)

#: Inside a server: extensions, as a list, or as an object with their language ids.
EXTENSIONS = ("fileTypes", "fileExtensions", "extensionToLanguage")

#: Inside a server: keys that stand for settings in its `timing`.
TIMES: dict[str, str] = {
    "startupTimeout": "initializeTimeoutMs",
    "requestTimeoutMs": "requestTimeoutMs",
}

#: Inside a server, in the files of other tools: keys that lspkit ignores without a warning.
#: Restarts are configured in `restart`, and a server's name is its id.
PASSED_OVER = frozenset(
    {"name", "restartOnCrash", "maxRestarts", "shutdownTimeout", "loggingConfig"}
)

#: Servers in one file. Each of them is processed several times.
MOST_SERVERS = 1000

#: Keys inside `lsp` that are not servers.
RESERVED = frozenset(("servers", "enabled", *INSIDE_LSP))

#: What is valid for `lsp`.
SERVERS = "true, false, or an object with a key for each server"
#: What is valid for the entry of a server.
AN_ENTRY = "an object with the settings of a server"


class Style(msgspec.Struct, frozen=True):
    """How a kind of file is structured."""

    #: The keys that lead to the configuration in it.
    top: tuple[str, ...] = ()
    #: Whether unknown top-level keys are servers.
    bare: bool = False
    #: Whether it belongs to another tool, whose other keys are ignored.
    foreign: bool = False
    #: Whether it is a value of the calling program, not a file.
    own: bool = False


#: A further check of the values before they are read. It notes faults.
Closer = Callable[[Object], None]


def normalize(
    value: Any, findings: Problems, style: Style, closer: Closer | None = None
) -> dict[str, Any]:
    """The normalised values.

    Check `findings.faults` before using them: values with a fault are left out.
    """
    given = open_object(
        to_json_values(value, style.top, findings, own=style.own), style.top, findings
    )
    if given is None:
        return {}
    if closer is not None:
        closer(given)
    return _Reading(findings, style).whole(given)


class _Reading:
    def __init__(self, findings: Problems, style: Style) -> None:
        self._findings = findings
        self._style = style

    def whole(self, given: Object) -> dict[str, Any]:
        given.take("$schema")
        enabled = given.read("enabled", bool) is not False
        bare = self._style.bare
        servers: dict[str, Any] = {}
        for name in SERVER_TABLES:
            if (taken := given.take(name)) is not None:
                bare = False
                servers = merge_values(servers, self._servers(*taken))
        values: dict[str, Any] = {}
        if (taken := given.take("lsp")) is not None:
            bare = False
            inner, values = self._lsp(*taken)
            enabled = enabled and inner is not False
            servers = merge_values(servers, inner or {})
        values = merge_values(values, given.fields(model.Config, leave_out=("lsp",)))
        if bare:
            servers = self._servers(given.rest(dict), given.path)
        given.end([*members_of(model.Config), *SERVER_TABLES])
        if servers or not enabled:
            values["lsp"] = servers if enabled else False
        return sort_by_fields(model.Config, values)

    def _lsp(self, value: Any, path: Path) -> tuple[dict[str, Any] | bool, dict[str, Any]]:
        """The servers, or false; and the other settings inside `lsp`."""
        if isinstance(value, bool):
            return ({} if value else False), {}
        given = open_object(value, path, self._findings, SERVERS)
        if given is None:
            return {}, {}
        elsewhere: dict[str, Any] = {}
        for name, (*above, last) in INSIDE_LSP.items():
            if (read := given.read(name, _type_at((*above, last)))) is not REFUSED:
                target = elsewhere
                for step in above:
                    target = target.setdefault(step, {})
                target[last] = read
        enabled = given.read("enabled", bool) is not False
        inner = given.take("servers")
        servers = {} if inner is None else self._servers(*inner)
        servers = merge_values(servers, self._servers(given.rest(), path))
        return (servers if enabled else False), elsewhere

    def _servers(self, value: Any, path: Path) -> dict[str, Any]:
        given = open_object(value, path, self._findings, "an object with a key for each server")
        entries = {} if given is None else given.rest()
        if len(entries) > MOST_SERVERS:
            self._findings.refuse(path, f"no more than {MOST_SERVERS} servers", str(len(entries)))
            return {}
        for name in sorted(entries.keys() & RESERVED):
            self._findings.warn((*path, name), "it is ignored: no server can have this name")
        return {
            name: normalize_server(
                entry, (*path, name), self._findings, foreign=self._style.foreign
            )
            for name, entry in entries.items()
            if name not in RESERVED
        }


def _type_at(target: tuple[str, ...]) -> Any:
    kind: Any = model.Config
    for step in target:
        kind = members_of(kind)[step]
    return kind


# One server


def normalize_server(
    value: Any, path: Path, findings: Problems, *, foreign: bool
) -> dict[str, Any]:
    """The normalised entry of a server; `foreign` if its file belongs to another tool."""
    given = open_object(value, path, findings, AN_ENTRY)
    if given is None:
        return {}
    others = {**_read_aliases(given), **_read_extensions(given)}
    command, disabled = _read_command(given), _read_disabled(given)
    _check_transport(given)
    own = given.fields(model.ServerConfig, leave_out=("command", "disabled"))
    entry: dict[str, Any] = merge_values(others, own)
    if command is not None:
        entry["command"] = command
    if disabled is not None:
        entry["disabled"] = disabled
    given.end(members_of(model.ServerConfig), PASSED_OVER if foreign else ())
    return sort_by_fields(model.ServerConfig, entry)


def _read_aliases(given: Object) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, stands_for in INSIDE_SERVER:
        if (value := given.read(name, members_of(model.ServerConfig)[stands_for])) is not REFUSED:
            settings[stands_for] = value
    times: dict[str, Any] = {}
    for name, stands_for in TIMES.items():
        if (
            value := given.read(name, members_of(model.ServerTimingConfig)[stands_for])
        ) is not REFUSED:
            times[stands_for] = value
    return {**settings, "timing": times} if times else settings


def _read_command(given: Object) -> list[str] | None:
    """A list of words, or one word with `args` beside it."""
    taken, args = given.take("command"), given.take("args")
    if taken is None or taken[0] is None:
        if args is not None:
            given.findings.warn(args[1], "it is ignored: there is no command")
        return None
    single = isinstance(taken[0], str)
    words = given.check(taken, model.Word if single else model.Command)
    more = [] if args is None else given.check(args, list[model.Word])
    if words is REFUSED or more is REFUSED:
        return None
    return [*([words] if single else words), *more]


def _read_disabled(given: Object) -> bool | None:
    """None if not set. If `disabled` and `enabled` contradict, the server is disabled."""
    disabled = given.read("disabled", bool | None)
    enabled = given.read("enabled", bool | None)
    if disabled is REFUSED and enabled is REFUSED:
        return None
    return disabled is True or enabled is False


def _read_extensions(given: Object) -> dict[str, Any]:
    """Extensions under the names of other tools; an object also gives the language ids."""
    extensions: dict[str, None] = {}
    languages: dict[str, str] = {}
    for name in EXTENSIONS:
        if (taken := given.take(name)) is None:
            continue
        kind = dict[model.Extension, str] if isinstance(taken[0], dict) else list[model.Extension]
        value = given.check(taken, kind)
        if value is not REFUSED:
            extensions |= dict.fromkeys(value)
            languages |= value if isinstance(value, dict) else {}
    language = given.read("languageId", str)
    if language is not REFUSED:
        languages = dict.fromkeys([*extensions, *_own_extensions(given)], language) | languages
    settings: dict[str, Any] = {}
    if extensions:
        settings["extensions"] = sorted(extensions)
    return {**settings, "languageIds": languages} if languages else settings


def _own_extensions(given: Object) -> list[str]:
    own = given.peek("extensions")
    return (
        [extension for extension in own if isinstance(extension, str)]
        if isinstance(own, list)
        else []
    )


def _check_transport(given: Object) -> None:
    taken = given.take("transport")
    if taken is not None and taken[0] != "stdio":
        given.findings.warn(taken[1], "it is ignored: only stdio is supported")
