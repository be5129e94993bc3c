"""After an edit: the cases in which nothing is appended, and how long a server is waited for."""

from __future__ import annotations

import copy
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from lspkit.edit_types import ChangedFiles
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.agent.hooks.hooked import (
    HERE,
    NONE,
    OPEN,
    PUBLISH,
    PULL,
    PULLED,
    SAID,
    Project,
    appended,
    block,
    late,
    project,
)
from tests.scripted import config_for

# When nothing is appended


def test_a_failed_edit_is_left_alone(tmp_path, scripted):
    argv = scripted(PULLED)
    with project(tmp_path, argv) as work:
        assert work.write("a.scr", "ERROR\n", is_error=True) == SAID
        assert work.hooks.last is None
    assert Log.of(argv).pids() == []


@pytest.mark.parametrize(
    ("output", "more"),
    [
        ([{"type": "text", "text": SAID}], {"type": "text", "text": "{}"}),
        ([{"type": "image", "data": "…"}], {"type": "text", "text": "{}"}),
        ([SAID, "more"], "{}"),
    ],
)
def test_a_list_of_parts_gets_one_more_part(tmp_path, scripted, output, more):
    before = list(output)
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with project(tmp_path, scripted(PULLED)) as work:
        result = work.hooks.tool_result("write", {"path": "a.scr"}, output)
        text = work.hooks.last.text
    assert text
    assert result == [*before, {**more, "text": text} if isinstance(more, dict) else text]
    assert output == before


@pytest.mark.parametrize("output", [{"content": [SAID]}, [], [1, 2], None])
def test_an_output_of_another_form_is_the_same_object(tmp_path, scripted, output):
    before = copy.deepcopy(output)
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with project(tmp_path, scripted(PULLED)) as work:
        assert work.hooks.tool_result("edit", {"path": "a.scr"}, output) is output
        assert work.hooks.last.reports[tmp_path / "a.scr"].verdict.dirty
    assert output == before


@pytest.mark.parametrize("tool", ["grep", "think", ""])
def test_other_tools_are_none_of_its_business(tmp_path, scripted, tool):
    argv = scripted(PULLED)
    with project(tmp_path, argv) as work:
        assert work.write("a.scr", "ERROR\n", tool) == SAID
    assert Log.of(argv).pids() == []


@pytest.mark.parametrize(
    "name", ["a.unheard", "missing.scr", "../outside.scr", "folder", "a\0.scr", "", "\ud800.scr"]
)
def test_a_file_that_cannot_be_checked_changes_nothing(tmp_path, scripted, name):
    (tmp_path / "a.unheard").write_text("ERROR\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with project(tmp_path, scripted(PULLED)) as work:
        assert work.hooks.tool_result("write", {"path": name}, SAID) == SAID
        assert work.hooks.counts["failed"] == 0


def test_a_binary_file_is_passed_over(tmp_path, scripted):
    (tmp_path / "a.scr").write_bytes(b"ERROR \0\xff")
    with project(tmp_path, scripted(PULLED)) as work:
        assert work.hooks.tool_result("write", {"path": "a.scr"}, SAID) == SAID


def test_a_missing_server_is_mentioned_once_with_what_to_do(tmp_path):
    with project(tmp_path, ["/no/such/program"]) as work:
        why = "/no/such/program was not found, which the configuration of scripted names"
        line = f"Servers of this file that do not run: <reasons>{why}</reasons>"
        assert work.write("a.scr", "ERROR\n") == appended(line)
        assert "scripted" in work.hooks.last.warnings[0]
        assert work.write("b.scr", "ERROR\n") == SAID
        assert work.write("b.scr", "ERROR\n", session="another agent") == appended(line)


@pytest.mark.parametrize("on", ["initialize", OPEN])
def test_a_server_that_crashes_is_mentioned_once(tmp_path, scripted, on):
    crash = Script(diagnostics=NONE, faults=[Fault(on, "crash", code=3)])
    with project(tmp_path, scripted(crash)) as work:
        told = work.write("a.scr", "ERROR\n")
        why = "it ended with exit status 3</reasons>"
        assert told.endswith(why if on == "initialize" else late("a.scr"))
        assert work.write("a.scr", "ERROR again\n", "write") == SAID
        assert work.hooks.last.reports[tmp_path / "a.scr"].verdict.unknown


def test_a_server_that_says_nothing_in_time_adds_one_line(tmp_path, scripted):
    timing = {"diagnosticsWaitTimeoutMs": 300, "firstTouchTimeoutMs": 300}
    with project(tmp_path, scripted(Script(diagnostics=NONE)), timing=timing) as work:
        assert work.write("a.scr", "ERROR\n") == appended(late("a.scr"))
        after = work.hooks.last
    assert after.reports[tmp_path / "a.scr"].servers[0].timed_out
    assert after.duration < 10
    assert after.warnings


def test_what_is_only_known_from_before_is_not_told(tmp_path, scripted):
    silent_later = Fault(PUBLISH, "hang", nth=2, times=0)
    with project(tmp_path, scripted(Script(faults=[silent_later]))) as work:
        assert "ERROR" in work.write("a.scr", "ERROR\n")
        assert work.write("a.scr", "once\n", timeout=0.3) == appended(late("a.scr"))
        assert work.write("a.scr", "again\n", timeout=0.3) == SAID


def test_a_silent_server_does_not_hide_what_another_one_has_found(tmp_path, scripted):
    servers = {
        name: {"command": argv, "extensions": [".scr"]}
        for name, argv in (
            ("silent", scripted(Script(diagnostics=NONE))),
            ("good", scripted(PULLED)),
        )
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        told = Project(tmp_path, ws).write("a.scr", "ERROR\n", timeout=1.5)
    found = block("a.scr", "ERROR [1:1] ERROR (ERROR)")
    assert told == appended(HERE, found, late("a.scr"))


def test_a_closed_workspace_changes_nothing(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work:
        work.write("a.scr", "ERROR\n")
    assert work.write("a.scr", "ERROR\n") == SAID
    many = {"paths": [f"f{number}.scr" for number in range(2000)]}
    assert work.hooks.tool_result("read", many, SAID) == SAID
    assert work.hooks.tool_execution_end("edit", {"path": "a.scr"}) is None
    assert work.hooks.last.warnings
    assert work.hooks.counts["failed"] == 1


def test_an_exception_inside_is_counted_and_logged_and_changes_nothing(tmp_path, scripted, caplog):
    def broken(values: object) -> list[str]:
        raise KeyError("no such thing")

    with project(tmp_path, scripted(PULLED)) as work, caplog.at_level(logging.DEBUG, "lspkit"):
        work.hooks.register("save", "write", broken)
        assert work.hooks.tool_result("save", {}, SAID) == SAID
        assert work.hooks.tool_execution_end("save", {}) is None
        assert work.hooks.counts["failed"] == 2
        assert work.hooks.last.warnings == ("KeyError: 'no such thing'",)
    assert "no such thing" in caplog.text


def test_an_edit_is_checked_also_if_it_is_not_known_what_changed_before_it(tmp_path, scripted):
    class Unwatched(lspkit.Workspace):
        def changed_files(self, after: int | None = None) -> ChangedFiles:
            raise OSError("too many open files")

    with Unwatched(tmp_path, config=config_for(scripted(PULLED))) as ws:
        output = Project(tmp_path, ws).write("a.scr", "ERROR\n")
    assert output == appended(HERE, block("a.scr", "ERROR [1:1] ERROR (ERROR)"))


def test_an_interrupt_is_the_users_and_passes(tmp_path, scripted):
    def interrupted(values: object) -> list[str]:
        raise KeyboardInterrupt

    with project(tmp_path, scripted(PULLED)) as work:
        work.hooks.register("save", "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            work.hooks.tool_result("save", {}, SAID)


# Time


def test_a_server_that_is_starting_is_given_more_time(tmp_path, scripted):
    slow = Fault("initialize", "delay", seconds=1.0)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[slow]))
    timing = {"diagnosticsWaitTimeoutMs": 200, "firstTouchTimeoutMs": 20_000}
    with project(tmp_path, argv, timing=timing) as work:
        assert "ERROR" in work.write("a.scr", "ERROR\n")


def test_more_time_is_given_once(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "hang")]))
    timing = {"diagnosticsWaitTimeoutMs": 150, "firstTouchTimeoutMs": 1500}
    with project(tmp_path, argv, timing=timing) as work:
        assert work.write("a.scr", "ERROR\n") == appended(late("a.scr"))
        first = work.hooks.last.duration
        assert work.write("b.scr", "ERROR\n", "write") == appended(late("b.scr"))
        second = work.hooks.last.duration
    assert first >= 1.5
    assert second < 1.5


def test_a_server_that_runs_is_given_the_usual_time(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(PUBLISH, "hang")]))
    timing = {"diagnosticsWaitTimeoutMs": 150, "firstTouchTimeoutMs": 20_000}
    with project(tmp_path, argv, timing=timing) as work:
        (tmp_path / "a.scr").write_text("def f\n", encoding="utf-8")
        work.ws.document_symbols("a.scr")
        assert work.write("a.scr", "ERROR\n") == appended(late("a.scr"))
        assert work.hooks.last.duration < 10


def test_a_caller_may_set_the_time(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "hang")]))
    with project(tmp_path, argv) as work:
        assert work.write("a.scr", "ERROR\n", timeout=0.2) == appended(late("a.scr"))
        assert work.hooks.last.duration < 5


@pytest.mark.parametrize("kind", [lspkit.CancelToken, threading.Event])
def test_a_caller_may_cancel(tmp_path, scripted, kind):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[Fault(PULL, "hang")]))
    cancel = kind()
    with project(tmp_path, argv) as work, ThreadPoolExecutor(1) as pool:
        told = pool.submit(work.write, "a.scr", "ERROR\n", timeout=60, cancel=cancel)
        Log.of(argv).wait_for_message(PULL)
        cancel.set()
        assert told.result(timeout=20) == SAID


# Many at once


def test_many_threads_are_each_told_of_their_own_file(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work, ThreadPoolExecutor(16) as pool:
        names = [f"f{number}" for number in range(40)]
        texts = pool.map(
            lambda name: work.write(f"{name}.scr", f"ERROR {name}\n", timeout=60), names
        )
        for name, told in zip(names, texts, strict=True):
            line = f"ERROR [1:1] ERROR {name} (ERROR)"
            assert told.startswith(appended(HERE, block(f"{name}.scr", line)))
            assert told.count(line) == 1
        assert work.hooks.counts["appended"] == 40
        assert work.hooks.counts["failed"] == 0


def test_a_new_file_that_another_check_has_seen_is_told_of_nevertheless(tmp_path, scripted):
    (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
    with project(tmp_path, scripted(PULLED)) as work:
        (tmp_path / "new.scr").write_text("ERROR new\n", encoding="utf-8")
        work.ws.sync("new.scr")
        seen = work.ws.check("a.scr", scope="project").other_files
        assert [Path(one).name for one in seen.diagnostics] == ["new.scr"]
        line = "ERROR [1:1] ERROR new (ERROR)"
        told = work.write("new.scr", "ERROR new\n")
        assert told == appended(HERE, block("new.scr", line))
