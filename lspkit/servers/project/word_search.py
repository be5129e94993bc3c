"""Where the source files of a work tree hold a name as a word.

A server answers from its own idea of the project: it may still read the files, leave some of them
out by its configuration, or not know another root. The text knows no such limits, so answers that
span files are compared with the words (`operations/references/word_net.py`).

`find_words` reads files; `words_in` is pure. Words in comments and in strings are told from code by
a scanner that knows how these begin and end in the usual families of languages, and nothing else.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from lspkit.errors import CancelledError
from lspkit.protocol.text import Text
from lspkit.regular_files import read_regular
from lspkit.servers.project.project_files import ENOUGH, PASSED_OVER, walk
from lspkit.servers.project.skipped_files import GitIgnore
from lspkit.workspace_boundary import is_inside

#: What a word is part of.
Part = Literal["code", "comment", "string"]

#: Bytes of the largest file that is searched, and of the largest that is looked into. Larger ones
#: are generated, or data.
LARGEST = 2 * 2**20
LARGEST_READ = 16 * LARGEST
#: Most words of one file: nobody asks about more of them one by one.
MOST_WORDS = 2_000
#: Characters that are kept on each side of a word, for those who look at what is beside it.
BESIDE = 200
#: Why a search may have missed files.
NO_TIME = "there was no time to search all files"
TOO_LARGE = "a file that holds it is too large to be searched"
TOO_MANY = f"only the first {ENOUGH} files were searched"

_HASH = r"#[^\n]*"
#: Not in a regular expression, where the slashes are escaped.
_SLASHES = r"(?<!\\)//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_DASHES = r"--[^\n]*"
_TAGS = r"<!--(?s:.*?)(?:-->|\Z)"
_NONE = r"(?!)"
#: A quotation mark that is not closed on its line is an apostrophe.
_LINE_STRINGS = r"\"(?:\\(?s:.)|[^\"\\\n])*+\"|'(?:\\(?s:.)|[^'\\\n])*+'"
_LONG_STRINGS = r'"""(?s:\\.|(?!""").)*+(?:""")?' + r"|'''(?s:\\.|(?!''').)*+(?:''')?"
_PREFIXED = r"(?:(?<!\w)[bfrtuBFRTU]{1,2})?+"
_TEMPLATES = r"`(?s:\\.|[^`\\])*+`?"
#: In these languages a single quotation mark may be the beginning of a lifetime.
_CHARACTERS = r"\$?\"(?s:\\.|[^\"\\])*+\"?|'(?:\\[^'\n]+|[^'\\\n])'"

#: Patterns of comments and of strings, by the extension of a file. Elsewhere everything is code, as
#: are the strings of shells and the attributes of pages, which are full of names.
_SYNTAXES: dict[str, tuple[str, str]] = {
    extension: patterns
    for extensions, patterns in (
        (".py .pyi .pyw", (_HASH, f"{_PREFIXED}(?:{_LONG_STRINGS}|{_LINE_STRINGS})")),
        (".js .jsx .mjs .cjs .ts .tsx .mts .cts", (_SLASHES, f"{_LINE_STRINGS}|{_TEMPLATES}")),
        (".go", (_SLASHES, f"{_LINE_STRINGS}|`[^`]*`?")),
        (".php", (rf"{_SLASHES}|#(?!\[)[^\n]*", _LINE_STRINGS)),
        (".dart", (_SLASHES, _LINE_STRINGS)),
        (".c .h .cc .cpp .cxx .hh .hpp .hxx .cu .rs .java", (_SLASHES, _CHARACTERS)),
        (".kt .kts .cs .swift .scala .zig .css .scss .less", (_SLASHES, _CHARACTERS)),
        (".vue .svelte .astro .html", (_TAGS, _NONE)),
        (".rb .ex .exs .nix .tf", (_HASH, _LINE_STRINGS)),
        (".sh .bash .yaml .yml .toml", (r"(?<!\S)#[^\n]*", _NONE)),
        (".lua .luau .hs", (_DASHES, _CHARACTERS)),
    )
    for extension in extensions.split()
}


#: Names of folders that may hold sources as well as what is made from them.
OFTEN_SOURCES = frozenset({"build", "dist", "target"})


class Word(msgspec.Struct, frozen=True, order=True):
    """One occurrence. Line and column count from 1, the column in characters."""

    line: int
    column: int
    word: str
    part: Part = "code"
    #: What is beside it on its line, up to a limit.
    before: str = ""
    after: str = ""


class WordFiles(msgspec.Struct, frozen=True):
    """The result of a search."""

    #: The words of each file that holds one, by real path; the nearest files first.
    files: dict[str, tuple[Word, ...]] = {}
    #: How many files were read.
    searched: int = 0
    #: Why there may be more.
    reason: str = ""
    #: The real path of the file of the call.
    path: str = ""
    #: Seconds.
    duration: float = 0.0

    @property
    def code(self) -> dict[str, tuple[Word, ...]]:
        """The words in code alone, of the files that hold one there."""
        code = {
            path: tuple(word for word in words if word.part == "code")
            for path, words in self.files.items()
        }
        return {path: words for path, words in code.items() if words}


def find_words(
    root: str,
    words: Sequence[str],
    is_searched: Callable[[str], bool],
    *,
    near: Sequence[str] = (),
    near_path: str = "",
    until: float = float("inf"),
    is_cancelled: Callable[[], bool] = lambda: False,
) -> WordFiles:
    """The files below a folder that hold one of these words.

    Files that git ignores, or that are not the project's own, are left out. `is_searched` is asked
    about each path. `until` is by the monotonic clock.

    `near` are names that a file which means these words probably holds as well, such as the module
    that defines them: files that hold the first of these come first, then those nearest to
    `near_path`.
    """
    files: dict[str, tuple[Word, ...]] = {}
    ranks: dict[str, tuple[int, int, str]] = {}
    ignored, began = GitIgnore(root), time.monotonic()
    paths = walk(
        root,
        leaves_out=lambda path, is_folder: is_folder and ignored.ignores(path, is_folder=True),
        # In a git work tree its own rules say which folders of these names are sources.
        passed_over=PASSED_OVER - OFTEN_SOURCES if ignored.is_work_tree else PASSED_OVER,
    )
    needles = [word.encode() for word in words if word]
    searched, reason = 0, ""
    for path in paths if needles else ():
        if is_cancelled():
            raise CancelledError("the call was cancelled")
        if searched >= ENOUGH or time.monotonic() > until:
            reason = TOO_MANY if searched >= ENOUGH else NO_TIME
            break
        if not is_searched(path):
            continue
        searched += 1
        content = _content(path)
        if not any(needle in content for needle in needles):
            continue
        if ignored.ignores(path, is_folder=False) or _is_link_inside(path, root):
            continue
        if len(content) > LARGEST:
            reason = TOO_LARGE
            continue
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        if held := words_in(text, words, path):
            files[path] = held
            ranks[path] = (_rank(text, near), _distance(path, near_path or root), path)
    ordered = {path: files[path] for path in sorted(files, key=ranks.__getitem__)}
    return WordFiles(ordered, searched, reason, duration=time.monotonic() - began)


def words_in(text: str, words: Sequence[str], path: str) -> tuple[Word, ...]:
    """All occurrences of these words in a text, whose path says in which language it is.

    >>> places = words_in("it()  # it\\nprint(f'{it}', 'it')", ["it"], "a.py")
    >>> [(place.line, place.column, place.part) for place in places]
    [(1, 1, 'code'), (1, 9, 'comment'), (2, 10, 'code'), (2, 17, 'string')]
    """
    tokens, alone = _patterns(tuple(words), os.path.splitext(path)[1].lower())
    lines, places = Text(text), list[Word]()
    inner: Iterator[re.Match[str]]
    for token in tokens.finditer(text):
        part: Part = "comment" if token.lastgroup == "comment" else "string"
        if token.lastgroup == "word":
            inner, part = iter([token]), "code"
        else:
            inner = itertools.islice(alone.finditer(text, *token.span()), MOST_WORDS)
        for match in inner:
            line, column = lines.place(match.start())
            written, end = lines.line(line), column + len(match[0])
            real = "code" if part == "string" and _is_filled_in(text, token, match) else part
            places.append(
                Word(
                    line + 1,
                    column + 1,
                    match[0],
                    real,
                    written[max(column - BESIDE, 0) : column],
                    written[end : end + BESIDE],
                )
            )
        if len(places) >= MOST_WORDS:
            break
    return tuple(places)


@functools.lru_cache(64)
def _patterns(words: tuple[str, ...], extension: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the words among comments and strings, and of the words alone."""
    comment, string = _SYNTAXES.get(extension, (_NONE, _NONE))
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)
    word = rf"(?<!\w)(?:{either})(?!\w)"
    tokens = f"(?P<comment>{comment})|(?P<string>{string})|(?P<word>{word})"
    return re.compile(tokens), re.compile(word)


def _is_filled_in(text: str, string: re.Match[str], word: re.Match[str]) -> bool:
    """Whether a word in a string is in braces whose value the string takes in."""
    inside = text[max(string.start(), word.start() - BESIDE) : word.start()]
    opening = inside.rfind("{")
    if opening <= inside.rfind("}"):
        return False
    prefix = re.match(r"\w*\$?", string[0][:3])
    takes_in_all = prefix is not None and not {"f", "t", "$"}.isdisjoint(prefix[0].lower())
    return takes_in_all or inside[:opening].endswith(("$", "#"))


def _content(path: str) -> bytes:
    """The content of a file; nothing if it is no readable text."""
    content = read_regular(path, LARGEST_READ)
    return b"" if b"\0" in content[:1024] else content


def _is_link_inside(path: str, root: str) -> bool:
    """Whether a path is a link to a file of the same tree, which is searched by its own path."""
    return os.path.islink(path) and is_inside(os.path.realpath(path), root)


def _rank(text: str, near: Sequence[str]) -> int:
    """Which of the near names a text holds first."""
    return next((at for at, name in enumerate(near) if name and name in text), len(near))


def _distance(path: str, other: str) -> int:
    """How many folders lie between two files."""
    here, there = os.path.dirname(path), os.path.dirname(other)
    common = os.path.commonpath([here, there])
    return here.count(os.sep) + there.count(os.sep) - 2 * common.count(os.sep)
