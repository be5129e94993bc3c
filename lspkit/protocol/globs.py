"""Globs of file watchers and document selectors, read as VS Code reads them.

`*` and `?` stay inside a path segment, `**` as a whole segment is any number of segments, `{a,b}`
is a choice and `[a-z]` or `[!a-z]` one character. A leading dot is nothing special, case counts,
and a backslash is a plain character. Paths are separated by `/`.

A pattern becomes an automaton whose states are made when a path needs them. So matching takes one
step per character whatever the pattern is: nothing is tried twice, and nothing that a server can
register makes it slow. A bracket or brace without its partner is a plain character. A pattern that
has no meaning matches nothing: an empty one, a range that runs backwards, one over the limits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

#: Longest pattern, in characters. Longer paths cannot be opened on most systems.
MAX_PATTERN = 4096
#: How deep choices may lie in choices.
MAX_NESTING = 32
# How many steps one pattern remembers. A class of characters has a step for each that was met.
_MAX_STEPS = 20_000
# The shape of most patterns there are: anywhere, a name or an ending of it, perhaps a choice last.
_COMMON = re.compile(r"\*\*/(\*?)([^*?{}\[\]/]*)(?:\{([^*?{}\[\]/]*)\})?")


@functools.lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a path matches.

    Where VS Code's matcher loses its way, the plain meaning is taken: a choice in a choice, a
    last choice that is empty, a choice that ends in a slash or in `**` and has text after it, `**`
    twice in a row at the end, and `[!a]`, which does not match a slash here.

    >>> compile_glob("**/*.{py,pyi}")("src/a.py")
    True
    >>> compile_glob("src/*.py")("src/a/b.py")
    False
    """
    pattern = pattern.strip()
    if not pattern or len(pattern) > MAX_PATTERN:
        return _nothing
    if len(pattern) > 1:
        pattern = pattern.removesuffix("/")
    if common := _COMMON.fullmatch(pattern):
        return _ending(*common.groups())
    parser = _Parser(pattern)
    try:
        whole = parser.sequence(0, len(pattern), 0)
    except _Meaningless:
        return _nothing
    return _Automaton(parser.symbols, parser.follow, whole)


def mistake_in(pattern: str) -> str:
    """What is wrong with a pattern that somebody has written by hand; empty if nothing is.

    Matching is lenient, since a server may register anything. Here that counts which nobody means:
    a pattern that matches nothing, and a bracket or brace without its partner.

    >>> mistake_in("**/{a,b"), mistake_in("**/{a,b}")
    ('{ has no partner', '')
    """
    pattern = pattern.strip()
    if not pattern:
        return "it is empty"
    if len(pattern) > MAX_PATTERN:
        return f"it has more than {MAX_PATTERN} characters"
    ends = dict(_partners(pattern))
    closed, at = {end - 1 for end in ends.values()}, 0
    while at < len(pattern):
        if pattern[at] in "[]{}" and at not in ends and at not in closed:
            return f"{pattern[at]} has no partner"
        at = ends[at] if pattern[at] == "[" else at + 1
    try:
        parser = _Parser(pattern)
        parser.sequence(0, len(pattern), 0)
    except _Meaningless:
        return "it has a range that runs backwards, or choices that lie too deep in choices"
    return ""


def _nothing(path: str) -> bool:
    return False


def _ending(star: str, name: str, choices: str | None) -> Callable[[str], bool]:
    """The same answers as the automaton, ten times as fast, for names anywhere."""
    names = tuple(name + choice for choice in (choices or "").split(","))
    if star:
        return lambda path: path.endswith(names)
    below = tuple("/" + name for name in names)
    return lambda path: path in names or path.endswith(below)


class _Meaningless(Exception):
    """The pattern cannot match anything."""


class _Symbol(NamedTuple):
    """What one character of a path has to be."""

    #: The characters, as first and last of a range each.
    ranges: tuple[tuple[str, str], ...] = ()
    #: Whether it has to be any other character instead.
    negated: bool = False
    #: Whether a slash will do. Only a slash itself and `**` say so.
    slash: bool = False

    def takes(self, character: str) -> bool:
        if character == "/":
            return self.slash
        return any(low <= character <= high for low, high in self.ranges) != self.negated


_SLASH = _Symbol(slash=True)
_WITHIN = _Symbol(negated=True)
_ANY = _Symbol(negated=True, slash=True)


class _Piece(NamedTuple):
    """A part of the pattern. Symbols are numbered; a set of them is the bits of an integer."""

    #: Whether the empty text matches.
    empty: bool
    #: Symbols that a match can start with.
    first: int
    #: Symbols that a match can end with.
    last: int


_EMPTY = _Piece(True, 0, 0)


class _Parser:
    """Turns a pattern into symbols, and the symbols that can follow each of them.

    That is the construction of Glushkov: each symbol of the pattern is a state of its own, and
    there are no steps without a character.
    """

    def __init__(self, pattern: str) -> None:
        self.symbols: list[_Symbol] = []
        self.follow: list[int] = []
        self._pattern = pattern
        # Where each bracket or brace that has a partner ends, by where it starts.
        self._ends = dict(_partners(pattern))

    def sequence(self, start: int, stop: int, depth: int) -> _Piece:
        """A whole pattern, or one of the choices in braces."""
        segments = list(self._split("/", start, stop))
        stars = [self._pattern[low:high] == "**" for low, high in segments]
        if all(stars):
            return self._repeated(self._symbol(_ANY))
        result = _EMPTY
        for index, (low, high) in enumerate(segments):
            rest = stars[index + 1 :]
            if not stars[index]:
                result = self._joined(result, self._segment(low, high, depth))
                # A folder matches what lies below it, and itself: the slash is part of the stars.
                if rest and not all(rest):
                    result = self._joined(result, self._symbol(_SLASH))
            elif index and stars[index - 1]:
                continue
            else:
                slash, path = self._symbol(_SLASH), self._repeated(self._symbol(_ANY))
                stretch = self._joined(slash, path) if all(rest) else self._joined(path, slash)
                result = self._joined(result, self._either([stretch, _EMPTY]))
        return result

    def _segment(self, start: int, stop: int, depth: int) -> _Piece:
        result, at = _EMPTY, start
        while at < stop:
            end = self._ends.get(at, at + 1)
            # Stars in a row are one. That also keeps a line of thousands from being costly.
            if self._pattern[at:end] != "*" or self._pattern[end : min(end + 1, stop)] != "*":
                result = self._joined(result, self._item(at, end, depth))
            at = end
        return result

    def _item(self, start: int, end: int, depth: int) -> _Piece:
        character = self._pattern[start]
        if end > start + 1:
            if character == "[":
                return self._symbol(_character_class(self._pattern[start + 1 : end - 1]))
            if depth == MAX_NESTING:
                raise _Meaningless
            choices = self._split(",", start + 1, end - 1)
            return self._either([self.sequence(*choice, depth + 1) for choice in choices])
        if character == "*":
            return self._repeated(self._symbol(_WITHIN))
        if character == "?":
            return self._symbol(_WITHIN)
        return self._symbol(_Symbol(((character, character),)))

    def _split(self, separator: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut at the separators that stand in no bracket and no brace."""
        at = start
        while at < stop:
            if self._pattern[at] == separator:
                yield start, at
                start = at + 1
            at = self._ends.get(at, at + 1)
        yield start, stop

    def _symbol(self, symbol: _Symbol) -> _Piece:
        bit = 1 << len(self.symbols)
        self.symbols.append(symbol)
        self.follow.append(0)
        return _Piece(False, bit, bit)

    def _joined(self, one: _Piece, other: _Piece) -> _Piece:
        for number in _bits(one.last):
            self.follow[number] |= other.first
        return _Piece(
            one.empty and other.empty,
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
        )

    def _either(self, pieces: list[_Piece]) -> _Piece:
        empty, first, last = False, 0, 0
        for piece in pieces:
            empty, first, last = empty or piece.empty, first | piece.first, last | piece.last
        return _Piece(empty, first, last)

    def _repeated(self, piece: _Piece) -> _Piece:
        for number in _bits(piece.last):
            self.follow[number] |= piece.first
        return _Piece(True, piece.first, piece.last)


def _partners(pattern: str) -> Iterator[tuple[int, int]]:
    braces: list[int] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "[" and (end := _class_end(pattern, at)):
            yield at, end
            at = end
            continue
        if character == "{":
            braces.append(at)
        elif character == "}" and braces:
            yield braces.pop(), at + 1
        at += 1


def _class_end(pattern: str, start: int) -> int:
    """The place after the bracket that ends a class, or 0. Right at the start it is a member."""
    at = start + 1
    if pattern[at : at + 1] in ("!", "^"):
        at += 1
    return pattern.find("]", at + 1) + 1


def _character_class(members: str) -> _Symbol:
    negated = members[0] in "!^"
    members = members[1:] if negated else members
    ranges = []
    at = 0
    while at < len(members):
        low = high = members[at]
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            high = members[at + 2]
            at += 2
        if low > high:
            raise _Meaningless
        ranges.append((low, high))
        at += 1
    return _Symbol(tuple(ranges), negated)


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


class _State(dict[str, "_State"]):
    """Where a walk along a path can be: the next state by character, filled in as they come."""

    __slots__ = ("accepts", "allowed", "automaton")

    def __init__(self, automaton: _Automaton, allowed: int, accepts: bool) -> None:
        super().__init__()
        self.automaton = automaton
        #: Symbols that may take the next character.
        self.allowed = allowed
        #: Whether the path may end here.
        self.accepts = accepts

    def __missing__(self, character: str) -> _State:
        following = self.automaton.step(self.allowed, character)
        self[character] = following
        return following


class _Automaton:
    """Matches paths. Threads may share it: what two of them add at once is equal."""

    __slots__ = ("_follow", "_last", "_start", "_states", "_steps", "_symbols", "_takers")

    def __init__(self, symbols: list[_Symbol], follow: list[int], whole: _Piece) -> None:
        self._symbols = symbols
        self._follow = follow
        self._last = whole.last
        self._start = _State(self, whole.first, whole.empty)
        # States by the symbols that took the last character, and the symbols by character.
        self._states: dict[int, _State] = {}
        self._takers: dict[str, int] = {}
        self._steps = 0

    def __call__(self, path: str) -> bool:
        state = self._start
        for character in path:
            state = state[character]
        return state.accepts

    def step(self, allowed: int, character: str) -> _State:
        """The state after a character that was not met in this state before."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            # Forget all and start again. Walks that are under way keep the states they stand on.
            self._start = _State(self, self._start.allowed, self._start.accepts)
            self._states, self._takers, self._steps = {}, {}, 0
        takers = self._takers.get(character)
        if takers is None:
            takers = 0
            for number, symbol in enumerate(self._symbols):
                takers |= symbol.takes(character) << number
            self._takers[character] = takers
        taken = allowed & takers
        state = self._states.get(taken)
        if state is None:
            following = 0
            for number in _bits(taken):
                following |= self._follow[number]
            state = _State(self, following, bool(taken & self._last))
            self._states[taken] = state
        return state
