"""Lines of the panel: as wide as they may be, and nothing in them writes to the terminal."""

from __future__ import annotations

import pytest

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

from rich.cells import cell_len

from lspkit.panel.server_lines import (
    Columns,
    detail_lines,
    legend,
    totals_line,
    width_of,
)
from lspkit.servers.status import Broken, ServerState
from tests.panel.samples import ROOT, broken, many, running, server, shop, taken

EVIL = "boo\x1b[2J\x9b31m\u202e\r\nlspkit: all is well"


def text_of(line: list[tuple[str, str]]) -> str:
    return "".join(text for text, _ in line)


@pytest.mark.parametrize("width", [1, 5, 20, 34, 44, 54, 66, 78, 196])
def test_no_line_is_wider_than_it_may_be(width):
    status = many(60)
    columns = Columns(status.rows, width)
    lines = [columns.heading(), totals_line(status, width), [(legend(width), "")]]
    for one in status.rows:
        lines.append(columns.row(one, ROOT, 0.0, selected=True))
        lines += detail_lines(one, ROOT, 0.0, width)
    assert max(map(width_of, lines)) <= width


def test_the_columns_are_below_their_names():
    status = shop()
    columns = Columns(status.rows, 76)
    heading = text_of(columns.heading())
    for one in status.rows:
        line = text_of(columns.row(one, ROOT, 0.0, selected=False))
        assert cell_len(line) == 76
        assert line.index(one.server) == heading.index("SERVER")
        assert line.index(one.source) == heading.index("SOURCE")


@pytest.mark.parametrize("state", ServerState)
def test_a_state_is_told_by_a_word_and_a_shape(state):
    line = text_of(Columns([], 76).row(server("one", state), ROOT, 0.0, selected=False))
    shape, word = line.split()[:2]
    assert word == state.value
    assert not shape.isascii()
    assert text_of([(legend(76), "")]).count(f"{shape} {word}") == 1


def test_what_a_server_says_is_shown_and_not_obeyed():
    evil = broken(EVIL, EVIL, stderr=EVIL, folder=f"/{EVIL}", command=(EVIL,), source=EVIL)
    lines = [Columns([evil], 78).row(evil, ROOT, 0.0, selected=False)]
    lines += detail_lines(evil, ROOT, 0.0, 78)
    assert all(text.isprintable() for line in lines for text, _ in line)
    assert any("boo" in text_of(line) for line in lines)


def test_a_missing_program_comes_with_what_gets_it():
    row = next(one for one in shop().rows if one.server == "clangd")
    assert "apt-get install clangd" in text_of(
        Columns([row], 76).row(row, ROOT, 0.0, selected=False)
    )
    assert any("apt-get install clangd" in text_of(one) for one in detail_lines(row, ROOT, 0, 76))


def test_the_time_to_the_next_try_goes_by():
    row = broken("ty", "ended", retry_in=9.0)
    for age, left in ((0.0, "↻ 9 s"), (4.0, "↻ 5 s"), (60.0, "↻ 0 s")):
        assert text_of(Columns([row], 76).row(row, ROOT, age, selected=False)).endswith(left)


def test_a_program_that_does_not_work_says_why():
    failed = Broken(0, 0.0, "ty does not work: it ended with exit status 3")
    row = running("ty", ServerState.UNAVAILABLE, pid=None, broken=failed)
    assert "ty does not work: it" in text_of(Columns([row], 76).row(row, ROOT, 0.0, selected=False))
    details = "\n".join(text_of(one) for one in detail_lines(row, ROOT, 0.0, 76))
    assert details.count("does not work") == 1
    assert "next try" not in details


def test_a_long_error_is_cut_after_some_lines():
    lines = detail_lines(broken("ty", "word " * 500), ROOT, 0.0, 76)
    assert len([one for one in lines if "word" in text_of(one)]) == 6
    assert any(text_of(one).endswith("…") for one in lines)


def test_details_tell_what_a_server_does():
    row = next(one for one in shop().rows if one.server == "basedpyright")
    text = "\n".join(text_of(one) for one in detail_lines(row, ROOT, 0.0, 90))
    for words in (
        "basedpyright 1.31.4, pid 4242, 412 MB, 18.4 s of CPU, 3 open documents",
        "128, half within 11 ms, 95 % within 42 ms, 1 timed out",
        "in flight textDocument/references",
        "/usr/bin/basedpyright --stdio",
        "2 errors, 5 warnings, 1 hint in 3 files",
    ):
        assert words in text


def test_several_roots_are_counted_and_each_has_its_details():
    two = tuple(running("ty", folder=name).roots[0] for name in ("/a", "/b"))
    row = server("ty", ServerState.ACTIVE, roots=two)
    assert "2 roots" in text_of(Columns([row], 76).row(row, ROOT, 0.0, selected=False))
    details = [text_of(one) for one in detail_lines(row, ROOT, 0.0, 76)]
    assert len([one for one in details if ": active" in one]) == 2


def test_totals_are_words_where_they_fit():
    assert text_of(totals_line(shop(), 200)).endswith("△ 1 unavailable  – 1 disabled")
    assert text_of(totals_line(shop(), 40)) == "9 servers  ✗ 1  ◐ 1  ● 3  ○ 2  △ 1  – 1"
    assert text_of(totals_line(taken([server("one")]), 40)) == "1 server  ○ 1 idle"
    nothing = taken([], unavailable="no server can run (3 not found)")
    assert text_of(totals_line(nothing, 200)).startswith("LSP unavailable: no server can run")
