"""The files that an edit concerns by the words that they hold.

Servers do not know every use: of an object whose type is not declared, through names that are
handed on, in files that they leave out. And what uses a changed name may change with it
(`enclosing_names.py`): its own users are concerned, too, and so on, within bounds. Beyond them
nobody knows, and the result says so.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence

import msgspec

from lspkit.errors import CancelledError, LspkitError
from lspkit.operations import host_results
from lspkit.operations.checks.changed_declarations import infers_types, matches_by_members
from lspkit.operations.checks.enclosing_names import enclosing_name, heir_name
from lspkit.operations.checks.import_lines import import_word, imports
from lspkit.operations.host import Host
from lspkit.servers.project.word_search import Word, WordFiles

#: How often the users of users are searched, for how many names, and in how many files in all.
MOST_ROUNDS, MOST_NAMES, MOST_FILES = 5, 60, 60
#: Most uses in one file that are looked at.
MOST_USES = 300
#: The least time for the first search, in seconds: it is what servers do not know that matters.
LEAST = 0.5
#: Characters of a line that are looked at: longer ones are not written by people.
MOST_COLUMNS = 300
#: Why there may be more.
STAR = "it hands on all names of another file, or does so no longer"
SPREAD = "what uses it is used in too many places to follow them all"


class WordDependents(msgspec.Struct):
    """The files that may be concerned, and their lines with the names, counted from 1."""

    lines: dict[str, set[int]] = msgspec.field(default_factory=dict)
    #: Why there may be more.
    reason: str = ""
    #: Seconds.
    duration: float = 0.0


def find_word_dependents(
    host: Host,
    found: host_results.Dependents,
    seconds: float | None,
    searches: dict[tuple[str, ...], WordFiles],
) -> WordDependents:
    """The files that hold the changed names in code, and those that hold the names of their users.

    If the text before the edit is not known, nobody knows which names are gone: then all files that
    import the edited one are concerned.
    """
    result, module = WordDependents(), import_word(found.path)
    names = dict.fromkeys(() if found.old is None else found.words)
    stem = os.path.basename(found.path).partition(".")[0]
    modules = [module, stem] if found.old is None or found.has_star else []
    wanted = list(dict.fromkeys((*names, *modules)))
    if found.has_star:
        result.reason = STAR
    inside = set(() if matches_by_members(found.path) else found.inside)
    texts: dict[str, list[str]] = {}
    for _ in range(MOST_ROUNDS):
        left = None if seconds is None else max(seconds, LEAST) - result.duration
        if not wanted:
            return result
        try:
            held = searches.get(tuple(wanted))
            if held is None:
                held = host.find_words(found.path, found.path, tuple(wanted), (module,), left)
                result.duration += held.duration
                searches[tuple(wanted)] = held
        except CancelledError:
            raise
        except LspkitError as problem:
            result.reason = problem.message
            return result
        result.reason = held.reason or result.reason
        users: dict[str, None] = {}
        for path, words in held.files.items():
            uses = [word for word in words if _is_use(word, names)]
            if not uses:
                continue
            if path != found.path:
                lines = {word.line for word in words if word.part != "comment"}
                result.lines.setdefault(path, set()).update(lines)
            if path not in texts:
                texts[path] = _lines_of(host, path)
            sure = _sure_uses(path, uses, found)
            if len(sure) > MOST_USES:
                result.reason = result.reason or SPREAD
            users |= dict.fromkeys(_users(path, texts[path], sure[:MOST_USES], inside))
        wanted = [name for name in users if name and name not in names]
        names |= dict.fromkeys(wanted)
        if len(names) > MOST_NAMES or len(result.lines) > MOST_FILES:
            break
    if wanted:
        result.reason = result.reason or SPREAD
    return result


def _sure_uses(path: str, uses: list[Word], found: host_results.Dependents) -> list[Word]:
    """The uses of what has changed, and not of something else with the name of a member."""
    known = found.lines.get(path, ())
    return [
        word
        for word in uses
        if word.word not in found.members or path == found.path or word.line in known
    ]


def _lines_of(host: Host, path: str) -> list[str]:
    try:
        text = host.read_text(path)
    except LspkitError:
        return []
    return [line[:MOST_COLUMNS] for line in text.value.splitlines()]


def _users(
    path: str, lines: Sequence[str], uses: Sequence[Word], inside: set[str]
) -> Iterator[str]:
    """The names at the top level of a file that change with what these words mean.

    `inside` are classes whose members alone have changed; their heirs are added.
    """
    inferred = infers_types(path)
    for one in uses:
        if one.line > len(lines):
            continue  # the file has changed meanwhile
        if one.word in inside:
            heir = heir_name(lines, one.line - 1, one.after)
            inside |= {heir} if heir else set()
            yield heir
        else:
            yield enclosing_name(lines, one.line - 1, one.after, inferred=inferred)


def _is_use(word: Word, names: Container[str]) -> bool:
    """Whether a word is one of the names, in code, or is imported as a file."""
    if word.word in names:
        return word.part == "code"
    return imports(word)
