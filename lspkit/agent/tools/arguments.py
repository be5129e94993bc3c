"""Converts a model's arguments to a request, or to a list of faults.

A model can correct itself if it learns the field, the value and what was expected, so all faults
are reported at once. Null, or an empty optional text, counts as absent. Nothing is guessed: a text
is not converted to a number.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from lspkit.agent.tools.result_data import shorten
from lspkit.agent.tools.tool_table import FIELDS, LARGEST, SINGLE, TABLE, Field, ToolSpec
from lspkit.config.problems import kind_of, suggestion_for
from lspkit.errors import LspkitError
from lspkit.limits import LONGEST_ARGUMENTS, LONGEST_OBJECT, MOST_ARGUMENTS
from lspkit.operations.hierarchy import ItemRequest
from lspkit.operations.request import Request
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.results import SYMBOL_KINDS, read_item
from lspkit.types import CallItem, Position, Range
from lspkit.visible_text import one_line

#: Characters of a value in a message.
LONGEST_VALUE = 60
#: The range of an item that a model passes back: it is not used.
_SOMEWHERE = Range(Position(1, 1), Position(1, 1))

#: Names that any tool accepts; the single tool is often called with more than it needs.
_KNOWN_ANYWHERE = {
    name for row in TABLE for field in row.fields.values() for name in (field.name, *field.aliases)
}


class BadInput(LspkitError):
    """A call with invalid arguments."""

    code = "EINVAL"
    #: One sentence for each fault.
    faults: tuple[str, ...] = ()


class ToolRequest(msgspec.Struct, frozen=True):
    """A call with valid arguments."""

    request: Request[Any]
    #: The given fields, by their names in requests.
    values: dict[str, Any]
    warnings: tuple[str, ...] = ()


def bad_input(*faults: str) -> BadInput:
    """The error with all of these faults."""
    return BadInput("; ".join(faults), faults=faults)


def mapping_of(arguments: object) -> dict[str, Any]:
    """The arguments of a call, which may be JSON text; None and an empty text mean none."""
    value: object = arguments
    if isinstance(value, str | bytes | bytearray) and len(value) > LONGEST_ARGUMENTS:
        raise bad_input(f"the arguments have more than {LONGEST_ARGUMENTS} characters")
    if isinstance(value, str | bytes | bytearray):
        try:
            value = json.loads(value) if value.strip() else None
        except (ValueError, RecursionError):
            raise bad_input("the arguments are not valid JSON: expected an object") from None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise bad_input(f"the arguments are {kind_of(value)}: expected an object")
    if len(value) > MOST_ARGUMENTS:
        raise bad_input(f"there are more than {MOST_ARGUMENTS} arguments")
    return {str(name): argument for name, argument in value.items()}


def read_arguments(row: ToolSpec, arguments: Mapping[str, Any], tool: str) -> ToolRequest:
    """The request, or a `BadInput` with all faults.

    `tool` is the name that was called. The single tool declares the fields of all operations, so
    those of other operations are ignored; the tool of one operation accepts no other fields.
    """
    values, wrong = _collect_fields(row, arguments)
    faults = list(wrong.values())
    warnings: list[str] = []
    taken = {name for field in row.fields.values() for name in (field.name, *field.aliases)}
    for name in arguments:
        if name in taken:
            continue
        if tool == SINGLE and name in _KNOWN_ANYWHERE:
            if arguments[name] is not None:
                warnings.append(f"{row.operation} does not use {name}")
        else:
            faults.append(_unknown_field(name, row, tool))
    if issubclass(row.request, ItemRequest) and values.get("item") is not None:
        extra = [name for name in values if name != "item"]
        warnings += [f"{FIELDS[name].name} is not used beside callHierarchyItem" for name in extra]
        item = _item(values["item"], faults)
        values = {"item": item}
    elif row.at_place:
        faults += _position_faults(values, wrong)
    if faults:
        raise bad_input(*faults)
    return ToolRequest(_request(row, values), values, tuple(warnings))


def _request(row: ToolSpec, values: dict[str, Any]) -> Request[Any]:
    kind = row.request
    if row.in_file is not None and "path" in values:
        kind = row.in_file
    if issubclass(kind, ItemRequest):
        # With a wrong position a model must get an error, not an empty list of calls.
        values = {**values, "needs_item": True}
    return kind(**{name: value for name, value in values.items() if name not in row.more})


def _collect_fields(
    row: ToolSpec, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The valid fields, and the faults of the others."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, field in row.fields.items():
        names = (field.name, *field.aliases)
        given = [alias for alias in names if arguments.get(alias) is not None]
        value = arguments[given[0]] if given else None
        if any(arguments[alias] != value for alias in given):
            wrong[name] = f"{' and '.join(given)} mean the same but differ: give one of them"
        elif value is None or (value == "" and name != "query"):
            if name in row.required:
                wrong[name] = f"{field.name} is missing: expected {field.expected}"
        elif isinstance(value, str) and len(value) > field.longest:
            wrong[name] = f"{given[0]} is too long: expected at most {field.longest} characters"
        elif (fits := _convert(field, value)) is None:
            wrong[name] = f"{given[0]} is {_display_value(value)}: expected {field.expected}"
        else:
            values[name] = fits
    return values, wrong


def _convert(field: Field, value: Any) -> Any:
    """The value if it has the field's type, else None."""
    match field.type:
        case "string":
            return value if isinstance(value, str) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer":
            # JSON has one kind of number: 3.0 is 3.
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            return int(value) if value == value // 1 and 1 <= value <= LARGEST else None
        case _:
            return value if isinstance(value, Mapping | str) else None


def _display_value(value: object) -> str:
    """A value for a message."""
    if not isinstance(value, str | int | float):
        return kind_of(value)
    try:
        text = one_line(json.dumps(value, ensure_ascii=False))
    except ValueError:
        return "a number that is far too large"
    return shorten(text, LONGEST_VALUE)


def _unknown_field(name: str, row: ToolSpec, tool: str) -> str:
    takes = [field.name for field in row.fields.values()]
    shown = shorten(one_line(name), LONGEST_VALUE)
    expected = f"{row.called_as(tool)} takes {', '.join(takes)}"
    return f"{shown} is unknown; {expected}{suggestion_for(name, takes)}"


def _position_faults(values: dict[str, Any], wrong: Container[str]) -> list[str]:
    """What is missing in a position. Invalid fields have been reported already."""
    if any(name in wrong for name in ("item", "line", "column", "symbol")):
        return []
    if "path" not in values and "path" not in wrong:
        return ["callHierarchyItem or filePath is missing: expected one of them"]
    given = {name for name in ("line", "column", "symbol") if name in values}
    if given in ({"line", "column"}, {"symbol"}, {"line", "symbol"}):
        return []
    ways = "line and character, or symbol, or line and symbol"
    if not given:
        return [f"the position is missing: expected {ways}"]
    if "symbol" in given:
        return [f"character and symbol exclude each other: expected {ways}"]
    missing = "character" if given == {"line"} else "line"
    return [f"{missing} is missing: expected {ways}"]


# Items of a call hierarchy


def _item(value: Any, faults: list[str]) -> CallItem | None:
    """An item of an earlier answer, or an item of the protocol."""
    if isinstance(value, str):
        # Models sometimes write nested objects as text.
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, Mapping):
        faults.append(f"callHierarchyItem is {kind_of(value)}: expected {FIELDS['item'].expected}")
        return None
    raw = value.get("raw")
    made = _protocol_item(value) if raw is None else _own_item(raw)
    if isinstance(made, str):
        faults.append(made)
        return None
    return made


def _own_item(raw: Any) -> CallItem | str:
    """An item of an earlier answer: only its raw part is used, and sent to its server."""
    if isinstance(raw, Mapping):
        server, via, own = raw.get("serverId"), raw.get("via"), raw.get("item")
        if isinstance(server, str) and server and isinstance(via, str) and via:
            return _build_item(own, server, via, "callHierarchyItem.raw.item")
    return "callHierarchyItem.raw was changed: expected serverId, via and item unchanged"


def _protocol_item(value: Mapping[str, Any]) -> CallItem | str:
    """An item of the protocol, for any server of its file."""
    uri = value.get("uri")
    path = uri_to_path(uri) if isinstance(uri, str) else None
    if path is None:
        return (
            "callHierarchyItem has neither raw nor the uri of a file: expected "
            + FIELDS["item"].expected
        )
    return _build_item(value, "", path, "callHierarchyItem")


def _build_item(own: Any, server: str, via: str, place: str) -> CallItem | str:
    wrong = f"{place} is not a valid item: expected name, kind, uri, range, selectionRange"
    try:
        # Escaped, so that lone surrogates are sent to the server unchanged.
        text = json.dumps(own, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return wrong
    if len(text) > LONGEST_OBJECT:
        return f"{place} is too long: expected at most {LONGEST_OBJECT} characters"
    items = read_item(text.encode()).items if isinstance(own, Mapping) else []
    if not items:
        return wrong
    wire = items[0]
    return CallItem(
        name=wire.name,
        kind=SYMBOL_KINDS.get(wire.kind, str(wire.kind)),
        path=None,
        range=_SOMEWHERE,
        selection=_SOMEWHERE,
        uri=wire.uri,
        server=server,
        via=via,
        raw=text,
    )
