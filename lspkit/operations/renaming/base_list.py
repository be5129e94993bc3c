"""The base classes that the header of a class names: found in its text, for all languages.

A name counts if the class derives from it. Type arguments do not, as in `class Users(List[User])`,
nor the values of keywords, as in `class Form(metaclass=Meta)`. The arguments of a call do, as in
`class Button extends Clickable(Widget)`: most such functions return a class that derives from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")

_NAME = r"(?P<name>[^\W\d]\w*)"
_PYTHON_TOKEN = re.compile(
    r"#[^\n]*"
    r"|\"(?:\\.|[^\"\\\n])*\""
    r"|'(?:\\.|[^'\\\n])*'"
    rf"|{_NAME}(?P<keyword>\s*=(?!=))?"
    r"|[()\[\]{}:,]"
)
#: An arrow, and a `<` between blanks as in `class Low < High`, are no brackets.
_TOKEN = re.compile(rf"=>|->|(?<=\s)<\s|{_NAME}|[<>()\[\]{{}}\n]")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
#: Words in headers that are no names of classes.
_KEYWORDS = frozenset(
    {"extends", "implements", "with", "public", "private", "protected", "virtual", "final"}
)
#: The word before the conditions on type parameters.
_CONDITIONS = "where"


def find_base_names(header: str, path: str) -> list[int]:
    """Where the names of base classes begin in a text that begins behind the name of the class.

    >>> header = "(Base[User], metaclass=Meta): ..."
    >>> [header[at : at + 4] for at in find_base_names(header, "a.py")]
    ['Base']
    >>> header = "<T> extends Base<T> implements Flow {"
    >>> [header[at : at + 4] for at in find_base_names(header, "a.ts")]
    ['Base', 'Flow']
    """
    if path.endswith(PYTHON_SUFFIXES):
        return list(_in_python(header))
    return _before_body(header)


def _in_python(header: str) -> Iterator[int]:
    brackets: list[str] = []
    #: The number of open brackets around the value of a keyword; 0 outside of one.
    value_depth = 0
    for token in _PYTHON_TOKEN.finditer(header):
        text = token[0]
        if text in ("(", "[", "{"):
            brackets.append(text)
        elif text in (")", "]", "}"):
            if not brackets or (text == ")" and len(brackets) == 1):
                return
            brackets.pop()
            value_depth = 0 if value_depth > len(brackets) else value_depth
        elif text == "," and len(brackets) == value_depth:
            value_depth = 0
        elif text == ":" and not brackets:
            return
        elif token["keyword"] and not value_depth:
            value_depth = len(brackets)
        elif token["name"] and not value_depth and brackets and set(brackets) == {"("}:
            yield token.start()


def _before_body(header: str) -> list[int]:
    """In languages whose classes have a body in braces, or else only in the first line."""
    names: list[int] = []
    in_first_line: int | None = None
    #: What closes the open brackets.
    closing: list[str] = []
    in_parameters = False
    for token in _TOKEN.finditer(header):
        text = token[0]
        if not closing and text in ("{", _CONDITIONS):
            return names
        if text in _CLOSING:
            # Those before any base class are of the constructor.
            in_parameters = in_parameters or (text == "(" and not closing and not names)
            closing.append(_CLOSING[text])
        elif closing and text == closing[-1]:
            closing.pop()
            in_parameters = in_parameters and bool(closing)
        elif text == "\n" and not closing and in_first_line is None:
            in_first_line = len(names)
        elif (
            token["name"] and text not in _KEYWORDS and not in_parameters and set(closing) <= {")"}
        ):
            names.append(token.start())
    return names[:in_first_line]
