"""The results of operations: plain values.

All are frozen, comparable and picklable, print as one line (a `Hover` as its text), and convert to
plain JSON types with `to_dict()`. Lines and columns count from 1; a column counts Unicode code
points, as editors show them and as people and models write them. No value refers to a workspace or
a server process.
"""

from __future__ import annotations

import enum
import os
from pathlib import Path, PurePath
from typing import Any

import msgspec

from lspkit.visible_text import fold_lines, headline, one_line, several_lines

#: Characters of `repr`, and of a line for people.
LONGEST_REPR = 200
LONGEST_LINE = 500
#: Characters of a text of several lines.
LONGEST_TEXT = 4000


def cut(text: str, most: int = LONGEST_LINE) -> str:
    """The text, with an ellipsis at its end if it is too long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def to_plain(value: object) -> Any:
    """`value` in plain JSON types."""
    return msgspec.to_builtins(value, enc_hook=_plain, str_keys=True)


def _plain(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no plain form")


def display_path(path: Path | None, uri: str = "") -> str:
    """A path for display: on one line, relative to the current folder if it is inside it."""
    if path is None:
        return cut(one_line(uri))
    text = str(path)
    try:
        here = os.getcwd() + os.sep
    except OSError:  # the current folder was deleted
        return one_line(text)
    return one_line(text.removeprefix(here))


class Value(msgspec.Struct, frozen=True):
    """Base of all results."""

    def __repr__(self) -> str:
        """All fields if that is short, else the line for people."""
        # The fields have bounded forms, too, but a text in one of them may be a whole file.
        whole = super().__repr__() if not self._is_large() else ""
        if 0 < len(whole) <= LONGEST_REPR:
            return whole
        line = "" if type(self).__str__ is Value.__str__ else fold_lines(str(self)[:LONGEST_LINE])
        return cut(f"<{type(self).__name__} {line}".rstrip(), LONGEST_REPR - 1) + ">"

    def __str__(self) -> str:
        return repr(self)

    def _is_large(self) -> bool:
        """Whether one of its texts or lists alone would make it too long."""
        sized = (getattr(self, name) for name in self.__struct_fields__)
        return any(
            isinstance(value, str | bytes | list | tuple | dict) and len(value) > LONGEST_REPR
            for value in sized
        )

    def to_dict(self) -> dict[str, Any]:
        """The value as plain JSON types."""
        plain: dict[str, Any] = to_plain(self)
        return plain


class Interpreter(Value, frozen=True):
    """The Python interpreter whose packages a server uses."""

    #: Empty if there is none.
    path: str
    #: Why it is this one.
    why: str
    #: What chooses another one.
    change: str = ""

    def __str__(self) -> str:
        return one_line(f"{self.path or 'no interpreter'}, because {self.why}")


class Position(Value, frozen=True, order=True, gc=False):
    """A position in a text: line and column, both counted from 1."""

    # `gc=False`, here and below: an answer may have thousands of these. None can be part of a
    # cycle, and without the garbage collector each is made in two thirds of the time.

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Range(Value, frozen=True, order=True, gc=False):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


class Location(Value, frozen=True, gc=False):
    """A range in a file. `path` is None only for a URI that names no file."""

    path: Path | None
    range: Range
    #: The URI as the server wrote it.
    uri: str

    def __str__(self) -> str:
        return f"{display_path(self.path, self.uri)}:{self.range.start}"

    @property
    def line(self) -> int:
        """The line of its start, counted from 1."""
        return self.range.start.line

    @property
    def column(self) -> int:
        """The column of its start, counted from 1."""
        return self.range.start.column


class Caveat(Value, frozen=True):
    """Why an answer may be incomplete."""

    #: `index loading`, `no project index`, `outside the project`, `overrides not followed`,
    #: `words not explained`, `words not asked about`, `installed copy` or `server failed`.
    kind: str
    #: What may be missing, and what can be done about it.
    message: str
    #: Id of the server.
    server: str = ""
    #: What is known to be missing.
    places: tuple[Location, ...] = ()

    def __str__(self) -> str:
        return cut(f"{self.kind}: {fold_lines(self.message)}")


class Hover(Value, frozen=True):
    """A server's description of a symbol: one text per section, mostly Markdown."""

    contents: list[str]
    range: Range | None = None

    def __str__(self) -> str:
        """The lines as the server has written them, with an empty one between sections."""
        # Cut first: the text may be a whole page, and escaping takes time.
        sections = "\n\n".join(section.strip("\n") for section in self.contents)
        return cut(several_lines(cut(sections, LONGEST_TEXT)), LONGEST_TEXT)


class NamedSymbol(Value, frozen=True, gc=False):
    """What a symbol of a file and an item of a hierarchy have in common."""

    name: str
    #: A word such as `class` or `function`; an unknown kind is its number as text.
    kind: str
    path: Path | None
    #: The whole symbol, including its body.
    range: Range
    #: The symbol's name.
    selection: Range
    uri: str
    detail: str = ""

    def __str__(self) -> str:
        place = f"{display_path(self.path, self.uri)}:{self.selection.start}"
        return f"{self.kind} {cut(one_line(self.name))} {place}"

    @property
    def line(self) -> int:
        """The line of its name, counted from 1."""
        return self.selection.start.line

    @property
    def column(self) -> int:
        """The column of its name, counted from 1."""
        return self.selection.start.column


class Symbol(NamedSymbol, frozen=True, gc=False):
    """A symbol of a file, with the symbols inside it."""

    container: str = ""
    children: tuple[Symbol, ...] = ()


class HierarchyItem(NamedSymbol, frozen=True, gc=False):
    """A symbol for further requests: its callers and callees, its super- and subtypes."""

    #: Id of the server, the file of the request, and the item as the server sent it: the server
    #: gets it back unchanged.
    server: str = ""
    via: str = ""
    raw: str = ""


class CallItem(HierarchyItem, frozen=True):
    """An item of a call hierarchy."""


class TypeItem(HierarchyItem, frozen=True):
    """An item of a type hierarchy."""


class Call(Value, frozen=True):
    """One call: the caller or callee, and the ranges of the calls in the caller's file."""

    item: CallItem
    ranges: tuple[Range, ...] = ()

    def __str__(self) -> str:
        places = cut(", ".join(str(call_range.start) for call_range in self.ranges))
        return f"{self.item} (calls at {places})" if places else str(self.item)


class Parameter(Value, frozen=True):
    """One parameter of a signature, as written in its label."""

    label: str
    documentation: str = ""

    def __str__(self) -> str:
        return cut(one_line(self.label))


class Signature(Value, frozen=True):
    """One way to call a function."""

    label: str
    documentation: str = ""
    parameters: tuple[Parameter, ...] = ()

    def __str__(self) -> str:
        return cut(one_line(self.label))


class SignatureHelp(Value, frozen=True):
    """The signatures of the function at a position, and the parameter at the position."""

    signatures: tuple[Signature, ...]
    active_signature: int = 0
    active_parameter: int | None = None

    def __str__(self) -> str:
        return str(self.signatures[self.active_signature]) if self.signatures else ""


class Severity(enum.StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for the most severe."""
        return list(Severity).index(self)

    def counts(self, threshold: Severity) -> bool:
        """Whether it is as severe as a threshold, or worse."""
        return self.rank <= threshold.rank


class RelatedLocation(Value, frozen=True, gc=False):
    """Another location that explains a finding."""

    location: Location
    message: str


class Diagnostic(Value, frozen=True, gc=False):
    """One finding of a server about a file."""

    path: Path | None
    range: Range
    severity: Severity
    message: str
    uri: str
    code: str = ""
    #: The tool that the server names as the source (`Pyright`, `ruff`).
    source: str = ""
    #: Ids of the servers that report it.
    servers: tuple[str, ...] = ()
    #: `unnecessary`, `deprecated`.
    tags: tuple[str, ...] = ()
    related: tuple[RelatedLocation, ...] = ()
    #: A page that explains the code.
    href: str = ""

    def __str__(self) -> str:
        code = f" ({cut(one_line(self.code))})" if self.code else ""
        summary = f"{self.severity.value} {cut(fold_lines(headline(self.message)))}{code}"
        return f"{display_path(self.path, self.uri)}:{self.range.start} {summary}"

    @property
    def line(self) -> int:
        """The line of its start, counted from 1."""
        return self.range.start.line

    @property
    def column(self) -> int:
        """The column of its start, counted from 1."""
        return self.range.start.column


class Verdict(enum.StrEnum):
    """Whether a file has findings that count. Not a bool: `UNKNOWN` is neither true nor false."""

    CLEAN = "clean"
    DIRTY = "dirty"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError(
            "a Verdict has three values, so it is not a bool: "
            "use .clean, .dirty or .unknown, or compare with `is`"
        )

    @property
    def clean(self) -> bool:
        """Every server has checked this text, and none has a finding that counts."""
        return self is Verdict.CLEAN

    @property
    def dirty(self) -> bool:
        """A server has a finding that counts."""
        return self is Verdict.DIRTY

    @property
    def unknown(self) -> bool:
        """There is no finding, but not every server has proven that it checked this text."""
        return self is Verdict.UNKNOWN
