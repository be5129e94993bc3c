"""Other names of what is watched: links, inside of the watched folders, to something in them.

Who reads a file by way of a link knows it by that name, so what happens to the file is told by that
name as well. Nothing here is kept up to date: whether a link still leads there is looked at when
something has happened to what it led to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

#: So many links are remembered.
REMEMBERED = 10_000


class Links:
    """Where links lead to. Not for two threads at once."""

    def __init__(self) -> None:
        #: Real path: the links that led there.
        self._names: dict[str, set[str]] = {}
        self._count = 0

    def note(self, link: str) -> None:
        """There is a link."""
        target = os.path.realpath(link)
        names = self._names.setdefault(target, set())
        if link not in names and self._count < REMEMBERED:
            names.add(link)
            self._count += 1

    def names_of(self, path: str) -> Iterator[str]:
        """The other names of a path, by links to it or to a folder around it."""
        at = path if self._names else ""
        while at:
            for link in tuple(self._names.get(at, ())):
                if os.path.realpath(link) == at:
                    yield os.path.join(link, os.path.relpath(path, at)) if path != at else link
                else:
                    self._names[at].discard(link)
                    self._count -= 1
            above = os.path.dirname(at)
            at = above if above != at else ""
