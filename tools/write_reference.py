"""Writes references from the code into docs/: python tools/write_reference.py [FOLDER]

The page of the library, and two parts of pages: the keys of the configuration, and the commands
with their options. A test compares the committed pages with new ones.
"""

from __future__ import annotations

import argparse
import ast
import enum
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

import lspkit
import lspkit.agent
from lspkit import batch, conversations
from lspkit.cli import build_parser
from lspkit.config.json_schema import doc_lines, schema
from lspkit.workspace import call_options

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = "# {title}\n\n<!-- Written by tools/write_reference.py from {source}. Change it there. -->\n"

#: Names of the page about the library, by section.
SECTIONS: dict[str, list[str]] = {
    "Workspaces": ["Workspace", "connect", "CancelToken"],
    "Errors": [name for name in lspkit.__all__ if name.endswith("Error")],
    "Warnings": [name for name in lspkit.__all__ if name.endswith("Warning")],
}
SECTIONS["Results and other values"] = [
    name
    for name in lspkit.__all__
    if name not in ("__version__", "batch", "conversations")
    and not any(name in names for names in SECTIONS.values())
]


def cell(text: str) -> str:
    """A text in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """A piece of code in a table."""
    return f"`{cell(text)}`"


# The library


def options_of(annotation: str) -> list[str]:
    """The keyword arguments that `**more: Unpack[Options]` stands for."""
    kind = getattr(call_options, annotation.removeprefix("Unpack[").removesuffix("]"), None)
    if kind is None:
        return ["**keywords"]
    found = get_type_hints(kind)
    order = ("symbol", "text", "timeout", "cancel")
    return [f"{name}=None" for name in order if name in found]


def default_of(value: Any) -> str:
    """A default value as it is written."""
    return "os.environ" if value is os.environ else repr(value)


def signature_of(function: Any, name: str) -> str:
    """How it is called, without the types."""
    words: list[str] = []
    keywords_began = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            options = options_of(str(parameter.annotation))
            words += options if keywords_began or "**" in options[0] else ["*", *options]
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords_began:
            keywords_began = True
            words.append("*")
        default = parameter.default
        shown = "" if default is parameter.empty else f"={default_of(default)}"
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        keywords_began = keywords_began or bool(stars)
        words.append(stars + parameter.name + shown)
    return f"{name}({', '.join(words)})"


def returned_by(function: Any) -> str:
    """The type of its result, as it is written."""
    found = inspect.signature(function).return_annotation
    return "" if found is inspect.Signature.empty else str(found)


def document(thing: Any) -> str:
    """Its documentation, as paragraphs of Markdown."""
    return textwrap.dedent(inspect.getdoc(thing) or "").strip()


def without_examples(text: str) -> str:
    """A documentation without its indented paragraphs."""
    return "\n\n".join(one for one in text.split("\n\n") if not one.startswith("    "))


def methods_of(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties, in the order of the source, those of base classes last."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("lspkit"):
            continue
        for name, value in vars(base).items():
            plain = inspect.isfunction(value) or isinstance(value, property | classmethod)
            if plain and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def method_rows(kind: type) -> list[str]:
    rows = []
    for name, value in methods_of(kind):
        if isinstance(value, property):
            shown, result = name, returned_by(value.fget)
        else:
            function = value.__func__ if isinstance(value, classmethod) else value
            shown, result = signature_of(function, name), returned_by(function)
        rows.append(
            f"| {code(shown)} | {code(result)} | {cell(without_examples(document(value)))} |"
        )
    return rows


def annotated_fields(kind: type) -> dict[str, tuple[str, str]]:
    """Type and description of the fields that its classes in lspkit declare."""
    found: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("lspkit"):
            continue
        words = doc_lines(base)
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                if not name.startswith("_") and "ClassVar" not in ast.unparse(node.annotation):
                    found[name] = (ast.unparse(node.annotation), words.get(name, ""))
    return found


def class_section(name: str, kind: Any) -> str:
    """A class: what it is, its fields and its methods. Or a function, or a constant."""
    if not inspect.isclass(kind) and not inspect.isfunction(kind):
        return f"### `{name}`\n\n{code(repr(kind))}\n"
    parts = [f"### `{name}`\n", without_examples(document(kind)) + "\n"]
    if isinstance(kind, type) and issubclass(kind, lspkit.LspkitError):
        parts.append(f"Code: {', '.join(code(one) for one in kind.codes or (kind.code,))}\n")
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        parts.append(f"Members: {', '.join(code(one.name) for one in kind)}\n")
    elif isinstance(kind, type):
        fields = annotated_fields(kind)
        if fields:
            rows = [
                f"| `{one}` | {code(hint)} | {cell(words)} |"
                for one, (hint, words) in fields.items()
            ]
            parts.append("| field | type | |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")
    if isinstance(kind, type) and not issubclass(kind, Exception):
        rows = method_rows(kind)
        if rows:
            parts.append("| method | result | |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")
    elif not isinstance(kind, type):
        parts[0] = f"### `{signature_of(kind, name)}`\n"
    return "\n".join(parts)


def library_page() -> str:
    """The names of `lspkit` and `lspkit.agent`."""
    parts = [HEAD.format(title="The library", source="the docstrings of lspkit")]
    parts.append(
        "Every method that waits takes `timeout` (seconds) and `cancel` (a `CancelToken`); `text` "
        "is the text\nto use instead of the file's content, `symbol` a name instead of a position. "
        "How to use them is\ntold in the [guide](guide.md).\n"
    )
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [class_section(name, getattr(lspkit, name)) for name in names]
    parts.append(
        f"## lspkit.conversations\n\n{document(conversations).partition(chr(10) * 2)[0]}\n"
    )
    parts += [class_section(name, getattr(conversations, name)) for name in conversations.__all__]
    parts.append(f"## lspkit.batch\n\n{document(batch).partition(chr(10) * 2)[0]}\n")
    parts += [class_section(name, getattr(batch, name)) for name in sorted(batch.__all__)]
    parts.append("## lspkit.agent\n")
    parts += [
        class_section(name, getattr(lspkit.agent, name)) for name in sorted(lspkit.agent.__all__)
    ]
    return "\n".join(parts)


# The configuration


def type_words(part: dict[str, Any]) -> str:
    """The type of a value, in a few words."""
    if "$ref" in part:
        return "object"
    if "enum" in part:
        return ", ".join(f"`{one}`" for one in part["enum"])
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(type_words(one) for one in part["anyOf"]))
    kind = part.get("type", "any")
    if kind == "array":
        return f"list of {type_words(part.get('items', {}))}"
    return str(kind)


def key_rows(part: dict[str, Any], prefix: str) -> list[str]:
    rows = []
    for name, value in part["properties"].items():
        if value.get("deprecated") or name.startswith("$") or "$ref" in value:
            continue
        default = value.get("default")
        shown = "" if default in (None, {}, []) else code(msgspec.json.encode(default).decode())
        rows.append(
            f"| `{prefix}{name}` | {type_words(value)} | {shown} | "
            f"{cell(value.get('description', ''))} |"
        )
    return rows


def key_tables() -> str:
    """Every key of a configuration file, except for those of a server."""
    whole = schema()
    head = "| key | type | default | |\n| --- | --- | --- | --- |\n"
    parts = [head + "\n".join(key_rows(whole, "")) + "\n"]
    for name, value in whole["properties"].items():
        if "$ref" in value and not value.get("deprecated"):
            part = whole["$defs"][value["$ref"].rsplit("/", 1)[1]]
            parts.append(f"**`{name}`**: {value.get('description', '')}\n")
            parts.append(head + "\n".join(key_rows(part, f"{name}.")) + "\n")
    return "\n".join(parts)


# The command line


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that is not hidden, with its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            shown = {one.dest for one in action._choices_actions}
            for name, one in action.choices.items():
                if name in shown or not action._choices_actions:
                    yield name, one


def argument_rows(parser: argparse.ArgumentParser) -> list[str]:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
            continue
        if action.help is argparse.SUPPRESS:
            continue
        value = action.metavar if isinstance(action.metavar, str) else ""
        if not value and action.choices:
            value = "|".join(map(str, action.choices))
        shown = " ".join((*action.option_strings[:1], value)).strip() or action.dest
        help_text = (action.help or "") % {**vars(action), "prog": parser.prog}
        rows.append(f"| {code(shown)} | {cell(help_text)} |")
    return rows


def command_section(name: str, parser: argparse.ArgumentParser, level: int) -> list[str]:
    parts = [f"{'#' * level} `lspkit {name}`\n", f"{parser.description or ''}\n"]
    rows = argument_rows(parser)
    if rows:
        parts.append("| argument | |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    for inner, one in commands(parser):
        parts += command_section(f"{name} {inner}", one, level + 1)
    return parts


def command_sections() -> str:
    """Every command with its arguments."""
    parts: list[str] = []
    for name, parser in sorted(commands(build_parser())):
        parts += command_section(name, parser, 3)
    return "\n".join(parts)


def between_marks(page: str, name: str, text: str) -> str:
    """A page of `docs/` with another text between its two marks of this name."""
    head, mark, rest = (DOCS / page).read_text(encoding="utf-8").partition(f"<!-- {name}: ")
    first, _, rest = rest.partition("\n")
    _, end, tail = rest.partition(f"<!-- end of {name} -->")
    return f"{head}{mark}{first}\n\n{text.strip()}\n\n{end}{tail}"


def pages() -> dict[str, str]:
    """The pages with what is written from the code."""
    return {
        "library.md": library_page(),
        "configuration.md": between_marks("configuration.md", "keys", key_tables()),
        "command-line.md": between_marks("command-line.md", "options", command_sections()),
    }


def main() -> None:
    """Write all pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    for name, page in pages().items():
        text = re.sub(r"\n{3,}", "\n\n", page).strip() + "\n"
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
