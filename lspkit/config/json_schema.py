"""The JSON Schema of a configuration file, generated from `model.py`.

It is for editors. The `#:` lines of fields become descriptions. The spellings of other tools
(`normalize.py`) are not in it.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from lspkit.config import model

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
    whole["properties"]["$schema"] = {"type": "string"}
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
