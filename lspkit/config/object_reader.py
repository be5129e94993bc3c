"""A JSON object whose members are read by name, in camelCase or in snake_case.

Members are taken out one by one; those that are left at the end are unknown. The order of the
members has no effect.
"""

from __future__ import annotations

import functools
import math
import os
import re
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from lspkit.config.problems import DEEPEST, Path, Problems, kind_of
from lspkit.msgspec_types import convert


@functools.cache
def members_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The names of a struct's fields in files, with their types."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}


def sort_by_fields(kind: type[msgspec.Struct], values: dict[str, Any]) -> dict[str, Any]:
    """The values in the order of the struct's fields."""
    return {name: values[name] for name in members_of(kind) if name in values}


def open_object(
    value: Any, path: Path, findings: Problems, expected: str = "an object"
) -> Object | None:
    """A reader of the object; None, with a fault noted, if it is not an object."""
    if isinstance(value, dict):
        return Object(value, path, findings)
    if value is not REFUSED:
        findings.refuse(path, expected, kind_of(value))
    return None


@functools.cache
def snake(name: str) -> str:
    """`requestTimeoutMs` as `request_timeout_ms`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Object:
    """Reads one object of a file."""

    def __init__(self, value: dict[str, Any], path: Path, findings: Problems) -> None:
        self.path = path
        self.findings = findings
        self._left = dict(value)

    def take(self, name: str) -> tuple[Any, Path] | None:
        """Take a member out; returns it with its path, None if there is none."""
        spelling = name if name in self._left else snake(name)
        if spelling not in self._left:
            return None
        return self._left.pop(spelling), (*self.path, spelling)

    def peek(self, name: str) -> Any:
        """A member, without taking it out; None if there is none."""
        return self._left.get(name, self._left.get(snake(name)))

    def read(self, name: str, kind: Any) -> Any:
        """Take a member out and check it; `REFUSED` if it is missing or invalid."""
        taken = self.take(name)
        return REFUSED if taken is None else self.check(taken, kind)

    def check(self, taken: tuple[Any, Path], kind: Any) -> Any:
        """Check a member that was taken out; `REFUSED` if it is invalid."""
        return check_value(taken[0], kind, taken[1], self.findings)

    def fields(self, kind: type[msgspec.Struct], leave_out: Collection[str] = ()) -> dict[str, Any]:
        """Take out and check the fields of a struct, recursively."""
        made: dict[str, Any] = {}
        for name, type_of in members_of(kind).items():
            if name in leave_out:
                continue
            if not isinstance(type_of, type) or not issubclass(type_of, msgspec.Struct):
                if (value := self.read(name, type_of)) is not REFUSED:
                    made[name] = value
            elif (taken := self.take(name)) is not None:
                below = open_object(*taken, self.findings)
                if below is not None:
                    made[name] = below.fields(type_of)
                    below.end(members_of(type_of))
        return made

    def rest(self, kind: type = object) -> dict[str, Any]:
        """Take out all remaining members of a type."""
        taken = {name: value for name, value in self._left.items() if isinstance(value, kind)}
        self._left = {name: value for name, value in self._left.items() if name not in taken}
        return taken

    def end(self, known: Iterable[str], passed_over: Collection[str] = ()) -> None:
        """Warn about the remaining members."""
        for name in self.rest():
            if name not in passed_over:
                self.findings.warn_unknown((*self.path, name), known)


# Checks values against the types of `model.py`, and notes every fault with its place.
#
# msgspec checks single values. It would stop at the first fault and not report its keys, so objects
# and lists are walked here, item by item.

#: Stands for an invalid or missing value.
REFUSED: Any = msgspec.UNSET

_EXPECTED: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    tuple: "a list",
    dict: "an object",
}


def to_json_values(value: Any, path: Path, findings: Problems, *, own: bool = False) -> Any:
    """A copy of a value that contains only JSON values.

    `own` is for values of the calling program, which may contain paths, also with bytes that are
    not UTF-8, as `surrogateescape` decodes them.
    """
    if len(path) > DEEPEST:
        findings.refuse(path, f"no more than {DEEPEST} levels")
        return REFUSED
    match value:
        case None | bool() | int():
            return value
        case float():
            if math.isfinite(value):
                return value
        case str():
            if _is_text(value, own):
                return str.__str__(value)
            findings.refuse(path, "a text that can be written as UTF-8")
            return REFUSED
        case list() | tuple():
            return [
                to_json_values(item, (*path, at), findings, own=own)
                for at, item in enumerate(value)
            ]
        case Mapping():
            return _to_json_object(value, path, findings, own)
        case os.PathLike() if own:
            return os.fsdecode(value)
    findings.refuse(path, "a value that JSON has", kind_of(value))
    return REFUSED


def _to_json_object(
    value: Mapping[Any, Any], path: Path, findings: Problems, own: bool
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, member in value.items():
        if isinstance(key, str) and _is_text(key, own):
            name = str.__str__(key)
            made[name] = to_json_values(member, (*path, name), findings, own=own)
        else:
            findings.refuse(path, "keys that are texts")
    return made


def _is_text(value: str, own: bool) -> bool:
    if value.isascii():
        return True
    try:
        value.encode("utf-8", "surrogateescape" if own else "strict")
    except UnicodeEncodeError:
        return False
    return True


def check_value(value: Any, kind: Any, path: Path, findings: Problems) -> Any:
    """The value if it has the type; invalid values are noted and left out."""
    if value is REFUSED:
        return REFUSED
    kind, meta, optional = _unwrap_type(kind)
    if optional and value is None:
        return REFUSED
    whole, items = typing.get_origin(kind) or kind, typing.get_args(kind)
    if whole is dict and isinstance(value, dict):
        return _check_object(value, items, path, findings)
    if whole in (list, tuple) and isinstance(value, list):
        return _check_list(value, items[0], meta, path, findings)
    if kind is Any:
        return value
    try:
        return convert(value, kind if meta is None else meta.type)
    except (msgspec.ValidationError, UnicodeEncodeError):
        # UnicodeEncodeError: msgspec encodes a string that it compares with a literal.
        findings.refuse(path, _expected(kind, meta), kind_of(value))
        return REFUSED


def _check_object(
    value: dict[str, Any], items: tuple[Any, ...], path: Path, findings: Problems
) -> dict[str, Any]:
    made = {}
    for key, member in value.items():
        if check_value(key, items[0], (*path, key), findings) is not REFUSED:
            made[key] = check_value(member, items[1], (*path, key), findings)
    return {key: member for key, member in made.items() if member is not REFUSED}


def _check_list(
    value: list[Any], item: Any, meta: _Limits | None, path: Path, findings: Problems
) -> list[Any]:
    if meta is not None and len(value) < meta.least:
        findings.refuse(path, meta.words, "an empty list")
    made = [check_value(element, item, (*path, at), findings) for at, element in enumerate(value)]
    return [item for item in made if item is not REFUSED]


class _Limits(msgspec.Struct, frozen=True):
    """A type with its limits, and the limits in words."""

    type: Any
    words: str
    #: Items.
    least: int


@functools.cache
def _unwrap_type(kind: Any) -> tuple[Any, _Limits | None, bool]:
    """A type without limits and without `| None`, its limits, and whether it had `| None`."""
    optional = False
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        optional = len(rest) < len(typing.get_args(kind))
        kind = rest[0]
    if typing.get_origin(kind) is typing.Annotated:
        bare, meta = typing.get_args(kind)[:2]
        return bare, _Limits(kind, meta.description or "", meta.min_length or 0), optional
    return kind, None, optional


def _expected(kind: Any, meta: _Limits | None) -> str:
    if meta is not None and meta.words:
        return meta.words
    if typing.get_origin(kind) is typing.Literal:
        return "one of " + ", ".join(f'"{arg}"' for arg in typing.get_args(kind))
    return _EXPECTED.get(typing.get_origin(kind) or kind, "something else")
