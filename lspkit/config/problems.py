"""Where something stands in a configuration, and what is wrong there.

A path is the tuple of keys and numbers that leads to a value; a place is the same as text, in a
form in which no two paths look alike. Faults make a file unusable, warnings do not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lspkit.errors import ConfigError
from lspkit.late_imports import safe_imports
from lspkit.types import Value
from lspkit.visible_text import one_line

#: From the top of a configuration to a value in it.
Path = tuple[str | int, ...]

#: Levels. Deeper than anybody writes, and far from where Python gives up.
DEEPEST = 64

#: Faults, and warnings, of one file. A stranger's file must not keep anybody busy.
MOST = 100

#: Characters of a name that is told, and compared with the known ones.
LONGEST_NAME = 60

_PLAIN = re.compile(r"[A-Za-z0-9_$-]+")


def place_of(path: Path) -> str:
    """The path as people read it: `lsp.pyright.command[0]`, `lsp.x.languageIds[".pyi"]`."""
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
    """Something that makes no sense, where it stands, and what would."""

    line: int | None
    place: str
    expected: str
    #: What is there instead, as a kind of value: what a value is may be nobody's business.
    found: str = ""

    @property
    def message(self) -> str:
        """What is wrong, for a person who knows where."""
        return f"expected {self.expected}" + (f", found {self.found}" if self.found else "")


class ConfigWarning(Value, frozen=True):
    """Something that is not followed, though nothing stops because of it."""

    message: str
    file: str | None = None
    line: int | None = None
    place: str = ""

    def __str__(self) -> str:
        return f"{location_text(self.file, self.line, self.place)}: {self.message}"


def location_text(file: str | None, line: int | None, place: str) -> str:
    """`lsp.json:3: lsp.x.command`, in a form that editors can follow."""
    at = one_line(file) if file is not None else "config"
    at += f":{line}" if line is not None else ""
    return f"{at}: {place}" if place else at


def config_error(file: str | None, faults: Sequence[ConfigFault]) -> ConfigError:
    """The error that carries all of these faults, a line for each."""
    first = faults[0]
    return ConfigError(
        "\n".join(f"{location_text(file, one.line, one.place)}: {one.message}" for one in faults),
        file=file,
        line=first.line,
        place=first.place,
        expected=first.expected,
        faults=tuple(fault.to_dict() for fault in faults),
    )


class Problems:
    """Collects what is wrong with one file while it is read."""

    def __init__(
        self, file: str | None = None, line_of: Callable[[Path], int | None] = lambda _: None
    ) -> None:
        self.file = file
        self._line_of = line_of
        self.faults: list[ConfigFault] = []
        self.warnings: list[ConfigWarning] = []

    def refuse(self, path: Path, expected: str, found: str = "") -> None:
        """Note a fault."""
        if len(self.faults) < MOST:
            self.faults.append(
                ConfigFault(self._line_of(path), _short_place(path), expected, found)
            )

    def warn(self, path: Path, message: str) -> None:
        """Note a warning."""
        if len(self.warnings) < MOST:
            line = self._line_of(path)
            self.warnings.append(ConfigWarning(message, self.file, line, _short_place(path)))

    def warn_unknown(self, path: Path, known: Iterable[str]) -> None:
        """Note that nobody knows a key, and which known one it resembles."""
        if len(self.warnings) < MOST:
            self.warn(
                path, f"it is ignored: no such name is known{suggestion_for(path[-1], known)}"
            )

    def raise_faults(self) -> None:
        """Raise them all, if there are any."""
        if self.faults:
            raise config_error(self.file, self.faults)


def _short_place(path: Path) -> str:
    """The place, with no name so long that it would hide the message."""
    return place_of(tuple(_cut(step) if isinstance(step, str) else step for step in path))


def _cut(name: str) -> str:
    return f"{name[:LONGEST_NAME]}…" if len(name) > LONGEST_NAME else name


def suggestion_for(name: str | int, known: Iterable[str]) -> str:
    """`; did you mean …?` where a known name is like this one, else nothing."""
    if len(str(name)) > LONGEST_NAME:
        return ""
    with safe_imports():
        import difflib  # here: only for who has made a mistake

    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


#: What a value is called in JSON, for whoever wrote it.
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
    """What kind of value it is, in words."""
    return _KINDS.get(type(value), f"a Python {type(value).__name__}")
