"""Which lines of a text import a file, by its name. Pure.

A server can only be asked who refers to a file while the file exists. After it was deleted or moved
by another program, its importers are found by their text. The words of imports are those of all
languages: a line too many costs a check of its file and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from lspkit.servers.project.word_search import Word

#: Files that are imported by the name of their folder.
_FOLDER_FILES = frozenset({"__init__", "__main__", "index", "mod", "lib"})
#: Extensions of languages in which others of these names are ordinary files.
_PYTHON = frozenset({".py", ".pyi"})
#: Extensions of languages in which a folder is imported, and not a file.
_FOLDER_LANGUAGES = frozenset({".go"})
#: Words and signs of an import on the same line.
_IMPORT = (
    r"import|from|export|require|require_relative|include|include_once|require_once|use|mod|using"
    r"|load|source|open|reference|extend"
)
_IMPORT_WORDS = frozenset(_IMPORT.split("|"))

_WORD = re.compile(r"\w+")
#: Lines of the longest import.
LONGEST = 200


def import_word(path: str) -> str:
    """The word by which other files import a file.

    >>> import_word("/code/shop/prices.py"), import_word("/code/shop/index.d.ts")
    ('prices', 'shop')
    """
    folder, name = os.path.split(path)
    stem, extension = os.path.splitext(name)
    stem = stem.removesuffix(".d")
    is_ordinary = extension in _PYTHON and not stem.startswith("__")
    if (stem in _FOLDER_FILES and not is_ordinary) or extension in _FOLDER_LANGUAGES:
        return os.path.basename(folder) or stem
    return stem


def import_lines(text: str, words: Iterable[str]) -> tuple[int, ...]:
    """The lines, counted from 1, on which one of these words is imported.

    >>> import_lines("from shop import (\\n    prices,\\n)\\nprices = 1\\n", ["prices"])
    (2,)
    """
    named = [re.escape(word) for word in words if word and word in text]
    if not named:
        return ()
    word = rf"(?<!\w)(?:{'|'.join(named)})(?!\w)"
    # A name alone on its line is part of an import over several lines.
    pattern = re.compile(
        rf"(?<!\w)(?:{_IMPORT})(?!\w).*{word}|^\s*{word}(\s+as\s+\w+)?\s*,?\s*(\)|$)"
    )
    lines = text.split("\n")
    return tuple(number for number, line in enumerate(lines, 1) if pattern.search(line))


def imports(word: Word) -> bool:
    """Whether a word of a text is what its line imports."""
    line = f"{word.before}{word.word}{word.after}"
    return word.part != "comment" and bool(import_lines(line, [word.word]))


def uses_imports(text: str, imports: Iterable[int], lines: Iterable[int]) -> bool:
    """Whether some lines name what other lines import. Both are counted from 1.

    >>> uses_imports("from shop import (\\n    price,\\n)\\nprice(1)\\nother(1)\\n", [1], [4])
    True
    """
    rows = text.split("\n")
    names = {name for number in imports for name in _imported_names(rows, number - 1)}
    used = (name for number in lines for name in _WORD.findall("".join(rows[number - 1 : number])))
    return any(name in names for name in used)


def _imported_names(rows: list[str], at: int) -> set[str]:
    """The words of the import that begins or ends on a line, except those of all imports."""

    def still_open(row: str) -> int:
        return sum(map(row.count, "({")) - sum(map(row.count, ")}"))

    part = rows[at : at + 1]
    depth = sum(map(still_open, part))
    step = 1 if depth > 0 else -1
    while depth and 0 <= at + step < len(rows) and len(part) < LONGEST:
        at += step
        part.append(rows[at])
        depth += still_open(rows[at])
    return {name for row in part for name in _WORD.findall(row)} - _IMPORT_WORDS
