"""The toy language: open documents, and what the server says about them.

`def NAME` at the start of a line defines NAME, and every whole word NAME is a reference to it.
ERROR and WARN anywhere are diagnostics, and so is `NEED NAME` while no document defines NAME, so
that findings may depend on another file. Only open documents count. Columns inside this file are
code points; they become units of the negotiated encoding in `ScriptedDocument.position` and back in
`ScriptedDocument.offset`, nowhere else.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # `typing` itself takes longer to import than the rest of the server.
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Any

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_WORD = re.compile(r"[^\W\d]\w*")
_DEFINITION = re.compile(r"^[ \t]*def[ \t]+([^\W\d]\w*)")
_TROUBLE = re.compile(r"\b(?:(ERROR|WARN)\b|(NEED)[ \t]+([^\W\d]\w*))")

_SEVERITY = {"ERROR": 1, "WARN": 2, "NEED": 1}
_FUNCTION = 12  # SymbolKind

#: How many units one character takes, per encoding.
_WIDTH: dict[str, Callable[[str], int]] = {
    "utf-8": lambda character: len(character.encode("utf-8", "surrogatepass")),
    "utf-16": lambda character: 2 if ord(character) > 0xFFFF else 1,
    "utf-32": lambda character: 1,
}


class ScriptedDocument:
    """One open document. `stamp` is unique among all states of all documents of the process."""

    _stamps = 0

    def __init__(self, uri: str, version: int, text: str, encoding: str) -> None:
        self.uri = uri
        self.version = version
        self._encoding = encoding
        self._set(text)

    def _set(self, text: str) -> None:
        ScriptedDocument._stamps += 1
        self.stamp = ScriptedDocument._stamps
        self.text = text
        breaks = list(_LINE_BREAK.finditer(text))
        self._starts = [0, *(match.end() for match in breaks)]
        self._ends = [*(match.start() for match in breaks), len(text)]

    def lines(self) -> Iterator[tuple[int, str]]:
        for number, (start, end) in enumerate(zip(self._starts, self._ends, strict=True)):
            yield number, self.text[start:end]

    def change(self, change: dict[str, Any]) -> str | None:
        """Applies one content change; says what is wrong with it, if anything."""
        if "range" not in change:
            self._set(change["text"])
            return None
        edges = change["range"]["start"], change["range"]["end"]
        beyond = [edge for edge in edges if not self._holds(edge)]
        start, end = (self.offset(edge) for edge in edges)
        self._set(self.text[:start] + change["text"] + self.text[max(start, end) :])
        if beyond or end < start:
            return f"range outside of the text: {change['range']}"
        return None

    def _holds(self, position: dict[str, int]) -> bool:
        if not 0 <= position["line"] < len(self._starts):
            return False
        # A position that does not come back as it went in is beyond the line or inside a character.
        return self._position(position["line"], self.offset(position)) == position

    def offset(self, position: dict[str, int]) -> int:
        line, units = position["line"], position["character"]
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._ends[line]
        if self._encoding == "utf-32" or self.text.isascii():
            return min(start + units, end)
        width = _WIDTH[self._encoding]
        for offset in range(start, end):
            units -= width(self.text[offset])
            if units < 0:
                return offset
        return end

    def _position(self, line: int, offset: int) -> dict[str, int]:
        start = self._starts[line]
        if self._encoding == "utf-32" or self.text.isascii():
            return {"line": line, "character": offset - start}
        width = _WIDTH[self._encoding]
        return {"line": line, "character": sum(map(width, self.text[start:offset]))}

    def range(self, line: int, start: int, end: int) -> dict[str, Any]:
        """The range between two code point columns of a line."""
        first = self._starts[line]
        return {
            "start": self._position(line, first + start),
            "end": self._position(line, first + end),
        }

    def location(self, line: int, start: int, end: int) -> dict[str, Any]:
        return {"uri": self.uri, "range": self.range(line, start, end)}

    def word_at(self, position: dict[str, int]) -> tuple[str, dict[str, Any]] | None:
        """The word under or just before a position, and its range."""
        line = position["line"]
        if line >= len(self._starts):
            return None
        column = self.offset(position) - self._starts[line]
        for match in _WORD.finditer(self.text[self._starts[line] : self._ends[line]]):
            if match.start() <= column <= match.end():
                return match[0], self.range(line, *match.span())
        return None

    def definitions(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Name, line, its columns, and the length of the line, of each definition."""
        for number, line in self.lines():
            if match := _DEFINITION.match(line):
                yield match[1], number, match.start(1), match.end(1), len(line)

    def diagnostics(self, defined: Container[str]) -> list[dict[str, Any]]:
        """What is wrong with it, where these names are defined anywhere."""
        return [
            {
                "range": self.range(number, *match.span()),
                "severity": _SEVERITY[match[1] or match[2]],
                "code": match[1] or match[2],
                "source": "scripted",
                "message": line[match.start() :].strip(),
            }
            for number, line in self.lines()
            for match in _TROUBLE.finditer(line)
            if match[3] is None or match[3] not in defined
        ]

    def report(self, previous: str | None, defined: Container[str]) -> dict[str, Any]:
        """The answer to a diagnostics pull."""
        items = self.diagnostics(defined)
        needed = [item["message"] for item in items if item["code"] == "NEED"]
        result = " ".join([str(self.stamp), *needed])  # the same text may lack more by now
        if previous == result:
            return {"kind": "unchanged", "resultId": previous}
        return {"kind": "full", "resultId": result, "items": items}


Documents = dict[str, ScriptedDocument]


def defined_in(documents: Documents) -> set[str]:
    """The names that any of them defines."""
    return {name for document in documents.values() for name, *_ in document.definitions()}


def _asked_word(documents: Documents, params: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    document = documents.get(params["textDocument"]["uri"])
    return document.word_at(params["position"]) if document else None


def _definition(documents: Documents, params: dict[str, Any]) -> Any:
    word = _asked_word(documents, params)
    return [
        document.location(line, start, end)
        for document in documents.values()
        for name, line, start, end, _ in document.definitions()
        if word and name == word[0]
    ]


def _references(documents: Documents, params: dict[str, Any]) -> Any:
    word = _asked_word(documents, params)
    defined = _definition(documents, params)
    if not word or not defined:
        return []
    places = [
        document.location(number, *match.span())
        for document in documents.values()
        for number, line in document.lines()
        for match in _WORD.finditer(line)
        if match[0] == word[0]
    ]
    if params.get("context", {}).get("includeDeclaration", True):
        return places
    return [location for location in places if location not in defined]


def _hover(documents: Documents, params: dict[str, Any]) -> Any:
    word = _asked_word(documents, params)
    if not word or not _definition(documents, params):
        return None
    return {"contents": {"kind": "markdown", "value": f"def {word[0]}"}, "range": word[1]}


def _document_symbol(documents: Documents, params: dict[str, Any]) -> Any:
    document = documents.get(params["textDocument"]["uri"])
    return [
        {
            "name": name,
            "kind": _FUNCTION,
            "range": document.range(line, 0, length),
            "selectionRange": document.range(line, start, end),
        }
        for name, line, start, end, length in (document.definitions() if document else ())
        if document
    ]


def _workspace_symbol(documents: Documents, params: dict[str, Any]) -> Any:
    return [
        {"name": name, "kind": _FUNCTION, "location": document.location(line, start, end)}
        for document in documents.values()
        for name, line, start, end, _ in document.definitions()
        if params.get("query", "") in name
    ]


def _rename(documents: Documents, params: dict[str, Any]) -> Any:
    changes: dict[str, list[dict[str, Any]]] = {}
    for location in _references(documents, {**params, "context": {}}):
        edit = {"range": location["range"], "newText": params["newName"]}
        changes.setdefault(location["uri"], []).append(edit)
    return {"changes": changes} if changes else None


def _diagnostic(documents: Documents, params: dict[str, Any]) -> Any:
    document = documents.get(params["textDocument"]["uri"])
    if document is None:
        return {"kind": "full", "items": []}
    return document.report(params.get("previousResultId"), defined_in(documents))


def _workspace_diagnostic(documents: Documents, params: dict[str, Any]) -> Any:
    previous = {item["uri"]: item["value"] for item in params.get("previousResultIds", [])}
    defined = defined_in(documents)
    return {
        "items": [
            {
                "uri": document.uri,
                "version": document.version,
                **document.report(previous.get(document.uri), defined),
            }
            for document in documents.values()
        ]
    }


#: What the server answers when the script has no answer of its own.
COMPUTED: dict[str, Callable[[Documents, dict[str, Any]], Any]] = {
    "textDocument/definition": _definition,
    "textDocument/references": _references,
    "textDocument/hover": _hover,
    "textDocument/documentSymbol": _document_symbol,
    "workspace/symbol": _workspace_symbol,
    "textDocument/rename": _rename,
    "textDocument/diagnostic": _diagnostic,
    "workspace/diagnostic": _workspace_diagnostic,
}
