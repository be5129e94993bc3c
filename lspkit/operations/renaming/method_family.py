"""The methods that have to have one name: a method, those that it overrides, and its overrides.

Many servers rename a method of one class alone. The others are found by `implementation`, where the
server has it, and by the names of base classes in the headers of classes (`base_list.py`): a base
class is the definition of such a name, and a derived class has a reference to its base there. So
this works with every server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from lspkit.answer import Answer
from lspkit.errors import LspkitError, UnsupportedError
from lspkit.operations.host import Host
from lspkit.operations.navigation import (
    DefinitionRequest,
    ImplementationRequest,
)
from lspkit.operations.references.references import ReferencesRequest
from lspkit.operations.renaming.base_list import find_base_names
from lspkit.operations.request import OPERATIONS, Request
from lspkit.operations.symbol_names import name_parts
from lspkit.operations.symbols import DocumentSymbolsRequest
from lspkit.protocol.text import Text
from lspkit.types import Location, Position, Range, Symbol

#: Most classes that are looked at, and most base classes of one.
MOST_CLASSES, MOST_BASES = 200, 10
#: Most files with references to a class that are searched for derived classes.
MOST_FILES = 100
#: Most lines, and characters, of the header of a class.
HEADER_LINES, LONGEST_HEADER = 20, 2_000

#: What may have members that are overridden, and such members.
CLASSES = frozenset({"class", "interface", "struct"})
MEMBERS = frozenset({"method", "property", "field", "function", "variable", "constant"})


class Class(msgspec.Struct, frozen=True):
    """A class, by its name in a file."""

    path: str
    symbol: Symbol

    @property
    def key(self) -> tuple[str, Position]:
        """What distinguishes it from others."""
        return self.path, self.symbol.selection.start

    def member(self, name: str) -> Location | None:
        """Where it declares a member of this name."""
        for child in self.symbol.children:
            if child.kind in MEMBERS and name_parts(child.name)[-1] == name:
                return Location(child.path, child.selection, child.uri)
        return None


class Family(msgspec.Struct):
    """What was found."""

    #: Where methods of the family are declared, each once.
    members: list[Location] = []
    #: Those of them that are in libraries.
    in_libraries: list[Location] = []
    #: Why some may be missing.
    problems: list[str] = []
    #: Whether the server can tell implementations.
    has_implementations: bool = True
    #: The classes of files, by path.
    classes: dict[str, list[Class]] = {}

    @property
    def own(self) -> list[Location]:
        """The members that are not in libraries."""
        return [member for member in self.members if member not in self.in_libraries]

    def missed(self, problem: str) -> None:
        """Some may be missing, for this reason; each is kept once."""
        if problem not in self.problems:
            self.problems.append(problem)


def find_family(host: Host, path: str, line: int, column: int) -> Family:
    """All declarations of the method at a position; no members if it is no method."""
    family = Family([], [], [], classes={})
    started = _declared_at(host, path, line, column, family)
    if started is None:
        return family
    own, name = started
    try:
        _search(host, own, name, family)
    except LspkitError as problem:
        family.missed(problem.message)
    return family


def _declared_at(
    host: Host, path: str, line: int, column: int, family: Family
) -> tuple[Class, str] | None:
    """The class that declares the method at a position, and the method's name."""
    try:
        places = _ask(DefinitionRequest(path=path, line=line, column=column), host)
        here = Range(Position(line, column), Position(line, column))
        for place in [*places, Location(Path(path), here, "")]:
            if place.path is None:
                continue
            for owner in _classes_in(host, str(place.path), family):
                for child in owner.symbol.children:
                    if child.kind in MEMBERS and _holds(child.selection, place.range.start):
                        return owner, name_parts(child.name)[-1]
    except LspkitError:
        return None  # without symbols or definitions it is not known to be a method
    return None


def _search(host: Host, own: Class, name: str, family: Family) -> None:
    """Follow base classes and derived classes, as far as they belong to the family."""
    todo, seen = [own], {own.key}
    while todo:
        if len(seen) > MOST_CLASSES:
            family.missed(f"there are more than {MOST_CLASSES} classes")
            return
        owner = todo.pop(0)
        member = owner.member(name)
        if member is not None and member not in family.members:
            family.members.append(member)
        if not _is_own(host, owner):
            # What else derives from a class of a library is no relative.
            family.in_libraries += [] if member is None else [member]
            continue
        relatives = _ancestors(host, owner, name, family)
        overriding = []
        if member is not None and family.has_implementations:
            try:
                overriding = _overriding(host, member, family)
            except UnsupportedError:
                family.has_implementations = False
        relatives += overriding
        # Some servers return only the member itself.
        if all(other.key == owner.key for other in overriding):
            relatives += _derived(host, owner, family)
        for other in relatives:
            if other.key not in seen:
                seen.add(other.key)
                todo.append(other)


def _is_own(host: Host, owner: Class) -> bool:
    """Whether a class is part of the project, rather than of a library."""
    uri = owner.symbol.uri
    places = host.find_places("", "", (uri,), texts=False)
    return places[uri].own


def _overriding(host: Host, member: Location, family: Family) -> list[Class]:
    """The classes with implementations of a member."""
    owners: list[Class] = []
    request = ImplementationRequest(path=str(member.path), line=member.line, column=member.column)
    for place in _ask(request, host):
        if place.path is None:
            continue
        for owner in _classes_in(host, str(place.path), family):
            if any(_holds(child.selection, place.range.start) for child in owner.symbol.children):
                owners.append(owner)
    return owners


def _ancestors(host: Host, owner: Class, name: str, family: Family) -> list[Class]:
    """The nearest classes above a class that have a member of this name.

    A class between them, without the member, has other derived classes, which are no relatives.
    """
    ancestors: list[Class] = []
    todo, seen = [owner], {owner.key}
    while todo:
        if len(seen) > MOST_CLASSES:
            family.missed(f"there are more than {MOST_CLASSES} classes above {owner.symbol.name}")
            break
        for base in _bases(host, todo.pop(), family):
            if base.key in seen:
                continue
            seen.add(base.key)
            (ancestors if base.member(name) is not None else todo).append(base)
    return ancestors


def _bases(host: Host, heir: Class, family: Family) -> list[Class]:
    """The base classes that the header of a class names."""
    bases: list[Class] = []
    text = host.read_text(heir.path)
    names = _base_names(text, heir)
    if len(names) > MOST_BASES:
        family.missed(f"{heir.symbol.name} has more than {MOST_BASES} base classes")
    for line, column in names[:MOST_BASES]:
        places = _ask(DefinitionRequest(path=heir.path, line=line, column=column), host)
        for place in places:
            if place.path is None:
                continue
            for other in _classes_in(host, str(place.path), family):
                if _holds(other.symbol.selection, place.range.start) and other.key != heir.key:
                    bases.append(other)
    return bases


def _derived(host: Host, base: Class, family: Family) -> list[Class]:
    """The classes whose headers name a class as their base."""
    request = ReferencesRequest(
        path=base.path,
        line=base.symbol.line,
        column=base.symbol.column,
        include_declaration=False,
    )
    places = _ask(request, host)
    files: dict[str, list[Position]] = {}
    for place in places:
        if place.path is not None:
            files.setdefault(str(place.path), []).append(place.range.start)
    if len(files) > MOST_FILES:
        family.missed(f"more than {MOST_FILES} files refer to {base.symbol.name}")
    derived: list[Class] = []
    for path, starts in list(files.items())[:MOST_FILES]:
        text = host.read_text(path)
        for other in _classes_in(host, path, family):
            names = {Position(*name) for name in _base_names(text, other)}
            if other.key != base.key and names.intersection(starts):
                derived.append(other)
    return derived


def _base_names(text: Text, heir: Class) -> list[tuple[int, int]]:
    """Line and column of each name of a base class in the header of a class."""
    first, at = heir.symbol.selection.end.line, heir.symbol.selection.end.column - 1
    last = min(text.line_count, heir.symbol.range.end.line, first + HEADER_LINES)
    lines = [text.line(number - 1) for number in range(first, last + 1)]
    header = "\n".join(lines)[at : at + LONGEST_HEADER]
    places: list[tuple[int, int]] = []
    for start in find_base_names(header, heir.path):
        before = header[:start]
        row = before.count("\n")
        column = start - before.rfind("\n") if row else at + start + 1
        places.append((first + row, column))
    return places


def _classes_in(host: Host, path: str, family: Family) -> list[Class]:
    """All classes of a file, also those inside of others."""
    if path in family.classes:
        return family.classes[path]
    symbols = _ask(DocumentSymbolsRequest(path=path), host)
    classes: list[Class] = []
    todo = list(symbols)
    while todo:
        symbol = todo.pop()
        todo += symbol.children
        if symbol.kind in CLASSES:
            classes.append(Class(path, symbol))
    family.classes[path] = classes
    return classes


def _holds(range: Range, place: Position) -> bool:
    return range.start <= place <= range.end


def _ask(request: Request[Answer[Any]], host: Host) -> Answer[Any]:
    """The result of another operation."""
    answer: Answer[Any] = OPERATIONS[type(request)].run(request, host)
    return answer
