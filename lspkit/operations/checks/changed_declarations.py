"""Which declarations of a file an edit has changed or removed. Pure.

Other files can only depend on declarations. A declaration has changed if its text has, in more than
comments and blank lines; the body of a function with a declared result does not belong to it. A
class has also changed if one of its members has, or if it has got a new one: what inherits from it
names only the class. The decision uses the lines that differ and the symbols of the old text, so it
needs no grammar. In doubt a declaration has changed: that costs a request and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lspkit.diagnostics.compare import Block, changed_blocks, split_lines

#: Kinds of symbols with a body that is nobody else's concern.
FUNCTIONS = frozenset({"function", "method", "constructor", "operator"})
#: Kinds of symbols whose parts are declarations.
CONTAINERS = frozenset(
    {"class", "interface", "struct", "enum", "namespace", "module", "object", "package", "file"}
)
#: Those among them that nothing inherits from, and whose name everything else has to use.
NAMESPACES = frozenset({"namespace", "module", "package", "file"})
#: Names of methods that are called by the name of their class.
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "constructor"})
#: Names that nobody writes who uses what has them.
IMPLICIT = re.compile(r"__\w+__|constructor|<\w*>|")
#: Files of languages in which the type of a function may follow from its body.
INFERRED = frozenset(
    [
        ".py",
        ".pyi",
        ".ts",
        ".tsx",
        ".mts",
        ".cts",
        ".js",
        ".jsx",
        ".mjs",
        ".cjs",
        ".vue",
        ".svelte",
        ".rb",
        ".php",
    ]
)

#: Beginnings of lines above a declaration that belong to it.
_ABOVE = ("@", "#[", "[[", "template")
#: Beginnings of lines that continue a signature.
_GOES_ON = ("{", "->", ":", "where", "=", "throws", "noexcept", "override", ")", "|", "&")
_COMMENT = re.compile(r"\s*(#(?!\[|[a-z]+\b)|//|/\*|\*(?=[\s/]|$)|--)|\s*$")
_DECLARED = re.compile(r"->|\)\s*:\s*\S")
_ATTRIBUTE = re.compile(r"\b(?:self|cls|this)\.(\w+)\s*(?::[^=]+)?=(?!=)")
_NAME = re.compile(r"[^\W\d]\w*")
_FUNCTION = re.compile(r"\b(?:def|function)\s+(\w+)")
#: What an import hands on under another name, and where it comes from.
_OTHER_NAME = re.compile(r"[\w.*]+\s+as\s+(?=\w)")
_SOURCE = re.compile(r"\bfrom\s+(?:([\w.]+)|['\"]([^'\"]+)['\"])")
#: All names of another file, handed on.
_STAR = re.compile(r"\b(?:import|export)\s+(?:type\s+)?\*(?!\s*as\b)")
#: Words of imports and exports that name nothing.
_WORDS = frozenset(
    {"from", "import", "export", "as", "use", "pub", "using", "include", "type", "default"}
    | {"const", "let", "var"}
)
#: Classes that others match by their members.
STRUCTURAL = ("Protocol", "TypedDict")
#: The variable that says which names `import *` takes.
ALL = "__all__"


#: Those among them in which a class stands only for itself and what inherits from it.
NAMED_TYPES = frozenset({".py", ".pyi", ".rb", ".php"})


class Outline(msgspec.Struct, frozen=True):
    """A symbol of the old text. Lines and columns count from 0, columns in characters."""

    name: str
    kind: str
    #: The first and the last line of the whole symbol.
    start: int
    end: int
    #: Where its name is.
    line: int
    column: int
    children: tuple[Outline, ...] = ()


def infers_types(path: str) -> bool:
    """Whether the type of a function in this file may follow from its body."""
    return os.path.splitext(path)[1].lower() in INFERRED


def matches_by_members(path: str) -> bool:
    """Whether any class of this file may stand for another one that has the same members."""
    return infers_types(path) and os.path.splitext(path)[1].lower() not in NAMED_TYPES


class ChangedDeclarations(msgspec.Struct, frozen=True):
    """What an edit has changed that other files may use."""

    #: Symbols of the old text, each once, those before others that concern more files.
    symbols: list[Outline] = []
    #: Names that other files may hold.
    words: list[str] = []
    #: Those of them that are the names of members.
    members: list[str] = []
    #: Classes whose members alone have changed: who uses these names them.
    inside: list[str] = []
    #: Whether all names of another file were handed on by a line that has changed.
    has_star: bool = False
    #: Whether all lines that differ are comments, or inside the bodies of functions. Such an edit
    #: cannot change anything in another file if no symbol has changed.
    is_internal: bool = False


def changed_declarations(
    old: str, new: str, symbols: Sequence[Outline], *, inferred: bool = False
) -> ChangedDeclarations:
    """The symbols of the old text whose declaration is changed or missing in the new one.

    With `inferred`, the body of a function counts if the function does not declare its result.

    >>> f = Outline("f", "function", 0, 1, 0, 4)
    >>> body = changed_declarations("def f(a):\\n    pass\\n", "def f(a):\\n    go()\\n", [f])
    >>> body.symbols, body.is_internal
    ([], True)
    >>> head = changed_declarations("def f(a):\\n    pass\\n", "def f():\\n    pass\\n", [f])
    >>> head.symbols == [f]
    True
    """
    edit = _Edit(split_lines(old), split_lines(new), symbols, inferred)
    changed = [*edit.changed(symbols, None), *edit.vanished_names(symbols)]
    unique = {(symbol.line, symbol.column): symbol for symbol in changed}
    named = [symbol for symbol in unique.values() if not IMPLICIT.fullmatch(symbol.name)]
    implicit = [
        symbol
        for symbol in unique.values()
        if IMPLICIT.fullmatch(symbol.name) and symbol.name not in CONSTRUCTORS
    ]
    top = {symbol.name for symbol in named if symbol.kind == "import"} | set(_top_names(symbols))
    return ChangedDeclarations(
        list(unique.values()),
        [*(symbol.name for symbol in named), *edit.vanished_exports(symbols)],
        [symbol.name for symbol in named if symbol.name not in top],
        [
            symbol.name
            for symbol in named
            if edit.is_changed_inside(symbol)
            # Nobody writes such a name who calls, adds or compares objects.
            and not any(symbol.start <= other.line <= symbol.end for other in implicit)
        ],
        edit.has_star(),
        edit.is_inside_bodies(symbols),
    )


class _Edit:
    """Two texts, and the lines that differ in more than comments and blank lines."""

    def __init__(
        self, old: list[str], new: list[str], symbols: Sequence[Outline], inferred: bool
    ) -> None:
        self._old, self._new, self._inferred = old, new, inferred
        #: The lines with a function that the server does not list, by its name.
        self._unlisted: dict[str, set[int]] = {}
        listed = {function.line for function in _functions(symbols)}
        for line, text in enumerate(old):
            if (head := _FUNCTION.search(text)) and line not in listed:
                self._unlisted.setdefault(head[1], set()).add(line)
        self._blocks = [
            block
            for block in (changed_blocks(old, new) if old != new else [])
            if _code(old[block.old_start : block.old_end])
            != _code(new[block.new_start : block.new_end])
        ]

    def changed(self, symbols: Sequence[Outline], within: Outline | None) -> Iterator[Outline]:
        """The changed declarations among these symbols; `within` is the symbol around them."""
        for symbol in symbols:
            if symbol.kind in NAMESPACES:
                if self._touched(self._above(symbol), self._signature(symbol)[0]):
                    yield symbol
                yield from self.changed(symbol.children, None)
            elif symbol.kind in FUNCTIONS:
                if self._function_changed(symbol, within):
                    yield symbol
                if within is not None:
                    yield from self._attributes(symbol)
            elif symbol.kind in CONTAINERS or symbol.children:
                inner = list(self.changed(symbol.children, symbol))
                yield from inner
                # What inherits from it may override a part, and name only the whole.
                if inner or self._container_changed(symbol):
                    yield symbol
            elif self._touched(self._above(symbol), symbol.end):
                yield symbol

    def is_changed_inside(self, symbol: Outline) -> bool:
        """Whether a class has changed in its members alone."""
        start, end = self._above(symbol), self._signature(symbol)[0]
        head = "\n".join(self._old[start : end + 1])
        return (
            symbol.kind in ("class", "struct")
            and not self._touched(start, end)
            and not any(name in head for name in STRUCTURAL)
        )

    def is_inside_bodies(self, symbols: Sequence[Outline]) -> bool:
        """Whether every block is inside the body of a function."""
        if not self._blocks:
            return True
        heads = [(function, self._signature(function)[0]) for function in _functions(symbols)]
        return all(
            any(self._is_in_body(block, function, head) for function, head in heads)
            for block in self._blocks
        )

    def vanished_names(self, symbols: Sequence[Outline]) -> Iterator[Outline]:
        """Names outside of all symbols that are gone, or come from elsewhere, as of an import."""
        covered = {
            line
            for symbol in symbols
            if symbol.kind not in ("module", "file")
            for line in range(self._above(symbol), symbol.end + 1)
        }
        by_source: dict[str, set[str]] = {}
        for start, end in _statements(self._new) if self._blocks else ():
            lines = self._new[start : end + 1]
            names = (name for line in lines for name, _ in _names(line))
            by_source.setdefault(_source(lines), set()).update(names)
        for start, end in _statements(self._old) if self._blocks else ():
            blocks = [
                block for block in self._blocks_in(start, end) if self._changes(block, start, end)
            ]
            if start in covered or not blocks:
                continue
            source = _source(self._old[start : end + 1])
            if source:
                kept = by_source.get(source, set())
            else:
                new = [self._new[block.new_start : block.new_end] for block in blocks]
                kept = {name for lines in new for line in lines for name, _ in _names(line)}
            for line in range(start, end + 1):
                # What an import takes from elsewhere now has changed on all of its lines.
                if source or any(block.old_start <= line < block.old_end for block in blocks):
                    for name, column in _names(self._old[line]):
                        if name not in kept:
                            yield Outline(name, "import", line, line, line, column)

    def vanished_exports(self, symbols: Sequence[Outline]) -> list[str]:
        """Names that a list of exports does not have any more."""
        names: dict[str, None] = {}
        for symbol in symbols:
            for block in self._blocks_in(symbol.start, symbol.end) if symbol.name == ALL else ():
                kept = set(_NAME.findall("\n".join(self._new[block.new_start : block.new_end])))
                gone = _NAME.findall("\n".join(self._old[block.old_start : block.old_end]))
                names |= dict.fromkeys(name for name in gone if name not in kept)
        return list(names)

    def has_star(self) -> bool:
        """Whether a line has changed that hands on all names of another file."""
        return any(
            _STAR.search(line)
            for block in self._blocks
            for line in (
                *self._old[block.old_start : block.old_end],
                *self._new[block.new_start : block.new_end],
            )
        )

    def _function_changed(self, function: Outline, within: Outline | None) -> bool:
        start, (end, signature) = self._above(function), self._signature(function)
        if self._touched(start, end):
            return within is not None or not self._moved(start, end)
        if not self._inferred or _DECLARED.search(signature):
            return False
        return any(self._is_in_body(block, function, end) for block in self._blocks)

    def _is_in_body(self, block: Block, symbol: Outline, head: int) -> bool:
        """Whether a block changes the body of a function, which follows the line `head`."""
        if block.old_start < block.old_end:
            return head < block.old_start and block.old_end <= symbol.end + 1
        if head < block.old_start <= symbol.end:
            return True
        return symbol.end < block.old_start <= self._end(symbol) and self._is_deeper(block, symbol)

    def _container_changed(self, owner: Outline) -> bool:
        """Whether lines of a symbol have changed that belong to none of its parts, or are new."""
        head = self._signature(owner)[0]
        if self._touched(self._above(owner), head):
            return True
        parts = [(self._above(child), child.end) for child in owner.children]
        covered = {line for start, end in parts for line in range(start, end + 1)}
        depth = min((_indent(self._old[child.line]) for child in owner.children), default=10_000)
        for block in self._blocks_in(head + 1, self._end(owner)):
            if any(
                line not in covered and line <= owner.end and not _COMMENT.match(self._old[line])
                for line in range(block.old_start, block.old_end)
            ):
                return True
            is_insertion = block.old_start == block.old_end
            if is_insertion and any(start < block.old_start <= end for start, end in parts):
                continue
            lines = _code(self._new[block.new_start : block.new_end])
            if any(_indent(self._old[owner.line]) < _indent(line) <= depth for line in lines):
                return True
        return False

    def _attributes(self, method: Outline) -> Iterator[Outline]:
        """Attributes of an object that a changed statement of a method sets.

        A statement goes on over lines that are indented more than its first one.
        """
        lines: dict[int, None] = {}
        for block in self._blocks_in(method.line + 1, method.end):
            for line in range(
                block.old_start, min(max(block.old_end, block.old_start + 1), method.end + 1)
            ):
                lines |= dict.fromkeys(self._statement_lines(line, method.line))
        for line in lines:
            for match in _ATTRIBUTE.finditer(self._old[line]):
                yield Outline(match[1], "field", line, line, line, match.start(1))

    def _statement_lines(self, line: int, head: int) -> Iterator[int]:
        """The line, and those above it that it is a part of."""
        yield line
        depth = _indent(self._old[line]) + self._old[line].lstrip().startswith((")", "]", "}"))
        for above in range(line - 1, head, -1):
            if self._old[above].strip() and _indent(self._old[above]) < depth:
                depth = _indent(self._old[above])
                yield above

    def _moved(self, start: int, end: int) -> bool:
        """Whether the same lines are elsewhere in the new text as often as in the old one."""
        if all(block.old_start == block.old_end for block in self._blocks_in(start, end)):
            return False  # lines were inserted into them
        lines = self._old[start : end + 1]
        return _occurrences(self._new, lines) >= _occurrences(self._old, lines)

    def _above(self, symbol: Outline) -> int:
        """The first line of a declaration, with decorators and overloads above it."""
        line = self._decorated(min(symbol.start, symbol.line))
        while (overload := self._overload_above(symbol, line)) is not None:
            line = self._decorated(overload)
        return line

    def _decorated(self, line: int) -> int:
        while line > 0 and self._old[line - 1].lstrip().startswith(_ABOVE):
            line -= 1
        return line

    def _overload_above(self, function: Outline, start: int) -> int | None:
        """The line of an overload above this line that the server does not list."""
        heads = self._unlisted.get(function.name) if function.kind in FUNCTIONS else None
        if not heads:
            return None
        depth = _indent(self._old[function.line])
        for line in range(start - 1, -1, -1):
            text = self._old[line]
            is_part = text.lstrip().startswith((*_ABOVE, ")", "]", "}"))  # of a declaration
            if _COMMENT.match(text) or _indent(text) > depth or is_part:
                continue
            return line if line in heads and _indent(text) == depth else None
        return None

    def _end(self, symbol: Outline) -> int:
        """The line after the last one of a symbol and the blank lines and comments below it."""
        line = symbol.end + 1
        while line < len(self._old) and _COMMENT.match(self._old[line]):
            line += 1
        return line

    def _is_deeper(self, block: Block, symbol: Outline) -> bool:
        """Whether the first new line is indented more than a symbol."""
        lines = _code(self._new[block.new_start : block.new_end])
        return bool(lines) and _indent(lines[0]) > _indent(self._old[symbol.line])

    def _touched(self, start: int, end: int) -> bool:
        """Whether one of these lines has changed, or lines were inserted between them."""
        for block in self._blocks_in(start, end):
            if self._changes(block, start, end):
                return True
            above = [line.lstrip() for line in self._new[block.new_start : block.new_end]]
            if above[-1].startswith(_ABOVE):
                return True
        return False

    def _changes(self, block: Block, start: int, end: int) -> bool:
        return block.old_start < block.old_end or start < block.old_start <= end

    def _blocks_in(self, start: int, end: int) -> Iterator[Block]:
        """The blocks that touch these lines; an insertion before the first line, too."""
        for block in self._blocks:
            last = max(block.old_end - 1, block.old_start)
            if block.old_start <= end and last >= start:
                yield block

    def _signature(self, symbol: Outline) -> tuple[int, str]:
        """The last line of the signature, before the body; and its text outside of brackets."""
        depth, outside = 0, ""
        for line in range(symbol.line, min(symbol.end, len(self._old) - 1) + 1):
            text = self._old[line]
            code = _without_comment(
                text[symbol.column + len(symbol.name) :] if line == symbol.line else text
            )
            for at, sign in enumerate(code):
                # After a colon, a brace begins the type of the result.
                is_body = sign == "{" and not outside.rstrip().endswith(":")
                if depth == 0 and (is_body or sign == ";" or code.startswith("=>", at)):
                    return line, outside
                depth -= sign in ")]}"
                outside += sign if depth <= 0 else ""
                depth += sign in "([{"
            depth = max(depth, 0)
            bare = code.rstrip()
            if depth or bare.endswith((",", "\\", "->")):
                continue
            following = self._old[line + 1].lstrip() if line + 1 < len(self._old) else ""
            goes_on = (
                following.startswith(("|", "&"))
                if bare.endswith(":")
                else (following.startswith(_GOES_ON))
            )
            if not goes_on:
                return line, outside
        return symbol.end, outside


def _top_names(symbols: Sequence[Outline]) -> Iterator[str]:
    for symbol in symbols:
        yield symbol.name
        if symbol.kind in NAMESPACES:
            yield from _top_names(symbol.children)


def _functions(symbols: Sequence[Outline]) -> Iterator[Outline]:
    for symbol in symbols:
        if symbol.kind in FUNCTIONS:
            yield symbol
        else:
            yield from _functions(symbol.children)


def _code(lines: Iterable[str]) -> list[str]:
    """The lines without comments and blank ones."""
    return [line.rstrip() for line in lines if not _COMMENT.match(line)]


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each statement that has code: brackets hold it together."""
    depth, start = 0, 0
    for line, text in enumerate(lines):
        if depth <= 0:
            depth, start = 0, line
        code = _without_comment(text)
        depth += sum(sign in "([{" for sign in code) - sum(sign in ")]}" for sign in code)
        if depth <= 0 and not (start == line and _COMMENT.match(text)):
            yield start, line


def _source(lines: Sequence[str]) -> str:
    """Where the names of an import come from; empty if it does not say."""
    match = _SOURCE.search(" ".join(lines))
    return match[1] or match[2] if match else ""


def _names(line: str) -> Iterator[tuple[str, int]]:
    """The names that a line of an import hands on, with their columns."""
    if _COMMENT.match(line):
        return
    for pattern in (_SOURCE, _OTHER_NAME):
        line = pattern.sub(lambda match: " " * len(match[0]), line)
    for name in _NAME.finditer(line):
        if name[0] not in _WORDS:
            yield name[0], name.start()


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.lstrip().expandtabs())


def _without_comment(line: str) -> str:
    """The line without strings and a comment at its end."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "", line)
    return re.split(r"(?<!\S)#(?!\[)|//", plain, maxsplit=1)[0]


def _occurrences(lines: Sequence[str], part: Sequence[str]) -> int:
    size = len(part)
    return sum(
        lines[at] == part[0] and list(lines[at : at + size]) == list(part)
        for at in range(len(lines) - size + 1)
    )
