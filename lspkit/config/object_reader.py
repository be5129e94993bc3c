"""A JSON object that is read by the names of its members, in camelCase or in snake_case.

Members are taken out one by one; what is left in the end is what nobody knows. Nothing depends on
the order in which the members stand.
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
    """The names of a struct's fields as they are in files, with their types."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}


def sort_by_fields(kind: type[msgspec.Struct], said: dict[str, Any]) -> dict[str, Any]:
    """The same in the order of the struct's fields, whatever order the file had."""
    return {name: said[name] for name in members_of(kind) if name in said}


def open_object(
    value: Any, path: Path, findings: Problems, expected: str = "an object"
) -> Object | None:
    """The object, or None and a fault if it is none."""
    if isinstance(value, dict):
        return Object(value, path, findings)
    if value is not REFUSED:
        findings.refuse(path, expected, kind_of(value))
    return None


class Object:
    """One object of a file, while it is read."""

    def __init__(self, value: dict[str, Any], path: Path, findings: Problems) -> None:
        self.path = path
        self.findings = findings
        self._left = dict(value)

    def take(self, name: str) -> tuple[Any, Path] | None:
        """A member that is taken out, and where it stands."""
        spellings = [one for one in dict.fromkeys((name, snake(name))) if one in self._left]
        if not spellings:
            return None
        for double in spellings[1:]:
            del self._left[double]
            self.findings.warn((*self.path, double), f"it is ignored: {name} says it already")
        return self._left.pop(spellings[0]), (*self.path, spellings[0])

    def peek(self, name: str) -> Any:
        """A member that stays where it is; None if there is none."""
        return self._left.get(name, self._left.get(snake(name)))

    def read(self, name: str, kind: Any) -> Any:
        """A member that is taken out and checked; `REFUSED` if there is none, or a wrong one."""
        taken = self.take(name)
        return REFUSED if taken is None else self.check(taken, kind)

    def check(self, taken: tuple[Any, Path], kind: Any) -> Any:
        """A member that was taken out; `REFUSED` if it is wrong."""
        return check_value(taken[0], kind, taken[1], self.findings)

    def fields(self, kind: type[msgspec.Struct], leave_out: Collection[str] = ()) -> dict[str, Any]:
        """All that is said by the names of a struct's fields, and below them."""
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
        """All of a kind that is left, which is taken out."""
        taken = {name: value for name, value in self._left.items() if isinstance(value, kind)}
        self._left = {name: value for name, value in self._left.items() if name not in taken}
        return taken

    def end(self, known: Iterable[str], passed_over: Collection[str] = ()) -> None:
        """Warn of what is left."""
        for name in self.rest():
            if name not in passed_over:
                self.findings.warn_unknown((*self.path, name), known)
