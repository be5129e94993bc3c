"""Which name at the top level of a file changes with a line of it. Pure.

What an edit changes is used by other declarations, which change with it: a class by those that
inherit from it, a type by those that are made of it, the result of a function by those that hand it
on without declaring their own. Who uses them need not name what the edit has changed. The lines
around a use tell which declaration it belongs to, by their indentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What declares a name: a word before it, or an assignment.
_DECLARES = re.compile(
    r"\b(?:class|interface|type|enum|struct|trait|def|function|fn|func|const|let|var|namespace)"
    r"\s*\*?\s+(\w+)"
)
_ASSIGNS = re.compile(r"\s*(\w+)\s*(?::[^=]*)?=(?!=)")
_OTHER_NAME = re.compile(r"\s+as\s+(\w+)")
_IMPORTS = re.compile(r"\s*(?:from|import|export\s*(?:type\s*)?[*{])")
#: The last line before the body of a function; with a declared result.
_HEAD = re.compile(
    r"(?!.*\b(?:class|interface|enum|struct|trait|if|elif|for|while|with|switch|catch)\b)"
    r".*(?:\).*[{:]|=>)\s*\{?\s*$"
)
_DECLARED = re.compile(r"->|\)\s*:\s*\S")
#: Statements whose value is visible outside of a function.
_HANDS_ON = re.compile(r"\s*(?:return|yield|(?:const |let |var )?[\w.]+\s*(?::[^=]*)?=(?!=)|.*=>)")
_OF_OBJECT = re.compile(r"\s*(?:self|cls|this)\.\w+\s*(?::[^=]*)?=(?!=)")
_INHERITS = re.compile(
    r"\b(?:class|interface|struct|trait|record|object|enum)\s+(\w+)|\bimpl\b.*\bfor\s+(\w+)"
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*)|\s*$")


def enclosing_name(lines: Sequence[str], number: int, after: str, *, inferred: bool) -> str:
    """The name at the top level that changes if what a line uses has changed; empty without one.

    `number` counts from 0; `after` is what follows the use on its line. With `inferred`, a function
    that does not declare its result has the type that its body returns.

    >>> lines = ["class Shop(Base):", "    def total(self) -> int:", "        return price()"]
    >>> enclosing_name(lines, 0, "):", inferred=True)
    'Shop'
    >>> enclosing_name(lines, 2, "()", inferred=True)
    ''
    """
    other = _OTHER_NAME.match(after)
    if other:
        return other[1]
    while lines[number].lstrip().startswith("@") and number + 1 < len(lines):
        number += 1  # a decorator belongs to what follows it
    around = _lines_around(lines, number)
    if _IMPORTS.match(lines[around[-1]]):
        return ""
    heads = [place for place, at in enumerate(around) if place and _HEAD.match(lines[at])]
    if heads:
        statement = lines[around[heads[0] - 1]]
        is_declared = not inferred or any(_DECLARED.search(lines[around[one]]) for one in heads)
        if not (_OF_OBJECT if is_declared else _HANDS_ON).match(statement):
            return ""
    for at in reversed(around):
        if name := _DECLARES.search(lines[at]) or _ASSIGNS.match(lines[at]):
            return name[1]
    return ""


def heir_name(lines: Sequence[str], number: int, after: str) -> str:
    """The class that inherits from what a line uses, or another name for it; empty without one.

    >>> heir_name(["class Branch(", "    Shop,", "):"], 1, ",")
    'Branch'
    >>> heir_name(["Alias = Shop"], 0, ""), heir_name(["shop = Shop()"], 0, "()")
    ('Alias', '')
    """
    if other := _OTHER_NAME.match(after):
        return other[1]
    around = _lines_around(lines, number)
    if (heir := _INHERITS.search(lines[around[0]])) or (
        len(around) > 1
        and lines[around[1]].rstrip().endswith(("(", "<"))
        and (heir := _INHERITS.search(lines[around[1]]))
    ):
        return heir[1] or heir[2]
    alias = _ASSIGNS.match(lines[number]) or _DECLARES.search(lines[number])
    return alias[1] if alias and not after.strip(" ;") else ""


def _lines_around(lines: Sequence[str], number: int) -> list[int]:
    """The line, and those that it is inside of, up to the top level."""
    around = [number]
    depth = _depth(lines[number])
    for at in range(number - 1, -1, -1):
        if depth == 0:
            break
        if _COMMENT.match(lines[at]):
            continue
        if _depth(lines[at]) < depth:
            around.append(at)
            depth = _depth(lines[at])
    return around


def _depth(line: str) -> int:
    """How far a line is indented. What closes brackets belongs to the line that opened them."""
    bare = line.lstrip()
    return 2 * (len(line) - len(bare)) + bare.startswith((")", "]", "}", ">"))
