"""Typical mistakes of an agent's edit, each with the same code done right.

A case is a text in which `<<wrong||right>>` marks the one place that differs. A checker finds
the mistake when it says something on the marked lines of the wrong text that it does not say
about the right one; so a checker that complains about everything gains nothing by it. What
it says about the right texts is noise.
"""

from __future__ import annotations

import re

#: Where the two texts differ; either side may span lines.
MARK = re.compile(r"<<(.*?)\|\|(.*?)>>", re.DOTALL)

#: Name of the mistake to its text.
CASES: dict[str, str] = {
    "undefined name": """
def total(prices: list[float]) -> float:
    return sum(<<price||prices>>)
""",
    "wrong attribute": """
def shout(text: str) -> str:
    return text.<<uppercase||upper>>()
""",
    "forgotten import": """
<<||import os>>
def here() -> str:
    return os.getcwd()  # mark
""",
    "unknown module": """
import <<jsonn||json>>

print(<<jsonn||json>>)
""",
    "unknown name in a module": """
from json import <<dumpz||dumps>>

print(<<dumpz||dumps>>)
""",
    "unresolved relative import": """
from .<<nowhere||neighbour>> import VALUE

print(VALUE)
""",
    "too few arguments": """
def area(width: int, height: int) -> int:
    return width * height


print(area(<<3||3, 4>>))
""",
    "unknown keyword": """
def area(width: int, height: int) -> int:
    return width * height


print(area(3, <<hight||height>>=4))
""",
    "wrong argument type": """
def double(number: int) -> int:
    return number * 2


print(double(<<"3"||3>>))
""",
    "wrong return type": """
def count(items: list[str]) -> int:
    return <<items||len(items)>>
""",
    "access on Optional": """
import re


def first_word(text: str) -> str:
    match = re.match(r"[a-z]+", text)
    <<||if match is None: return ""
    >>return match.group()  # mark
""",
    "missing return": """
def sign(number: int) -> <<str||str | None>>:
    if number < 0:
        return "minus"
""",
    "call of something not callable": """
limit = 10
print(limit<<()||>>)
""",
    "bad index": """
pair: tuple[int, int] = (1, 2)
print(pair[<<2||1>>])
""",
    "unreachable overload": """
from typing import overload


@overload
def read(value: <<object||int>>) -> int: ...
@overload
def read(value: str) -> str: ...  # mark
def read(value: object) -> object:
    return value
""",
    "wrong override": """
class Shape:
    def area(self, scale: int) -> int:
        return scale


class Square(Shape):
    def area(self<<||, scale: int>>) -> int:
        return 1
""",
    "missing await": """
async def fetch() -> str:
    return "text"


async def run() -> int:
    return len(<<||await >>fetch())
""",
    "unawaited call": """
async def save() -> None:
    print("saved")


async def run() -> None:
    <<||await >>save()  # mark
""",
    "unknown TypedDict key": """
from typing import TypedDict


class User(TypedDict):
    name: str


def show(user: User) -> str:
    return user["<<nmae||name>>"]
""",
    "unknown dataclass field": """
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int


print(Point(x=1, <<z||y>>=2))
""",
    "syntax error": """
def broken(<<||):>>
    return 1
""",
    "possibly unbound variable": """
def pick(flag: bool) -> int:
    if flag:
        chosen = 1
<<||    else:
        chosen = 2
>>    return chosen  # mark
""",
    "abstract class instantiated": """
from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def run(self) -> None: ...


class Real(Base):
    def run(self) -> None:
        print("run")


<<Base||Real>>().run()
""",
    "duplicate argument": """
def area(width: int, height: int) -> int:
    return width * height


print(area(3, <<width||height>>=4))
""",
}

#: A module that the cases may import from.
NEIGHBOUR = "VALUE = 1\n"


def texts(case: str) -> tuple[str, str, set[int]]:
    """The wrong text, the right text, and the marked lines of the wrong one (from 0).

    Where the difference is not where a checker would point, a line ends in `# mark`.
    """
    source = CASES[case]
    wrong = MARK.sub(lambda match: match.group(1), source)
    right = MARK.sub(lambda match: match.group(2), source)
    marked = {number for number, line in enumerate(wrong.split("\n")) if "# mark" in line}
    removed = 0
    for match in MARK.finditer(source):
        first = source[: match.start()].count("\n") - removed
        marked |= set(range(first, first + match.group(1).count("\n") + 1))
        removed += match.group(0).count("\n") - match.group(1).count("\n")
    if case == "syntax error":
        marked |= {line + 1 for line in marked}  # A parser may notice one line later.
    return wrong, right, marked
