"""Calls as futures: as an executor would give them, each in a thread of its own."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import lspkit
from lspkit.runtime.concurrency.waiter import FEW
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, comes_true, workspace

#: Callbacks that wait at the same time.
CALLBACKS = 8
HANG = Script(faults=[Fault("textDocument/definition", "hang")])


def test_a_future_has_the_result(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        future = ws.submit(ws.definition, "a.scr", 2, 4)
        assert [str(one.range.start) for one in future.result(20)] == ["1:5"]


def test_a_future_has_the_error(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        missing = ws.submit(ws.definition, "missing.scr", 2, 4)
        impossible = ws.submit(ws.definition, "a.scr", 0, 4)
        assert isinstance(missing.exception(20), lspkit.PathError)
        assert isinstance(impossible.exception(20), lspkit.PositionError)


def test_many_calls_on_a_hung_server_hold_up_nobody(tmp_path, scripted):
    (tmp_path / "b.ok").write_text(SOURCE, encoding="utf-8")
    argv = scripted(HANG)
    servers = {
        "hung": {"command": argv, "extensions": [".scr"]},
        "well": {"command": scripted(Script()), "extensions": [".ok"]},
    }
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        hung = [ws.submit(ws.definition, "a.scr", 2, 4, timeout=60) for _ in range(100)]
        Log.of(argv).wait_for_message("textDocument/definition", count=100)
        well = ws.submit(ws.definition, "b.ok", 2, 4)
        assert [str(one.range.start) for one in well.result(20)] == ["1:5"]
        assert not any(future.done() for future in hung)
    assert {type(future.exception(0)) for future in hung} == {lspkit.WorkspaceClosedError}


def test_a_submitted_call_ends_at_its_deadline(tmp_path, scripted):
    argv = scripted(HANG)
    with workspace(tmp_path, argv) as ws:
        ws.hover("a.scr", 2, 4)  # else its start might take all the time that there is
        late = ws.submit(ws.definition, "a.scr", 2, 4, timeout=0.5)
        assert isinstance(late.exception(20), lspkit.RequestTimeoutError)
        assert Log.of(argv).wait_for_message("$/cancelRequest")


@pytest.mark.parametrize("kind", [lspkit.CancelToken, threading.Event])
def test_a_submitted_call_can_be_cancelled(tmp_path, scripted, kind):
    argv, cancel = scripted(HANG), kind()
    with workspace(tmp_path, argv) as ws:
        future = ws.submit(ws.definition, "a.scr", 2, 4, cancel=cancel)
        Log.of(argv).wait_for_message("textDocument/definition")
        cancel.set()
        assert isinstance(future.exception(20), lspkit.CancelledError)


def test_a_submitted_check_reports(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="ERROR\n") as ws:
        reports = [ws.submit(ws.check, "a.scr").result(20) for _ in range(3)]
    assert {one.verdict for one in reports} == {lspkit.Verdict.DIRTY}


def test_only_questions_to_the_workspace_are_taken(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        for method in (print, ws.close, ws.overlay, ws.submit):
            with pytest.raises(TypeError):
                ws.submit(method, {})
        assert ask(ws) == "1:5"


def test_whatever_is_wrong_with_a_call_is_in_its_future(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        scope = ws.submit(ws.check, "a.scr", scope="everything")
        severity = ws.submit(ws.check, "a.scr", severity="fatal")
        unknown = ws.submit(ws.check, "a.scr", colour="red")
        assert isinstance(scope.exception(20), ValueError)
        assert isinstance(severity.exception(20), ValueError)
        assert isinstance(unknown.exception(20), TypeError)


def test_the_status_can_be_had_as_text(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        ask(ws)
        assert ws.submit(ws.status_text).result(20) == ws.status_text()
        assert "scripted: active" in ws.status_text()


def _two_servers(tmp_path, scripted) -> lspkit.Workspace:
    servers = {}
    for name, extension in (("first", ".scr"), ("second", ".two")):
        servers[name] = {"command": scripted(Script()), "extensions": [extension]}
        (tmp_path / f"a{extension}").write_text(SOURCE, encoding="utf-8")
    return lspkit.Workspace(tmp_path, config={"lsp": servers})


def _all_at_once(ws: lspkit.Workspace, callback) -> list:
    """What callbacks return that all run at the same time."""
    results, gate = [], threading.Barrier(CALLBACKS)
    over = [threading.Event() for _ in range(CALLBACKS)]

    def called(mine: threading.Event) -> None:
        gate.wait(20)
        try:
            results.append(callback())
        finally:
            mine.set()

    for mine in over:
        future = ws.submit(ws.definition, "a.scr", 2, 4, timeout=60)
        future.add_done_callback(lambda _, mine=mine: called(mine))
    assert all(mine.wait(40) for mine in over)
    return results


def test_callbacks_may_ask_a_server_that_has_to_be_started_first(tmp_path, scripted):
    with _two_servers(tmp_path, scripted) as ws:
        ask(ws)
        found = _all_at_once(ws, lambda: ws.definition("a.two", 2, 4, timeout=20))
        assert [str(one[0].range.start) for one in found] == ["1:5"] * CALLBACKS


def test_callbacks_may_wait_for_another_future(tmp_path, scripted):
    with _two_servers(tmp_path, scripted) as ws:
        ask(ws)
        found = _all_at_once(ws, lambda: ws.submit(ws.definition, "a.two", 2, 4).result(20))
        assert [str(one[0].range.start) for one in found] == ["1:5"] * CALLBACKS


def test_the_callbacks_of_a_future_come_in_order_and_one_that_fails_stops_none(
    tmp_path, scripted, caplog
):
    argv, cancel = scripted(HANG), lspkit.CancelToken()
    with workspace(tmp_path, argv) as ws:
        order, threads, over = [], set(), threading.Event()
        future = ws.submit(ws.definition, "a.scr", 2, 4, cancel=cancel)
        for number in range(20):
            future.add_done_callback(lambda _, number=number: order.append(number))
            future.add_done_callback(lambda _: threads.add(threading.current_thread()))
        future.add_done_callback(lambda _: 1 // 0)
        future.add_done_callback(lambda _: over.set())
        Log.of(argv).wait_for_message("textDocument/definition")
        assert order == []
        cancel.set()
        assert over.wait(20)
        assert order == list(range(20))
        assert len(threads) == 1
        assert threading.current_thread() not in threads
        assert "ZeroDivisionError" in caplog.text
        future.add_done_callback(order.append)  # it is done: at once
        assert order[-1] is future


def test_nothing_of_a_call_is_kept_when_it_is_over(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        calls = [ws.submit(ws.definition, "a.scr", 2, 4, timeout=3600) for _ in range(300)]
        for future in calls:
            future.result(40)
        engine = ws._engine
        assert engine._calls._running == set()
        assert not any(server.channel.users for server in engine.pool.servers())
        results = [weakref.ref(future) for future in calls]
        del calls, future
        gc.collect()
        assert comes_true(lambda: not any(result() for result in results))


def test_who_waits_for_nothing_more_is_not_kept(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        ws.check("a.scr")
        now = ws.epoch
        for _ in range(500):
            assert ws.wait_for_change(now, timeout=0) == now
        assert ws._engine.reports._count <= FEW + 1


def test_a_submitted_wait_for_change_is_kept_though_nobody_holds_it(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        ws.check("a.scr")
        now, heard = ws.epoch, threading.Event()
        ws.submit(ws.wait_for_change, now).add_done_callback(lambda _: heard.set())
        for _ in range(200):
            ws.wait_for_change(now, timeout=0)
        gc.collect()
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        ws.check("a.scr")
        assert heard.wait(20)


def test_texts_that_are_submitted_are_shown_in_that_order(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        ws.check("a.scr")
        for number in range(100):
            texts = ["ERROR\n", "fine\n"] if number % 2 else ["fine\n", "ERROR\n"]
            shown = [ws.submit(ws.sync, "a.scr", text) for text in texts]
            shown[-1].result(20)
            shown[0].result(20)
            server = ws._engine.pool.servers()[0]
            with server.channel.lock:
                [document] = server.channel.documents
            assert document.text.value == texts[-1]


def test_who_waits_for_a_change_when_the_workspace_is_closed_waits_no_longer(tmp_path, scripted):
    ends: list[object] = []

    def wait(ws: lspkit.Workspace, epoch: int) -> None:
        try:
            ends.append(ws.wait_for_change(epoch))
        except lspkit.WorkspaceClosedError as closed:
            ends.append(closed)

    for _ in range(10):
        with workspace(tmp_path, scripted(Script())) as ws:
            ws.check("a.scr")
            waiting = threading.Thread(target=wait, args=(ws, ws.epoch))
            waiting.start()
        waiting.join(20)
        assert not waiting.is_alive()
    assert len(ends) == 10
