"""What the operations return: plain values.

All are frozen, comparable and picklable, print as one line, and turn into plain JSON types with
`to_dict()`. Lines and columns count from 1, and a column counts Unicode code points: that is what
editors show and what people and models write. No value refers to a workspace or a server process.
"""

from __future__ import annotations

import enum
import os
from pathlib import Path, PurePath
from typing import Any

import msgspec

from lspkit.visible_text import folded, one_line


def to_plain(value: object) -> Any:
    """`value` in plain JSON types."""
    return msgspec.to_builtins(value, enc_hook=_plain, str_keys=True)


def _plain(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no plain form")


def shown(path: Path | None, uri: str = "") -> str:
    """A path as people read it: on one line, relative to the current folder where it lies in it."""
    if path is None:
        return one_line(uri)
    text = str(path)
    try:
        here = os.getcwd() + os.sep
    except OSError:  # the current folder is gone
        return one_line(text)
    return one_line(text.removeprefix(here))


class Value(msgspec.Struct, frozen=True):
    """Base of all results."""

    def to_dict(self) -> dict[str, Any]:
        """The value as plain JSON types."""
        plain: dict[str, Any] = to_plain(self)
        return plain


class Position(Value, frozen=True, order=True):
    """A place in a text: line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Range(Value, frozen=True, order=True):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


class Location(Value, frozen=True):
    """A range in a file. `path` is None only for a URI that names no file."""

    path: Path | None
    range: Range
    #: The URI as the server wrote it.
    uri: str

    def __str__(self) -> str:
        return f"{shown(self.path, self.uri)}:{self.range.start}"


class Hover(Value, frozen=True):
    """What a server tells about a symbol, as one text per section, mostly Markdown."""

    contents: list[str]
    range: Range | None = None

    def __str__(self) -> str:
        first = folded(" ".join(self.contents))
        return first if len(first) <= 200 else first[:199] + "…"


class Symbol(Value, frozen=True):
    """A named thing in a file, with the things inside it."""

    name: str
    #: A word such as `class` or `function`; a number that no word is known for stays one, as text.
    kind: str
    path: Path | None
    #: All of it, body included.
    range: Range
    #: Its name.
    selection: Range
    uri: str
    detail: str = ""
    container: str = ""
    children: tuple[Symbol, ...] = ()

    def __str__(self) -> str:
        place = f"{shown(self.path, self.uri)}:{self.selection.start}"
        return f"{self.kind} {one_line(self.name)} {place}"


class HierarchyItem(Value, frozen=True):
    """A symbol that a server can tell more about: who calls it, what it derives from."""

    name: str
    kind: str
    path: Path | None
    range: Range
    selection: Range
    uri: str
    detail: str = ""
    #: Id of the server, the file that was asked about, and the item as the server gave it. With
    #: them it can be handed back unchanged.
    server: str = ""
    via: str = ""
    raw: str = ""

    def __str__(self) -> str:
        place = f"{shown(self.path, self.uri)}:{self.selection.start}"
        return f"{self.kind} {one_line(self.name)} {place}"


class CallItem(HierarchyItem, frozen=True):
    """Something that calls and is called."""


class TypeItem(HierarchyItem, frozen=True):
    """A type."""


class Call(Value, frozen=True):
    """One edge: who calls, or is called, and in which ranges of the caller's file."""

    item: CallItem
    ranges: tuple[Range, ...] = ()

    def __str__(self) -> str:
        places = ", ".join(str(one.start) for one in self.ranges)
        return f"{self.item} (calls at {places})" if places else str(self.item)


class Parameter(Value, frozen=True):
    """One parameter of a signature, as it is written there."""

    label: str
    documentation: str = ""

    def __str__(self) -> str:
        return one_line(self.label)


class Signature(Value, frozen=True):
    """One way to call a function."""

    label: str
    documentation: str = ""
    parameters: tuple[Parameter, ...] = ()

    def __str__(self) -> str:
        return one_line(self.label)


class SignatureHelp(Value, frozen=True):
    """How the function at a place is called, and where in its parameters the place is."""

    signatures: tuple[Signature, ...]
    active_signature: int = 0
    active_parameter: int | None = None

    def __str__(self) -> str:
        return str(self.signatures[self.active_signature]) if self.signatures else ""


class Severity(enum.StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class RelatedLocation(Value, frozen=True):
    """Another place that explains a finding."""

    location: Location
    message: str


class Diagnostic(Value, frozen=True):
    """One finding of a server about a file."""

    path: Path | None
    range: Range
    severity: Severity
    message: str
    uri: str
    code: str = ""
    #: The tool that the server names (`Pyright`, `ruff`).
    source: str = ""
    #: Ids of the servers that report it.
    servers: tuple[str, ...] = ()
    #: `unnecessary`, `deprecated`.
    tags: tuple[str, ...] = ()
    related: tuple[RelatedLocation, ...] = ()
    #: A page that explains the code.
    href: str = ""

    def __str__(self) -> str:
        code = f" ({one_line(self.code)})" if self.code else ""
        told = f"{self.severity.value} {folded(self.message)}{code}"
        return f"{shown(self.path, self.uri)}:{self.range.start} {told}"


class Verdict(enum.StrEnum):
    """Whether a file is in order. Not a bool: `UNKNOWN` is neither."""

    CLEAN = "clean"
    DIRTY = "dirty"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError(
            "a Verdict has three values, so it is no bool: "
            "use .clean, .dirty or .unknown, or compare with `is`"
        )

    @property
    def clean(self) -> bool:
        """Every server answered for this very text, and none reported anything that counts."""
        return self is Verdict.CLEAN

    @property
    def dirty(self) -> bool:
        """A server reported something that counts."""
        return self is Verdict.DIRTY

    @property
    def unknown(self) -> bool:
        """Not every server answered, so silence proves nothing."""
        return self is Verdict.UNKNOWN
