"""Globs of file watchers and document selectors, read as VS Code reads them.

`*` and `?` stay inside a path segment, `**` as a whole segment is any number of segments, `{a,b}`
is a choice and `[a-z]` or `[!a-z]` one character. A leading dot is nothing special, case counts,
and a backslash is a plain character. Paths are separated by `/`.

A pattern becomes an automaton, so no pattern that a server registers makes matching slow. A bracket
or brace without a partner is a plain character. A pattern without meaning matches nothing: an empty
one, a range that runs backwards, one over the limits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

#: Longest pattern, in characters. Longer paths cannot be opened on most systems.
MAX_PATTERN = 4096
#: Levels of nested braces.
MAX_NESTING = 32
# The form of most patterns: in any folder, a name or the end of one, perhaps with a choice.
_COMMON = re.compile(r"\*\*/(\*?)([^*?{}\[\]/]*)(?:\{([^*?{}\[\]/]*)\})?")
# A choice of plain paths. gopls registers all folders of a project so, anew for each new folder.
_PATHS = re.compile(r"\{([^*?{}\[\]]*)\}")


@functools.lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a path matches.

    Where VS Code's matcher is inconsistent, the plain meaning is used: nested choices, an empty
    last choice, a choice that ends in a slash or in `**` and has text after it, `**` twice in a row
    at the end, and `[!a]`, which does not match a slash here.

    >>> compile_glob("**/*.{py,pyi}")("src/a.py")
    True
    >>> compile_glob("src/*.py")("src/a/b.py")
    False
    """
    pattern = pattern.strip()
    if not pattern or len(pattern) > MAX_PATTERN:
        return _match_nothing
    if len(pattern) > 1:
        pattern = pattern.removesuffix("/")
    if common := _COMMON.fullmatch(pattern):
        return _match_names(*common.groups())
    if paths := _PATHS.fullmatch(pattern):
        return _match_paths(paths[1])
    parser = _Parser(pattern)
    try:
        whole = parser.sequence(0, len(pattern), 0)
    except _Meaningless:
        return _match_nothing
    return Automaton(parser, whole)


def compile_cost(pattern: str) -> int:
    """How long compiling a pattern takes, in no particular unit: an automaton is quadratic."""
    pattern = pattern.strip()
    size = len(pattern)
    return size if size > MAX_PATTERN or _PATHS.fullmatch(pattern) else size * size


def pattern_mistake(pattern: str) -> str:
    """The mistake in a pattern that a person has written; empty if there is none.

    Matching is lenient, since a server may register anything. Here a pattern that matches nothing,
    and a bracket or brace without a partner, are mistakes.

    >>> pattern_mistake("**/{a,b"), pattern_mistake("**/{a,b}")
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
        return "it has a range that runs backwards, or too many levels of choices"
    return ""


def _match_nothing(path: str) -> bool:
    return False


def _match_names(star: str, name: str, choices: str | None) -> Callable[[str], bool]:
    """The same results as the automaton, ten times as fast, for names in any folder."""
    names = tuple(name + choice for choice in (choices or "").split(","))
    if star:
        return lambda path: path.endswith(names)
    below = tuple("/" + name for name in names)
    return lambda path: path in names or path.endswith(below)


def _match_paths(choices: str) -> Callable[[str], bool]:
    """The same results as the automaton, for a choice of plain paths. Takes no time to make."""
    between = f",{choices},"
    return lambda path: "," not in path and f",{path}," in between


# Automata for path patterns: what a glob compiles to, whatever its grammar.
#
# `Builder` is the construction of Glushkov: each symbol of the pattern is a state, and every step
# takes a character. `Automaton` makes its sets of states when a path needs them, so that matching
# takes one step per character whatever the pattern is: nothing is tried twice.

# Cached steps of one pattern.
_MAX_STEPS = 20_000


class CharacterSet(NamedTuple):
    """The characters that fit at one place of a pattern."""

    #: First and last character of each range.
    ranges: tuple[tuple[str, str], ...] = ()
    #: Whether all other characters fit instead.
    negated: bool = False
    #: Whether a slash fits. `ranges` and `negated` do not apply to it.
    slash: bool = False
    #: Whether it is enough that the character fits in upper or in lower case.
    any_case: bool = False

    def takes(self, character: str) -> bool:
        """Whether the character fits."""
        if character == "/":
            return self.slash
        if self.any_case:
            exact = self._replace(any_case=False)
            return any(map(exact.takes, (character, character.lower(), character.upper())))
        return any(low <= character <= high for low, high in self.ranges) != self.negated


SLASH = CharacterSet(slash=True)
#: Any character of a path segment.
WITHIN = CharacterSet(negated=True)
ANY = CharacterSet(negated=True, slash=True)


class Piece(NamedTuple):
    """A part of a pattern. Symbols are numbered; a set of them is the bits of an integer."""

    #: Whether the empty text matches.
    empty: bool
    #: Symbols that a match can start with.
    first: int
    #: Symbols that a match can end with.
    last: int


EMPTY = Piece(True, 0, 0)


class Builder:
    """Collects the symbols of a pattern, and the symbols that can follow each of them."""

    def __init__(self) -> None:
        self.symbols: list[CharacterSet] = []
        self.follow: list[int] = []

    def symbol(self, symbol: CharacterSet) -> Piece:
        """One character."""
        bit = 1 << len(self.symbols)
        self.symbols.append(symbol)
        self.follow.append(0)
        return Piece(False, bit, bit)

    def join(self, earlier: Piece, later: Piece) -> Piece:
        """One piece after the other."""
        for number in _bits(earlier.last):
            self.follow[number] |= later.first
        return Piece(
            earlier.empty and later.empty,
            earlier.first | later.first if earlier.empty else earlier.first,
            earlier.last | later.last if later.empty else later.last,
        )

    def either(self, pieces: Iterable[Piece]) -> Piece:
        """One of the pieces."""
        empty, first, last = False, 0, 0
        for piece in pieces:
            empty, first, last = empty or piece.empty, first | piece.first, last | piece.last
        return Piece(empty, first, last)

    def repeat(self, piece: Piece) -> Piece:
        """The piece any number of times, also not at all."""
        for number in _bits(piece.last):
            self.follow[number] |= piece.first
        return Piece(True, piece.first, piece.last)


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


class _State(dict[str, "_State"]):
    """A set of possible states: the next set by character, filled in when needed."""

    __slots__ = ("accepts", "allowed", "automaton")

    def __init__(self, automaton: Automaton, allowed: int, accepts: bool) -> None:
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


class Automaton:
    """Matches paths. Threads may share it: they add equal states."""

    __slots__ = ("_follow", "_last", "_start", "_states", "_steps", "_symbols", "_takers")

    def __init__(self, builder: Builder, whole: Piece) -> None:
        self._symbols = builder.symbols
        self._follow = builder.follow
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
        """The state after a character that is new in this state."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            # Clear the cache. Matches in progress keep their states.
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


class _Meaningless(Exception):
    """The pattern cannot match anything."""


class _Parser(Builder):
    """Reads a pattern."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self._pattern = pattern
        # Where each bracket or brace that has a partner ends, by where it starts.
        self._ends = dict(_partners(pattern))

    def sequence(self, start: int, stop: int, depth: int) -> Piece:
        """A whole pattern, or one of the choices in braces."""
        segments = list(self._split("/", start, stop))
        stars = [self._pattern[low:high] == "**" for low, high in segments]
        if all(stars):
            return self.repeat(self.symbol(ANY))
        result = EMPTY
        for index, (low, high) in enumerate(segments):
            rest = stars[index + 1 :]
            if not stars[index]:
                result = self.join(result, self._segment(low, high, depth))
                # `a/**` matches the folder itself, too: the slash is part of the stars.
                if rest and not all(rest):
                    result = self.join(result, self.symbol(SLASH))
            elif index and stars[index - 1]:
                continue
            else:
                slash, path = self.symbol(SLASH), self.repeat(self.symbol(ANY))
                stretch = self.join(slash, path) if all(rest) else self.join(path, slash)
                result = self.join(result, self.either([stretch, EMPTY]))
        return result

    def _segment(self, start: int, stop: int, depth: int) -> Piece:
        result, at = EMPTY, start
        while at < stop:
            end = self._ends.get(at, at + 1)
            # Several stars in a row are one. This also makes thousands of them cheap.
            if self._pattern[at:end] != "*" or self._pattern[end : min(end + 1, stop)] != "*":
                result = self.join(result, self._item(at, end, depth))
            at = end
        return result

    def _item(self, start: int, end: int, depth: int) -> Piece:
        character = self._pattern[start]
        if end > start + 1:
            if character == "[":
                return self.symbol(_character_class(self._pattern[start + 1 : end - 1]))
            if depth == MAX_NESTING:
                raise _Meaningless
            choices = self._split(",", start + 1, end - 1)
            return self.either([self.sequence(*choice, depth + 1) for choice in choices])
        if character == "*":
            return self.repeat(self.symbol(WITHIN))
        if character == "?":
            return self.symbol(WITHIN)
        return self.symbol(CharacterSet(((character, character),)))

    def _split(self, separator: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Split at the separators outside brackets and braces."""
        at = start
        while at < stop:
            if self._pattern[at] == separator:
                yield start, at
                start = at + 1
            at = self._ends.get(at, at + 1)
        yield start, stop


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
    """The index after the bracket that ends a class, or 0. A first `]` is a member."""
    at = start + 1
    if pattern[at : at + 1] in ("!", "^"):
        at += 1
    return pattern.find("]", at + 1) + 1


def _character_class(members: str) -> CharacterSet:
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
    return CharacterSet(tuple(ranges), negated)
