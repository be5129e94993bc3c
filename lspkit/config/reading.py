"""From what a caller passes to a `Config`, or a `ConfigError` that names the place."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from lspkit.config.model import Config, ServerConfig
from lspkit.errors import ConfigError

T = TypeVar("T")


def read_config(given: Config | Mapping[str, Any] | str | os.PathLike[str] | None) -> Config:
    """A `Config` as it is; a mapping, or the JSON file at a path, checked; None: the defaults."""
    if given is None:
        return Config()
    if isinstance(given, Config):
        return given
    if isinstance(given, Mapping):
        return _checked(dict(given), None)
    return _checked(_load(os.fspath(given)), os.fspath(given))


def _load(file: str) -> Any:
    try:
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)
    except OSError as problem:
        raise ConfigError(f"{file} cannot be read: {problem.strerror}", file=file) from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file} is not valid JSON: {problem}", file=file) from None


def _checked(values: Any, file: str | None) -> Config:
    servers = values.get("lsp") if isinstance(values, dict) else None
    if isinstance(servers, dict):
        # One by one: msgspec does not say under which key it found a mistake.
        read = {id: _convert(one, ServerConfig, file, f"lsp.{id}") for id, one in servers.items()}
        values = {**values, "lsp": {}}
        config = msgspec.structs.replace(_convert(values, Config, file, ""), lsp=read)
    else:
        config = _convert(values, Config, file, "")
    _check_servers(config, file)
    return config


def _convert(values: Any, kind: type[T], file: str | None, above: str) -> T:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as problem:
        expected, _, place = str(problem).partition(" - at `$")
        place = f"{above}{place.rstrip('`')}".lstrip(".")
        where = f"{file or 'config'}{': ' + place if place else ''}"
        raise ConfigError(
            f"{where}: {expected}", file=file, place=place, expected=expected
        ) from None


def _check_servers(config: Config, file: str | None) -> None:
    for id, server in config.lsp.items() if isinstance(config.lsp, dict) else ():
        command = server.command
        if command is not None and (not command or not all(w and "\0" not in w for w in command)):
            _refuse(file, f"lsp.{id}.command", "a list of words, none of them empty")
        for extension in server.extensions or ():
            if not extension.startswith("."):
                _refuse(file, f"lsp.{id}.extensions", "extensions that begin with a dot")


def _refuse(file: str | None, place: str, expected: str) -> None:
    where = f"{file or 'config'}: {place}"
    raise ConfigError(f"{where}: expected {expected}", file=file, place=place, expected=expected)
