"""A JSON object whose members are read by name, in camelCase or in snake_case.

Members are taken out one by one; those that are left at the end are unknown. The order of the
members has no effect.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from lspkit.config.key_aliases import snake
from lspkit.config.problems import Path, Problems, kind_of
from lspkit.config.type_check import REFUSED, check_value


@functools.cache
def members_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The names of a struct's fields in files, with their types."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}


def sort_by_fields(kind: type[msgspec.Struct], said: dict[str, Any]) -> dict[str, Any]:
    """The values in the order of the struct's fields."""
    return {name: said[name] for name in members_of(kind) if name in said}


def open_object(
    value: Any, path: Path, findings: Problems, expected: str = "an object"
) -> Object | None:
    """A reader of the object; None, with a fault noted, if it is not an object."""
    if isinstance(value, dict):
        return Object(value, path, findings)
    if value is not REFUSED:
        findings.refuse(path, expected, kind_of(value))
    return None


class Object:
    """Reads one object of a file."""

    def __init__(self, value: dict[str, Any], path: Path, findings: Problems) -> None:
        self.path = path
        self.findings = findings
        self._left = dict(value)

    def take(self, name: str) -> tuple[Any, Path] | None:
        """Take a member out; returns it with its path, None if there is none."""
        spellings = [one for one in dict.fromkeys((name, snake(name))) if one in self._left]
        if not spellings:
            return None
        for double in spellings[1:]:
            del self._left[double]
            self.findings.warn((*self.path, double), f"it is ignored: {name} is set already")
        return self._left.pop(spellings[0]), (*self.path, spellings[0])

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
