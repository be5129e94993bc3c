"""Parses a configuration from a caller or a file into the normal form of `normalize.py`.

Faults raise one `ConfigError` that has all of them. Defaults are not filled in, except by
`read_config`, which makes a `Config` from a single source without layers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from lspkit.config.config_files import Source, kind_of_file, read_source
from lspkit.config.merge import sort_servers
from lspkit.config.model import Config, ServerConfig
from lspkit.config.normalize import Closer, Style, normalize
from lspkit.config.problems import ConfigWarning, Problems
from lspkit.errors import ConfigError
from lspkit.msgspec_types import convert

#: What a caller may pass instead of files.
Given = Config | Mapping[str, Any] | str | os.PathLike[str]

#: All settings with their defaults.
BUILT_IN_VALUES: dict[str, Any] = msgspec.to_builtins(Config())


class ParsedConfig(msgspec.Struct, frozen=True):
    """The normalised content of one file or mapping."""

    values: dict[str, Any] = {}
    warnings: tuple[ConfigWarning, ...] = ()
    source: Source | None = None


def read_config(given: Given | None) -> Config:
    """The `Config` of a mapping or of the JSON file at a path; None: the defaults."""
    if given is None:
        return Config()
    return given if isinstance(given, Config) else config_of(read_given(given).values)


def config_of(values: Mapping[str, Any]) -> Config:
    """The `Config` with these values, and defaults for the rest."""
    return convert(sort_servers(values), Config)


def read_given(given: Given, closer: Closer | None = None) -> ParsedConfig:
    """Parse what a caller passed in. `closer` is a further check."""
    if isinstance(given, Config):
        return ParsedConfig(_non_default_values(given))
    if isinstance(given, Mapping):
        findings = Problems()
        return _finish(normalize(given, findings, Style(own=True), closer), findings)
    file = os.fspath(given)
    source = read_source(file, kind_of_file(file))
    if source is None and not os.path.lexists(file):
        raise ConfigError(f"{file} cannot be read: there is no such file", file=file)
    return parse_source(source, closer)


def parse_source(source: Source | None, closer: Closer | None = None) -> ParsedConfig:
    """Parse a file. None stands for a missing file, which has no settings."""
    if source is None:
        return ParsedConfig()
    findings = source.problems()
    return _finish(normalize(source.value, findings, source.kind.style, closer), findings, source)


def _finish(
    values: dict[str, Any], findings: Problems, source: Source | None = None
) -> ParsedConfig:
    findings.raise_faults()
    return ParsedConfig(values, tuple(findings.warnings), source)


def _non_default_values(config: Config) -> dict[str, Any]:
    """The values that differ from the defaults, in the normal form."""
    values = msgspec.to_builtins(config)
    servers = values.pop("lsp")
    differences = _difference(values, BUILT_IN_VALUES)
    if isinstance(servers, dict):
        usual = msgspec.to_builtins(ServerConfig())
        differences["lsp"] = {id: _difference(server, usual) for id, server in servers.items()}
    elif not servers:
        differences["lsp"] = False
    return differences


def _difference(values: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and isinstance(usual[name], dict) and usual[name]:
            value = _difference(value, usual[name])
            if value:
                made[name] = value
        elif value != usual[name]:
            made[name] = value
    return made
