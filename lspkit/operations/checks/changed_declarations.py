"""Which declarations of a file an edit has changed or removed. Pure.

Other files can only depend on declarations. An edit inside the body of a function changes none; an
edit of its signature, of a field, of the bases of a class or of an import does. The decision uses
the lines that differ and the symbols of the old text, so it needs no grammar. In doubt a
declaration has changed: that costs a request and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

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
_GOES_ON = ("{", "->", ":", "where", "=", "throws", "noexcept", "override", ")")
_COMMENT = re.compile(r"\s*(#(?!\[)|//|/\*|\*|--)|\s*$")
_METHOD = re.compile(r"\s*(async\s+def|def|@|\))")
_RESULT = re.compile(r"\b(return|yield)\b|=>")
_DECLARED = re.compile(r"->|\)\s*:\s*\S")
_ATTRIBUTE = re.compile(r"\b(?:self|cls|this)\.(\w+)\s*(?::[^=]+)?=(?!=)")
_NAME = re.compile(r"[^\W\d]\w*")
#: Words of imports and exports that name nothing.
_WORDS = frozenset(
    [
        "from",
        "import",
        "export",
        "as",
        "use",
        "pub",
        "using",
        "include",
        "type",
        "default",
        "const",
        "let",
        "var",
    ]
)


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


def changed_declarations(
    old: str, new: str, symbols: Sequence[Outline], *, inferred: bool = False
) -> list[Outline]:
    """The symbols of the old text whose declaration is changed or missing in the new one.

    Each once, those before others that concern more files. With `inferred`, a change of what a
    function returns counts, if it does not declare that.

    >>> f = Outline("f", "function", 0, 1, 0, 4)
    >>> changed_declarations("def f(a):\\n    pass\\n", "def f(a):\\n    print()\\n", [f])
    []
    >>> changed_declarations("def f(a):\\n    pass\\n", "def f():\\n    pass\\n", [f]) == [f]
    True
    """
    edit = _Edit(split_lines(old), split_lines(new), inferred)
    found = [*edit.changed(symbols, None), *edit.vanished_names(symbols)]
    unique = {(one.line, one.column): one for one in found}
    return list(unique.values())


def only_bodies_changed(old: str, new: str, symbols: Sequence[Outline]) -> bool:
    """Whether all lines that differ are comments, or inside the bodies of functions.

    Such an edit cannot change anything in another file, unless it changes an inferred type.
    """
    return _Edit(split_lines(old), split_lines(new), inferred=False).is_inside_bodies(symbols)


class _Edit:
    """Two texts, and the lines that differ."""

    def __init__(self, old: list[str], new: list[str], inferred: bool) -> None:
        self._old, self._new, self._inferred = old, new, inferred
        self._blocks = changed_blocks(old, new) if old != new else []

    def changed(self, symbols: Sequence[Outline], within: Outline | None) -> Iterator[Outline]:
        """The changed declarations among these symbols; `within` is the symbol around them."""
        for one in symbols:
            if one.kind in NAMESPACES:
                if self._touched(self._above(one), self._signature_end(one)):
                    yield one
                yield from self.changed(one.children, None)
            elif one.kind in CONTAINERS or (one.children and one.kind not in FUNCTIONS):
                inner = list(self.changed(one.children, one))
                itself = self._container_changed(one) or self._names_its_container(one, inner)
                if itself:
                    yield one
                yield from inner
                if inner and not itself:
                    # What inherits from it may override a part, and name only the whole.
                    yield one
            elif one.kind in FUNCTIONS:
                if self._function_changed(one, within):
                    yield one
                if within is not None:
                    yield from self._attributes(one)
            elif self._touched(self._above(one), one.end):
                yield one

    def is_inside_bodies(self, symbols: Sequence[Outline]) -> bool:
        """Whether every block is inside the body of a function, or has only comments."""
        bodies = list(self._bodies(symbols))
        return all(
            any(start <= block.old_start and block.old_end <= end + 1 for start, end in bodies)
            or (
                all(map(_COMMENT.match, self._old[block.old_start : block.old_end]))
                and all(map(_COMMENT.match, self._new[block.new_start : block.new_end]))
            )
            for block in self._blocks
        )

    def _bodies(self, symbols: Sequence[Outline]) -> Iterator[tuple[int, int]]:
        """The first and the last line of the body of each function."""
        for one in symbols:
            if one.kind in FUNCTIONS:
                yield self._signature_end(one) + 1, one.end
            else:
                yield from self._bodies(one.children)

    def vanished_names(self, symbols: Sequence[Outline]) -> Iterator[Outline]:
        """Names outside of all symbols that are gone, as of an import."""
        covered = {
            line
            for one in symbols
            if one.kind not in ("module", "file")
            for line in range(self._above(one), one.end + 1)
        }
        for block in self._blocks:
            kept = set(_NAME.findall("\n".join(self._new[block.new_start : block.new_end])))
            for line in range(block.old_start, block.old_end):
                if line in covered or _COMMENT.match(self._old[line]):
                    continue
                for name in _NAME.finditer(self._old[line]):
                    if name[0] not in kept and name[0] not in _WORDS:
                        yield Outline(name[0], "import", line, line, line, name.start())

    def _names_its_container(self, one: Outline, inner: Sequence[Outline]) -> bool:
        """Whether a part has changed that users of the symbol see in its own name."""
        own = {(child.line, child.column) for child in one.children}
        return any(
            (child.line, child.column) in own
            and (
                child.kind not in FUNCTIONS or child.name in CONSTRUCTORS or child.name == one.name
            )
            for child in inner
        )

    def _function_changed(self, one: Outline, within: Outline | None) -> bool:
        start, end = self._above(one), self._signature_end(one)
        if self._touched(start, end):
            return within is not None or not self._moved(start, end)
        if not self._inferred or one.end <= end:
            return False
        signature = "\n".join(self._old[one.line : end + 1])
        return not _DECLARED.search(signature) and self._result_changed(end + 1, one.end)

    def _result_changed(self, start: int, end: int) -> bool:
        """Whether a line that determines a result has changed."""
        for block in self._blocks_in(start, end):
            lines = (
                *self._old[block.old_start : block.old_end],
                *self._new[block.new_start : block.new_end],
            )
            if any(_RESULT.search(line) for line in lines):
                return True
        return False

    def _container_changed(self, one: Outline) -> bool:
        """Whether lines of a symbol have changed that belong to none of its parts."""
        start, head = self._above(one), self._signature_end(one)
        if self._touched(start, head):
            return True
        covered = {
            line for child in one.children for line in range(self._above(child), child.end + 1)
        }
        for block in self._blocks_in(head + 1, one.end + 1):
            gone = [
                self._old[line]
                for line in range(block.old_start, min(block.old_end, one.end + 1))
                if line not in covered
            ]
            if any(not _COMMENT.match(line) for line in gone):
                return True
            if block.old_start == block.old_end and self._extends(one, block, covered):
                return True
        return False

    def _extends(self, one: Outline, block: Block, covered: set[int]) -> bool:
        """Whether lines were inserted between the parts of a symbol that are no methods."""
        if block.old_start in covered and block.old_start - 1 in covered:
            inside = any(
                self._above(child) < block.old_start <= child.end for child in one.children
            )
            if inside:
                return False
        lines = [
            line
            for line in self._new[block.new_start : block.new_end]
            if not _COMMENT.match(line) and _indent(line) > _indent(self._old[one.line])
        ]
        least = min(map(_indent, lines), default=0)
        return any(_indent(line) == least and not _METHOD.match(line) for line in lines)

    def _attributes(self, one: Outline) -> Iterator[Outline]:
        """Attributes of an object that a changed line of a method sets."""
        for block in self._blocks_in(one.start, one.end):
            for line in range(max(block.old_start, one.start), min(block.old_end, one.end + 1)):
                for found in _ATTRIBUTE.finditer(self._old[line]):
                    yield Outline(found[1], "field", line, line, line, found.start(1))

    def _moved(self, start: int, end: int) -> bool:
        """Whether the same lines are elsewhere in the new text as often as in the old one."""
        if all(block.old_start == block.old_end for block in self._blocks_in(start, end)):
            return False  # lines were inserted into them
        lines = self._old[start : end + 1]
        return _occurrences(self._new, lines) >= _occurrences(self._old, lines)

    def _above(self, one: Outline) -> int:
        """The first line of a declaration, with decorators above it."""
        line = min(one.start, one.line)
        while line > 0 and self._old[line - 1].lstrip().startswith(_ABOVE):
            line -= 1
        return line

    def _touched(self, start: int, end: int) -> bool:
        """Whether one of these lines has changed, or lines were inserted between them."""
        for block in self._blocks_in(start, end):
            if block.old_start < block.old_end:
                return True
            above = [line.lstrip() for line in self._new[block.new_start : block.new_end]]
            if start < block.old_start <= end or above[-1].startswith(_ABOVE):
                return True
        return False

    def _blocks_in(self, start: int, end: int) -> Iterator[Block]:
        """The blocks that touch these lines; an insertion before the first line, too."""
        for block in self._blocks:
            last = max(block.old_end - 1, block.old_start)
            if block.old_start <= end and last >= start:
                yield block

    def _signature_end(self, one: Outline) -> int:
        """The last line of the signature, before the body."""
        depth = 0
        for line in range(one.line, min(one.end, len(self._old) - 1) + 1):
            text = (
                self._old[line][one.column + len(one.name) :]
                if line == one.line
                else (self._old[line])
            )
            code = _without_comment(text)
            for at, sign in enumerate(code):
                if depth == 0 and (sign in "{;" or code.startswith("=>", at)):
                    return line
                depth += (sign in "([{") - (sign in ")]}")
            depth = max(depth, 0)
            bare = code.rstrip()
            if depth or bare.endswith((",", "\\", "->")):
                continue
            following = self._old[line + 1].lstrip() if line + 1 < len(self._old) else ""
            if bare.endswith(":") or not following.startswith(_GOES_ON):
                return line
        return one.end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


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
