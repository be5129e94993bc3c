"""Raw answers of servers, and lspkit's results, both as plain tuples that can be compared.

Columns of the protocol become columns of people in the most obvious way: take ever longer
beginnings of the line, encode them, and count. Nothing here uses lspkit's own conversion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import lspkit

#: Words for the kinds of symbols that the test projects have.
KINDS = {5: "class", 6: "method", 7: "property", 8: "field", 9: "constructor", 12: "function"}
KINDS |= {2: "module", 11: "interface", 13: "variable", 14: "constant", 19: "object", 23: "struct"}

SEVERITIES = {1: "error", 2: "warning", 3: "info", 4: "hint"}

#: ((line, column), (line, column)), counted from 1, in characters.
Range = tuple[tuple[int, int], tuple[int, int]]


def units(text: str, encoding: str) -> int:
    """How wide a text is for the protocol."""
    if encoding == "utf-8":
        return len(text.encode("utf-8"))
    if encoding == "utf-16":
        return len(text.encode("utf-16-le")) // 2
    return len(text.encode("utf-32-le")) // 4


class Reader:
    """Reads the raw answers of a server that counts in one encoding."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def wire(self, path: Path, line: int, column: int) -> tuple[int, int]:
        """People's line and column as the server counts."""
        before = _lines(path)[line - 1][: column - 1]
        return line - 1, units(before, self.encoding)

    def range(self, path: Path, raw: dict[str, Any]) -> Range:
        return self._position(path, raw["start"]), self._position(path, raw["end"])

    def _position(self, path: Path, raw: dict[str, int]) -> tuple[int, int]:
        line = _lines(path)[raw["line"]]
        for column in range(len(line) + 1):
            if units(line[:column], self.encoding) == raw["character"]:
                return raw["line"] + 1, column + 1
        raise AssertionError(f"{raw} lies within a character or beyond the line {line!r}")

    def locations(self, raw: Any) -> list[tuple[str, Range]]:
        """Each place once, by path, line and column."""
        found = set()
        for one in raw if isinstance(raw, list) else [raw]:
            uri = one.get("targetUri") or one["uri"]
            path = path_of(uri)
            found.add(
                (str(path), self.range(path, one.get("targetSelectionRange") or one["range"]))
            )
        return sorted(found)

    def hover(self, path: Path, raw: Any) -> tuple[list[str], Range | None]:
        contents = raw["contents"]
        parts = contents if isinstance(contents, list) else [contents]
        return [words(part) for part in parts], (
            self.range(path, raw["range"]) if "range" in raw else None
        )

    def symbols(self, path: Path, raw: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        """The tree, brothers in the order of their names in the text."""
        found = []
        for one in raw:
            whole = one["range"] if "range" in one else one["location"]["range"]
            found.append(
                (
                    self.range(path, one.get("selectionRange") or whole),
                    one["name"],
                    KINDS[one["kind"]],
                    self.range(path, whole),
                    one.get("detail") or "",
                    self.symbols(path, one.get("children") or []),
                )
            )
        return sorted(found)

    def found_symbols(self, raw: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        """Symbols of a workspace, by path, line and column."""
        found = set()
        for one in raw:
            path = path_of(one["location"]["uri"])
            at = self.range(path, one["location"]["range"])
            container = one.get("containerName") or ""
            found.add((str(path), at, one["name"], KINDS[one["kind"]], container))
        return sorted(found)

    def item(self, raw: dict[str, Any]) -> tuple[Any, ...]:
        """An item of a hierarchy."""
        path = path_of(raw["uri"])
        return (
            str(path),
            self.range(path, raw["selectionRange"]),
            raw["name"],
            KINDS[raw["kind"]],
            self.range(path, raw["range"]),
            raw.get("detail") or "",
        )

    def items(self, raw: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted(self.item(one) for one in raw)

    def calls(self, raw: Sequence[dict[str, Any]], asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Calls of the item that was asked about. Where they are is told in the caller's file."""
        found = []
        for one in raw:
            other, caller = (one["from"],) * 2 if "from" in one else (one["to"], asked)
            path = path_of(caller["uri"])
            # typescript-7 names the same place twice.
            ranges = sorted({self.range(path, at) for at in one["fromRanges"]})
            found.append((self.item(other), ranges))
        return sorted(found)

    def diagnostics(self, path: Path, raw: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        found = {
            (
                self.range(path, one["range"]),
                one["message"],
                SEVERITIES[one["severity"]],
                str(one.get("code", "")),
            )
            for one in raw
        }
        return sorted(found)


def words(markup: Any) -> str:
    """A text, or a text with a note on how to show it."""
    if markup is None or isinstance(markup, str):
        return markup or ""
    if "language" in markup:
        return "```{language}\n{value}\n```".format(**markup)
    return str(markup["value"])


def signature_help(raw: dict[str, Any]) -> tuple[Any, ...]:
    """The signatures, which of them is meant, and which of its parameters; nothing for none."""
    if not raw["signatures"]:
        return ()
    active = raw.get("activeSignature") or 0
    signatures = []
    for one in raw["signatures"]:
        # Two bytes per unit: where a label is told by its place, UTF-16 counts, always.
        wide = one["label"].encode("utf-16-le")
        parameters = [
            (
                label
                if isinstance(label := parameter["label"], str)
                else wide[2 * label[0] : 2 * label[1]].decode("utf-16-le"),
                words(parameter.get("documentation")),
            )
            for parameter in one.get("parameters") or []
        ]
        signatures.append((one["label"], words(one.get("documentation")), parameters))
    parameter = raw["signatures"][active].get("activeParameter", raw.get("activeParameter"))
    return signatures, active, parameter


def path_of(uri: str) -> Path:
    parts = urlsplit(uri)
    assert parts.scheme == "file", uri
    return Path(unquote(parts.path))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


# The same of lspkit's results, in the order in which they came.


def plain_range(given: lspkit.Range) -> Range:
    return (given.start.line, given.start.column), (given.end.line, given.end.column)


def plain_locations(given: Iterable[lspkit.Location]) -> list[tuple[str, Range]]:
    return [(str(one.path), plain_range(one.range)) for one in given]


def plain_hover(given: lspkit.Hover | None) -> tuple[list[str], Range | None]:
    assert given is not None
    return given.contents, None if given.range is None else plain_range(given.range)


def plain_symbols(given: Iterable[lspkit.Symbol]) -> list[tuple[Any, ...]]:
    return [
        (
            plain_range(one.selection),
            one.name,
            one.kind,
            plain_range(one.range),
            one.detail,
            plain_symbols(one.children),
        )
        for one in given
    ]


def plain_diagnostics(given: Iterable[lspkit.Diagnostic]) -> list[tuple[Any, ...]]:
    return [(plain_range(one.range), one.message, one.severity.value, one.code) for one in given]


def plain_found_symbols(given: Iterable[lspkit.Symbol]) -> list[tuple[Any, ...]]:
    return [
        (str(one.path), plain_range(one.range), one.name, one.kind, one.container) for one in given
    ]


def plain_item(given: lspkit.CallItem | lspkit.TypeItem) -> tuple[Any, ...]:
    at, whole = plain_range(given.selection), plain_range(given.range)
    return str(given.path), at, given.name, given.kind, whole, given.detail


def plain_calls(given: Iterable[lspkit.Call]) -> list[tuple[Any, ...]]:
    return [(plain_item(one.item), [plain_range(at) for at in one.ranges]) for one in given]


def plain_signature_help(given: lspkit.SignatureHelp | None) -> tuple[Any, ...]:
    if given is None:
        return ()
    signatures = [
        (
            one.label,
            one.documentation,
            [(parameter.label, parameter.documentation) for parameter in one.parameters],
        )
        for one in given.signatures
    ]
    return signatures, given.active_signature, given.active_parameter
