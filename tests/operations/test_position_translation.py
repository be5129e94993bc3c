"""Ranges of a server, in characters: the short way gives what the long one gives."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from lspkit.operations.position_translation import Translator
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.results import WirePosition, WireRange
from lspkit.types import Range

TEXTS = ["", "ab", "ab\ncd\n", "ab\r\nc\r\n", "a\rb\n\r\r\n", "é\nx\n", "a\n🙂b\r\n", "\n\n"]


@pytest.mark.parametrize("encoding", get_args(Encoding))
@pytest.mark.parametrize("value", TEXTS)
def test_a_range_has_the_positions_of_its_ends(value: str, encoding: Encoding) -> None:
    text = Text(value)
    translate = Translator(encoding, {})
    places = list(itertools.product(range(-1, text.line_count + 1), range(-1, 5)))
    for start, end in itertools.product(places, places):
        wire = WireRange(WirePosition(*start), WirePosition(*end))
        ends = (translate.position(text, one) for one in (wire.start, wire.end))
        assert translate.range(text, wire) == Range(*ends)
        assert translate.range(None, wire) == Range(
            translate.position(None, wire.start), translate.position(None, wire.end)
        )
