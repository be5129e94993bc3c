"""From a workspace's root to its configuration: find, read, check, gate, merge.

The user's own file must be valid, or nothing starts. Faults in a project's file become warnings, as
does every setting that is not applied. `project_file.py` decides which settings of a project apply,
`merge.py` merges the layers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.config import merge, parse
from lspkit.config.config_files import global_file, kind_of_file, read_source, user_home
from lspkit.config.model import Config, SecurityConfig
from lspkit.config.normalize import Closer
from lspkit.config.object_reader import Object
from lspkit.config.problems import ConfigWarning, Path, Problems, place_of, suggestion_for
from lspkit.config.project_file import Project, expand_variables, held_back, read_project
from lspkit.config.trust.decision import TrustDecision, home_of, trust_of
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.config.trust.key_gate import EXECUTION_KEYS, remove_blocked
from lspkit.config.trust.root_pattern import compile_pattern
from lspkit.errors import ConfigError
from lspkit.msgspec_types import convert
from lspkit.protocol.globs import pattern_mistake
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import is_inside, leads_through, own_home, work_tree


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration and its sources."""

    config: Config
    #: The configuration as plain values, including defaults.
    values: dict[str, Any]
    #: The merged layers, in this order.
    layers: tuple[merge.Layer, ...]
    #: The user's file, also if it does not exist; None if a configuration was passed in.
    global_file: str | None = None
    #: The project's file, also if it could not be used; None if there is none.
    used: str | None = None
    #: The project's other configuration files, which are not used.
    passed_over: tuple[str, ...] = ()
    #: The whole content of the project's file, including blocked settings.
    project: dict[str, Any] = {}
    #: Whether the whole file of the project is ignored.
    ignored: bool = False
    #: The places of blocked settings.
    held_back: tuple[str, ...] = ()
    #: Whether the project is trusted, and why.
    standing: TrustDecision
    warnings: tuple[ConfigWarning, ...] = ()
    #: The source of each setting, by place.
    origins: dict[str, merge.Origin]
    #: The variables of the user, for servers as well.
    environ: Mapping[str, str] = os.environ

    @property
    def vouched(self) -> frozenset[str]:
        """Ids of the servers whose command may run in any project.

        These are the commands from the user or the embedding program; commands from a project only
        if the user's policy allows them for every project.
        """
        believed = {"global", "given"} | (
            {"project"} if self.standing.policy == "always" else set()
        )
        tables = [
            merge.servers_in(layer.values)
            for layer in self.layers
            if layer.origin.layer in believed
        ]
        return frozenset(
            id for servers in tables for id, entry in servers.items() if "command" in entry
        )

    @property
    def warning_lines(self) -> tuple[str, ...]:
        """The warnings, without settings that need trust: there is one line about all of them."""
        warnings = [warning for warning in self.warnings if warning.place not in self.held_back]
        return tuple(one_line(str(warning)) for warning in warnings)

    def source(self, id: str, *, built_in: bool) -> str:
        """Where a server is configured: `built-in`, `global`, `project`, `given`, or `merged`."""
        speakers = ["built-in"] if built_in else []
        speakers += [
            layer.origin.layer for layer in self.layers if id in merge.servers_in(layer.values)
        ]
        return speakers[0] if len(speakers) == 1 else "merged"


def load(
    root: str,
    given: parse.Given | None = None,
    *,
    trusted: bool | None = None,
    environ: Mapping[str, str] = os.environ,
    home: str | None = None,
    aliases: Mapping[str, str] | None = None,
    standing: TrustDecision | None = None,
) -> Loaded:
    """The configuration of a workspace; `ConfigError` if the user's file or `given` is invalid.

    `given` replaces all files. `aliases` maps other names of built-in servers to their ids: a
    server may be configured under any of them. `standing` is a trust decision known already.
    """
    root = os.path.abspath(root)
    origin, settings, project = _read_sources(root, given, environ, home)
    own = merge.Layer(
        origin,
        use_server_ids(expand_variables(settings.values, settings.source, environ), aliases),
    )
    if standing is None:
        # For the values as written: new aliases must not change what was trusted.
        standing = _decide_trust(project, root, settings, environ, trusted)
    layers = [merge.Layer(merge.Origin("built-in"), parse.BUILT_IN_VALUES), own]
    ours = merge.merge_layers(parse.BUILT_IN_VALUES, own.values)
    theirs, blocked = _gate_project(
        project, use_server_ids(project.values, aliases), ours, standing, environ
    )
    if project.source is not None:
        layers.append(merge.Layer(merge.Origin("project", project.file), theirs))
    values = merge.sort_servers(
        functools.reduce(merge.merge_layers, [layer.values for layer in layers])
    )
    return Loaded(
        config=given if isinstance(given, Config) else parse.config_of(values),
        values=values,
        layers=tuple(layers),
        global_file=origin.file if given is None else None,
        used=project.file,
        passed_over=project.passed_over,
        project=project.values,
        ignored=project.file is not None and project.source is None,
        held_back=tuple(
            blocked_setting.place for blocked_setting in blocked if blocked_setting.place
        ),
        standing=standing,
        warnings=_all_warnings(settings, project, standing, blocked, own, aliases),
        origins=merge.origins_of(layers, values),
        environ=environ,
    )


def _read_sources(
    root: str, given: parse.Given | None, environ: Mapping[str, str], home: str | None
) -> tuple[merge.Origin, parse.ParsedConfig, Project]:
    """The settings of the user or of the embedding program, their origin, and the project's."""
    closer = functools.partial(check_security, environ=environ)
    if given is not None:
        settings = parse.read_given(given, closer)
        named = None if settings.source is None else settings.source.file
        return merge.Origin("given", named), settings, Project()
    file = global_file(environ, home or user_home(environ))
    settings = _read_global(file, root, environ, closer)
    return merge.Origin("global", file), settings, read_project(root)


def _read_global(
    file: str, root: str, environ: Mapping[str, str], closer: Closer
) -> parse.ParsedConfig:
    if not os.path.lexists(file):
        missing = ConfigWarning("LSPKIT_CONFIG names this file, which does not exist", file)
        return parse.ParsedConfig(warnings=(missing,) if environ.get("LSPKIT_CONFIG") else ())
    around = work_tree(os.path.realpath(root))
    if not is_inside(own_home(), around) and leads_through(file, around):
        return parse.ParsedConfig(
            warnings=(ConfigWarning("it is not used: it is in the project", file),)
        )
    try:
        why = who_else_can_change(file, environ)
    except OSError:
        why = ""  # the error is raised when the file is read
    if why:
        message = f"{one_line(file)} is not used: {one_line(why)}"
        raise ConfigError(message, file=file, expected="a file that only you can change")
    return parse.parse_source(read_source(file, kind_of_file(file)), closer)


def _decide_trust(
    project: Project,
    root: str,
    settings: parse.ParsedConfig,
    environ: Mapping[str, str],
    trusted: bool | None,
) -> TrustDecision:
    """Whether the project is trusted, by the security settings of the user."""
    usual = parse.BUILT_IN_VALUES["security"]
    security = convert(
        merge.merge_values(usual, settings.values.get("security", {})), SecurityConfig
    )
    return trust_of(project.file, root, project.values, security, environ, trusted)


def _gate_project(
    project: Project,
    values: dict[str, Any],
    ours: dict[str, Any],
    standing: TrustDecision,
    environ: Mapping[str, str],
) -> tuple[dict[str, Any], tuple[ConfigWarning, ...]]:
    """The settings of a project's file that apply, and warnings about the others."""
    theirs, blocked = values, tuple[ConfigWarning, ...]()
    if values and not standing.allows_fields:
        theirs, blocked = held_back(values, ours, project.file, standing)
    return expand_variables(theirs, project.source, environ), blocked


def _all_warnings(
    settings: parse.ParsedConfig,
    project: Project,
    standing: TrustDecision,
    blocked: Sequence[ConfigWarning],
    own: merge.Layer,
    aliases: Mapping[str, str] | None,
) -> tuple[ConfigWarning, ...]:
    """The warnings about all sources, in the order in which they are shown."""
    theirs = merge.Layer(merge.Origin("project", project.file), project.values)
    return (
        *settings.warnings,
        *project.warnings,
        *([ConfigWarning(standing.warning)] if standing.warning else []),
        *_untrusted_warnings(project, standing),
        *blocked,
        *_unknown_server_warnings([own, theirs], aliases),
    )


def _untrusted_warnings(project: Project, standing: TrustDecision) -> list[ConfigWarning]:
    """Warnings about programs of an untrusted project that run because of the user's policy."""
    if standing.state == "trusted" or not standing.allows_fields or not project.values:
        return []
    fields = [setting.field for setting in remove_blocked(project.values, EXECUTION_KEYS)[1]]
    rule = f"is applied: projectConfigPolicy is always, though the project is {standing.state}"
    return [ConfigWarning(f"it {rule}", project.file, place=place) for place in fields]


def use_server_ids(values: dict[str, Any], aliases: Mapping[str, str] | None) -> dict[str, Any]:
    """The values with every server under its id. Settings under the id itself take precedence."""
    servers = merge.servers_in(values)
    if not aliases or not any(name in aliases for name in servers):
        return values
    made: dict[str, Any] = {}
    for name in sorted(servers, key=lambda server_name: (server_name not in aliases, server_name)):
        id = aliases.get(name, name)
        made = merge.merge_layers({"lsp": made}, {"lsp": {id: servers[name]}})["lsp"]
    return {**values, "lsp": made}


def _unknown_server_warnings(
    layers: Sequence[merge.Layer], aliases: Mapping[str, str] | None
) -> list[ConfigWarning]:
    """Warnings about unknown servers without a command: their names are probably misspelt."""
    if aliases is None:
        return []
    entries = [
        (layer.origin.file, id, entry)
        for layer in layers
        for id, entry in merge.servers_in(layer.values).items()
    ]
    known = {*EXECUTION_KEYS, *aliases, *(id for _, id, entry in entries if "command" in entry)}
    message = "no server has this name, and there is no command to start one"
    return [
        ConfigWarning(
            f"{message}{suggestion_for(id, EXECUTION_KEYS)}", file, place=place_of(("lsp", id))
        )
        for file, id, entry in entries
        if id not in known and entry.get("disabled") is not True
    ]


# Further checks of the `security` section of the user's own configuration.
#
# An invalid pattern would silently exclude nothing, or trust nobody. So it is a fault, reported
# with all other faults of the file. A project's file is not checked: the section has no effect
# there.


def check_security(given: Object, environ: Mapping[str, str]) -> None:
    """Note a fault for each invalid pattern."""
    value = given.peek("security")
    if not isinstance(value, dict):
        return
    # Other faults of the section are noted when it is read.
    section = Object(value, (*given.path, "security"), Problems())
    for path, entry in _text_entries(section, "trustedProjectRoots"):
        if expected := _root_mistake(entry, environ):
            given.findings.refuse(path, expected)
    for path, pattern in _text_entries(section, "exclude"):
        if why := pattern_mistake(pattern):
            example = "a glob such as **/secret/**"
            given.findings.refuse(path, f"{example}; {pattern[:100]!r} is not valid: {why}")


def _text_entries(section: Object, name: str) -> Iterator[tuple[Path, str]]:
    entries, path = section.take(name) or (None, ())
    if isinstance(entries, list):
        for number, entry in enumerate(entries):
            if isinstance(entry, str):
                yield (*path, number), entry


def _root_mistake(entry: str, environ: Mapping[str, str]) -> str:
    """What is valid instead of the entry; empty if the entry is valid."""
    try:
        compile_pattern(entry, home=lambda name: home_of(name, environ))
    except ConfigError as problem:
        return problem.expected
    return ""
