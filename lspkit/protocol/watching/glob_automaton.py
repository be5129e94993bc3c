"""Automata for path patterns: what a glob compiles to, whatever its grammar.

`Builder` is the construction of Glushkov: each symbol of the pattern is a state, and every step
takes a character. `Automaton` makes its sets of states when a path needs them, so that matching
takes one step per character whatever the pattern is: nothing is tried twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

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

    def join(self, one: Piece, other: Piece) -> Piece:
        """One piece after the other."""
        for number in _bits(one.last):
            self.follow[number] |= other.first
        return Piece(
            one.empty and other.empty,
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
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
