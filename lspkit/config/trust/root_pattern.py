r"""Which folders an entry of `trustedProjectRoots` trusts. Pure; `decision.py` decides.

A plain entry is a path: it trusts the folder and everything below. A glob entry trusts the folders
that picomatch matches. Paths are real paths: absolute, without empty parts and dots.

A glob becomes an automaton (`protocol/watching/glob_automaton.py`), so a path takes one pass.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable

from lspkit.config.trust import root_pattern_grammar as grammar
from lspkit.errors import ConfigError
from lspkit.protocol.watching import glob_automaton as automaton

_DRIVE = re.compile(r"[A-Za-z]:(/|$)|//[^/]+/[^/]")
_STRETCH = grammar.Many(automaton.ANY)


class Pattern:
    """One compiled entry."""

    __slots__ = ("_accepts", "_fixed_parts", "_windows", "entry", "plain")

    def __init__(self, entry: str, items: tuple[grammar.Item, ...], windows: bool) -> None:
        #: The entry as written.
        self.entry = entry
        #: The path of a plain entry, None for a glob.
        self.plain: str | None = None
        self._windows = windows
        fixed = [all(isinstance(one, str) for one in part) for part in grammar.parts_of(items)]
        self._fixed_parts = fixed.index(False) if False in fixed else len(fixed)
        if self._fixed_parts == len(fixed):
            self.plain = "".join(one for one in items if isinstance(one, str)) or "/"
        builder = _PatternBuilder(any_case=windows)
        self._accepts = automaton.Automaton(builder, builder.sequence(_expand_stars(items)))

    def __repr__(self) -> str:
        return f"<Pattern {self.entry!r}>"

    def matches(self, path: str) -> bool:
        """Whether the entry matches the path itself, rather than a folder above it."""
        path = self._normalize(path)
        if self.plain is not None:
            return self._fold_case(path) == self._fold_case(self.plain)
        return self._accepts(path)

    def trusts(self, path: str) -> bool:
        """Whether the entry trusts a folder, by its real path."""
        if self.plain is None:
            return self.matches(path)
        below = self._fold_case(self._normalize(path).rstrip("/") + "/")
        return below.startswith(self._fold_case(self.plain.rstrip("/") + "/"))

    def anchor(self, path: str) -> str:
        """The beginning of a trusted path that the entry gives without wildcards."""
        start = "/".join(self._normalize(path).split("/")[: self._fixed_parts])
        return start + "/" if start == "" or start.endswith(":") else start

    def _normalize(self, path: str) -> str:
        if self._windows:
            path = path.replace("\\", "/")
        return path.rstrip("/") or "/"

    def _fold_case(self, text: str) -> str:
        return text.lower() if self._windows else text


def compile_pattern(
    entry: str, *, home: Callable[[str], str] = os.path.expanduser, windows: bool = os.name == "nt"
) -> Pattern:
    r"""Compile an entry; an invalid one raises a `ConfigError`.

    `home` returns the folder of `~` or `~user`. On Windows a backslash is a separator, and a
    special character is escaped with brackets: `[(]`.

    >>> [compile_pattern("/code").trusts(one) for one in ("/code/a/b", "/code2")]
    [True, False]
    >>> [compile_pattern("/code/*").trusts(one) for one in ("/code/a", "/code/a/b")]
    [True, False]
    """
    try:
        return Pattern(entry, _items(entry, home, windows), windows)
    except ConfigError as problem:
        why = f"{entry[:100]!r} is not valid: {problem.message}"
        expected = f"a folder such as ~/code, or a pattern such as ~/code/*; {why}"
        raise ConfigError(f"expected {expected}", expected=expected) from None


def _items(entry: str, home: Callable[[str], str], windows: bool) -> tuple[grammar.Item, ...]:
    if "\0" in entry or len(entry) > grammar.MAX_ENTRY:
        grammar.refuse(f"it has a NUL character, or more than {grammar.MAX_ENTRY} characters")
    text = entry.replace("\\", "/") if windows else entry
    if text.startswith("!"):
        grammar.refuse("there is no negation")
    start = ""
    if text.startswith("~"):
        name, slash, rest = text.partition("/")
        start = home(name).replace("\\", "/") if windows else home(name)
        if start == name or not _is_absolute(start, windows):
            grammar.refuse(f"{name} has no home folder")
        start, text = start.rstrip("/"), slash + rest
    elif not _is_absolute(text, windows):
        grammar.refuse("it is not absolute")
    elif windows:
        # A drive is not a pattern, nor are the two slashes before a host name.
        cut = 1 if text.startswith("//") else 2
        start, text = text[:cut], text[cut:]
    return (*start, *grammar.parse_entry(text.rstrip("/"), escapes=not windows))


def _is_absolute(text: str, windows: bool) -> bool:
    return bool(_DRIVE.match(text)) if windows else text.startswith("/")


def _expand_stars(items: tuple[grammar.Item, ...], top: bool = True) -> tuple[grammar.Item, ...]:
    """The items with each `**` replaced by its meaning in picomatch at that place."""
    result: list[grammar.Item] = []
    at = 0
    while at < len(items):
        item, following = items[at], items[at + 1 : at + 3]
        if item == "/" and following[:1] == (grammar.STARS,):
            while top and items[at + 2 : at + 4] == ("/", grammar.STARS):
                at += 2  # twice in a row is once
            last = at + 2 >= len(items)
            whole: tuple[grammar.Item, ...] = ("/", _STRETCH) if last else ("/", _STRETCH, "/")
            # At the end, the folder before it matches as well, unless that ends in a star. In the
            # middle it may match no folder, but not at the beginning.
            if last:
                bare = top and result[-1:] not in ([], [grammar.STAR])
            else:
                bare = bool(result) or not top
            result += (grammar.Alternatives((whole, whole[2:])),) if bare else whole
            at += 2 if last else 3
            continue
        if item == grammar.STAR and result[-1:] == ["/"] and following[:1] in ((), ("/",)) and top:
            result.append(automaton.WITHIN)  # a part of its own has at least one character
        if isinstance(item, grammar.Alternatives):
            item = grammar.Alternatives(
                tuple(_expand_stars(sequence, top=False) for sequence in item.of)
            )
        result.append(_STRETCH if item == grammar.STARS else item)
        at += 1
    return tuple(result)


class _PatternBuilder(automaton.Builder):
    """Compiles the items of an entry."""

    def __init__(self, any_case: bool) -> None:
        super().__init__()
        self._any_case = any_case

    def sequence(self, items: tuple[grammar.Item, ...]) -> automaton.Piece:
        return functools.reduce(self.join, map(self._item, items), automaton.EMPTY)

    def _item(self, item: grammar.Item) -> automaton.Piece:
        if isinstance(item, grammar.Alternatives):
            return self.either([self.sequence(one) for one in item.of])
        if isinstance(item, grammar.Many):
            return self.repeat(self._character(item.of))
        if isinstance(item, str):
            item = automaton.SLASH if item == "/" else automaton.CharacterSet(((item, item),))
        return (
            self._character(item) if isinstance(item, automaton.CharacterSet) else automaton.EMPTY
        )

    def _character(self, symbol: automaton.CharacterSet) -> automaton.Piece:
        return self.symbol(symbol._replace(any_case=self._any_case))
