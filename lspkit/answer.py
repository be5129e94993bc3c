"""`Answer`: a list of results that says whether it may be incomplete.

Servers answer from an index, which may be loading, or may not cover the whole project. A list alone
cannot say that: one result of three looks complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from lspkit.types import LONGEST_LINE, LONGEST_REPR, Caveat, cut
from lspkit.visible_text import fold_lines

T = TypeVar("T")

#: The kind of a caveat: the results of a server are missing.
SERVER_FAILED = "server failed"
#: The kinds of caveats about words in code: no server explains them, or none was asked in time.
UNEXPLAINED, NOT_ASKED = "words not explained", "words not asked about"
#: The kind of a caveat about a rename: places that lead to an installed copy of what is renamed.
INSTALLED_COPY = "installed copy"
#: Most results in the text of an answer.
MOST_LINES = 50
#: Most results in its `repr`.
FIRST = 5


class Answer(list[T], Generic[T]):
    """A list with `complete` and `caveats`. It equals any list with the same items.

    references = ws.references("src/app.py", symbol="Parser.feed")
    if not references.complete:
        print(references.caveats)
    """

    __slots__ = ("caveats",)

    def __init__(self, items: Iterable[T] = (), caveats: Iterable[Caveat] = ()) -> None:
        list.__init__(self, items)
        #: Why something may be missing, each reason once.
        self.caveats: tuple[Caveat, ...] = tuple(dict.fromkeys(caveats)) if caveats else ()

    @property
    def complete(self) -> bool:
        """Whether no reason is known why something may be missing."""
        return not self.caveats

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return type(self), (list(self), self.caveats)

    def __repr__(self) -> str:
        whole = list.__repr__(self) if len(self) <= LONGEST_REPR else ""
        if self.complete and 0 < len(whole) <= LONGEST_REPR:
            return whole
        count = "1 result" if len(self) == 1 else f"{len(self)} results"
        why = "" if self.complete else f", perhaps not all: {caveat_line(self.caveats)}"
        first = ", ".join(cut(fold_lines(str(result)), LONGEST_REPR) for result in self[:FIRST])
        return cut(f"<{count}{why}{': ' if self else ''}{first}", LONGEST_REPR - 1) + ">"

    def __str__(self) -> str:
        """A line for each result, up to a limit, and one for the caveats."""
        lines = [cut(fold_lines(str(result)), LONGEST_LINE) for result in self[:MOST_LINES]]
        if len(self) > MOST_LINES:
            lines.append(f"... and {len(self) - MOST_LINES} more")
        if not self.complete:
            lines.append(f"perhaps not all: {caveat_line(self.caveats)}")
        return "\n".join(lines) or "no results"


def caveat_line(caveats: Iterable[Caveat]) -> str:
    """All reasons on one line."""
    return cut("; ".join(str(caveat) for caveat in caveats), 2 * LONGEST_LINE)
