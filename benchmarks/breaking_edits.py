"""Edits of the ordinary kinds that break other files, made at random from the texts of packages.

Each kind is a function that yields the places of a text where it can be made. Whether an edit
breaks anything is for a judge to say.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.elsewhere_judges import Mutation

#: What is changed, the first and the last offset, and what stands there afterwards.
Place = tuple[str, int, int, str]
Kind = Callable[[str], Iterator[Place]]


def breaking_edits(
    folder: Path,
    pattern: str,
    kinds: dict[str, Kind],
    chance: random.Random,
    is_text: Callable[[str], bool] = lambda text: True,
) -> dict[str, Iterator[Mutation]]:
    """By kind: its edits of the files that match the pattern, in random order, each once.

    Only what another file of the package names is changed: other edits hardly ever break one.
    """
    texts = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.glob(pattern))
    }

    words = {name: set(re.findall(r"\w+", text)) for name, text in texts.items()}

    def is_named_elsewhere(word: str, name: str) -> bool:
        package = name.partition("/")[0]
        return any(
            word in held
            for other, held in words.items()
            if other != name and other.partition("/")[0] == package
        )

    def edits(kind: str) -> Iterator[Mutation]:
        places = [(name, place) for name, text in texts.items() for place in kinds[kind](text)]
        chance.shuffle(places)
        for name, (word, start, end, replacement) in places:
            text = texts[name]
            if word and not is_named_elsewhere(word.split(".")[0], name):
                continue
            new = text[:start] + replacement + text[end:]
            if is_text(new):
                yield Mutation(name, kind, word, text, new)

    return {kind: edits(kind) for kind in kinds}


# Python

_SIGNATURES = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Source:
    """A text of Python with its tree, and where its nodes are."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """The offset of a place of the tree, whose columns count bytes."""
        before = self.lines[line - 1].encode()[:column]
        return self.starts[line - 1] + len(before.decode())

    def span(self, node: Any) -> tuple[int, int]:
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def functions(self) -> Iterator[Any]:
        """Functions and methods that are visible outside."""
        for body in (self.tree, *self.classes()):
            yield from (one for one in body.body if isinstance(one, _SIGNATURES))

    def classes(self) -> list[ast.ClassDef]:
        return [one for one in self.tree.body if isinstance(one, ast.ClassDef)]

    def name(self, node: Any) -> tuple[int, int]:
        """Where the name of a definition is."""
        start = self.span(node)[0]
        found = re.compile(rf"\b{node.name}\b").search(self.text, start)
        assert found is not None
        return found.span()

    def body(self, node: Any) -> tuple[int, str]:
        """Where the body of a class begins, and its indentation."""
        first = node.body[0]
        return self.starts[first.lineno - 1], " " * first.col_offset


def _python(kind: Callable[[_Source], Iterator[Place]]) -> Kind:
    return lambda text: kind(_Source(text))


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _arity(source: _Source) -> Iterator[Place]:
    for one in source.functions():
        at = source.text.index("(", source.name(one)[1]) + 1
        own = re.compile(r"\s*(self|cls)\b(\s*,)?").match(source.text, at)
        at, comma = (own.end(), "" if own[2] else ", ") if own else (at, "")
        yield one.name, at, at, f"{comma} added_here: int, "


def _name(source: _Source) -> Iterator[Place]:
    for one in (*source.functions(), *source.classes()):
        yield one.name, *source.name(one), f"{one.name}_renamed"


def _parameter_type(source: _Source) -> Iterator[Place]:
    for one in source.functions():
        for argument in one.args.args:
            if argument.annotation is not None:
                yield one.name, *source.span(argument.annotation), "memoryview"


def _result_type(source: _Source) -> Iterator[Place]:
    for one in source.functions():
        if one.returns is not None:
            yield one.name, *source.span(one.returns), "memoryview"


def _removal(source: _Source) -> Iterator[Place]:
    for one in source.functions():
        if not one.decorator_list:
            yield one.name, *source.span(one), "pass"


def _first_init(source: _Source) -> Iterator[Place]:
    for one in source.classes():
        if not any(getattr(each, "name", "") == "__init__" for each in one.body):
            at, indent = source.body(one)
            yield one.name, at, at, f"{indent}def __init__(self, added_here: int) -> None: ...\n"


def _abstract(source: _Source) -> Iterator[Place]:
    for one in source.classes():
        if not one.bases and not one.keywords:
            (_, start), (at, indent) = source.name(one), source.body(one)
            method = f"{indent}@abc.abstractmethod\n{indent}def added_here(self) -> int: ...\n"
            rest = source.text[source.text.index(":", start) : at]
            new = f"(__import__('abc').ABC){rest}{indent}import abc\n{method}"
            yield one.name, start, at, new


def _base_method(source: _Source) -> Iterator[Place]:
    for one in source.classes():
        at, indent = source.body(one)
        for name in ("parse", "render", "run", "close", "get", "items", "_serialize", "handle"):
            if not any(getattr(each, "name", "") == name for each in one.body):
                new = f"{indent}def {name}(self, *, added_here: memoryview) -> memoryview: ...\n"
                yield one.name, at, at, new


def _inferred(source: _Source) -> Iterator[Place]:
    """A value in what an unannotated function returns, mostly on a line of its own."""
    for one in source.functions():
        if one.returns is not None:
            continue
        for node in ast.walk(one):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            yield one.name, *source.span(node.value), "memoryview"
            parts = [*ast.iter_child_nodes(node.value)]
            for part in parts:
                if hasattr(part, "lineno") and part.lineno > node.lineno:
                    yield one.name, *source.span(part), "memoryview"


def _attribute(source: _Source) -> Iterator[Place]:
    for function in source.functions():
        for node in ast.walk(function):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                assert isinstance(node, ast.Assign)
                yield target.attr, *source.span(node.value), "memoryview"
                end = source.span(target)[1]
                yield target.attr, end, end, "_renamed"


def _field(source: _Source) -> Iterator[Place]:
    for one in source.classes():
        for node in one.body:
            if isinstance(node, ast.AnnAssign):
                yield ast.unparse(node.target), *source.span(node.annotation), "memoryview"
            if isinstance(node, ast.AnnAssign | ast.Assign):
                yield one.name, *source.span(node), "pass"


def _constant(source: _Source) -> Iterator[Place]:
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, *source.span(node), "pass"
            yield node.targets[0].id, *source.span(node.value), "memoryview"


def _reexport(source: _Source) -> Iterator[Place]:
    """A name that a module hands on is not imported any more, or under another name."""
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            whole = source.span(node)
            kept = node.names
            for one in kept:
                rest = [each for each in kept if each is not one]
                changed = ast.unparse(_with_names(node, rest)) if rest else "pass"
                yield one.name, *whole, changed
                alias = ast.alias(one.name, "other_name")
                yield one.name, *whole, ast.unparse(_with_names(node, [*rest, alias]))


def _with_names(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.AST:
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)


def _all(source: _Source) -> Iterator[Place]:
    for node in source.tree.body:
        is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        if is_all and isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple):
            for one in node.value.elts:
                start, end = source.span(one)
                comma = re.compile(r"\s*,").match(source.text, end)
                yield ast.unparse(one).strip("'"), start, comma.end() if comma else end, ""


def _bases(source: _Source) -> Iterator[Place]:
    for one in source.classes():
        for base in one.bases:
            yield one.name, *source.span(base), "object" if len(one.bases) == 1 else "Exception"


def _decorator(source: _Source) -> Iterator[Place]:
    for one in (*source.functions(), *source.classes()):
        for decorator in one.decorator_list:
            start = source.starts[decorator.lineno - 1]
            yield one.name, start, source.starts[decorator.end_lineno], ""
        if isinstance(one, _SIGNATURES) and one.args.args and not one.decorator_list:
            start = source.starts[one.lineno - 1]
            yield one.name, start, start, f"{' ' * one.col_offset}@property\n"


PYTHON: dict[str, Kind] = {
    name: _python(kind)
    for name, kind in {
        "parameter added": _arity,
        "renamed": _name,
        "type of a parameter": _parameter_type,
        "type of a result": _result_type,
        "removed": _removal,
        "first __init__": _first_init,
        "abstract method": _abstract,
        "method of a base class": _base_method,
        "inferred result": _inferred,
        "attribute": _attribute,
        "field": _field,
        "constant": _constant,
        "re-export": _reexport,
        "__all__": _all,
        "base class": _bases,
        "decorator": _decorator,
    }.items()
}


# TypeScript


def _matches(pattern: str, replacement: str, name: int = 1) -> Kind:
    """Each match of a pattern, replaced. The group has the name; 0: nothing with a name."""
    compiled = re.compile(pattern, re.MULTILINE)

    def places(text: str) -> Iterator[Place]:
        for match in compiled.finditer(text):
            yield match[name] if name else "", *match.span(), match.expand(replacement)

    return places


def _each(*kinds: Kind) -> Kind:
    return lambda text: (place for kind in kinds for place in kind(text))


def _parts_of_results(text: str) -> Iterator[Place]:
    """Lines of an object or a call that a function without a declared result returns."""
    for match in re.finditer(r"^(\s*)return [^\n]*[{(]\n((?:\1\s+.*\n)+)", text, re.MULTILINE):
        at = match.start(2)
        for line in match[2].splitlines(keepends=True):
            word = re.match(r"\s*(\w+)(?=[,:(])", line)
            if word and line.rstrip().endswith(","):
                yield word[1], at, at + len(line), ""
            at += len(line)


def _parts_of_exports(text: str) -> Iterator[Place]:
    """A name that is exported in a list."""
    for match in re.finditer(r"^export (?:type )?\{([^}]*)\}", text, re.MULTILINE):
        for word in re.finditer(r"\b(?:type )?(\w+)( as (\w+))?\s*(,|$)", match[1]):
            start, end = match.start(1) + word.start(), match.start(1) + word.end()
            yield word[1], start, end, ""
            name = match.start(1) + word.end(3 if word[3] else 1)
            yield word[1], name, name, "_renamed" if word[3] else " as renamed_here"


_EXPORT = r"^export (?:default )?(?:declare )?(?:abstract )?(?:async )?"
_HEAD = r"^(?:  |\t)(?!if|for|while|switch|return|catch|constructor)(\w+)"
TYPESCRIPT: dict[str, Kind] = {
    "parameter added": _each(
        _matches(_EXPORT + r"function (\w+)(?:<[^()]*>)?\(", r"\g<0>added_here: symbol, "),
        _matches(_HEAD + r"\((?=.*\{$)", r"\g<0>added_here: symbol, "),
        _matches(
            _EXPORT + r"const (\w+) = (?:async )?(?:<[^()=]*>)?\((?=.*=>)",
            r"\g<0>added_here: symbol, ",
        ),
    ),
    "renamed": _matches(
        _EXPORT + r"(?:function|class|interface|type|enum|const(?: enum)?) (\w+)", r"\g<0>_renamed"
    ),
    "not exported": _matches(
        r"^export (?=(?:function|class|interface|type|enum|const) (\w+))", r""
    ),
    "type of a parameter": _matches(
        r"((?:[(,] ?|^ +|^\t)\w+\??): (?:string|number|boolean|any|unknown|[A-Z]\w+)(?=[,)])",
        r"\1: symbol",
        0,
    ),
    "type of a result": _matches(r"(?<=\): )\w+(?= \{$)", "symbol", 0),
    "member": _each(
        _matches(r"^(?:  |\t)(?:readonly )?(\w+)\??: .*\n", r""),
        _matches(r"^((?:  |\t)(?:readonly )?(\w+)\??): [^{(\n]+$", r"\1: symbol", 2),
        _matches(r"^(?:  |\t)(\w+)\?: ", r"  \1: "),
        _matches(r"^(?:  |\t)(\w+): ", r"  \1?: "),
    ),
    "member added": _matches(r"^export interface (\w+).*\{$", "\\g<0>\n  addedHere: symbol"),
    "method renamed": _matches(_HEAD + r"(?=\(.*\{$)", r"\g<0>_renamed"),
    "inferred result": _each(
        _parts_of_results, _matches(r"^(\s+)return (?!\{$|\($).+[^{(,]$", r"\1return Symbol()", 0)
    ),
    "constant": _matches(r"^export const (\w+) = [^({\n]+$", r"export const \1 = Symbol()"),
    "re-export": _each(
        _parts_of_exports,
        _matches(r"^export (?:type )?\* from .*$", r"", 0),
        _matches(r"^export \{[^}]*\} from .*$", r"", 0),
    ),
    "base": _each(
        _matches(r"^(export class (\w+).*) extends [\w<>, ]+(?= \{$)", r"\1", 2),
        _matches(r"^(export interface (\w+).*) extends [\w<>, ]+(?= \{$)", r"\1", 2),
    ),
    "first constructor": _matches(
        r"^export (?:abstract )?class (\w+).*\{$",
        "\\g<0>\n  constructor(addedHere: symbol) {}",
    ),
    "abstract method": _matches(
        r"^export (?:abstract )?(class (\w+).*\{)$",
        "export abstract \\1\n  abstract addedHere(): symbol",
        2,
    ),
    "type parameter": _matches(
        r"^export (type|interface) (\w+)(?= \{| =|$)", r"export \1 \2<AddedHere>", 2
    ),
    "enum or union": _each(_matches(r"^\s+(\w+) = .*,\n", r""), _matches(r"^\s+\| .*\n", r"", 0)),
}
