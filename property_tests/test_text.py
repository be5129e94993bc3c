"""Positions against the slow and simple way to count, and edits that must give back the text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lspkit.protocol.text import Encoding, Text, apply_change, smallest_change

ENCODINGS: st.SearchStrategy[Encoding] = st.sampled_from(["utf-8", "utf-16", "utf-32"])
# Few characters, so that texts have much in common: one of each width, and all that breaks lines.
ALPHABET = "ab\té€🙂\u0301\r\n\u2028\x85\ud800"
TEXTS = st.text(ALPHABET, max_size=30) | st.text(max_size=30)
# Long enough to have several strides on one line.
LONG_LINES = st.tuples(st.text(ALPHABET, max_size=9), st.integers(300, 900)).map(
    lambda made: made[0].replace("\r", "").replace("\n", "") * made[1]
)


def lines_of(value: str) -> list[str]:
    return re.split("\r\n|\r|\n", value)


def width(character: str, encoding: Encoding) -> int:
    size = len(
        character.encode(
            encoding.replace("-32", "-32-le").replace("-16", "-16-le"), "surrogatepass"
        )
    )
    return size // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]


def snapped(line: str, units: int, encoding: Encoding) -> int:
    """The number of whole characters in the first `units` of a line."""
    for column, character in enumerate(line):
        units -= width(character, encoding)
        if units < 0:
            return column
    return len(line)


@given(TEXTS)
def test_lines_are_those_of_the_protocol(value: str) -> None:
    text = Text(value)
    assert [text.line(index) for index in range(text.line_count)] == lines_of(value)


@given(TEXTS, ENCODINGS)
def test_every_column_has_the_width_of_what_stands_before_it(
    value: str, encoding: Encoding
) -> None:
    text = Text(value)
    for index, line in enumerate(lines_of(value)):
        for column in range(len(line) + 1):
            units = sum(width(character, encoding) for character in line[:column])
            assert text.units(index, column, encoding) == units
            assert text.column(index, units, encoding) == column


@given(TEXTS, st.integers(0, 40), ENCODINGS)
def test_every_unit_belongs_to_the_character_it_is_in(
    value: str, units: int, encoding: Encoding
) -> None:
    text = Text(value)
    for index, line in enumerate(lines_of(value)):
        assert text.column(index, units, encoding) == snapped(line, units, encoding)


@given(LONG_LINES, st.data(), ENCODINGS)
def test_long_lines_count_like_short_ones(
    line: str, data: st.DataObject, encoding: Encoding
) -> None:
    text = Text("ü\n" + line + "\r\nü")
    column = data.draw(st.integers(0, len(line)))
    units = sum(width(character, encoding) for character in line[:column])
    assert text.units(1, column, encoding) == units
    assert text.column(1, units, encoding) == column
    anywhere = data.draw(st.integers(0, 4 * len(line)))
    assert text.column(1, anywhere, encoding) == snapped(line, anywhere, encoding)


@given(TEXTS)
def test_every_place_has_its_offset(value: str) -> None:
    text = Text(value)
    for offset in range(len(value) + 1):
        line, column = text.place(offset)
        if value[max(offset - 1, 0) : offset + 1] == "\r\n":
            assert column == len(text.line(line))
        else:
            assert text.offset(line, column) == offset


@given(TEXTS, TEXTS, ENCODINGS)
def test_applying_the_change_gives_the_new_text(old: str, new: str, encoding: Encoding) -> None:
    change = smallest_change(Text(old), Text(new), encoding)
    assert apply_change(Text(old), change, encoding).value == new


@given(TEXTS, TEXTS, TEXTS, TEXTS, ENCODINGS)
def test_a_change_in_the_middle_is_small_and_splits_no_line_break(
    head: str, removed: str, added: str, tail: str, encoding: Encoding
) -> None:
    old, new = Text(head + removed + tail), Text(head + added + tail)
    change = smallest_change(old, new, encoding)
    assert apply_change(old, change, encoding).value == new.value
    # One more on either side where a line break had to stay whole.
    assert len(change.text) <= len(added) + 2
    kept = len(new.value) - len(change.text)
    start = old.offset(change.start[0], old.column(*change.start, encoding))
    for text, end in ((old, len(old.value) - (kept - start)), (new, start + len(change.text))):
        for cut in (start, end):
            assert text.value[max(cut - 1, 0) : cut + 1] != "\r\n"


@given(st.lists(TEXTS, min_size=2, max_size=6), ENCODINGS)
def test_a_chain_of_changes_ends_in_the_last_text(values: list[str], encoding: Encoding) -> None:
    current = Text(values[0])
    for value in values[1:]:
        current = apply_change(current, smallest_change(current, Text(value), encoding), encoding)
    assert current.value == values[-1]
