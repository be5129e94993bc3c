"""Which settings of a project name or influence a program that will run, or its proofs. Pure.

A project's layer is split into settings that always apply, and blocked settings, which apply only
in a trusted project. Blocked are a server's `command`, `args`, `env`, `watch` and `proof`, and in
its `initialization` and `settings` the `EXECUTION_KEYS`; for a server that runs without trust all
keys except the `HARMLESS_KEYS`, and for an unknown server all keys. A key is found at any depth,
written with dots or as nested objects, ignoring case, `_` and `-`.

`decision.py` decides whether a project is trusted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lspkit.config.problems import Path, place_of
from lspkit.config.trust.setting_keys import EXECUTION_KEYS, HARMLESS_KEYS

__all__ = ["EXECUTION_KEYS", "Blocked", "blocked_content", "digest", "remove_blocked"]

#: Fields of a server that are blocked as a whole.
BLOCKED_FIELDS = frozenset({"command", "args", "env", "proof", "watch"})
#: Fields of a server whose keys are checked.
SEARCHED_FIELDS = frozenset({"initialization", "initializationoptions", "settings"})
#: Values that are nested deeper are blocked. No server has such settings.
MAX_DEPTH = 64

_NOTHING: Any = object()
_KeysOf = Mapping[str, tuple[str, ...]]


class Blocked(msgspec.Struct, frozen=True):
    """A setting that applies only in a trusted project."""

    #: Its place: `lsp.pyright.settings.python.pythonPath`.
    field: str


def remove_blocked(
    project: Mapping[str, Any], execution_keys: _KeysOf, harmless_keys: _KeysOf = HARMLESS_KEYS
) -> tuple[dict[str, Any], list[Blocked]]:
    """A project's layer without the blocked settings, and the list of these.

    >>> remove_blocked({"lsp": {"x": {"command": ["run-me"], "extensions": [".x"]}}}, {})
    ({'lsp': {'x': {'extensions': ['.x']}}}, [Blocked(field='lsp.x.command')])
    """
    kept, _, blocked = _split(project, execution_keys, harmless_keys)
    return kept, blocked


def blocked_content(
    project: Mapping[str, Any], execution_keys: _KeysOf, harmless_keys: _KeysOf = HARMLESS_KEYS
) -> dict[str, Any]:
    """Only the blocked settings, in the same structure."""
    return _split(project, execution_keys, harmless_keys)[1]


def digest(
    project: Mapping[str, Any], execution_keys: _KeysOf, harmless_keys: _KeysOf = HARMLESS_KEYS
) -> str:
    """A SHA-256 of the blocked settings, independent of the order and layout of the file."""
    content = blocked_content(project, execution_keys, harmless_keys)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=_as_text)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _as_text(value: object) -> str:
    """Dates and times of TOML as text."""
    return f"{type(value).__name__} {value}"


def _split(
    project: Mapping[str, Any], execution_keys: _KeysOf, harmless_keys: _KeysOf
) -> tuple[dict[str, Any], dict[str, Any], list[Blocked]]:
    kept, out, blocked = dict(project), dict[str, Any](), list[Blocked]()
    permissions = project.get("permissions")
    if isinstance(permissions, Mapping):
        # A project may deny a tool; it cannot allow one that the user denies.
        freed = {
            tool: permission for tool, permission in permissions.items() if permission != "deny"
        }
        blocked += [Blocked(place_of(("permissions", tool))) for tool in freed]
        kept["permissions"] = {tool: permissions[tool] for tool in permissions if tool not in freed}
        out |= {"permissions": freed} if freed else {}
    servers = project.get("lsp")
    if not isinstance(servers, Mapping):
        return kept, out, blocked
    every = {key for keys in execution_keys.values() for key in keys}
    kept["lsp"], taken = {}, {}
    for id, entry in servers.items():
        # An unknown id may be an alias of a known server, or run its program.
        harmless = harmless_keys.get(id) if id in execution_keys else ()
        parting = _ServerSplitter(execution_keys.get(id, every), harmless, blocked)
        mine, theirs = parting.server(entry, ("lsp", id))
        kept["lsp"][id] = mine
        if theirs:
            taken[id] = theirs
    return kept, out | ({"lsp": taken} if taken else {}), blocked


def _segments(key: str) -> tuple[str, ...]:
    return tuple(key.casefold().replace("_", "").replace("-", "").split("."))


class _ServerSplitter:
    """Splits the fields of one server, and notes the places of blocked settings."""

    def __init__(
        self, keys: Iterable[str], harmless: Iterable[str] | None, blocked: list[Blocked]
    ) -> None:
        self._keys = _KeyTable(keys)
        #: None: every key that is not in `keys`.
        self._harmless = None if harmless is None else _KeyTable(harmless)
        self._blocked = blocked

    def server(self, entry: Any, place: Path) -> tuple[Any, dict[str, Any]]:
        if not isinstance(entry, Mapping):
            return entry, {}
        kept, taken = dict[str, Any](), dict[str, Any]()
        for name, value in entry.items():
            folded = ".".join(_segments(name))
            mine, theirs = value, _NOTHING
            # An empty `env`, as in a template, needs no warning.
            if folded in BLOCKED_FIELDS and value is not None and value != {}:
                mine, theirs = self._block(value, (*place, name))
            elif folded in SEARCHED_FIELDS:
                mine, theirs = self._part(value, (), (*place, name))
            _put(kept, name, mine)
            _put(taken, name, theirs)
        return kept, taken

    def _block(self, value: Any, place: Path) -> tuple[Any, Any]:
        self._blocked.append(Blocked(place_of(place)))
        return _NOTHING, value

    def _part(self, value: Any, above: tuple[str, ...], place: Path) -> tuple[Any, Any]:
        """The part of a value that is kept, and the blocked part; either may be `_NOTHING`."""
        if len(place) > MAX_DEPTH and isinstance(value, Mapping | list | tuple):
            return self._block(value, place)
        if not isinstance(value, Mapping):
            return (value, _NOTHING) if self._passes(value, above) else self._block(value, place)
        kept, taken = dict[str, Any](), dict[str, Any]()
        for name, inner in value.items():
            path = (*above, *_segments(name))
            if self._keys.has(path):
                mine, theirs = self._block(inner, (*place, name))
            else:
                mine, theirs = self._part(inner, path, (*place, name))
            _put(kept, name, mine)
            _put(taken, name, theirs)
        return (_NOTHING if taken and not kept else kept), taken or _NOTHING

    def _passes(self, value: Any, path: tuple[str, ...]) -> bool:
        """Whether a value that is not an object may be kept. A list is kept or blocked whole."""
        if self._harmless is not None and not self._harmless.has(path):
            return False
        return not any(self._leads(item, path, 1) for item in _list_items(value))

    def _leads(self, value: Any, path: tuple[str, ...], depth: int) -> bool:
        """Whether a value inside a list contains one of the keys."""
        if depth > MAX_DEPTH:
            return True
        if isinstance(value, Mapping):
            return any(
                self._keys.has(inner := (*path, *_segments(name)))
                or self._leads(member, inner, depth + 1)
                for name, member in value.items()
            )
        return any(self._leads(item, path, depth + 1) for item in _list_items(value))


class _KeyTable:
    """Dotted keys, to be found anywhere in a path."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = frozenset(map(_segments, keys))
        self._lengths = {len(key) for key in self._keys}

    def has(self, path: tuple[str, ...]) -> bool:
        return any(
            path[start : start + length] in self._keys
            for length in self._lengths
            for start in range(len(path) - length + 1)
        )


def _list_items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else ()


def _put(into: dict[str, Any], name: str, value: Any) -> None:
    if value is not _NOTHING:
        into[name] = value
