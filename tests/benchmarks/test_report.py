"""The page, its plots, and the program that runs the benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchmarks import __main__ as program
from benchmarks import sections
from benchmarks.opencode_program import ScriptedModel
from benchmarks.page import page
from benchmarks.plots import bars, lines
from benchmarks.report import BEGIN, END, PAGE, finish, last_error, plots, summary, with_summary
from benchmarks.sections import CHECKOUT
from tests.benchmarks.samples import client_cost, long_session, opencode

SVG = "{http://www.w3.org/2000/svg}"


def shapes(text: str, name: str) -> list[Any]:
    return ET.fromstring(text).findall(f"{SVG}{name}")


def test_each_bar_has_a_whisker_and_its_figure():
    text = bars({"a < b": {"floor": (1.0, 0.9, 1.2), "lspkit": (2.0, 1.8, 2.1)}}, "ms")

    assert len(shapes(text, "path")) == 2
    words = [one.text for one in shapes(text, "text")]
    assert {"a < b", "1", "2", "floor, ms", "lspkit, ms"} == set(words)


def test_a_line_is_drawn_as_a_share_of_its_first_value():
    text = lines("growth", {"memory": [(0, 50.0), (100, 100.0)], "nothing": []}, "edits")

    drawn = [one.get("d") for one in shapes(text, "path") if one.get("stroke-width")]
    first, last = (float(point.split(",")[1]) for point in drawn[0][1:].split(" L"))
    assert (268 - last) == pytest.approx(2 * (268 - first), abs=0.2)


def test_a_line_that_begins_with_nothing_is_drawn_too():
    assert shapes(lines("", {"threads": [(0, 0.0), (1, 2.0)]}, "edits"), "path")


def test_the_page_names_machine_commit_bars_and_what_is_missing():
    report = {"client_cost": client_cost(), "opencode": opencode(), "long_session": long_session()}
    report["runs"] = {"sansio": {"seconds": 1.0, "failed": "ImportError: no module"}}

    text = page(report, plots(report))

    assert "aarch64, 2 cores, 23.5 GiB of memory, Linux 6.1, CPython 3.11.7" in text
    assert "`0123456789`" in text
    assert "Not measured: pygls: pygls==2.1.1: no such version" in text
    assert "| not measured: ImportError: no module" in text
    assert "not measured: was not run" in text
    assert "(client_cost.svg)" in text
    assert "(long_session_scripted.svg)" in text
    assert "All rows pass." in text


def test_the_service_has_its_calls_and_commands_on_the_page():
    ways = {
        "definition, warm": {"seconds": 0.1, "cpu": 0.05},
        "definition, cold": {"seconds": 2.0, "cpu": 1.0},
    }
    calls = {"in process": {"p50_ms": 0.2, "p95_ms": 0.3}}
    bar = {"added_ms": 0.1, "bar_ms": 0.25}

    text = page({"service": {"calls": calls, "commands": {"pyright": ways}, **bar}})

    assert "| in process | 0.2    | 0.3    |" in text
    assert "| pyright | definition, warm | 0.1     | 0.05              |" in text


def test_a_picture_that_was_not_drawn_is_not_shown():
    assert "![" not in page({"client_cost": client_cost()}, {})


def test_a_section_that_the_page_does_not_know_is_shown_as_it_is():
    found = page({"new_one": {"results": {"files": {"times": 10, "share": 1.0}}}})

    assert "## New one" in found
    assert "| files | 10    | 1     |" in found


def test_the_summary_names_what_is_farthest_from_its_bar():
    report = {"client_cost": client_cost(own=0.25), "opencode": opencode(hover=106.0)}

    text = summary(report)

    assert "| warm request, canned | 2 of 4" in text
    assert "definition: 0.2 ms above the floor (at most 0.15)" in text
    assert "| many files" in text
    assert "Not so: warm hover, p50, Python (fail); warm hover, p95, Python (fail)." in text


def test_the_summary_stands_between_its_marks():
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    assert with_summary(page, "new") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_the_page_of_the_docs_shows_the_committed_report():
    report = json.loads((CHECKOUT / "benchmarks" / "report.json").read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")

    assert text == with_summary(text, summary(report)), "run: python -m benchmarks --page-only"


@pytest.mark.parametrize(
    ("said", "told"),
    [("", ""), ("Traceback\n  File\nOSError: no /tmp/x/y\n\n", "OSError: no y")],
)
def test_the_reason_of_a_failure_is_its_last_line(said, told):
    assert last_error(said) == told


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> Path:
    """A checkout with benchmarks of its own, and the place of its report."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setattr(sections, "REPORT", folder / "report.json")
    return folder


def test_a_benchmark_that_fails_is_named_with_its_reason(checkout: Path, monkeypatch):
    (checkout / "fails.py").write_text("raise OSError('no such server')")
    monkeypatch.setitem(program.BENCHMARKS, "fails", (60, 60))
    sections.change_report({"fails": {"old": True}})

    ran = program.run("fails", quick=False)
    finish(checkout, {"fails": ran})

    assert ran["failed"] == "OSError: no such server"
    report = json.loads((checkout / "report.json").read_text())
    assert "fails" not in report  # the figures of an older run
    assert "OSError: no such server" in (checkout / "report.md").read_text()


def test_a_benchmark_that_ends_with_a_status_keeps_its_figures(checkout: Path, monkeypatch):
    text = (
        "import json, sys\n"
        f"open({str(checkout / 'report.json')!r}, 'w').write(json.dumps({{'over': {{'a': 1}}}}))\n"
        "sys.exit(1)\n"
    )
    (checkout / "over.py").write_text(text)
    monkeypatch.setitem(program.BENCHMARKS, "over", (60, 60))

    ran = program.run("over", quick=False)

    assert "failed" not in ran
    assert ran["status"] == 1
    assert sections.change_report({})["over"] == {"a": 1}


def test_a_benchmark_that_does_not_end_is_stopped(checkout: Path, monkeypatch):
    (checkout / "hangs.py").write_text("import threading\nthreading.Event().wait()")
    monkeypatch.setitem(program.BENCHMARKS, "hangs", (0.5, 0.5))

    assert program.run("hangs", quick=True)["failed"] == "stopped after 0.5 s"


def test_only_those_that_are_there_are_run(checkout: Path):
    (checkout / "idle.py").touch()
    (checkout / "growth.py").touch()
    (checkout / "overlap.py").touch()

    assert program._usual(quick=False) == ["idle", "growth"]
    assert program._usual(quick=True) == ["idle"]


def test_a_name_that_is_unknown_is_a_mistake(tmp_path: Path):
    command = [sys.executable, "-m", "benchmarks", "--into", str(tmp_path), "no_such"]
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, env=dict(os.environ)
    )

    assert done.returncode == 2
    assert "no benchmark named no_such" in done.stderr


@pytest.mark.slow
def test_a_benchmark_runs_and_its_bar_is_on_the_page(tmp_path: Path):
    command = [sys.executable, "-m", "benchmarks", "--quick", "--into", str(tmp_path), "threads"]
    subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=True, timeout=110)

    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["threads"]["quick"] is True
    assert report["threads"]["ratio"] > 0
    assert [one["row"] for one in report["bars"]] == ["32 threads"]
    assert "| 32 threads" in (tmp_path / "report.md").read_text(encoding="utf-8")


def ask(model: ScriptedModel, **body: Any) -> list[dict[str, Any]]:
    """The pieces of an answer."""
    address = f"{model.address}/chat/completions"
    request = urllib.request.Request(address, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        lines = answer.read().decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: "))["choices"][0] for line in lines[:-2]]


def test_the_stand_in_for_a_model_replays_its_calls_and_then_says_a_word():
    model = ScriptedModel()
    try:
        model.calls.append(("write", {"filePath": "a"}))
        title = ask(model)
        call = ask(model, tools=[{}])
        end = ask(model, tools=[{}])
    finally:
        model.close()

    assert title[0]["delta"]["content"] == "done"
    made = call[0]["delta"]["tool_calls"][0]["function"]
    assert made == {"name": "write", "arguments": '{"filePath": "a"}'}
    assert call[-1]["finish_reason"] == "tool_calls"
    assert end[-1]["finish_reason"] == "stop"
