"""Places that an answer of a server lacks, by the words of the texts.

A server that still reads its project, leaves files out by its configuration, or knows nothing of
another root, answers with a part of the places and does not say so. So the places are compared with
the words (`servers/project/word_search.py`): a file that holds the name in code where the answer
has no place is opened, the question is asked again, and the servers of what is left are asked where
the name is defined there. A definition that is the symbol's makes the word a place; another one
explains it; without any, nobody knows, and the answer says so.

`references`, `rename` and `incoming_calls` use this. What can be decided without a server is in
plain functions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lspkit.answer import NOT_ASKED, UNEXPLAINED, Answer
from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.operations.checks.changed_declarations import CONTAINERS, FUNCTIONS, NAMESPACES
from lspkit.operations.checks.import_lines import import_word
from lspkit.operations.host import Host
from lspkit.operations.navigation import DeclarationRequest, DefinitionRequest
from lspkit.operations.request import OPERATIONS, PositionRequest
from lspkit.operations.symbols import DocumentSymbolsRequest, document_symbols
from lspkit.protocol.text import Text
from lspkit.protocol.uris import path_to_uri
from lspkit.servers.project.word_search import Word
from lspkit.types import Caveat, Location, Position, Range, Symbol
from lspkit.visible_text import count

#: Most files that are opened for one answer, and most words that servers are asked about.
MOST_FILES, MOST_QUESTIONS = 100, 400
#: Files that are opened for a name that stands in more of them: nearly all its words mean others.
NEAREST = 40
#: How many questions are under way at the same time.
AT_ONCE = 16
#: Seconds for the search, and for the questions: a server of another root may have to start.
SEARCH_SECONDS, ASK_SECONDS = 5.0, 30.0
#: Most places of a caveat, and most in its text.
MOST_PLACES, SHOWN = 100, 5

_PYTHON = (".py", ".pyi", ".pyw")
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_SELF = (".py", ".pyi", ".pyw", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_NAME = re.compile(r"[^\W\d]\w*")
_DECLARES = re.compile(r"\b(?:def|class|function|fn|func|let|var|interface|trait)\s*\*?\s*$")
_OWN_OBJECT = re.compile(r"\b(?:self|cls|this)\s*\??\.\s*$")
_FIXTURE = re.compile(r"^\s*@[\w.]*fixture\b", re.MULTILINE)
_IMPORTS = re.compile(r"\b(?:import|from|require|use|using|include)\b")
_IS_KEYWORD = re.compile(r"\s*=(?!=)")
_MAY_BE_KEYWORD = re.compile(r"(?:[(,]|^)\s*$")

_Place = tuple[str, int, int]


class Meaning(msgspec.Struct, frozen=True):
    """The symbol that is searched for."""

    name: str
    #: The file that declares it.
    path: str
    #: Where it is declared.
    declared: tuple[Location, ...]
    #: The class that it is a member of; empty if it is no member.
    owner: str = ""
    #: Whether it is a parameter, which other files can only name as a keyword.
    is_parameter: bool = False
    #: Whether it is a fixture of pytest: a parameter anywhere means it by its name.
    is_fixture: bool = False

    @property
    def lines(self) -> set[tuple[str, int]]:
        """The lines that declare it."""
        return {key[:2] for key in _keys(self.declared)}


class WordNet(msgspec.Struct, frozen=True):
    """The words in code that an answer does not explain."""

    meaning: Meaning
    #: By file, the nearest files first.
    words: dict[str, tuple[Word, ...]] = {}
    #: The places of the answer.
    known: frozenset[_Place] = frozenset()
    #: Why the search may have missed files.
    reason: str = ""

    def without(self, places: Iterable[Location]) -> WordNet:
        """What is left if the answer has these places as well."""
        known = self.known.union(_keys(places))
        return msgspec.structs.replace(self, words=unexplained(self.words, known), known=known)

    @property
    def files(self) -> list[str]:
        """The files that are opened and asked about."""
        return files_to_open(self.words)


def files_to_open(words: Iterable[str]) -> list[str]:
    """Those of the files with a word, the nearest first, that are opened for one answer."""
    files = list(words)
    return files if len(files) <= MOST_FILES else files[:NEAREST]


class Findings(msgspec.Struct, frozen=True):
    """What the servers of the words know of them."""

    #: Words that declare the symbol.
    declared: list[Location] = []
    #: Words that mean the symbol.
    places: list[Location] = []
    #: Those among them that lead to an installed or built copy of the declaring file.
    copied: list[Location] = []
    #: Words of which no server knows what they mean.
    unsure: list[Location] = []
    #: Words that no server was asked about.
    not_asked: list[Location] = []
    reason: str = ""

    def caveats(self, name: str) -> list[Caveat]:
        """Why the answer may be incomplete nevertheless."""
        caveats: list[Caveat] = []
        if self.unsure:
            text = f"no server explains `{name}` in {_listed(self.unsure)}"
            caveats.append(Caveat(UNEXPLAINED, text, places=tuple(self.unsure[:MOST_PLACES])))
        if self.not_asked:
            text = f"there was no time to ask about `{name}` in {_listed(self.not_asked)}"
            caveats.append(Caveat(NOT_ASKED, text, places=tuple(self.not_asked[:MOST_PLACES])))
        if self.reason:
            caveats.append(Caveat(NOT_ASKED, f"{self.reason} for `{name}`"))
        return caveats


def cast_net(
    request: PositionRequest[Any],
    host: Host,
    line: int,
    column: int,
    known: Iterable[Location],
    declared: Sequence[Location] = (),
    *,
    wants_declarations: bool = True,
) -> WordNet | None:
    """The words that an answer leaves unexplained; None if the symbol has no name or is local.

    `known` are the places of the answer, `declared` further places that declare the symbol.
    """
    meaning = _meaning(request, host, line, column, declared)
    if meaning is None:
        return None
    folder = os.path.basename(os.path.dirname(meaning.path))
    near = tuple(filter(None, (import_word(meaning.path), meaning.owner, folder)))
    word_files = host.find_words(request.path, meaning.path, (meaning.name,), near, SEARCH_SECONDS)
    code = word_files.code
    if request.text is not None:
        code.pop(word_files.path, None)  # the words on disk are not those of the caller's text
    keys = frozenset(_keys(known))

    def left(meaning: Meaning) -> dict[str, tuple[Word, ...]]:
        words, lines = unexplained(possible_words(code, meaning), keys), meaning.lines
        if wants_declarations:
            return words
        return _kept(words, lambda path, word: (path, word.line) not in lines)

    words = left(meaning)
    if words:
        # In a header, for example: what leads there means the symbol as well.
        more = _targets(host, DeclarationRequest, request, line, column)
        meaning = msgspec.structs.replace(meaning, declared=(*meaning.declared, *more))
        words = left(meaning)
    return WordNet(meaning, words, keys, word_files.reason)


def open_files(host: Host, net: WordNet) -> None:
    """Open the files of the words in their servers, which answer about open files in any case."""
    for path in net.files:
        try:
            host.sync_file(path, None)
        except LspkitError:
            continue  # the questions about its words will say why


def ask_meanings(host: Host, net: WordNet) -> Findings:
    """Ask the servers of the words where the name is defined there."""
    declared, left = list[tuple[str, Word]](), list[tuple[str, Word]]()
    for path, words in net.words.items():
        for word in words:
            is_declared = (path, word.line) in net.meaning.lines
            (declared if is_declared else left).append((path, word))
    opened = set(net.files)
    pairs = [(path, word) for path, word in left if path in opened][:MOST_QUESTIONS]
    chosen = set(pairs)
    not_asked = [_location(*place) for place in left if place not in chosen]
    answers: list[Answer[Location] | LspkitError] = host.do_all(
        [DefinitionRequest(path=path, line=word.line, column=word.column) for path, word in pairs],
        AT_ONCE,
        ASK_SECONDS,
    )
    copies = _copies(host, net.meaning, answers)
    places, unsure = judged(pairs, answers, net, copies)
    late = [place for place in unsure if isinstance(answers[place], RequestTimeoutError)]
    return Findings(
        [_location(*place) for place in declared],
        [_location(*pairs[place]) for place in places],
        [_location(*pairs[place]) for place in places if _leads_only_to(answers[place], copies)],
        [_location(*pairs[place]) for place in unsure if place not in late],
        [*(_location(*pairs[place]) for place in late), *not_asked],
        net.reason,
    )


def _leads_only_to(answer: Answer[Location] | LspkitError, paths: frozenset[str]) -> bool:
    return not isinstance(answer, LspkitError) and all(
        os.path.realpath(str(target.path)) in paths for target in answer
    )


# What the symbol is


def _meaning(
    request: PositionRequest[Any], host: Host, line: int, column: int, more: Sequence[Location]
) -> Meaning | None:
    text = host.read_text(request.path, request.text)
    name = name_at(text, line, column)
    if not name:
        return None
    declared = _targets(host, DefinitionRequest, request, line, column)
    here = Location(Path(request.path), _range(line, column, name), path_to_uri(request.path))
    places = [*declared, *more] or [here]
    first = places[0]
    path = str(first.path)
    own = request.text if path == request.path else None
    try:
        source = host.read_text(path, own)
        symbols = document_symbols(DocumentSymbolsRequest(path=path, text=own), host)
    except LspkitError:
        return Meaning(name, path, tuple(places))
    around = symbols_around(symbols, first.range.start)
    if around and around[-1].name == name and around[-1].range.start == first.range.start:
        around.pop()  # the place is not that of the name but the whole declaration
    is_attribute = source.line(first.line - 1)[: first.column - 1].rstrip().endswith(".")
    function = around[-1] if around and around[-1].kind in FUNCTIONS else None
    if function is not None and not is_attribute and not _is_member(symbols, first.range.start):
        if not path.endswith(_PYTHON) or not _is_parameter(source, function, first.range.start):
            return None
        return Meaning(name, path, tuple(places), is_parameter=True)
    owners = [symbol.name for symbol in around if symbol.kind in CONTAINERS - NAMESPACES]
    is_fixture = path.endswith(_PYTHON) and bool(_FIXTURE.search(_lines_above(source, first.line)))
    owner = owners[-1] if owners else ""
    return Meaning(name, path, tuple(places), owner, is_fixture=is_fixture)


def _targets(
    host: Host,
    kind: type[PositionRequest[Answer[Location]]],
    request: PositionRequest[Any],
    line: int,
    column: int,
) -> list[Location]:
    """The files and places that a question about the position leads to."""
    question = kind(path=request.path, text=request.text, line=line, column=column)
    try:
        places: list[Location] = OPERATIONS[kind].run(question, host)
    except CancelledError:
        raise
    except LspkitError:
        return []
    return [place for place in places if place.path is not None]


def _lines_above(text: Text, line: int) -> str:
    """The lines above a line, up to an empty one: decorators are among them."""
    lines: list[str] = []
    while line > 1 and (written := text.line(line - 2)).strip():
        lines.append(written)
        line -= 1
    return "\n".join(lines)


def name_at(text: Text, line: int, column: int) -> str:
    """The identifier at a position, or before it; empty if there is none."""
    written = text.line(line - 1)
    names = (name for name in _NAME.finditer(written) if name.end() >= column - 1)
    name = next(names, None)
    return name[0] if name is not None and name.start() < column else ""


def symbols_around(symbols: Iterable[Symbol], place: Position) -> list[Symbol]:
    """The symbols that a place is inside of, outermost first, without the one that it names."""
    for symbol in symbols:
        if symbol.selection.start <= place <= symbol.selection.end:
            return []
        if symbol.range.start <= place <= symbol.range.end:
            return [symbol, *symbols_around(symbol.children, place)]
    return []


def _is_member(symbols: Iterable[Symbol], place: Position) -> bool:
    """Whether a place names a part of an object, which may be known outside of the function."""
    return any(
        symbol.kind in ("method", "property", "field")
        if symbol.selection.start <= place <= symbol.selection.end
        else _is_member(symbol.children, place)
        for symbol in symbols
        if symbol.range.start <= place <= symbol.range.end
    )


def _is_parameter(text: Text, function: Symbol, place: Position) -> bool:
    """Whether a place is between the parentheses behind the name of a function."""
    end = function.selection.end
    start = text.offset(end.line - 1, end.column - 1)
    before = text.value[start : text.offset(place.line - 1, place.column - 1)]
    return before.count("(") > before.count(")")


# Which words are left


def possible_words(
    words: dict[str, tuple[Word, ...]], meaning: Meaning
) -> dict[str, tuple[Word, ...]]:
    """The words that may mean the symbol, by what stands beside them."""
    declared = meaning.lines
    return _kept(
        words,
        lambda path, word: (path, word.line) in declared or may_mean(word, path, meaning),
    )


def may_mean(word: Word, path: str, meaning: Meaning) -> bool:
    """Whether a word may mean the symbol: what declares another symbol of that name does not."""
    if _DECLARES.search(word.before):
        return False
    is_keyword = bool(_IS_KEYWORD.match(word.after) and _MAY_BE_KEYWORD.search(word.before))
    if meaning.is_parameter:
        return is_keyword
    if not meaning.owner:
        return not (path.endswith(_SELF) and _OWN_OBJECT.search(word.before))
    if path == meaning.path or not path.endswith(_PYTHON):
        return True
    # Elsewhere, Python names a member behind a dot or as a keyword.
    return is_keyword or word.before.rstrip().endswith(".")


def unexplained(
    words: dict[str, tuple[Word, ...]], known: frozenset[_Place]
) -> dict[str, tuple[Word, ...]]:
    """The words at other places than those of an answer."""
    return _kept(words, lambda path, word: (path, word.line, word.column) not in known)


def _kept(
    words: dict[str, tuple[Word, ...]], keeps: Callable[[str, Word], bool]
) -> dict[str, tuple[Word, ...]]:
    kept = {
        path: tuple(word for word in file_words if keeps(path, word))
        for path, file_words in words.items()
    }
    return {path: file_words for path, file_words in kept.items() if file_words}


# What the answers say


def judged(
    pairs: Sequence[tuple[str, Word]],
    answers: Sequence[Answer[Location] | LspkitError],
    net: WordNet,
    copies: frozenset[str],
) -> tuple[list[int], list[int]]:
    """The numbers of the words that mean the symbol, and of those that nobody explains.

    A word that leads to another word that means it means it as well, as in a list of imports. One
    that leads no farther than to an import is not explained: that module is not known there.
    """
    declared = _keys(net.meaning.declared)
    means, lines = {*net.known, *declared}, {key[:2] for key in declared}
    targets = [[] if isinstance(answer, LspkitError) else _keys(answer) for answer in answers]
    places: dict[int, None] = {}
    is_new = True
    while is_new:
        is_new = False
        for number, (path, word) in enumerate(pairs):
            if number not in places and any(
                target in means or target[:2] in lines or target[0] in copies
                for target in targets[number]
            ):
                places[number] = None
                means.add((path, word.line, word.column))
                is_new = True
    imports = {(path, word.line) for path, word in pairs if _IMPORTS.search(word.before)}
    unsure = [
        number
        for number, answer in enumerate(answers)
        if number not in places
        and (
            isinstance(answer, LspkitError)
            or all(target[:2] in imports for target in targets[number])
            or (
                net.meaning.is_fixture
                and all(target[0] == pairs[number][0] for target in targets[number])
            )
        )
    ]
    return sorted(places), unsure


def _copies(
    host: Host, meaning: Meaning, answers: Sequence[Answer[Location] | LspkitError]
) -> frozenset[str]:
    """The files of these answers that are an installed or built copy of the declaring file."""
    targets = {
        str(place.path): path_to_uri(str(place.path))
        for answer in answers
        if not isinstance(answer, LspkitError)
        for place in answer
        if place.path is not None and is_like(str(place.path), meaning.path)
    }
    if not targets:
        return frozenset()
    places = host.find_places("", "", tuple(targets.values()), texts=False)
    return frozenset(
        os.path.realpath(path)
        for path, uri in targets.items()
        if _INSTALLED in path or not places[uri].own
    )


def is_like(path: str, other: str) -> bool:
    """Whether two different files may be the same module: one of them built or installed.

    >>> is_like("/env/site-packages/shop/prices.py", "/code/src/shop/prices.py")
    True
    >>> is_like("/code/dist/prices.d.ts", "/code/src/prices.ts")
    True
    >>> is_like("/env/site-packages/other/prices.py", "/code/src/shop/prices.py")
    False
    """
    if path == other:
        return False
    (folder, name), (other_folder, other_name) = os.path.split(path), os.path.split(other)
    if name.partition(".")[0] != other_name.partition(".")[0]:
        return False
    _, is_installed, package = folder.partition(_INSTALLED)
    if is_installed:
        return other_folder.endswith(os.sep + package)
    project = os.path.dirname(folder)  # of dist/prices.d.ts
    return not name.endswith(_PYTHON) and other.startswith(project + os.sep)


def _keys(places: Iterable[Location]) -> list[_Place]:
    """The places, with the real paths of their files: a server may name one through a link."""
    real: dict[str, str] = {}
    keys: list[_Place] = []
    for place in places:
        path = str(place.path)
        if path not in real:
            real[path] = os.path.realpath(path)
        keys.append((real[path], place.line, place.column))
    return keys


def _location(path: str, word: Word) -> Location:
    return Location(Path(path), _range(word.line, word.column, word.word), path_to_uri(path))


def _range(line: int, column: int, name: str) -> Range:
    return Range(Position(line, column), Position(line, column + len(name)))


def _listed(places: Sequence[Location]) -> str:
    files = {place.path for place in places}
    shown = ", ".join(map(str, places[:SHOWN])) + (", …" if len(places) > SHOWN else "")
    return f"{count(len(places), 'place')} of {count(len(files), 'file')}: {shown}"
