"""The end of a workspace: from any thread, whatever comes between, and nothing is left."""

from __future__ import annotations

import threading
import time

import pytest

import lspkit
from lspkit.runtime.concurrency.teardown import ATTEMPTS, Teardown
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.testing import Fault, Log, Script
from tests.scripted import ask, comes_true, workspace

HANG = Script(faults=[Fault("textDocument/definition", "hang")])
PATIENCE = 20.0


def threads_of_lspkit() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("lspkit-")]


def ends(job) -> bool:
    """Whether a job comes to an end, in another thread."""
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_a_step_that_fails_keeps_none_from_being_done_and_is_done_by_the_next():
    done = []

    def fails_once() -> None:
        done.append("first")
        if len(done) == 1:
            raise OSError("once")

    closing = Teardown(fails_once, lambda: done.append("second"))
    with pytest.raises(OSError, match="once"):
        closing.run()
    assert done == ["first", "second"]
    assert closing.run()
    assert done == ["first", "second", "first"]


def test_an_interrupted_step_begins_anew_and_the_interrupt_comes_through():
    done = []

    def interrupted_once() -> None:
        done.append(closing.hurried)
        if len(done) == 1:
            raise KeyboardInterrupt

    closing = Teardown(interrupted_once, lambda: done.append("second"))
    with pytest.raises(KeyboardInterrupt):
        closing.run()
    assert done == [False, True, "second"]
    assert closing.run()
    assert len(done) == 3


def test_who_interrupts_again_and_again_is_heard():
    done = []

    def interrupted() -> None:
        done.append(1)
        if len(done) <= ATTEMPTS:
            raise KeyboardInterrupt

    closing = Teardown(interrupted, lambda: done.append("second"))
    with pytest.raises(KeyboardInterrupt):
        closing.run()
    assert done == [1] * ATTEMPTS + ["second"]
    assert closing.run()


def test_a_step_with_something_left_is_done_again():
    answers = [False, None]
    closing = Teardown(lambda: answers.pop(0))
    assert closing.run()
    assert closing.run()
    assert answers == []


def test_a_step_may_close_and_so_may_the_threads_that_it_waits_for():
    answers = []

    def step() -> None:
        answers.append(closing.run())
        thread = OwnThread(lambda: answers.append(closing.run()), "closer")
        thread.start()
        assert joined([thread], PATIENCE)

    closing = Teardown(step)
    assert ends(closing.run)
    assert answers == [False, False]


def test_another_closer_waits_for_the_first():
    begun, go_on, order = threading.Event(), threading.Event(), []

    def step() -> None:
        begun.set()
        go_on.wait(PATIENCE)
        order.append("step")

    closing = Teardown(step)
    first = threading.Thread(target=closing.run)
    second = threading.Thread(target=lambda: (closing.run(), order.append("second")))
    first.start()
    assert begun.wait(PATIENCE)
    second.start()
    go_on.set()
    first.join(PATIENCE)
    second.join(PATIENCE)
    assert order == ["step", "second"]


def test_a_callback_may_close_the_workspace_and_nothing_is_left(tmp_path, scripted):
    closed, returned = threading.Event(), []

    def close(_: object) -> None:
        try:
            ws.close()
            returned.append(True)
        finally:
            closed.set()

    with workspace(tmp_path, scripted(Script())) as ws:
        ws.submit(ws.definition, "a.scr", 2, 4).add_done_callback(close)
        assert closed.wait(PATIENCE)
        ws.close()
        assert returned
        assert threads_of_lspkit() == []
        with pytest.raises(lspkit.WorkspaceClosedError):
            ask(ws)


def test_a_callback_of_a_call_that_close_ends_may_close_as_well(tmp_path, scripted):
    argv, called = scripted(HANG), []

    def close(future: object) -> None:
        ws.close()
        called.append(future)

    with workspace(tmp_path, argv) as ws:
        futures = [ws.submit(ws.definition, "a.scr", 2, 4) for _ in range(8)]
        for future in futures:
            future.add_done_callback(close)
        Log.of(argv).wait_for_message("textDocument/definition", count=8)
        assert ends(ws.close)
    assert {type(one.exception(0)) for one in futures} == {lspkit.WorkspaceClosedError}
    assert len(called) == 8


def test_a_call_whose_server_was_never_started_ends_with_the_workspace(
    tmp_path, scripted, monkeypatch
):
    with workspace(tmp_path, scripted(Script())) as ws:
        asked, ended = threading.Event(), []

        def never(job: object, most: int = 0) -> bool:
            asked.set()
            return True  # and lose it, as a pool that is closed before its turn came

        monkeypatch.setattr(ws._engine.threads, "do", never)

        def caller() -> None:
            with pytest.raises(lspkit.WorkspaceClosedError):
                ask(ws)
            ended.append(True)

        thread = threading.Thread(target=caller, daemon=True)
        thread.start()
        assert asked.wait(PATIENCE)
        ws.close()
        thread.join(PATIENCE)
        assert ended


def test_calls_that_are_submitted_around_the_end_of_the_workspace_all_end(tmp_path, scripted):
    with workspace(tmp_path, scripted(HANG)) as ws:
        futures, stop = [], threading.Event()

        def submitting() -> None:
            while not stop.wait(0.001) and len(futures) < 200:
                futures.append(ws.submit(ws.definition, "a.scr", 2, 4))

        caller = threading.Thread(target=submitting)
        caller.start()
        assert comes_true(lambda: len(futures) > 20)
        ws.close()
        stop.set()
        caller.join(PATIENCE)
        futures.append(ws.submit(ws.definition, "a.scr", 2, 4))
    problems = {type(future.exception(PATIENCE)) for future in futures}
    assert problems == {lspkit.WorkspaceClosedError}


def test_a_server_is_not_asked_to_end_by_who_closes_at_once(tmp_path, scripted):
    argv = scripted(Script(ignore=["shutdown", "exit", "eof", "SIGTERM"]))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        ws.close(at_once=True)
        assert Log.of(argv).messages("shutdown") == []


def test_a_stubborn_server_is_killed_at_once_for_who_has_no_patience(tmp_path, scripted):
    argv = scripted(Script(ignore=["shutdown", "exit", "eof", "SIGTERM"]))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        ws._engine._closing.hurried = True
        began = time.monotonic()
    assert time.monotonic() - began < 4.0  # the ladder would take 4.5 s
