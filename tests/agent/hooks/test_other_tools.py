"""After a read, a shell command and other tools; and what a host can look at."""

from __future__ import annotations

import os
import time

import pytest

from lspkit.agent.hooks import edit_hooks
from lspkit.testing import Fault, Log, Script
from tests.agent.hooks.hooked import (
    HERE,
    OPEN,
    PULLED,
    SAID,
    STILL,
    appended,
    block,
    project,
)

# Reading


def test_a_read_lets_the_servers_see_the_file_and_keeps_nobody_waiting(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.5)]))
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with project(tmp_path, argv) as work:
        began, spent = time.monotonic(), time.thread_time()
        assert work.hooks.tool_result("read", {"path": "a.scr"}, "ERROR\n") == "ERROR\n"
        spent = time.thread_time() - spent
        took = time.monotonic() - began
        opened = Log.of(argv).wait_for_message(OPEN)
    assert opened["params"]["textDocument"]["uri"] == (tmp_path / "a.scr").as_uri()
    assert took < 0.4
    assert work.hooks.last is None
    # By the clock of this thread, since other work on the machine is none of its own.
    assert spent < 0.01


def test_reads_take_less_than_a_millisecond(tmp_path, scripted):
    names = [f"f{number}.scr" for number in range(50)]
    for name in names:
        (tmp_path / name).write_text("ERROR\n", encoding="utf-8")
    with project(tmp_path, scripted(Script())) as work:
        spent: list[float] = []
        for name in names:
            began = time.thread_time()
            work.hooks.tool_result("read", {"path": name}, "")
            spent.append(time.thread_time() - began)
    assert sorted(spent)[25] < 0.001


def test_the_end_of_an_edit_lets_the_servers_see_the_file(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    with project(tmp_path, argv) as work:
        assert work.hooks.tool_execution_end("edit", {"path": "a.scr"}) is None
        Log.of(argv).wait_for_message(OPEN)
        work.hooks.tool_execution_end("grep", {"path": "a.scr"})
        work.hooks.tool_execution_end("read", "{")
        counts = work.hooks.counts
    assert (counts["edit"], counts["read"], counts["other"], counts["write"]) == (1, 1, 1, 0)
    assert work.hooks.last is None


# Shell commands and other tools


def test_a_shell_command_is_told_of_files_that_it_has_changed(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work:
        for name in ("a.scr", "b.scr", "c.scr"):
            work.write(name, "fine\n")
        (tmp_path / "b.scr").write_text("ERROR by sed\n", encoding="utf-8")
        (tmp_path / "c.scr").unlink()
        told = work.hooks.tool_result("bash", {"command": "sed -i …"}, SAID)
        again = work.hooks.tool_result("bash", {"command": "true"}, SAID)
    assert told == appended(HERE, block("b.scr", "ERROR [1:1] ERROR by sed (ERROR)"))
    assert again == SAID


def test_a_shell_command_is_told_of_files_that_nobody_has_dealt_with(tmp_path, scripted):
    (tmp_path / "old.scr").write_text("fine\n", encoding="utf-8")
    with project(tmp_path, scripted(PULLED)) as work:
        work.write("a.scr", "fine\n")
        (tmp_path / "old.scr").write_text("ERROR in an old one\n", encoding="utf-8")
        (tmp_path / "new.scr").write_text("ERROR in a new one\n", encoding="utf-8")
        (tmp_path / "new.txt").write_text("ERROR in what no server knows\n", encoding="utf-8")
        told = work.hooks.tool_result("bash", {"command": "make generate"}, SAID)
        again = work.hooks.tool_result("bash", {"command": "true"}, SAID)
    assert set(work.hooks.last.reports) == set()
    assert "ERROR in an old one" in told
    assert "ERROR in a new one" in told
    assert "no server" not in told
    assert again == SAID


def test_the_first_command_after_a_read_is_told_of_files_that_were_not_read(tmp_path, scripted):
    argv = scripted(PULLED)
    for name in ("a.scr", "b.scr"):
        (tmp_path / name).write_text("fine\n", encoding="utf-8")
    with project(tmp_path, argv) as work:
        work.hooks.tool_result("read", {"path": "a.scr"}, "fine\n")
        Log.of(argv).wait_for_message(OPEN)
        (tmp_path / "b.scr").write_text("ERROR by sed\n", encoding="utf-8")
        told = work.hooks.tool_result("bash", {"command": "sed -i …"}, SAID)
    assert told == appended(HERE, block("b.scr", "ERROR [1:1] ERROR by sed (ERROR)"))


def test_the_first_command_of_an_agent_is_told_of_what_changed_since_the_last_call_of_any_agent(
    tmp_path, scripted
):
    """Through `lspkit hook` the agent is heard of only after its command has run."""
    with project(tmp_path, scripted(PULLED)) as work:
        work.write("b.scr", "fine\n")
        work.write("a.scr", "ERROR of the first\n", session="first")
        (tmp_path / "b.scr").write_text("ERROR by sed\n", encoding="utf-8")
        output = work.hooks.tool_result("bash", {"command": "sed -i …"}, SAID, session="second")
        again = work.hooks.tool_result("bash", {"command": "true"}, SAID, session="second")
    assert output == appended(HERE, block("b.scr", "ERROR [1:1] ERROR by sed (ERROR)"))
    assert again == SAID


def test_the_agents_that_were_used_last_are_remembered(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(edit_hooks, "MOST_SESSIONS", 2)
    with project(tmp_path, scripted(PULLED)) as work:
        work.write("a.scr", "ERROR\n", session="first")
        work.write("b.scr", "fine\n", session="second")
        used = work.write("b.scr", "fine again\n", session="first")
        work.write("b.scr", "fine\n", session="third")
        remembered = work.write("b.scr", "fine again\n", session="first")
    assert STILL in used
    assert STILL in remembered


def test_a_shell_command_that_has_changed_nothing_is_left_alone(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work:
        assert "ERROR" in work.write("a.scr", "ERROR\n")
        assert work.hooks.tool_result("bash", {"command": "ls"}, SAID) == SAID


def test_a_tool_can_be_registered(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work:
        assert work.write("a.scr", "ERROR\n", "Save-Text") == SAID
        work.hooks.register("save_text", "edit")
        assert "ERROR" in work.write("a.scr", "ERROR\n", "Save-Text")
        work.hooks.register("save_module", "edit", lambda values: [f"{values['module']}.scr"])
        (tmp_path / "a.scr").write_text("ERROR again\n", encoding="utf-8")
        told = work.hooks.tool_result("save_module", {"module": "a"}, SAID)
    assert '<diagnostics file="a.scr">' in told


def test_a_kind_that_nobody_knows_is_refused(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work, pytest.raises(ValueError, match="destroy"):
        work.hooks.register("rm", "destroy")


def test_the_last_edit_can_be_looked_at(tmp_path, scripted):
    with project(tmp_path, scripted(PULLED)) as work:
        work.write("b.scr", "ERROR b\n")
        told = work.write("a.scr", "ERROR a\n", "write")
        after = work.hooks.last
        assert repr(work.hooks) == f"<EditHooks {tmp_path}: 2 appended>"
    assert (after.tool, after.kind) == ("write", "write")
    report = after.reports[tmp_path / "a.scr"]
    assert (report.verdict.value, report.servers[0].how) == ("dirty", "pull")
    assert list(after.other_files.diagnostics) == [tmp_path / "b.scr"]
    assert told.endswith(after.text)
    assert after.duration > 0
    assert after.warnings == ()


def test_a_file_by_another_name_is_one_file(tmp_path, scripted):
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    os.symlink("a.scr", tmp_path / "link.scr")
    with project(tmp_path, scripted(PULLED)) as work:
        arguments = {"edits": [{"path": "a.scr"}, {"path": "link.scr"}]}
        told = work.hooks.tool_result("multi_edit", arguments, SAID)
    assert told.count("<diagnostics file=") == 1
