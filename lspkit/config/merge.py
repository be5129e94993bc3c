"""Merging of the layers of a configuration: built-in, global, project.

Objects are merged by key to any depth; any other later value replaces the earlier one. A later
layer cannot revert `lsp: false`, nor `disabled: true` of a server. Pure: the arguments are not
changed, and the result shares nothing with them.

Merging is associative, unlike a naive merge: an object that replaces a number must also replace
the value before the number, even if these two are merged first. `_Whole` marks such an object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from lspkit.config.problems import Path, place_of
from lspkit.types import Value

#: Source of a value; `given` is a configuration that a program passes instead of files.
LayerName = Literal["built-in", "global", "project", "given"]


class Origin(Value, frozen=True):
    """The source of a setting."""

    layer: LayerName
    #: None for built-in values, and for a mapping that was passed in.
    file: str | None = None

    def __str__(self) -> str:
        return f"{self.layer} {self.file}" if self.file is not None else self.layer


class Layer(msgspec.Struct, frozen=True):
    """The content of one file, normalised by `normalize.py`."""

    origin: Origin
    values: dict[str, Any]


class _Whole(dict[str, Any]):
    """An object that has replaced another kind of value, and replaces every earlier value."""


def merge_values(earlier: Any, later: Any) -> Any:
    """`later` merged over `earlier`."""
    if not isinstance(later, dict):
        return _copy(later)
    if isinstance(later, _Whole) or not isinstance(earlier, dict):
        return _Whole(_copy(later))
    made = _Whole(_copy(earlier)) if isinstance(earlier, _Whole) else _copy(earlier)
    for key, value in later.items():
        made[key] = merge_values(made[key], value) if key in made else _copy(value)
    return made


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value)({key: _copy(member) for key, member in value.items()})
    return [_copy(item) for item in value] if isinstance(value, list) else value


def expand_dotted_keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a server with `{"a.b": 1}` expanded to `{"a": {"b": 1}}`, as in editors.

    Only at the top level: in deeper keys a dot may belong to a file name or an address.
    """
    made: dict[str, Any] = {}
    for name, value in settings.items():
        parts = name.split(".")
        for part in reversed(parts if all(parts) else [name]):
            value = {part: value}
        made = merge_values(made, value)
    return made


def merge_layers(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two normalised configurations."""
    made: dict[str, Any] = merge_values(dict(earlier), dict(later))
    if earlier.get("lsp") is False or later.get("lsp") is False:
        made["lsp"] = False
    for id, server in servers_in(made).items():
        if any(servers_in(layer).get(id, {}).get("disabled") is True for layer in (earlier, later)):
            server["disabled"] = True
    return made


def servers_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of each server; empty if servers are disabled or none is configured."""
    servers = values.get("lsp")
    return servers if isinstance(servers, dict) else {}


def sort_servers(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the servers sorted by name: their order in a file has no effect."""
    servers = values.get("lsp")
    made = dict(values)
    if isinstance(servers, dict):
        made["lsp"] = dict(sorted(servers.items()))
    return made


def origins_of(layers: Sequence[Layer], values: Mapping[str, Any]) -> dict[str, Origin]:
    """The source of every value in the result, by place."""
    return {place_of(path): _origin(path, value, layers) for path, value in leaves(values)}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of a configuration. A list is one value, since it is replaced as a whole."""
    if isinstance(value, dict) and (value or not path):
        for key, member in value.items():
            yield from leaves(member, (*path, key))
    else:
        yield path, value


def _origin(path: Path, value: Any, layers: Sequence[Layer]) -> Origin:
    """The last layer with the value; of settings that cannot be reverted, one that set them."""
    holds = [layer for layer in layers if _value_at(layer.values, path) is not msgspec.UNSET]
    stuck = path == ("lsp",) or (len(path) == 3 and path[0] == "lsp" and path[2] == "disabled")
    same = [layer for layer in holds if _value_at(layer.values, path) == value] if stuck else []
    return (same or holds)[-1].origin


def _value_at(value: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return msgspec.UNSET
        value = value[step]
    return value
