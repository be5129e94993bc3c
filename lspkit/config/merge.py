"""Several layers of configuration made one: built-in, global, project.

Objects merge by key to any depth; whatever else stands later replaces what stood earlier. Two
things cannot be taken back: `lsp: false`, and `disabled: true` of a server. Pure: what is passed in
is left as it was, and nothing of the result is shared with it.

Merging is associative, which a naive merge is not: an object that replaces a number must go on to
replace what stood before the number, also when those two are merged first. `_Whole` remembers that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from lspkit.config.problems import Path, place_of
from lspkit.types import Value

#: Where a value comes from; `given` is what a program has passed in place of all files.
LayerName = Literal["built-in", "global", "project", "given"]


class Origin(Value, frozen=True):
    """Who has said something."""

    layer: LayerName
    #: None for what is built in, and for a mapping that was passed in.
    file: str | None = None

    def __str__(self) -> str:
        return f"{self.layer} {self.file}" if self.file is not None else self.layer


class Layer(msgspec.Struct, frozen=True):
    """What one file says, in the one form of `normalize.py`."""

    origin: Origin
    values: dict[str, Any]


class _Whole(dict[str, Any]):
    """An object that has replaced something that is none, and does so with whatever it meets."""


def merge_values(earlier: Any, later: Any) -> Any:
    """`later` laid over `earlier`."""
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
        return type(value)({key: _copy(one) for key, one in value.items()})
    return [_copy(one) for one in value] if isinstance(value, list) else value


def expand_dotted_keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a server, where `{"a.b": 1}` stands for `{"a": {"b": 1}}`, as in editors.

    Only in the outermost names: further in, a dot may be part of the name of a file or an address.
    """
    made: dict[str, Any] = {}
    for name, value in settings.items():
        parts = name.split(".")
        for part in reversed(parts if all(parts) else [name]):
            value = {part: value}
        made = merge_values(made, value)
    return made


def merge_layers(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Two configurations in the one form made one."""
    made: dict[str, Any] = merge_values(dict(earlier), dict(later))
    if earlier.get("lsp") is False or later.get("lsp") is False:
        made["lsp"] = False
    for id, said in servers_in(made).items():
        if any(servers_in(one).get(id, {}).get("disabled") is True for one in (earlier, later)):
            said["disabled"] = True
    return made


def servers_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is said about each server; nothing where all of them are off, or none is named."""
    servers = values.get("lsp")
    return servers if isinstance(servers, dict) else {}


def sort_servers(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with its servers by name: their order in a file must decide nothing."""
    servers = values.get("lsp")
    made = dict(values)
    if isinstance(servers, dict):
        made["lsp"] = dict(sorted(servers.items()))
    return made


def origins_of(layers: Sequence[Layer], values: Mapping[str, Any]) -> dict[str, Origin]:
    """For every value in the result, by its place: which layer it is from."""
    return {place_of(path): _origin(path, value, layers) for path, value in leaves(values)}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of a configuration. A list is one value, since it is replaced as one."""
    if isinstance(value, dict) and (value or not path):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    else:
        yield path, value


def _origin(path: Path, value: Any, layers: Sequence[Layer]) -> Origin:
    """The last layer that has said it; of what cannot be taken back, one that said so."""
    holds = [layer for layer in layers if _at(layer.values, path) is not msgspec.UNSET]
    stuck = path == ("lsp",) or (len(path) == 3 and path[0] == "lsp" and path[2] == "disabled")
    same = [layer for layer in holds if _at(layer.values, path) == value] if stuck else []
    return (same or holds)[-1].origin


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return msgspec.UNSET
        value = value[step]
    return value
