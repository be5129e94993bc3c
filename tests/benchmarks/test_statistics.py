"""The statistics and tables of the benchmarks."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from benchmarks import sections
from benchmarks.sections import machine, percentile, spread, table, without_paths


def test_a_percentile_is_one_of_the_values():
    assert percentile([3.0, 1.0, 2.0], 0.0) == 1.0
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0], 1.0) == 3.0


def test_a_spread_has_the_median_the_quartiles_and_the_number_of_values():
    found = spread([float(one) for one in range(1, 101)])

    assert found == {"p50": 50.5, "p95": 96.0, "q1": 26.0, "q3": 76.0, "n": 100}


def test_one_value_is_its_own_spread():
    assert spread([4.0]) == {"p50": 4.0, "p95": 4.0, "q1": 4.0, "q3": 4.0, "n": 1}


def test_a_table_is_aligned_and_rounds():
    text = table(["name", "figure"], [["a|b", 0.123456], ["c", 1234.5], ["d", None], ["e", True]])

    assert text.splitlines() == [
        "| name | figure |",
        "| ---- | ------ |",
        "| a\\|b | 0.123  |",
        "| c    | 1234   |",
        "| d    | –      |",
        "| e    | yes    |",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no file /home/someone/lspkit/a.py here", "no file a.py here"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("1/2 of them", "1/2 of them"),
    ],
)
def test_a_reason_has_no_path_of_this_machine(text, told):
    assert without_paths(text) == told


def test_the_machine_is_described_without_its_name():
    found = machine()

    assert found["cores"] >= 1
    assert found["processor"]
    assert platform.node() not in json.dumps(found)


def test_a_section_replaces_only_itself(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sections, "REPORT", tmp_path / "report.json")

    sections.write_section("one", {"figure": 1})
    sections.write_section("two", {"figure": 2})
    sections.write_section("one", {"figure": 3})
    report = sections.change_report({"two": None})

    assert report["one"]["figure"] == 3
    assert "two" not in report
    assert json.loads((tmp_path / "report.json").read_text()) == report
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]
