r"""The grammar of an entry of `trustedProjectRoots`. `root_pattern.py` defines what it matches.

An entry may contain `*`, `**`, `?`, `{a,b}`, `[a-c]`, `[^a]` and `\` before a special character.
Everything that picomatch interprets in a surprising way, and everything that looks like another
pattern syntax, is refused: an entry must never trust more than its author intended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from lspkit.errors import ConfigError
from lspkit.protocol.watching.glob_automaton import WITHIN, CharacterSet

#: Longest entry, in characters.
MAX_ENTRY = 1024
#: Levels of nested braces.
MAX_NESTING = 16


class Many(NamedTuple):
    """Any number of characters of a set."""

    of: CharacterSet


class Alternatives(NamedTuple):
    """One of several sequences."""

    of: tuple[tuple[Item, ...], ...]


class Stars(NamedTuple):
    """`**`, whose meaning depends on its place."""


#: A part of an entry. A string is one literal character.
Item = str | CharacterSet | Many | Alternatives | Stars

#: `*`
STAR = Many(WITHIN)
#: `**`
STARS = Stars()

_CLASS = re.compile(r"\[(\^?+)((?:[^\\\]]|\\.)+)\]", re.DOTALL)
_MEMBER = re.compile(r"\\.|[^\\]", re.DOTALL)
# For picomatch, a class without one of these may also be a literal folder name.
_TELLS_A_CLASS = re.compile(r"[-*+?.^${}(|)\[\]]")


def parse_entry(text: str, *, escapes: bool = True) -> tuple[Item, ...]:
    """Parse an entry that begins with a slash or is empty; `ConfigError` if it is invalid."""
    items = _Reader(text, escapes).sequence(0)
    _check_parts(items)
    _check_stars(items)
    return items


def refuse(why: str) -> NoReturn:
    """Refuse an entry that is invalid or ambiguous."""
    raise ConfigError(why)


class _Reader:
    """Reads from left to right."""

    def __init__(self, text: str, escapes: bool) -> None:
        self._text = text
        self._escapes = escapes
        self._at = 0

    def sequence(self, depth: int) -> tuple[Item, ...]:
        """Everything up to the end or, in braces, up to the end of this alternative."""
        items: list[Item] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if depth and character in ",}":
                break
            # After a bracket or a brace, and at the start of an alternative, picomatch reads it
            # as a repetition, as in regular expressions.
            if character == "+" and not isinstance(items[-1] if items else depth, str | Many):
                refuse("+ after a bracket or a brace has to be escaped")
            items.append(self._item(character, depth))
        return tuple(items)

    def _item(self, character: str, depth: int) -> Item:
        if character == "*":
            return self._stars(depth)
        if character == "[":
            return self._class()
        if character == "{":
            return self._choice(depth)
        if character == "\\" and self._escapes:
            return self._escape()
        self._look_at(character, depth)
        self._at += 1
        return WITHIN if character == "?" else character

    def _look_at(self, character: str, depth: int) -> None:
        if character in '()|"]}':
            refuse(f"{character} has to be escaped")
        if character == "!" and self._text[: self._at].endswith(("/", "{", ",")):
            refuse("there is no negation: a ! at the start of a name has to be escaped")
        if depth and self._text.startswith("..", self._at):
            refuse("braces hold names, not ranges")

    def _stars(self, depth: int) -> Item:
        start = self._at
        while self._text[self._at : self._at + 1] == "*":
            self._at += 1
        if self._at == start + 1:
            return STAR
        before, after = self._text[start - 1], self._text[self._at : self._at + 1]
        alone = before in ("/{," if depth else "/") and after in ("/}," if depth else "/")
        if self._at > start + 2 or not alone:
            refuse("** has to be the whole part between two slashes")
        if depth > 1:
            refuse("** cannot be in a choice inside a choice")
        return STARS

    def _escape(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if not following or following == "/" or following.isalnum():
            refuse(r"\ has to be followed by a special character")
        if self._text.startswith(r"\\" + "\\", self._at):
            refuse(r"more than two \ in a row are too many")
        self._at += 2
        return following

    def _choice(self, depth: int) -> Alternatives:
        if depth == MAX_NESTING:
            refuse(f"its braces are more than {MAX_NESTING} deep")
        sequences: list[tuple[Item, ...]] = []
        closed = ""
        while closed != "}":
            self._at += 1
            sequences.append(self.sequence(depth + 1))
            closed = self._text[self._at : self._at + 1]
            if not closed:
                refuse("a { is not closed")
        self._at += 1
        if len(sequences) == 1:
            refuse("braces hold two names or more: {a,b}")
        return Alternatives(tuple(sequences))

    def _class(self) -> Item:
        found = _CLASS.match(self._text, self._at)
        if found is None:
            refuse("a [ is not closed, or holds nothing")
        negated, inside = found.groups()
        if inside[0] in "!]" or inside[0] == inside[-1] == ":":
            refuse("a class of characters is written like [a-c] or [^a-c]")
        self._at = found.end()
        one = CharacterSet(tuple(_ranges(inside)), bool(negated))
        if negated or _TELLS_A_CLASS.search(inside):
            return one
        return Alternatives(((one,), tuple(re.sub(r"\\(.)", r"\1", found[0], flags=re.DOTALL))))


def _ranges(inside: str) -> Iterator[tuple[str, str]]:
    members = _MEMBER.findall(inside)
    number = 0
    while number < len(members):
        low = high = members[number]
        if members[number + 1 : number + 2] == ["-"] and number + 2 < len(members):
            high = members[number + 2]
            if not (low.isalnum() and high.isalnum() and low <= high):
                refuse("a range goes from a letter or digit up to another")
            number += 2
        elif low == "-" and 0 < number < len(members) - 1:
            refuse("a - in a class has to be first, last, or in a range")
        elif low in '/["' or (low[0] == "\\" and (low[1] == "/" or low[1].isalnum())):
            refuse(f"{low} cannot be in a class")
        yield low[-1], high[-1]
        number += 1


def parts_of(items: tuple[Item, ...]) -> list[tuple[Item, ...]]:
    """The items between the slashes."""
    parts: list[tuple[Item, ...]] = [()]
    for item in items:
        parts[-1:] = [parts[-1], ()] if item == "/" else [(*parts[-1], item)]
    return parts


def _check_parts(items: tuple[Item, ...]) -> None:
    for part in parts_of(items)[1:]:
        if part in ((".",), (".", ".")):
            refuse("a part of it is made of dots")
        # Such a part would also match without any folder.
        if part not in ((STAR,), (STARS,)) and all(map(_may_be_nothing, part)):
            refuse("a part of it is empty, or could be")


def _may_be_nothing(item: Item) -> bool:
    if isinstance(item, Alternatives):
        return any(all(map(_may_be_nothing, sequence)) for sequence in item.of)
    return isinstance(item, Many | Stars)


def _check_stars(items: tuple[Item, ...]) -> None:
    """Also in braces, `**` must be a whole segment of the path."""
    for number, item in enumerate(items):
        before, after = items[number - 1 : number], items[number + 1 : number + 2]
        for sequence in item.of if isinstance(item, Alternatives) else ():
            if sequence[:1] == (STARS,) and before != ("/",):
                refuse("** at the start of a choice needs a slash before the brace")
            if sequence[-1:] == (STARS,) and after not in ((), ("/",)):
                refuse("** at the end of a choice needs a slash after the brace")
            if any(sequence[at] == sequence[at + 2] == STARS for at in range(len(sequence) - 2)):
                refuse("** occurs twice in a row in a choice")
