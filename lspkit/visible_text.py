"""Escaping of untrusted text (from files, servers and models) before people or models see it.

Such text may contain escape codes for the terminal, line breaks that imitate lspkit's own lines,
characters that reorder the text around them, and invisible characters that a model reads. All of
these are escaped here. Every interface shows untrusted text through one of these functions.
"""

from __future__ import annotations

import json
import re

#: Invisible characters that Python regards as printable: joiners and fillers of some scripts, and
#: variation selectors, any number of which may follow a letter. In the syntax of a pattern.
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{UNSEEN}]")

#: Spaces other than the usual one, such as the no-break space. Python regards them as not
#: printable, but they look like what they are.
_SPACES = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000))

#: The first of the lines that explain a finding, as ty writes them.
_EXPLANATION = re.compile(r"^[ \t]*info: ", re.MULTILINE)


def is_visible(text: str) -> bool:
    """Whether all characters are visible and none breaks the line."""
    if not text.isprintable() and not text.translate(_SPACES).isprintable():
        return False
    return text.isascii() or not _UNSEEN.search(text)


def one_line(text: str) -> str:
    """The text with line breaks, control characters and invisible characters escaped."""
    if is_visible(text):
        return text
    return "".join(
        character if is_visible(character) else ascii(character)[1:-1] for character in text
    )


def several_lines(text: str) -> str:
    """As `one_line`, but line feeds and tabs are kept."""
    lines = ("\t".join(map(one_line, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)


def fold_lines(text: str) -> str:
    """The text with white space folded to single spaces, then escaped as by `one_line`."""
    return one_line(" ".join(text.split()))


def headline(message: str) -> str:
    """The message of a finding without the lines that only explain it (`info: …`), if any.

    >>> headline("wrong type\\ninfo: defined here\\n  in a.py")
    'wrong type'
    """
    explanation = _EXPLANATION.search(message)
    return (message[: explanation.start()].rstrip() if explanation else "") or message


def count(number: int, what: str) -> str:
    """A number with its noun, in the plural unless the number is 1.

    >>> count(1, "file"), count(2, "file"), count(0, "edit")
    ('1 file', '2 files', '0 edits')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def visible_json(text: str) -> str:
    """Equivalent JSON in which all characters are visible; lines are kept."""
    lines = text.split("\n")
    return "\n".join(line if is_visible(line) else _escape_line(line) for line in lines)


def _escape_line(line: str) -> str:
    return "".join(character if is_visible(character) else _escape(character) for character in line)


def _escape(character: str) -> str:
    # Python leaves DEL as it is.
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else json.dumps(character)[1:-1]


def bytes_text(number: int) -> str:
    """A number of bytes for people."""
    if number < 1_000_000_000:
        return f"{number / 1_000_000:.0f} MB"
    return f"{number / 1_000_000_000:.1f} GB"
