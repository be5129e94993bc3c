"""Bars and the parity table: met or not, from the figures alone."""

from __future__ import annotations

import pytest

from benchmarks.bars import REASONS, Bar, bars_of, parity, passes, reasons
from tests.benchmarks.samples import STAMP, client_cost, long_session, opencode


def met(report):
    return {(bar.row, bar.what): bar.met for bar in bars_of(report)}


def test_a_bar_is_met_at_its_limit():
    assert Bar("row", "what", 1.0, 1.0, "ms").met
    assert not Bar("row", "what", 1.01, 1.0, "ms").met
    assert Bar("row", "what", 20.0, 20.0, "×", at_least=True).met
    assert not Bar("row", "what", 19.9, 20.0, "×", at_least=True).met


def test_a_bar_that_is_not_met_shows_its_figure():
    cells = Bar("warm request", "hover", 0.1234, 0.08, "ms").cells

    assert cells == ["warm request", "hover", "0.123 ms", "at most 0.08", "**not met**"]


def test_large_figures_are_written_out():
    cells = Bar("summary", "default", 2979.0, 4096, "bytes").cells

    assert cells[2:4] == ["2979 bytes", "at most 4096"]


def test_the_distance_to_the_floor_is_what_counts_on_canned_answers():
    assert met({"client_cost": client_cost(own=0.19)})["warm request, canned", "definition"]
    assert not met({"client_cost": client_cost(own=0.21)})["warm request, canned", "definition"]


def test_a_timeout_may_be_exceeded_by_half_a_second():
    results = {"check_all": {"over": 0.5}, "lspkit check": {"over": 0.51}}
    section = {"timeout": 5.0, "files": 2000, "bar": 0.5, "results": results}
    row = "timeout of 5 s, 2,000 files"
    assert met({"deadlines": section}) == {(row, "check_all"): True, (row, "lspkit check"): False}


def test_a_peer_that_answers_nothing_need_not_be_beaten():
    results = {
        "lspkit": {"references": {"p50_ms": 2.0, "times_floor": 1.0}},
        "SolidLSP": {"references": {"p50_ms": 3.0}},
        "multilspy": {"references": {"p50_ms": 1.0}},
    }
    answers = {"SolidLSP": {"references": 40}, "multilspy": {"references": 0}}
    servers = {"pyright": {"results": results, "answers": answers}}
    assert met({"real_requests": {"servers": servers}})[
        "warm request, peers", "references, pyright"
    ]
    answers["multilspy"]["references"] = 40
    assert not met({"real_requests": {"servers": servers}})[
        "warm request, peers", "references, pyright"
    ]


def test_the_quicker_of_both_peers_has_to_be_beaten():
    section = client_cost(own=0.2)
    section["results"]["multilspy"]["hover"]["p50_ms"] = 0.19

    found = met({"client_cost": section})

    assert not found["warm request, peers", "hover, canned"]
    assert found["warm request, peers", "definition, canned"]


def test_without_peers_there_is_no_bar_beside_them():
    section = client_cost()
    del section["results"]["SolidLSP"], section["results"]["multilspy"]

    rows = [row for row, _ in met({"client_cost": section})]

    assert "warm request, peers" not in rows


@pytest.mark.parametrize(("own", "holds"), [(159.0, True), (161.0, False)])
def test_a_short_cold_start_may_take_sixty_milliseconds_more(own, holds):
    one = {"floor": {"p50": 100.0}, "lspkit": {"p50": own}, "above_ms": own - 100.0}

    assert met({"cold_start": {**STAMP, "results": {"ty": one}}})["cold start", "ty"] is holds


@pytest.mark.parametrize(("own", "holds"), [(1099.0, True), (1101.0, False)])
def test_a_long_cold_start_may_take_a_tenth_more(own, holds):
    one = {"floor": {"p50": 1000.0}, "lspkit": {"p50": own}, "above_ms": own - 1000.0}

    assert met({"cold_start": {**STAMP, "results": {"ty": one}}})["cold start", "ty"] is holds


def test_memory_may_grow_a_little_and_threads_not_at_all():
    section = long_session(growth=4.9)
    section["results"]["scripted"]["more_threads"] = 1

    found = met({"long_session": section})

    assert found["200 edits", "memory, scripted"]
    assert not found["200 edits", "threads, scripted"]


def test_parity_fails_for_a_warm_request_that_takes_more_than_a_twentieth_longer():
    assert passes(parity(opencode(hover=104.0)))
    rows = {row.what: row.verdict for row in parity(opencode(hover=106.0))}

    assert rows["warm hover, p50"] == "**fail**"
    assert rows["cold check, p50"] == "pass"


def test_parity_fails_for_a_process_that_is_left_and_for_a_long_summary():
    section = opencode()
    section["languages"]["Python"]["lspkit"] |= {"left": 1, "summary_bytes": 2049}

    rows = {row.what: row.verdict for row in parity(section)}

    assert rows["processes left"] == "**fail**"
    assert rows["summary"] == "**fail**"


def test_what_was_not_measured_does_not_pass():
    section = opencode()
    del section["languages"]["Python"]["opencode"]["warm hover"]

    rows = {row.what: row.verdict for row in parity(section)}

    assert rows["warm hover, p95"] == "not measured"
    assert not passes(parity(section))
    assert not passes(parity({"missing": "no npm"}))


def test_each_bar_that_is_not_met_has_its_reason_and_rows_with_one_reason_share_it():
    row = "warm request, canned"
    slow = [Bar(row, what, 1.0, 0.08, "ms above the floor") for what in ("hover", "definition")]
    met, strange = Bar(row, "symbols", 0.1, 0.35, "ms"), Bar("of no text", "x", 2.0, 1.0, "")

    text = reasons([*slow, met, strange])

    assert text.splitlines() == [
        f"- {row}, hover; {row}, definition. {REASONS[row]}",
        "- of no text, x. Not examined.",
    ]
    assert reasons([met]) == ""
