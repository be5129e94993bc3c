"""What others have written, and what takes its time, runs without a lock being held.

A lock that is held by the very thread that asks for it cannot be had; one that another thread has
taken for a moment can.
"""

from __future__ import annotations

import threading
from typing import Any

from lspkit.operations import code_actions
from lspkit.testing import Fault, Log, Script
from tests.scripted import workspace


def is_free(lock: threading.Lock) -> bool:
    """Whether this thread does not hold it itself."""
    if lock.acquire(timeout=5):
        lock.release()
        return True
    return False


def test_a_callers_cancel_is_looked_at_without_a_lock(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/definition", "hang")]))
    with workspace(tmp_path, argv) as ws:
        engine: Any = ws._engine
        free: list[bool] = []
        given_up = threading.Event()

        class Nosy:
            def is_set(self) -> bool:
                free.extend(is_free(server.channel.lock) for server in engine.pool.servers())
                free.extend(map(is_free, (engine.pool._lock, engine.threads._lock)))
                return given_up.is_set()

        future = ws.submit(ws.definition, "a.scr", 2, 4, cancel=Nosy())
        Log.of(argv).wait_for_message("textDocument/definition")
        given_up.set()
        assert future.exception(20) is not None
        assert free and all(free)


def test_findings_are_looked_through_for_code_actions_without_the_servers_lock(
    tmp_path, scripted, monkeypatch
):
    argv = scripted(Script(answers={"textDocument/codeAction": []}))
    with workspace(tmp_path, argv, text="ERROR x\n") as ws:
        ws.check("a.scr", timeout=30)
        [server] = ws._engine.pool.servers()
        free: list[bool] = []
        touches = code_actions._touches

        def nosy(*given: Any) -> bool:
            free.append(is_free(server.channel.lock))
            return touches(*given)

        monkeypatch.setattr(code_actions, "_touches", nosy)
        ws.code_actions("a.scr", 1, 1)
        assert free and all(free)
        asked = Log.of(argv).wait_for_message("textDocument/codeAction")
        assert len(asked["params"]["context"]["diagnostics"]) == 1
