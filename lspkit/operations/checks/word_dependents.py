"""The files that an edit concerns by the words that they hold.

Servers do not know every use: of an object whose type is not declared, through names that are
handed on, in files that they leave out. And what uses a changed name may change with it
(`enclosing_name`): its own users are concerned, too, and so on, within bounds. Beyond them
nobody knows, and the result says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence

import msgspec

from lspkit.errors import CancelledError, LspkitError
from lspkit.operations import host_results
from lspkit.operations.checks.changed_declarations import infers_types, matches_by_members
from lspkit.operations.checks.import_lines import import_word, imports
from lspkit.operations.host import Host
from lspkit.servers.project.word_search import Word, WordFiles

# Which name at the top level of a file changes with a line of it. Pure.
#
# What an edit changes is used by other declarations, which change with it: a class by those that
# inherit from it, a type by those that are made of it, the result of a function by those that hand
# it on without declaring their own. Who uses them need not name what the edit has changed. The
# lines around a use tell which declaration it belongs to, by their indentation.

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
        is_declared = not inferred or any(_DECLARED.search(lines[around[head]]) for head in heads)
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
    dependents: host_results.Dependents,
    seconds: float | None,
    searches: dict[tuple[str, ...], WordFiles],
) -> WordDependents:
    """The files that hold the changed names in code, and those that hold the names of their users.

    If the text before the edit is not known, nobody knows which names are gone: then all files that
    import the edited one are concerned.
    """
    result, module = WordDependents(), import_word(dependents.path)
    names = dict.fromkeys(() if dependents.old is None else dependents.words)
    stem = os.path.basename(dependents.path).partition(".")[0]
    modules = [module, stem] if dependents.old is None or dependents.has_star else []
    wanted = list(dict.fromkeys((*names, *modules)))
    if dependents.has_star:
        result.reason = STAR
    inside = set(() if matches_by_members(dependents.path) else dependents.inside)
    texts: dict[str, list[str]] = {}
    for _ in range(MOST_ROUNDS):
        left = None if seconds is None else max(seconds, LEAST) - result.duration
        if not wanted:
            return result
        try:
            held = searches.get(tuple(wanted))
            if held is None:
                held = host.find_words(
                    dependents.path, dependents.path, tuple(wanted), (module,), left
                )
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
            if path != dependents.path:
                lines = {word.line for word in words if word.part != "comment"}
                result.lines.setdefault(path, set()).update(lines)
            if path not in texts:
                texts[path] = _lines_of(host, path)
            sure = _sure_uses(path, uses, dependents)
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


def _sure_uses(path: str, uses: list[Word], dependents: host_results.Dependents) -> list[Word]:
    """The uses of what has changed, and not of something else with the name of a member."""
    known = dependents.lines.get(path, ())
    return [
        word
        for word in uses
        if word.word not in dependents.members or path == dependents.path or word.line in known
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
    for use in uses:
        if use.line > len(lines):
            continue  # the file has changed meanwhile
        if use.word in inside:
            heir = heir_name(lines, use.line - 1, use.after)
            inside |= {heir} if heir else set()
            yield heir
        else:
            yield enclosing_name(lines, use.line - 1, use.after, inferred=inferred)


def _is_use(word: Word, names: Container[str]) -> bool:
    """Whether a word is one of the names, in code, or is imported as a file."""
    if word.word in names:
        return word.part == "code"
    return imports(word)
