"""The JSON Schema of a configuration file, generated from `model.py` and `key_aliases.py`.

It is for editors. The `#:` lines of fields become descriptions. Alternative spellings are included
and marked as deprecated, so that editors do not report keys that lspkit accepts.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from lspkit.config import key_aliases, model

#: The dialect of the schema.
DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Doc lines of a field, and its name.
_DOC_LINES = re.compile(r"((?:^ +#: .*\n)+) +(\w+):", re.MULTILINE)


def schema() -> dict[str, Any]:
    """The whole schema, as plain values."""
    _, parts = msgspec.json.schema_components([model.Config], ref_template="#/$defs/{name}")
    for name, part in parts.items():
        _describe(part, getattr(model, name))
    whole = parts.pop("Config")
    _allow_in_server(parts["ServerConfig"]["properties"])
    _allow_at_top(whole["properties"])
    for part in (whole, *parts.values(), *_objects(whole["properties"]["lsp"]["anyOf"])):
        part["properties"] = _add_snake_case(part["properties"])
    return {"$schema": DIALECT, **whole, "title": "Configuration of lspkit", "$defs": parts}


def _describe(part: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    names = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for field in part["properties"].values():
        if field.get("default", ...) is None:
            del field["default"]
    for name, words in doc_lines(kind).items():
        part["properties"][names[name]]["description"] = words


def doc_lines(kind: type) -> dict[str, str]:
    """The `#:` lines above the fields of a class; none if the source is not installed."""
    try:
        source = inspect.getsource(kind)
    except OSError:
        return {}
    return {
        name: " ".join(line.strip().removeprefix("#: ") for line in lines.splitlines())
        for lines, name in _DOC_LINES.findall(source)
    }


def _allow_in_server(entry: dict[str, Any]) -> None:
    entry["command"]["anyOf"].append({"type": "string", "minLength": 1})
    others = {
        **dict(key_aliases.INSIDE_SERVER),
        **{name: f"timing.{stands_for}" for name, stands_for in key_aliases.TIMES.items()},
        **dict.fromkeys(key_aliases.EXTENSIONS, "extensions"),
        "args": "command",
        "enabled": "disabled",
        "languageId": "languageIds",
    }
    for name, stands_for in others.items():
        entry[name] = _alias_schema(stands_for)
    entry["transport"] = {"const": "stdio", "description": "The only supported transport."}


def _allow_at_top(top: dict[str, Any]) -> None:
    top["$schema"] = {"type": "string"}
    for name in (*key_aliases.SERVER_TABLES, "enabled"):
        top[name] = _alias_schema("lsp")
    [servers] = _objects(top["lsp"]["anyOf"])
    entries = servers["additionalProperties"]
    servers["properties"] = {
        "servers": {"type": "object", "additionalProperties": entries, **_alias_schema("lsp")},
        "enabled": {"type": "boolean", **_alias_schema("lsp")},
        **{
            name: _alias_schema(".".join(stands_for))
            for name, stands_for in key_aliases.INSIDE_LSP.items()
        },
    }


def _objects(kinds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [kind for kind in kinds if kind["type"] == "object"]


def _add_snake_case(properties: dict[str, Any]) -> dict[str, Any]:
    """The properties, each also under its name in snake_case."""
    others = {
        key_aliases.snake(name): {**value, **_alias_schema(name)}
        for name, value in properties.items()
        if key_aliases.snake(name) not in properties
    }
    return {**properties, **others}


def _alias_schema(stands_for: str) -> dict[str, Any]:
    return {"description": f"Another way to write {stands_for}.", "deprecated": True}
