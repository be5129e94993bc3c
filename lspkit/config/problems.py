"""Faults and warnings of a configuration, with their places.

A path is the tuple of keys and indexes that leads to a value; a place is the path as unambiguous
text. Faults make a file unusable, warnings do not.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lspkit.errors import ConfigError
from lspkit.types import Value
from lspkit.visible_text import one_line

#: Keys and indexes from the top of a configuration to a value.
Path = tuple[str | int, ...]

#: Levels of nesting, far below Python's recursion limit.
DEEPEST = 64

#: Faults, and warnings, that are collected for one file.
MOST = 100

#: Characters of a name in messages. Longer names get no suggestion.
LONGEST_NAME = 60

_PLAIN = re.compile(r"[A-Za-z0-9_$-]+")


def place_of(path: Path) -> str:
    """The path as text: `lsp.pyright.command[0]`, `lsp.x.languageIds[".pyi"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{json.dumps(step)}]"
    return text.removeprefix(".")


class ConfigFault(Value, frozen=True):
    """An invalid value, its place, and what is valid there."""

    line: int | None
    place: str
    expected: str
    #: The kind of value that is there. The value itself may be secret.
    found: str = ""

    @property
    def message(self) -> str:
        """The fault, without its place."""
        return f"expected {self.expected}" + (f", found {self.found}" if self.found else "")


class ConfigWarning(Value, frozen=True):
    """A setting that is not applied; everything else works."""

    message: str
    file: str | None = None
    line: int | None = None
    place: str = ""

    def __str__(self) -> str:
        return f"{location_text(self.file, self.line, self.place)}: {self.message}"


def location_text(file: str | None, line: int | None, place: str) -> str:
    """`lsp.json:3: lsp.x.command`, as editors recognise it."""
    at = one_line(file) if file is not None else "config"
    at += f":{line}" if line is not None else ""
    return f"{at}: {place}" if place else at


def config_error(file: str | None, faults: Sequence[ConfigFault]) -> ConfigError:
    """The error with all of these faults, one line for each."""
    first = faults[0]
    return ConfigError(
        "\n".join(
            f"{location_text(file, fault.line, fault.place)}: {fault.message}" for fault in faults
        ),
        file=file,
        line=first.line,
        place=first.place,
        expected=first.expected,
        faults=tuple(fault.to_dict() for fault in faults),
    )


class Problems:
    """Collects the faults and warnings of one file."""

    def __init__(
        self, file: str | None = None, line_of: Callable[[Path], int | None] = lambda _: None
    ) -> None:
        self.file = file
        self._line_of = line_of
        self.faults: list[ConfigFault] = []
        self.warnings: list[ConfigWarning] = []

    def refuse(self, path: Path, expected: str, actual: str = "") -> None:
        """Note a fault."""
        if len(self.faults) < MOST:
            self.faults.append(
                ConfigFault(self._line_of(path), _short_place(path), expected, actual)
            )

    def warn(self, path: Path, message: str) -> None:
        """Note a warning."""
        if len(self.warnings) < MOST:
            line = self._line_of(path)
            self.warnings.append(ConfigWarning(message, self.file, line, _short_place(path)))

    def warn_unknown(self, path: Path, known: Iterable[str]) -> None:
        """Note an unknown key, and the most similar known one."""
        if len(self.warnings) < MOST:
            near = suggestion_for(path[-1], known)
            self.warn(path, f"it is ignored: no such name is known{near}")

    def raise_faults(self) -> None:
        """Raise a `ConfigError` if there are faults."""
        if self.faults:
            raise config_error(self.file, self.faults)


def _short_place(path: Path) -> str:
    """The place, with long names shortened."""
    return place_of(tuple(_cut(step) if isinstance(step, str) else step for step in path))


def _cut(name: str) -> str:
    return f"{name[:LONGEST_NAME]}…" if len(name) > LONGEST_NAME else name


def suggestion_for(name: str | int, known: Iterable[str]) -> str:
    """`; did you mean …?` if a known name is similar, else empty."""
    if len(str(name)) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


#: Kinds of JSON values in words.
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def kind_of(value: Any) -> str:
    """The kind of a value in words."""
    return _KINDS.get(type(value), f"a Python {type(value).__name__}")
