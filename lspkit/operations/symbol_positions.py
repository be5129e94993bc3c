"""The position that a request means.

A position is given by line and column, by the name of a symbol, or by a line and a word on it. If
the symbol is missing or ambiguous, the error lists candidates.
"""

from __future__ import annotations

import re
from typing import Any

import lspkit.types as types
from lspkit.errors import PositionError
from lspkit.operations.host import Build, Host, Question, Span
from lspkit.operations.host_results import Reply
from lspkit.operations.position_translation import check_line, to_wire
from lspkit.operations.request import PositionRequest
from lspkit.operations.symbol_names import nearest, split_number, symbol_chains, whole_word
from lspkit.operations.symbols import DocumentSymbolsRequest, document_symbols
from lspkit.protocol.text import Encoding, Text

#: Most candidates in an error.
SUGGESTED = 20
#: Most lines in an error that contain the word.
SHOWN = 5


def ask_at(
    request: PositionRequest[Any],
    host: Host,
    method: str,
    span: Span = "file",
    *,
    omits_declarations: bool = False,
    **more: Any,
) -> list[Reply]:
    """Send a request about the position; `more` are further params."""
    line, column = position_of(request, host)
    question = Question(
        request.path,
        request.text,
        method,
        params_at(line, column, **more),
        span=span,
        omits_declarations=omits_declarations,
    )
    return host.ask(question)


def params_at(line: int, column: int, **more: Any) -> Build:
    """Params of a request about a position."""

    def build(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        position = to_wire(text, line, column, encoding)
        return {"textDocument": {"uri": uri}, "position": position, **more}

    return build


def position_of(request: PositionRequest[Any], host: Host) -> tuple[int, int]:
    """Line and column that the request means."""
    if request.symbol is None:
        # The request's constructor has checked that both are given.
        return request.line or 1, request.column or 1
    if request.line is not None:
        text = host.read_text(request.path, request.text)
        return request.line, _column_of_word(text, request.line, request.symbol)
    return _position_by_name(request, host, request.symbol)


def _position_by_name(request: PositionRequest[Any], host: Host, given: str) -> tuple[int, int]:
    symbols = document_symbols(DocumentSymbolsRequest(path=request.path, text=request.text), host)
    named = list(symbol_chains(symbols))
    name, number = split_number(given)
    wanted = name.split(".")
    matches = [(chain, symbol) for chain, symbol in named if list(chain[-len(wanted) :]) == wanted]
    exact = [match for match in matches if len(match[0]) == len(wanted)]
    for candidates in (exact, matches):
        # Overloads, a getter and its setter, and variables that are assigned again have one name.
        # Two servers may describe a symbol differently, but at the same position.
        places = sorted({symbol.selection.start for _, symbol in candidates})
        is_one = len({chain for chain, _ in candidates}) == 1 or len(places) == 1
        if is_one and (number or 0) < len(places):
            at = places[number or 0]
            return at.line, at.column
        if is_one:
            many = f"{name}[0] to {name}[{len(places) - 1}]" if len(places) > 1 else f"only {name}"
            raise _candidates_error(f"{request.path} has no {given}, but {many}", candidates)
    if matches:
        raise _candidates_error(f"{name} is ambiguous in {request.path}", matches)
    text = host.read_text(request.path, request.text)
    hint = _lines_with(text, wanted[-1])
    near = nearest(wanted, named) or named
    raise _candidates_error(f"{request.path} defines no symbol {name}{hint}", near)


def _lines_with(text: Text, word: str) -> str:
    """The lines with a name that is defined elsewhere, such as an import."""
    pattern = re.compile(whole_word(word))
    lines = [str(at + 1) for at in range(text.line_count) if pattern.search(text.line(at))]
    if not lines:
        return ""
    more = ", …" if len(lines) > SHOWN else ""
    which = "line" if len(lines) == 1 else "lines"
    return f", but the word is on {which} {', '.join(lines[:SHOWN])}{more}: give a line as well"


def _candidates_error(
    what: str, among: list[tuple[tuple[str, ...], types.Symbol]]
) -> PositionError:
    named = (f"{'.'.join(chain)} at {symbol.selection.start}" for chain, symbol in among)
    candidates = list(dict.fromkeys(named))[:SUGGESTED]
    choices = "; ".join(candidates) or "it has no symbols at all"
    return PositionError(f"{what}; candidates: {choices}", candidates=tuple(candidates))


def _column_of_word(text: Text, line: int, name: str) -> int:
    check_line(text, line)
    written = text.line(line - 1)
    columns = [match.start() + 1 for match in re.finditer(whole_word(name), written)]
    if len(columns) == 1:
        return columns[0]
    if columns:
        candidates = tuple(f"{name} at {line}:{column}" for column in columns[:SUGGESTED])
        raise PositionError(
            f"{name} occurs more than once on line {line}; give a column: {'; '.join(candidates)}",
            candidates=candidates,
        )
    words = tuple(dict.fromkeys(re.findall(r"\w+", written)))[:SUGGESTED]
    raise PositionError(
        f"line {line} has no word {name}; it has: {', '.join(words) or 'no words'}",
        candidates=words,
    )
