"""An entry of `trustedProjectRoots`: a folder, or a glob of folders.

Globs have the same meaning here as in the rest of lspkit (`globs.py`). What has another meaning in
other kinds of patterns is refused: an entry must never trust more than its author intended.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable

import msgspec

from lspkit.errors import ConfigError
from lspkit.protocol.globs import compile_glob, pattern_mistake
from lspkit.workspace_boundary import is_inside

_WILD = re.compile(r"[*?\[\]{}]")
_AMBIGUOUS = re.compile(r'[\\()|!"+@]|\.\.|[^/]\*\*|\*\*[^/]|(?<!\[)\{[^,{}]*\}')


class Pattern(msgspec.Struct, frozen=True):
    """A compiled entry."""

    #: The entry as written.
    entry: str
    #: The folder that it begins with, without wildcards.
    folder: str
    #: The glob of folders below that one; empty for a plain folder.
    glob: str = ""

    def trusts(self, path: str) -> bool:
        """Whether the entry trusts a folder, by its real path. A plain one trusts all below it."""
        if not is_inside(path, self.folder):
            return False
        below = path[len(self.folder) :].strip("/")
        if not below:
            return self.glob in ("", "**")
        return not self.glob or compile_glob(self.glob)(below)


def compile_pattern(entry: str, *, home: Callable[[str], str] = os.path.expanduser) -> Pattern:
    """Compile an entry; an invalid one raises a `ConfigError`.

    `home` returns the folder of `~` or `~user`.

    >>> [compile_pattern("/code").trusts(path) for path in ("/code/a/b", "/code2")]
    [True, False]
    >>> [compile_pattern("/code/*").trusts(path) for path in ("/code/a", "/code/a/b")]
    [True, False]
    """
    start, _, rest = entry.partition("/")
    folder = home(start) if start.startswith("~") else "/"
    names = rest.rstrip("/").split("/") if rest.strip("/") else []
    plain = list(itertools.takewhile(lambda name: not _WILD.search(name), names))
    glob = "/".join(names[len(plain) :])
    if why := _mistake(entry, folder, names, glob):
        words = f"a folder such as ~/code, or a pattern such as ~/code/*; {entry[:100]!r} is not"
        expected = f"{words} valid: {why}"
        raise ConfigError(f"expected {expected}", expected=expected)
    return Pattern(entry, os.path.join(folder, *plain), glob)


def _mistake(entry: str, folder: str, names: list[str], glob: str) -> str:
    if not entry.startswith(("/", "~")):
        return "it is not absolute"
    if not os.path.isabs(folder):
        return f"{folder} has no home folder"
    if not {"", ".", ".."}.isdisjoint(names):
        return "a part of it is empty, or made of dots"
    if ambiguous := _AMBIGUOUS.search(glob):
        return f"{ambiguous[0]} is ambiguous in a pattern; a special character is written as [{{]"
    return pattern_mistake(glob) if glob else ""
