"""Text from files, servers and strangers, as people and models may be shown it.

Such a text may hold escape codes that a terminal obeys, line breaks that forge a line of lspkit's
own, overrides that reorder what is around them, and characters that nobody sees and a model reads.
Here all of these become escapes. Every face shows foreign text through one of these functions.
"""

from __future__ import annotations

import json
import re

#: Characters that Python takes for printable and that nobody sees: joiners and fillers of some
#: scripts, and selectors of a variant, of which any number may follow a letter. As in a pattern.
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{UNSEEN}]")


def is_visible(text: str) -> bool:
    """Whether all of it can be seen, and stays on its line."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def one_line(text: str) -> str:
    """The text with whatever breaks lines, moves the cursor or hides escaped."""
    if is_visible(text):
        return text
    return "".join(one if is_visible(one) else ascii(one)[1:-1] for one in text)


def several_lines(text: str) -> str:
    """The same, except that lines stay lines, and tabs tabs."""
    lines = ("\t".join(map(one_line, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)


def folded(text: str) -> str:
    """A text of several lines on one, as harmless as `one_line` makes it."""
    return one_line(" ".join(text.split()))


def visible_json(text: str) -> str:
    """JSON that means the same and of which all can be seen; lines stay lines."""
    lines = text.split("\n")
    return "\n".join(line if is_visible(line) else _escaped(line) for line in lines)


def _escaped(line: str) -> str:
    return "".join(one if is_visible(one) else _escape(one) for one in line)


def _escape(one: str) -> str:
    # Python leaves DEL as it is.
    return f"\\u{ord(one):04x}" if ord(one) <= 0xFFFF else json.dumps(one)[1:-1]
