"""Names of symbols: their parts, their places in a text, and how well they fit a query. Pure.

Servers write a name in several ways (`feed`, `feed()`, `feed(char *)`, `ns::feed`), and some give
only the range of a whole symbol, which begins with a keyword.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from lspkit.protocol.text import Text
from lspkit.types import Position, Range, Symbol

#: Parts of a name, from the outermost to the innermost.
Chain = tuple[str, ...]

#: Most lines from the start of a symbol on which its name is looked for.
MOST_LINES = 30
#: How similar a name has to be to one that was asked for, from 0 to 1; and how many such names are
#: compared, and shown.
SIMILAR, COMPARED, SHOWN = 0.6, 5_000, 5

#: Lines before a name that may contain it: decorators, attributes, comments.
_NOT_THE_NAME = re.compile(r"\s*(@|//|/?\*|#)")
#: An index after a name: which of several symbols of this name is meant.
_NUMBERED = re.compile(r"(.+)\[(\d{1,6})\]")


def bare_name(name: str) -> str:
    """The name without parameters and type parameters."""
    return re.split(r"[(<]", name, maxsplit=1)[0].strip() or name


def name_parts(name: str) -> Chain:
    """The parts of a qualified name."""
    if name.isidentifier():  # as most names
        return (name,)
    bare = bare_name(name)
    return tuple(part for part in re.split(r"::|\.", bare) if part) or (bare,)


def split_number(name: str) -> tuple[str, int | None]:
    """A name without its index, and the index, counted from 0."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def symbol_chains(symbols: Iterable[Symbol], above: Chain = ()) -> Iterator[tuple[Chain, Symbol]]:
    """All symbols of a file, each with its qualified name."""
    for symbol in symbols:
        container = symbol.container.split(".") if symbol.container and not above else []
        chain = (*above, *(part for part in container if part), *name_parts(symbol.name))
        yield chain, symbol
        yield from symbol_chains(symbol.children, chain)


def whole_word(name: str) -> str:
    """A pattern for the name as a whole word."""
    return rf"(?<!\w){re.escape(name)}(?!\w)"


def find_name(text: Text | None, name: str, whole: Range, given: Range) -> Range:
    """The range of a symbol's name; `given` if the text is not known or does not contain it.

    `whole` is the range of the symbol, `given` what the server says about its name.
    """
    word = name if name.isidentifier() else name_parts(name)[-1]  # nearly all are
    if text is None or not word:
        return given
    line, start = given.start.line, given.start.column - 1
    if text.has_word_at(line - 1, start, word) or line > text.line_count:
        return given
    pattern = re.compile(whole_word(word))
    last = min(whole.end.line, text.line_count, line + MOST_LINES)
    for number in range(line, last + 1):
        written = text.line(number - 1)
        if number > line:
            start = 0
        if _NOT_THE_NAME.match(written, start):
            continue
        match = pattern.search(written, start)
        end = whole.end.column - 1 if number == whole.end.line else len(written)
        if match and match.end() <= max(end, 0):
            place = Position(number, match.start() + 1)
            return Range(place, Position(number, match.end() + 1))
    return given


def rank(name: str, wanted: str) -> int:
    """How well a name fits: 0 exactly, then without case, as a beginning, or otherwise."""
    own, folded = name_parts(name)[-1], wanted.lower()
    if own == wanted:
        return 0
    if own.lower() == folded:
        return 1
    return 2 if own.lower().startswith(folded) else 3


def nearest(
    wanted: Sequence[str], among: Sequence[tuple[Chain, Symbol]]
) -> list[tuple[Chain, Symbol]]:
    """The symbols whose names are most similar, the best first; empty if none is."""
    compare = difflib.SequenceMatcher(autojunk=False)

    def likeness(name: str, other: str) -> float:
        compare.set_seqs(name.lower(), other.lower())
        return compare.ratio() if compare.real_quick_ratio() >= SIMILAR else 0.0

    scored = []
    for number, (chain, symbol) in enumerate(among[:COMPARED]):
        own, last = chain[-1].lower(), wanted[-1].lower()
        inside = 0.75 if len(last) > 1 and last in own else 0.0
        score = max(likeness(own, last), inside)
        around = likeness(".".join(chain[:-1]), ".".join(wanted[:-1])) if len(wanted) > 1 else 0.0
        if score >= SIMILAR:
            scored.append((-score - around, number, (chain, symbol)))
    return [entry for _, _, entry in sorted(scored, key=lambda row: row[:2])[:SHOWN]]
