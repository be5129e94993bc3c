"""An answer as text for a model: locations with their source lines, or advice after a failure.

It is made from the envelope, so that text and data are consistent. Text from a repository stays on
its line, and invisible and reordering characters are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.agent.tools.result_data import SHAPES, Data, shorten
from lspkit.agent.tools.source_lines import SourceLines
from lspkit.agent.tools.tool_table import ToolSpec
from lspkit.diagnostics.render import plain_line
from lspkit.install.install_hint import GET_IT_WITH
from lspkit.operations import IncomingCallsRequest
from lspkit.visible_text import count, one_line

NOTHING = "No results found."

#: The search for a whole word, by the name of the tool.
SEARCH_FORMS = {
    "grep": "grep -rnw --exclude-dir=node_modules --exclude-dir=.git '{symbol}' .",
    "rg": "rg -nw -g '!node_modules' '{symbol}'",
    "git grep": "git grep -nw '{symbol}'",
}
#: For an unknown tool.
PLAIN_FORM = "{tool} {symbol}"

#: Characters of a source line.
LONGEST_LINE = 200
#: Characters of a word to search for. Longer ones are not names.
LONGEST_WORD = 100

#: Errors of a server: a model can search instead.
WITHOUT_SERVER = frozenset(
    {"ENOSERVER", "EUNAVAILABLE", "EBROKEN", "ETIMEDOUT", "ELSP", "EUNSUPPORTED", "ECLOSED"}
)
#: Advice by error code.
ADVICE = {
    "ETIMEDOUT": "The server may still be busy: try the same call later.",
    "EBROKEN": "The server restarts automatically: try the same call later.",
    "EOUTSIDE": "Give a path inside the workspace.",
    "ENOENT": "Search for the file by its name first.",
    "ECLOSED": "No LSP tool works here any more.",
}


class Page(msgspec.Struct, frozen=True):
    """The context of a text."""

    row: ToolSpec
    sources: SourceLines
    #: The host's search tool, and the form of its command.
    search_tool: str
    search_form: str
    #: The name in the call; empty if not known.
    symbol: str = ""
    #: Bytes.
    most: int = 32 * 1024
    #: Servers that are not installed: the command that installs each of them.
    installs: dict[str, str] = {}
    #: The words for a checked file without findings; empty if that is not proven.
    clean: str = ""

    def search(self) -> str:
        """A search command for the name in the call."""
        if not 0 < len(self.symbol) <= LONGEST_WORD:
            return ""
        # Not `format`: a form may be JSON, which contains braces.
        form = self.search_form.replace("{tool}", self.search_tool)
        return form.replace("{symbol}", self.symbol)


def search_form_for(tool: str) -> str:
    """The form of a search with this tool."""
    return SEARCH_FORMS.get(tool, PLAIN_FORM)


def bare_name(name: str) -> str:
    """The word to search for: the last part of a qualified name, without its parameters."""
    words = re.findall(r"\w+", re.split(r"[(<]", name, maxsplit=1)[0]) or re.findall(r"\w+", name)
    return words[-1] if words else ""


def longest_word(query: str) -> str:
    """The longest word of a query."""
    return max(re.findall(r"\w+", query), key=len, default="")


def result_text(envelope: Mapping[str, Any], page: Page, notes: Sequence[str] = ()) -> str:
    """The answer as text; `notes` are the warnings about this call."""
    if not envelope["ok"]:
        lines = [line for error in envelope["errors"] for line in _problem(error, page)]
        return _fit_lines(lines, 0, list(_advice(envelope, page)), page.most)
    failed = [
        f"Note: {one_line(error['serverId']) or 'a server'} did not answer, or not in full: "
        f"{error['message']}"
        for error in envelope["errors"]
    ]
    below = [*failed, *(f"Note: {one_line(note)}" for note in notes)]
    if envelope["meta"]["empty"]:
        return _fit_lines([page.clean or NOTHING], 0, below, page.most)
    lines = list(TEXTS[SHAPES[page.row.result].name](envelope["data"], page))
    hidden = envelope["meta"].get("total", 0) - _count_results(envelope["data"])
    return _fit_lines(lines, max(0, hidden), below, page.most)


def _count_results(data: Any) -> int:
    """The number of results in the data."""
    if isinstance(data, list):
        return len(data) + sum(_count_results(symbol.get("children", [])) for symbol in data)
    if "changes" in data and "applied" in data:
        return sum(len(change.get("edits", [None])) for change in data["changes"])
    return sum(len(results) for results in data.values() if isinstance(results, list))


def _fit_lines(lines: list[str], hidden: int, below: list[str], most: int) -> str:
    """As many lines as there is room for."""
    room = most - sum(len(line.encode()) + 1 for line in below) - len("\n... and 1000000 more\n")
    kept: list[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    left = hidden + len(lines) - len(kept)
    return "\n".join([*kept, *([f"... and {left} more"] if left else []), *below])


def _problem(error: Mapping[str, str], page: Page) -> Iterator[str]:
    """One error. That a server is not available is said in the same words for all servers."""
    server = error["serverId"]
    if error["code"] == "EUNAVAILABLE" and server:
        yield f'LSP server "{one_line(server)}" is not available.'
    if server not in page.installs:
        yield error["message"]
        return
    yield error["message"].partition(GET_IT_WITH)[0]
    yield f"Install it with: {page.installs[server]}"


def _advice(envelope: Mapping[str, Any], page: Page) -> Iterator[str]:
    """Advice after a failure."""
    codes = [error["code"] for error in envelope["errors"]]
    yield from dict.fromkeys(ADVICE[code] for code in codes if code in ADVICE)
    search = page.search()
    if WITHOUT_SERVER.intersection(codes) and (search or "{search}" not in page.row.instead):
        yield f"Suggested alternative: {page.row.instead.replace('{search}', search)}"


# One line for each result


def _file_name(data: Data, above: str = "") -> str:
    """The file or URI; that of the parent for a nested symbol."""
    return str(data.get("filePath") or data.get("uri") or above)


def _place(data: Data, range: Data, above: str = "") -> str:
    start = range["start"]
    return f"{one_line(_file_name(data, above))}:{start['line']}:{start['character']}"


def _source(data: Data, range: Data, page: Page, above: str = "") -> str:
    path = data.get("filePath", above if "uri" not in data else "")
    line = page.sources.line(path, range["start"]["line"]) if path else ""
    return _line(line)


def _line(text: str) -> str:
    return shorten(one_line(text.replace("\t", " ")).strip(), LONGEST_LINE)


def _describe(place: str, *parts: str) -> str:
    """A location with its details."""
    details = "  |  ".join(part for part in parts if part)
    return f"{place}  {details}" if details else place


def _locations(data: list[Data], page: Page) -> Iterator[str]:
    for location in data:
        at = location["range"]
        yield _describe(_place(location, at), _source(location, at, page))


def _hover(data: Data, _: Page) -> Iterator[str]:
    """Quoted: text of the project may look like a note of lspkit."""
    for number, text in enumerate(data["contents"]):
        if number:
            yield ">"
        for line in text.splitlines():
            yield f"> {one_line(line.expandtabs(4))}".rstrip()


def _symbols(data: list[Data], page: Page) -> Iterator[str]:
    yield from _level(data, page, "", "")


def _level(data: list[Data], page: Page, above: str, chain: str) -> Iterator[str]:
    for symbol in data:
        around = chain or symbol.get("containerName", "")
        name = f"{around}.{symbol['name']}" if around else symbol["name"]
        at = symbol["selectionRange"]
        source = _source(symbol, at, page, above)
        yield _describe(_place(symbol, at, above), f"{symbol['kind']} {one_line(name)}", source)
        yield from _level(symbol.get("children", []), page, _file_name(symbol, above), name)


def _item_line(item: Data, page: Page) -> str:
    at = item["selectionRange"]
    named = f"{item['kind']} {one_line(item['name'])}"
    return _describe(_place(item, at), named, _source(item, at, page))


def _items(data: list[Data], page: Page) -> Iterator[str]:
    for item in data:
        yield _item_line(item, page)


def _calls(data: list[Data], page: Page) -> Iterator[str]:
    incoming = page.row.request is IncomingCallsRequest
    for call in data:
        lines = [_item_line(call["item"], page)]
        if incoming:
            # The calls are in the caller's own file, so their lines can be shown.
            for at in call["ranges"]:
                source = _source(call["item"], at, page)
                lines.append("    " + _describe(_place(call["item"], at), source))
        elif call["ranges"]:
            starts = [at["start"] for at in call["ranges"]]
            places = ", ".join(f"{start['line']}:{start['character']}" for start in starts)
            lines.append(f"    called at {places}")
        yield "\n".join(lines)


def _diagnostics(data: dict[str, list[Data]], page: Page) -> Iterator[str]:
    for path, findings in data.items():
        for finding in findings:
            code = f" ({plain_line(finding['code'])})" if "code" in finding else ""
            text = f"{finding['severity'].upper()} {plain_line(finding['message'])}{code}"
            at = {"filePath": path}
            yield _describe(_place(at, finding["range"]), text, _source(at, finding["range"], page))


def _edit(data: Data, page: Page) -> Iterator[str]:
    changes, edits = data["changes"], _count_results(data)
    done = "made" if data["applied"] else "proposed, nothing was written"
    yield f"{count(edits, 'change')} in {count(len(changes), 'file')} {done}:"
    for change in changes:
        if "kind" in change:
            to = f" -> {one_line(change['newPath'])}" if "newPath" in change else ""
            yield f"{change['kind']} {one_line(_file_name(change))}{to}"
        elif data["applied"]:
            # The positions are those before the edit.
            yield f"{one_line(_file_name(change))}  {count(len(change['edits']), 'edit')}"
        else:
            yield from _edits(change, page)


def _edits(change: Data, page: Page) -> Iterator[str]:
    for edit in change["edits"]:
        at, new = edit["range"], edit["newText"]
        start, end = at["start"], at["end"]
        path = change.get("filePath", "")
        line = page.sources.line(path, start["line"]) if path else ""
        text = f"-> {one_line(shorten(new, LONGEST_LINE))}"
        if line and start["line"] == end["line"] and "\n" not in new:
            after = line[: start["character"] - 1] + new + line[end["character"] - 1 :]
            text = "  ->  ".join(map(_line, (line, after)))
        yield _describe(_place(change, at), text)


#: By name of the shape.
TEXTS: dict[str, Callable[[Any, Page], Iterator[str]]] = {
    "locations": _locations,
    "hover": _hover,
    "symbols": _symbols,
    "items": _items,
    "calls": _calls,
    "diagnostics": _diagnostics,
    "edit": _edit,
}
