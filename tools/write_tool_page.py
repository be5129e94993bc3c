"""Writes the reference of the tools for models: python tools/write_tool_page.py [FILE]

All of it comes from the table that lspkit itself goes by; a test compares the committed page with
a new one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lspkit.agent.tools.envelope import MOST_BYTES, MOST_ITEMS
from lspkit.agent.tools.result_data import SHAPES
from lspkit.agent.tools.schemas import tool_schemas
from lspkit.agent.tools.tool_table import ESSENTIAL, FIELDS, SINGLE, TABLE, ToolSpec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tools.md"

HEAD = f"""\
# Tools for models

<!-- Written by tools/write_tool_page.py from lspkit/agent/tools/tool_table.py. Change it there. -->

How to use them is told in [Agents](agents.md). There is one tool for everything, `{SINGLE}`, whose
`operation` says what to do, and one tool for each operation; both do the same. The tools with a
star are those that every agent needs.

*A position* is `filePath` with `line` and `character`, or with `symbol` (`Class.method`), or with
`line` and `symbol` (a word on that line). Lines and characters count from 1. Paths are absolute or
relative to the workspace.
"""

DATA_HEAD = """\
## What they do

| operation | what it does | asks servers for | data |
| --- | --- | --- | --- |
"""

DATA = {
    "locations": "A list of places: `filePath` (or `uri`, for what is no file) and `range`.",
    "hover": "`contents`, a list of Markdown texts, and `range`; null if there is nothing.",
    "symbols": "A list of symbols: `name`, `kind`, place, `range`, `selectionRange`, `children`.",
    "items": "A list of call items: like symbols, with `raw`, by which one is handed back.",
    "calls": "A list of calls: `item`, a call item, and `ranges`, the places of the calls.",
    "diagnostics": "By file: `range`, `severity`, `message`, `code`, `source`, `servers`.",
    "edit": "`applied`, and `changes`: `edits` of a file, or a `kind` of operation on it.",
}

FIELD_HEAD = """\
## Fields

Instead of the first name the others are understood, too. A field that a tool does not know is
refused by its name; the single tool passes over fields of other operations, with a warning.

| field | type | expected |
| --- | --- | --- |
"""

ENVELOPE: dict[str, Any] = {
    "ok": True,
    "operation": "goToDefinition",
    "data": [
        {
            "filePath": "src/app.py",
            "range": {
                "start": {"line": 10, "character": 5},
                "end": {"line": 10, "character": 9},
            },
        }
    ],
    "errors": [],
    "meta": {
        "durationMs": 12,
        "serverHits": 1,
        "partial": False,
        "timedOut": False,
        "empty": False,
        "truncated": False,
        "warnings": [],
    },
}

ANSWERS = """\
## Answers

Every call of the single tool is answered in this form, also one that makes no sense:

```json
{example}
```

`ok` says whether there is an answer, also an empty one. `partial` means that some servers have
failed and others not, that not all of an answer could be read, or that something may be missing,
because a server still builds its index or does not know the whole project: `warnings` say why.
`timedOut` means that at least one was too slow. An answer has at most {items} results and
{kilobytes} KiB, the nearest ones first:
`truncated` says that there are more, and `total`, which is there only then, how many. The tools of
one operation answer in words.

An error has `serverId`, `message` and a `code`:

| code | what happened |
| --- | --- |
{codes}
"""

CODES = {
    "EINVAL": "the call makes no sense; the message names the field and what was expected",
    "EPERM": "it is not allowed here",
    "ENOENT": "there is no such file, or it is no regular one",
    "EOUTSIDE": "the file lies outside of the workspace",
    "EEXCLUDED": "the configuration excludes the file",
    "EBINARY": "the file is no text",
    "EINCOMPLETE": "the edit may be incomplete and was not applied; `force` applies it anyway",
    "EPOSITION": "the file has no such place or symbol; the message says what it has",
    "ENOSERVER": "no server is configured for such files",
    "EUNAVAILABLE": "the server is not installed, or held back; the message says how to get it",
    "EBROKEN": "the server has ended; it is started again after a while",
    "ETIMEDOUT": "the server did not answer in time",
    "ELSP": "the server answered with an error",
    "EUNSUPPORTED": "no server of the file can do this",
    "ECANCELLED": "the host has cancelled the call",
    "ECLOSED": "the workspace is closed",
    "ELSPKIT": "a fault of lspkit",
}


def code(words: list[str]) -> str:
    """Each word as code, with commas."""
    return ", ".join(f"`{word}`" for word in words) or "–"


def summary() -> str:
    """One line for each operation."""
    lines = [
        "| operation | tool | in MCP | needs | may have | permission |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {' | '.join(cells(row))} |" for row in TABLE]
    return "\n".join(lines)


def cells(row: ToolSpec) -> list[str]:
    """One operation."""
    needed = [FIELDS[name].name for name in row.required]
    others = [one.name for name, one in row.fields.items() if name not in row.required]
    places = ["line", "character", "symbol"]
    if row.at_place:
        needed = ["a position", *(name for name in needed if name != "filePath")]
        others = [name for name in others if name not in (*places, "filePath")]
    if "callHierarchyItem" in others:
        needed, others = ["a position or `callHierarchyItem`"], []
    told = ", ".join(name if " " in name else f"`{name}`" for name in needed) or "–"
    mark = " \\*" if row.tool in ESSENTIAL else ""
    names = [f"`{row.operation}`", f"`{row.tool}`{mark}", f"`{row.mcp}`"]
    return [*names, told, code(others), row.permission]


def data() -> str:
    """What each operation does, and what its data looks like."""
    lines = []
    for row in TABLE:
        name = SHAPES[row.result].name
        lines.append(f"| `{row.operation}` | {row.text} | `{row.method}` | [{name}](#data) |")
    shapes = [f"- *{name}*: {text}" for name, text in DATA.items()]
    return "\n".join([DATA_HEAD + "\n".join(lines), "", "### Data", "", *shapes])


def fields() -> str:
    """What the tools take."""
    lines = []
    for one in FIELDS.values():
        names = " ".join(f"`{name}`" for name in (one.name, *one.aliases))
        lines.append(f"| {names} | {one.type} | {one.expected} |")
    return FIELD_HEAD + "\n".join(lines)


def answers() -> str:
    """What comes back."""
    return ANSWERS.format(
        example=json.dumps(ENVELOPE, indent=2),
        items=MOST_ITEMS,
        kilobytes=MOST_BYTES // 1024,
        codes="\n".join(f"| `{name}` | {text} |" for name, text in CODES.items()),
    )


def page() -> str:
    """The whole page."""
    single = json.dumps(tool_schemas("json-schema", "single")[0], indent=2)
    schema = f"## Schema of the single tool\n\n```json\n{single}\n```"
    parts = (HEAD, summary(), data(), fields(), answers(), schema)
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def main() -> None:
    """Write it."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
