"""The files that refer to what an edit has changed.

The servers are shown the text before the edit, and asked for its symbols and for the references to
those whose declaration has changed (`changed_declarations.py`). A server that still has the old
text is asked before it gets the new one. Other callers wait meanwhile, as for `check(text=…)`.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterable, Sequence

import msgspec

from lspkit import errors
from lspkit.operations.checks.changed_declarations import (
    CONTAINERS,
    IMPLICIT,
    ChangedDeclarations,
    Outline,
    changed_declarations,
    infers_types,
)
from lspkit.operations.host import Build, about_the_file
from lspkit.operations.host_results import Dependents, Reply
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.operations.symbol_positions import params_at
from lspkit.protocol.capabilities import DOCUMENT_SYMBOLS, REFERENCES
from lspkit.protocol.open_documents import View
from lspkit.protocol.wire.results import (
    SYMBOL_KINDS,
    WireRange,
    WireSymbol,
    read_location_ranges,
    read_symbols,
)
from lspkit.runtime.concurrency.parallel import attempt, in_parallel
from lspkit.runtime.exchange import disk_sync
from lspkit.runtime.exchange.ask_server import (
    SentRequest,
    await_replies,
    await_reply,
    begin_document_request,
    wait_for_turn,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.project_index import wait_for_index
from lspkit.runtime.files import File
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

#: Most declarations whose references are requested.
MOST_DECLARATIONS = 40
#: The part of the remaining time of a call that a search may use if it has no limit of its own, or
#: if it is the first one of a server.
SHARE = 0.5
#: Levels of symbols inside each other. Deeper ones are beside each other, or left out.
DEEPEST = 100
#: Why there may be more files.
TOO_MANY = "too many declarations have changed to ask for the references to all of them"
#: The lines with references in each file, by URI.
Places = dict[str, set[int]]


class Edited(msgspec.Struct, frozen=True):
    """An edited file, and the limits of the search: the parameters of `Host.find_dependents`."""

    path: str
    old: str | None
    text: str | None
    seconds: float | None
    ready_within: float | None


def find_dependents(context: Context, baselines: Baselines, edited: Edited) -> Dependents:
    """The files that refer to what an edit has changed."""
    began = time.monotonic()
    file = disk_sync.locate(context, edited.path, edited.text)
    new = context.files.read(file).text.value if edited.text is None else edited.text
    old = baselines.text(file.path) if edited.old is None else edited.old
    old = baselines.unsearched(file.path) or old
    age = _age(file.path)
    if old == new:
        return Dependents(file.path, old=old, age=age)
    servers, _ = disk_sync.servers_of(context, file, edited.text)
    searches = [
        _Search(context, server, file, old, new, edited) for server in servers if _can(server)
    ]
    results = in_parallel(context.threads, [search.run for search in searches])
    places, problems = Places(), [result for result in results if isinstance(result, Exception)]
    for result in results:
        for uri, lines in () if isinstance(result, Exception) else result.items():
            places.setdefault(uri, set()).update(lines)
    for problem in problems:
        if not isinstance(problem, OWN_FAULTS):
            raise problem
    reason = next((why for outcome in (*problems, *searches) if (why := _reason(outcome))), "")
    if edited.text is None:
        baselines.note_search(file.path, old if reason else None)
    took = max((search.took for search in searches), default=0.0)
    unsearched = [name for search in searches for name in search.unsearched]
    return Dependents(
        file.path,
        _nearest_first(
            context,
            _lines(context, places, file.path),
            {
                symbol.name
                for search in searches
                for symbol in search.changed.symbols
                if symbol.kind not in CONTAINERS and not IMPLICIT.fullmatch(symbol.name)
            },
        ),
        tuple(dict.fromkeys(name for search in searches for name in search.names)),
        old,
        reason,
        tuple(dict.fromkeys(unsearched or ([file.path] if reason else []))),
        bool(searches) and not problems and all(search.is_internal for search in searches),
        took,
        time.monotonic() - began - took,
        any(search.is_first for search in searches),
        age,
        tuple(dict.fromkeys(word for search in searches for word in search.changed.words)),
        tuple(dict.fromkeys(name for search in searches for name in search.changed.members)),
        tuple(dict.fromkeys(name for search in searches for name in search.changed.inside)),
        any(search.changed.has_star for search in searches),
    )


def _age(path: str) -> float:
    """Seconds since the file was changed; 0 if that is not known."""
    try:
        return max(time.time() - os.stat(path).st_mtime, 0.0)
    except OSError:
        return 0.0


def _can(server: Server) -> bool:
    """A linter checks each file for itself."""
    return server.choice.definition.role == "types"


def _reason(outcome: object) -> str:
    if isinstance(outcome, _Search):
        return outcome.reason
    return "" if isinstance(outcome, errors.UnsupportedError) else str(outcome)


class _Search:
    """The search by one server."""

    def __init__(
        self,
        context: Context,
        server: Server,
        file: File,
        old: str | None,
        new: str,
        edited: Edited,
    ) -> None:
        self._context, self._server, self._file = context, server, file
        self._old, self._new, self._edited = old, new, edited
        #: The text that the server is shown; None for the text on disk.
        self._shown = edited.text if old is None else old
        self.is_first = not server.has_searched
        #: Names of the changed declarations.
        self.names: list[str] = []
        self.reason = ""
        #: Names of those whose references are not known.
        self.unsearched: list[str] = []
        self.changed = ChangedDeclarations()
        #: Whether only bodies of functions have changed.
        self.is_internal = False
        #: Seconds since the server was ready.
        self.took = 0.0

    def run(self) -> Places:
        """The lines with references in each file."""
        context, server = self._context, self._server
        exclusive = self._shown is not None and server.choice.definition.compares_files
        with QueueEntry(exclusive=exclusive) as turn:
            try:
                server.channel.queue.join(self._file.uri, turn)
                ready = context.part(self._edited.ready_within)
                prepare_server(ready, server, self._file, self._shown)
                if not wait_for_turn(ready, server, turn, REFERENCES, may_leave=True):
                    return {}
                began = time.monotonic()
                try:
                    return self._search(context.part(self._seconds()))
                finally:
                    self.took = time.monotonic() - began
            finally:
                if self._shown is not None and turn.done:
                    disk_sync.restore_document(context, server, self._file.uri)

    def _seconds(self) -> float:
        """The time for the requests. The check of the file needs time after them."""
        seconds, left = self._edited.seconds, self._context.call.deadline - time.monotonic()
        if seconds is not None and not self.is_first:
            return seconds
        return max(seconds or 0.0, SHARE * left)

    def _search(self, context: Context) -> Places:
        key = self._server.channel.key_of(self._file.uri)
        supports = self._server.channel.session.supports
        if not supports(DOCUMENT_SYMBOLS, key) or not supports(REFERENCES, key):
            return {}
        reply = await_reply(context, self._begin(context, DOCUMENT_SYMBOLS, about_the_file))
        changed = self._changes(reply)
        declared = changed.symbols
        self.names = [symbol.name for symbol in declared]
        self.changed = changed
        self.is_internal = changed.is_internal and not declared
        if len(declared) > MOST_DECLARATIONS:
            self.reason = TOO_MANY
            self.unsearched += self.names[MOST_DECLARATIONS:]
        if declared and (loading := self._wait_for_index(context)):
            self.reason, self.unsearched = loading, list(self.names)
        # All are sent before the first answer is waited for.
        sent = [
            attempt(functools.partial(self._begin_references, context, symbol))
            for symbol in declared[:MOST_DECLARATIONS]
        ]
        places, answers = Places(), await_replies(context, sent)
        for name, answer in zip(self.names, answers, strict=False):
            if isinstance(answer, Reply):
                self._server.has_searched = True
                _add(places, read_location_ranges(answer.result).items)
            elif isinstance(answer, (*OWN_FAULTS, errors.PositionError)):
                self.reason = str(answer)
                self.unsearched.append(name)
            else:
                raise answer
        return places

    def _wait_for_index(self, context: Context) -> str:
        """Wait until the server knows the project; returns why it does not."""
        # With a file, servers with projects would be shown its text on disk.
        file = self._file if self._server.choice.definition.project is None else None
        caveats = wait_for_index(context, self._server, file)
        return next((caveat.message for caveat in caveats if caveat.kind == "index loading"), "")

    def _changes(self, reply: Reply) -> ChangedDeclarations:
        """The changed declarations; without an old text, all on the top level."""
        outline = outline_of(read_symbols(reply.result).items, reply.view)
        if self._old is None:
            return ChangedDeclarations(outline)
        inferred = infers_types(self._file.path)
        return changed_declarations(self._old, self._new, outline, inferred=inferred)

    def _begin_references(self, context: Context, symbol: Outline) -> SentRequest:
        more = {"includeDeclaration": True}
        build = params_at(symbol.line + 1, symbol.column + 1, context=more)
        return self._begin(context, REFERENCES, build)

    def _begin(self, context: Context, method: str, build: Build) -> SentRequest:
        return begin_document_request(context, self._server, self._file, self._shown, method, build)


def outline_of(symbols: Iterable[WireSymbol], view: View) -> list[Outline]:
    """The symbols of an answer. A flat list becomes a tree: what lies inside is a part."""
    flat = [_outline(symbol, view) for symbol in symbols]
    if any(symbol.children for symbol in flat):
        return flat
    return _nest(
        sorted(flat, key=lambda symbol: (symbol.start, -symbol.end, symbol.line, symbol.column))
    )


def _nest(symbols: Sequence[Outline]) -> list[Outline]:
    """A tree of symbols that are sorted by their first lines, the longer of two before."""
    top: list[Outline] = []
    #: The symbols that may contain the next one, outermost first, each with its parts so far.
    around: list[tuple[Outline, list[Outline]]] = []

    def close() -> None:
        symbol, inner = around.pop()
        (around[-1][1] if around else top).append(
            msgspec.structs.replace(symbol, children=tuple(inner))
        )

    for symbol in symbols:
        while around and not _contains(around[-1][0], symbol):
            close()
        if len(around) == DEEPEST:
            close()
        around.append((symbol, []))
    while around:
        close()
    return top


def _contains(symbol: Outline, later: Outline) -> bool:
    return symbol.start < symbol.end and later.end <= symbol.end


def _outline(wire: WireSymbol, view: View, depth: int = 1) -> Outline:
    place = wire.location.place if wire.location is not None else None
    whole = place[1] if place is not None else wire.range or wire.selection_range
    name = wire.selection_range or whole
    bare = wire.name.partition("(")[0].strip()
    if whole is None or name is None:
        return Outline(bare, "", 0, 0, 0, 0)
    last = view.text.line_count - 1
    line = min(max(name.start.line, 0), last)
    column = view.text.column(line, name.start.character, view.encoding)
    if wire.selection_range is None:
        # Only the whole symbol is known: its name is on its first line.
        column = max(column, view.text.line(line).find(bare, column))
    return Outline(
        bare,
        SYMBOL_KINDS.get(wire.kind, ""),
        min(max(whole.start.line, 0), line),
        max(min(whole.end.line, last), line),
        line,
        column,
        tuple(
            _outline(child, view, depth + 1) for child in (wire.children or ()) if depth < DEEPEST
        ),
    )


def _add(places: Places, references: Iterable[tuple[str, WireRange]]) -> None:
    """Add references; of the files that come with them, those with most references first."""
    new_places: Places = {}
    for uri, range in references:
        new_places.setdefault(uri, set()).add(range.start.line + 1)
    for uri in sorted(new_places, key=lambda uri: (-len(new_places[uri]), uri)):
        places.setdefault(uri, set()).update(new_places[uri])


def _lines(context: Context, places: Places, own: str) -> dict[str, tuple[int, ...]]:
    """The lines of the files that may be read."""
    lines_by_path: Places = {}
    for uri, lines in places.items():
        readable = context.files.place(uri).readable
        if readable is not None and readable != own:
            lines_by_path.setdefault(readable, set()).update(lines)
    return {path: tuple(sorted(lines)) for path, lines in lines_by_path.items()}


def _nearest_first(
    context: Context, lines: dict[str, tuple[int, ...]], members: set[str]
) -> dict[str, tuple[int, ...]]:
    """The same lines; files that name a changed member before those that name only its class.

    Most of the latter are not concerned, and there may be no time for all files.
    """
    if not members:
        return lines

    def is_farther(path: str) -> bool:
        text = context.files.disk_text(path)
        return text is None or not any(name in text.value for name in members)

    return {path: lines[path] for path in sorted(lines, key=is_farther)}
