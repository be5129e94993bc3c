"""Lines, columns and the smallest change between two texts."""

from __future__ import annotations

import pytest

from lspkit.protocol.text import Change, Encoding, Text, apply_change, smallest_change

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


class TestLines:
    @pytest.mark.parametrize(
        ("value", "lines"),
        [
            ("", [""]),
            ("a", ["a"]),
            ("a\n", ["a", ""]),
            ("a\nb", ["a", "b"]),
            ("a\r\nb\r\n", ["a", "b", ""]),
            ("a\rb", ["a", "b"]),
            ("\r\r\n\n", ["", "", "", ""]),
            ("\n\r", ["", "", ""]),
            ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g", ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"]),
        ],
    )
    def test_only_the_breaks_of_the_protocol_end_a_line(self, value: str, lines: list[str]) -> None:
        text = Text(value)
        assert text.line_count == len(lines)
        assert [text.line(index) for index in range(text.line_count)] == lines

    def test_a_place_and_its_offset_are_the_same(self) -> None:
        text = Text("ab\r\n🙂c\rd\n")
        places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)]
        offsets = [text.offset(*place) for place in places]
        assert offsets == [0, 1, 2, 4, 5, 6, 7, 8, 9]
        assert [text.place(offset) for offset in offsets] == places

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize(
        "value", ["", "ab\ncd\n", "ab\r\nc\r\n", "a\rb\n\r\r\n", "é\nx\n", "a\n🙂b\r\n"]
    )
    def test_columns_of_plain_lines_need_no_conversion(
        self, value: str, encoding: Encoding
    ) -> None:
        text = Text(value)
        widths = text.plain_widths(encoding)
        for line, width in enumerate(widths):
            for units in range(width + 1):
                assert text.column(line, units, encoding) == units
                assert text.units(line, units, encoding) == units
                assert text.is_plain(line, units, encoding)
        plain = value.isascii() or encoding == "utf-32"
        assert len(widths) == (text.line_count if plain else 0)

    def test_an_offset_inside_a_line_break_is_the_end_of_the_line(self) -> None:
        assert Text("ab\r\nc").place(3) == (0, 2)

    @pytest.mark.parametrize(
        ("place", "offset"), [((0, 99), 2), ((1, 99), 4), ((2, 0), 4), ((99, 99), 4), ((0, -1), 0)]
    )
    def test_a_place_outside_means_the_nearest_inside(
        self, place: tuple[int, int], offset: int
    ) -> None:
        assert Text("ab\nc").offset(*place) == offset

    def test_an_offset_outside_means_the_nearest_inside(self) -> None:
        text = Text("ab\nc")
        assert (text.place(-1), text.place(99)) == ((0, 0), (1, 1))

    def test_a_line_outside_is_empty(self) -> None:
        assert (Text("a").line(1), Text("a").line(-1)) == ("", "")

    def test_a_text_shows_its_size_and_not_itself(self) -> None:
        assert repr(Text("secret")) == "<Text: 6 characters>"


class TestColumns:
    @pytest.mark.parametrize(
        ("line", "encoding", "units"),
        [
            ("ab", "utf-8", [0, 1, 2]),
            ("ab", "utf-16", [0, 1, 2]),
            ("é\tx", "utf-8", [0, 2, 3, 4]),
            ("é\tx", "utf-16", [0, 1, 2, 3]),
            ("€x", "utf-8", [0, 3, 4]),
            ("🙂x", "utf-8", [0, 4, 5]),
            ("🙂x", "utf-16", [0, 2, 3]),
            ("🙂x", "utf-32", [0, 1, 2]),
            ("e\u0301x", "utf-8", [0, 1, 3, 4]),
            ("e\u0301x", "utf-16", [0, 1, 2, 3]),
            ("\ud800x", "utf-16", [0, 1, 2]),
            ("\ud800x", "utf-8", [0, 3, 4]),
        ],
    )
    def test_columns_are_exact_both_ways(
        self, line: str, encoding: Encoding, units: list[int]
    ) -> None:
        text = Text(f"ü\r\n{line}\rü")
        assert [text.units(1, column, encoding) for column in range(len(line) + 1)] == units
        assert [text.column(1, unit, encoding) for unit in units] == list(range(len(line) + 1))

    @pytest.mark.parametrize(("encoding", "inside"), [("utf-16", [2]), ("utf-8", [2, 3, 4])])
    def test_a_column_inside_a_character_is_its_start(
        self, encoding: Encoding, inside: list[int]
    ) -> None:
        assert {Text("a🙂b").column(0, units, encoding) for units in inside} == {1}

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("value", ["ab", "🙂é"])
    def test_a_column_beyond_the_end_is_the_end(self, value: str, encoding: Encoding) -> None:
        text = Text(value + "\nlonger")
        assert text.column(0, 10**6, encoding) == 2
        assert text.units(0, 10**6, encoding) == text.units(0, 2, encoding)

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("value", ["ab", "🙂é"])
    def test_a_negative_column_is_the_start(self, value: str, encoding: Encoding) -> None:
        assert Text(value).column(0, -1, encoding) == 0
        assert Text(value).units(0, -1, encoding) == 0

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_a_line_of_a_megabyte_is_exact(self, encoding: Encoding) -> None:
        line = "a🙂é" * 350_000
        text = Text("x\n" + line + "\n")
        width = {"utf-8": 7, "utf-16": 4, "utf-32": 3}[encoding]
        for triple in (0, 1, 341, 342, 174_763, 349_999, 350_000):
            assert text.units(1, triple * 3, encoding) == triple * width
            assert text.column(1, triple * width, encoding) == triple * 3

    def test_a_character_on_the_border_of_a_stride_snaps_back(self) -> None:
        text = Text("a" * 1023 + "🙂" + "b" * 2000)
        assert text.column(0, 1024, "utf-16") == 1023
        assert text.column(0, 1025, "utf-16") == 1024
        assert text.units(0, 1024, "utf-16") == 1025


class TestSmallestChange:
    @pytest.mark.parametrize(
        ("old", "new", "change"),
        [
            ("", "", Change((0, 0), (0, 0), "")),
            ("abc", "abc", Change((0, 3), (0, 3), "")),
            ("", "abc", Change((0, 0), (0, 0), "abc")),
            ("abc", "", Change((0, 0), (0, 3), "")),
            ("a\nb\nc", "a\nx\nc", Change((1, 0), (1, 1), "x")),
            ("aa", "aaa", Change((0, 2), (0, 2), "a")),
            ("aaa", "aa", Change((0, 2), (0, 3), "")),
            ("🙂b", "🙂c", Change((0, 2), (0, 3), "c")),
            ("🙂", "🙃", Change((0, 0), (0, 2), "🙃")),
            ("a\r\nb", "a\nb", Change((0, 1), (1, 0), "\n")),
            ("a\nb", "a\r\nb", Change((0, 1), (1, 0), "\r\n")),
            ("a\rb", "a\r\nb", Change((0, 1), (1, 0), "\r\n")),
            ("a\r\n", "a\rx\n", Change((0, 1), (1, 0), "\rx\n")),
            ("\r\n\r\n", "\r\n", Change((1, 0), (2, 0), "")),
        ],
    )
    def test_what_is_common_is_left_out(self, old: str, new: str, change: Change) -> None:
        assert smallest_change(Text(old), Text(new), "utf-16") == change
        assert apply_change(Text(old), change, "utf-16").value == new

    def test_one_character_of_a_megabyte_is_one_character(self) -> None:
        old = "é line\r\n" * 130_000
        new = old[:500_000] + "x" + old[500_001:]
        change = smallest_change(Text(old), Text(new), "utf-8")
        assert change.text == "x"
        assert apply_change(Text(old), change, "utf-8").value == new

    def test_a_change_that_runs_backwards_inserts_at_its_start(self) -> None:
        assert apply_change(Text("abc"), Change((0, 2), (0, 1), "x"), "utf-8").value == "abxc"
