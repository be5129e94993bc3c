"""Programs beside a server: started and started again, for real."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.sidecar import STDERR_KEPT, Sidecar
from tests.runtime import process_trees as trees
from tests.runtime.process_trees import ends, python
from tests.runtime.sidecars.hearing import GENTLE, LATER, NEVER, SOON, middle

pytestmark = pytest.mark.slow


# Running


def test_it_runs_in_its_root_with_its_arguments_and_its_environment(run, ear, tmp_path):
    run("import sys\nsay(repr((os.getcwd(), sys.argv[1:], sorted(os.environ))))", "a b", "ü")
    told = ear.line()
    assert told.startswith(repr((str(tmp_path), ["a b", "ü"]))[:-1])
    assert "HOME" not in told


def test_its_input_is_empty(run, ear):
    run("say(repr(os.read(0, 1)))")
    assert ear.line() == "b''"


def test_its_status_while_it_runs(run, ear, states):
    sidecar = run(GENTLE)
    pid = ear.number()
    states.wait_for("running")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts, status.error) == ("running", pid, 0, "")
    assert status.command == sidecar.argv
    assert "running" in str(status)
    assert "running" in repr(sidecar)


def test_much_output_on_both_streams_blocks_nothing_and_the_end_of_it_is_kept(run, ear, states):
    sidecar = run(
        "for _ in range(40):\n"
        "    os.write(1, b'o' * 50_000)\n"
        "    os.write(2, b'e' * 50_000)\n"
        "os.write(2, b' last words')\n"
        "say('written')",
        restart=NEVER,
    )
    assert ear.line() == "written"
    states.wait_for("failed")
    tail = sidecar.status().stderr
    assert len(tail) == STDERR_KEPT
    assert tail.endswith("e last words")
    assert "o" not in tail.removesuffix(" last words")


def test_a_program_that_closes_its_streams_runs_on(run, ear):
    run("os.close(1)\nos.close(2)\n" + GENTLE)
    pid = ear.number()
    # Both ends are seen, and then there is nothing to do: a thread that spins would burn this up.
    began = time.process_time()
    assert not ends(pid, timeout=0.3)
    assert time.process_time() - began < 0.2


# Again


def test_a_program_that_ends_is_started_again(run, ear, states):
    sidecar = run("say('pid %d' % os.getpid())\nos.write(2, b'oh no\\n')\nos._exit(3)")
    assert ear.number() != ear.number()
    states.wait_for("waiting")
    status = sidecar.status()
    assert status.restarts > 0
    assert status.error == "it ended with exit status 3"
    assert status.stderr.startswith("oh no")


def test_one_that_was_killed_is_started_again(run, ear, states):
    sidecar = run(GENTLE)
    os.kill(ear.number(), signal.SIGKILL)
    again = ear.number()
    states.wait_for("waiting")
    states.wait_for("running")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts) == ("running", again, 1)
    assert status.error == "it ended with signal 9"


def test_the_next_start_waits_as_long_as_that_of_a_server(run, ear, states):
    sidecar = run("say('here')\nos._exit(1)", restart=LATER)
    states.wait_for("waiting")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts) == ("waiting", None, 0)
    assert 3500 < status.retry_in <= 3600
    assert "next try in" in str(status)


def test_one_that_was_well_for_long_is_started_again_at_once(run, ear):
    sidecar = run(GENTLE, restart=Restart(base=3600, most=3600, well=0.0))
    for _ in range(3):  # as long as it is well, also a later time
        os.kill(ear.number(), signal.SIGKILL)
    assert trees.running(ear.number())
    assert sidecar.status().restarts == 3


def test_where_nothing_is_started_again_it_has_failed(run, ear, states):
    sidecar = run("os._exit(5)", restart=NEVER)
    states.wait_for("failed")
    status = sidecar.status()
    assert (status.state, status.retry_in) == ("failed", None)
    assert status.error == "it ended with exit status 5"
    sidecar.stop()


def test_a_program_that_is_missing_is_tried_again_and_told_of(tmp_path, ear, states, guardian):
    program = tmp_path / "program"
    where = str(tmp_path), ear.env, guardian
    sidecar = Sidecar([str(program)], *where, restart=SOON, dice=middle)
    sidecar.start()
    states.wait_for("waiting")
    assert "No such file or directory" in sidecar.status().error
    made = tmp_path / "made"
    made.write_text('#!/bin/sh\necho "pid $$" > "$EAR"\nread line\n', encoding="utf-8")
    made.chmod(0o755)
    made.rename(program)
    assert ear.number()
    sidecar.stop()


def test_a_process_without_another_thread_gets_a_status_and_no_exception(tmp_path, guardian):
    sidecar = Sidecar(python("pass"), str(tmp_path), {}, guardian, restart=SOON)
    usual = threading.stack_size(1 << 46)
    try:
        sidecar.start()
    finally:
        threading.stack_size(usual)
    status = sidecar.status()
    assert status.state == "failed"
    assert "cannot start another thread" in status.error
    sidecar.stop()
