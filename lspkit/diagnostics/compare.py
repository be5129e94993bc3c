"""Compares the findings before and after an edit: introduced, fixed, remaining. Pure.

The lines of both texts are compared first. Findings on equal lines are matched by line, so code
that only moved introduces nothing. Lines that differ form blocks; findings inside a block are
matched by content. `_LOOKS` has the ways to match two findings, the most reliable first; a matched
finding is not considered again. Swapping before and after swaps introduced and fixed.

The comparison uses lines that occur once in both texts as anchors, and repeats that between two
anchors. Its time is not quadratic; a stretch without anchors is one block.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Sequence

import msgspec

from lspkit.protocol.text import Text
from lspkit.types import Diagnostic

#: Rounds of searching anchors between anchors. Ordinary edits need two or three.
ROUNDS = 8

_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\r\n|\n|\r")
#: Some messages contain a line number ("already defined on line 3"), which an edit can change.
_LINE_NUMBER = re.compile(r"\b([Ll]ines?) \d+")
#: clangd appends this to a message as soon as it knows a fix, as when its index has grown.
_FIX_AVAILABLE = re.compile(r" \(fix(?:es)? available\)$", re.MULTILINE)


class Before(msgspec.Struct, frozen=True):
    """The state of a file before an edit."""

    text: Text
    findings: tuple[Diagnostic, ...]


class Block(msgspec.Struct, frozen=True, order=True):
    """Lines that differ between two texts, counted from 0. Either side may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def compare_findings(
    before: Before, text: Text, findings: Sequence[Diagnostic], answered: Container[str]
) -> tuple[list[Diagnostic], list[Diagnostic], list[Diagnostic]]:
    """The introduced, fixed and remaining findings, each in file order.

    `fixed` has the old findings at their old positions; `remaining` has the new ones. `answered`
    are the ids of the servers with proven findings. A missing finding of another server is not
    proven to be fixed, so it is in no list.
    """
    if not before.findings or not findings:
        # Most files are clean before or after, so there is nothing to match.
        return _sort(findings), _sort(_by_servers(answered, before.findings)), []
    blocks: list[Block] = []
    if before.text.value != text.value:
        blocks = changed_blocks(split_lines(before.text.value), split_lines(text.value))
    old = _locate(before.findings, before.text, blocks, is_old=True, what=_content_key)
    new = _locate(findings, text, blocks, is_old=False, what=_content_key)
    same: set[_Place] = set()
    for look, nearness in _LOOKS:
        same |= _pair(look, nearness, [place for place in (*old, *new) if place not in same])
    gone = [place.finding for place in old if place not in same]
    return (
        _sort(place.finding for place in new if place not in same),
        _sort(_by_servers(answered, gone)),
        _sort(place.finding for place in new if place in same),
    )


def drop_reworded(
    findings: Sequence[Diagnostic], text: Text, before: Before, words: Container[str]
) -> list[Diagnostic]:
    """The findings without those that only repeat an old one with other words, as after a rename.

    `before` has the old findings that are gone. Each matches at most one new finding, on the same
    line and with the same message except for `words`. `compare_findings` does not ignore words: a
    wrong name in place of another wrong name is an introduced finding.
    """

    def what(finding: Diagnostic) -> Hashable:
        return _content_key(finding, lambda message: _WORD.sub(blank, message))

    def blank(word: re.Match[str]) -> str:
        return "" if word[0] in words else word[0]

    def look(place: _Place) -> Hashable:
        return (place.block, place.row) if place.block < 0 or even[place.block] else None

    blocks = changed_blocks(split_lines(before.text.value), split_lines(text.value))
    even = [block.old_end - block.old_start == block.new_end - block.new_start for block in blocks]
    old = _locate(before.findings, before.text, blocks, is_old=True, what=what)
    new = _locate(findings, text, blocks, is_old=False, what=what)
    same = _pair(look, _by_row, [*old, *new])
    return [place.finding for place in new if place not in same]


def changed_words(old: str, new: str) -> set[str]:
    """Words that are in one of the texts more often than in the other.

    >>> sorted(changed_words("double(a); double(b)", "twice(a); twice(b)"))
    ['double', 'twice']
    """
    ours, theirs = Counter(_WORD.findall(old)), Counter(_WORD.findall(new))
    return {word for word in ours.keys() | theirs.keys() if ours[word] != theirs[word]}


def _by_servers(answered: Container[str], findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [
        finding for finding in findings if all(server in answered for server in finding.servers)
    ]


# Which findings are the same


class _Place(msgspec.Struct, frozen=True, eq=False):
    """A finding with the attributes that are used for matching. Equal only to itself."""

    finding: Diagnostic
    is_old: bool
    #: Its line in its own text, from 0.
    line: int
    #: On an equal line: that line in the new text. In a block: its line within the block.
    row: int
    #: Number of the block, -1 for an equal line.
    block: int
    #: The text of its line without indentation, which changes when code is moved.
    words: str
    #: The column where it begins.
    column: int
    #: Its message, code, source and severity.
    what: Hashable


_Look = Callable[[_Place], Hashable]
_Nearness = Callable[[_Place], tuple[int, int]]


def _by_row(place: _Place) -> tuple[int, int]:
    return place.row, place.column


def _by_line(place: _Place) -> tuple[int, int]:
    return place.line, place.column


#: Two findings with the same content match if the first function gives equal values, not None. If
#: one side has more than the other, the nearest by the second function are taken.
_LOOKS: tuple[tuple[_Look, _Nearness], ...] = (
    # On an equal line, in the same column; then, anywhere on it.
    (lambda place: (place.row, place.column) if place.block < 0 else None, _by_row),
    (lambda place: place.row if place.block < 0 else None, _by_row),
    # In the same block, on a line with the same words; then, anywhere in it.
    (lambda place: (place.block, place.words) if place.block >= 0 else None, _by_row),
    (lambda place: place.block if place.block >= 0 else None, _by_row),
    # On a line that was moved from one block to another.
    (lambda place: place.words if place.block >= 0 else None, _by_line),
    # On a line that was duplicated, where either copy may be the new one: one of the two is in a
    # block, and the other is not.
    (lambda place: (place.words, (place.block >= 0) == place.is_old), _by_line),
)


def _locate(
    findings: Iterable[Diagnostic],
    text: Text,
    blocks: list[Block],
    *,
    is_old: bool,
    what: Callable[[Diagnostic], Hashable],
) -> list[_Place]:
    starts = [part.old_start if is_old else part.new_start for part in blocks]
    places: list[_Place] = []
    for finding in findings:
        line = min(max(finding.range.start.line, 1), text.line_count) - 1
        number = bisect.bisect_right(starts, line) - 1
        row = line
        if number >= 0:
            block = blocks[number]
            end = block.old_end if is_old else block.new_end
            if line < end:
                row = line - starts[number]
            else:
                number, row = -1, line + (block.new_end - block.old_end if is_old else 0)
        words, column = text.line(line).strip(), finding.range.start.column
        places.append(_Place(finding, is_old, line, row, number, words, column, what(finding)))
    return places


def _content_key(finding: Diagnostic, put: Callable[[str], str] = str) -> Hashable:
    message = put(_LINE_NUMBER.sub(r"\1", _FIX_AVAILABLE.sub("", finding.message)))
    return message, finding.code, finding.source, finding.severity.value


def _pair(look: _Look, nearness: _Nearness, places: Iterable[_Place]) -> set[_Place]:
    """The findings that match one of the other side by this look, and their partners."""
    groups: dict[Hashable, tuple[list[_Place], list[_Place]]] = {}
    for place in places:
        where = look(place)
        if where is not None:
            sides = groups.setdefault((where, place.what), ([], []))
            sides[0 if place.is_old else 1].append(place)
    paired: set[_Place] = set()
    for sides in groups.values():
        few, many = sorted(sides, key=len)
        if few:
            paired.update(few)
            paired.update(many if len(few) == len(many) else _nearest(few, many, nearness))
    return paired


def _nearest(few: list[_Place], many: list[_Place], nearness: _Nearness) -> list[_Place]:
    """One of the many for each of the few."""
    free = sorted(many, key=lambda place: (nearness(place), _order(place.finding)))
    chosen: list[_Place] = []
    for wanted in sorted(map(nearness, few)):
        after = bisect.bisect_left(free, wanted, key=nearness)
        nearby = range(max(after - 1, 0), min(after + 1, len(free)))
        best = min(nearby, key=lambda at: _distance(nearness(free[at]), wanted))
        chosen.append(free.pop(best))
    return chosen


def _distance(position: tuple[int, int], wanted: tuple[int, int]) -> tuple[int, int]:
    return abs(position[0] - wanted[0]), abs(position[1] - wanted[1])


def _sort(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(findings, key=_order)


def _order(finding: Diagnostic) -> tuple[object, ...]:
    start, end = finding.range.start, finding.range.end
    place = (start.line, start.column, end.line, end.column)
    content = (finding.message, finding.severity.value, finding.code, finding.source)
    return (*place, *content, finding.servers, finding.tags, finding.href, finding.uri)


# Which lines differ


def split_lines(value: str) -> list[str]:
    """The lines of a text, as the protocol splits it."""
    return _BREAK.split(value) if "\r" in value else value.split("\n")


def changed_blocks(old: list[str], new: list[str]) -> list[Block]:
    """Where two texts differ, in order.

    >>> changed_blocks(["a", "b", "c"], ["a", "x", "y", "c"])
    [Block(old_start=1, old_end=2, new_start=1, new_end=3)]
    """
    # Ties are broken by the order in one text, which must be the same one in both directions.
    if (len(old), old) > (len(new), new):
        mirrored = changed_blocks(new, old)
        return [Block(b.new_start, b.new_end, b.old_start, b.old_end) for b in mirrored]
    blocks: list[Block] = []
    stretches = [(Block(0, len(old), 0, len(new)), ROUNDS)]
    while stretches:
        stretch, rounds = stretches.pop()
        block = _trim(stretch, old, new)
        sizes = block.old_end - block.old_start, block.new_end - block.new_start
        anchors = _anchors(block, old, new) if rounds and all(sizes) else []
        if anchors:
            stretches += [(part, rounds - 1) for part in _between(anchors, block)]
        elif any(sizes):
            blocks.append(block)
    return sorted(blocks)


def _trim(block: Block, old: Sequence[str], new: Sequence[str]) -> Block:
    """The block without equal lines at its start and end."""
    start, old_end, shift = block.old_start, block.old_end, block.new_start - block.old_start
    most = min(old_end, block.new_end - shift)
    while start < most and old[start] == new[start + shift]:
        start += 1
    shift_back = block.new_end - old_end
    least = max(start, start + shift - shift_back)
    while old_end > least and old[old_end - 1] == new[old_end - 1 + shift_back]:
        old_end -= 1
    return Block(start, old_end, start + shift, old_end + shift_back)


def _anchors(block: Block, old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once in each text within the block, and are in the same order."""
    ours = _unique_lines(old, block.old_start, block.old_end)
    theirs = _unique_lines(new, block.new_start, block.new_end)
    pairs = [
        (at, theirs[line]) for line, at in ours.items() if at >= 0 and theirs.get(line, -1) >= 0
    ]
    return _longest_rising(pairs)


def _unique_lines(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """The index of each line, -1 if it occurs more than once."""
    where: dict[str, int] = {}
    for at in range(start, end):
        line = lines[at]
        where[line] = -1 if line in where else at
    return where


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence with rising second numbers; the first numbers rise already."""
    seconds = [second for _, second in pairs]
    if seconds == sorted(seconds):
        return pairs  # nothing was moved, as in nearly all edits
    # By length: the lowest last number of such a subsequence, and the index of its pair.
    lowest: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, second in enumerate(seconds):
        length = bisect.bisect_left(lowest, second)
        before.append(ends[length - 1] if length else -1)
        if length == len(lowest):
            lowest.append(second)
            ends.append(number)
        else:
            lowest[length], ends[length] = second, number
    part: list[tuple[int, int]] = []
    at = ends[-1]
    while at >= 0:
        part.append(pairs[at])
        at = before[at]
    return part[::-1]


def _between(anchors: list[tuple[int, int]], block: Block) -> list[Block]:
    """The stretches before, between and after the anchors."""
    stretches: list[Block] = []
    old_at, new_at = block.old_start, block.new_start
    for old_line, new_line in (*anchors, (block.old_end, block.new_end)):
        if old_line > old_at or new_line > new_at:
            stretches.append(Block(old_at, old_line, new_at, new_line))
        old_at, new_at = old_line + 1, new_line + 1
    return stretches
