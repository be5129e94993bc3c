"""Calls to a service that has stopped to answer: timeouts and cancels hold all the same."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.errors import CancelledError, RequestTimeoutError, ServerUnavailableError
from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import frame
from lspkit.service.client import GRACE, PendingCall
from lspkit.testing import Script
from lspkit.testing.plugin import Scripted
from tests.scripted import SOURCE, config_for
from tests.service.contract_services import client_of, own_services
from tests.service.site import Site

A = "a.scr"
#: Seconds by which a call may overrun its timeout; some more for a busy machine.
OVERRUN = 0.5 + 1.0


@pytest.fixture
def silent(tmp_path: Path, scripted: Scripted, leak_check: object) -> Iterator[lspkit.Workspace]:
    """A workspace whose service has answered once, and is suspended now."""
    (tmp_path / A).write_text(SOURCE, encoding="utf-8")
    with own_services() as services:
        ws = services.connect(tmp_path, config=config_for(scripted(Script())))
        assert ws.hover(A, 2, 4)
        pid = services.remember(ws)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield ws
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_timeout_holds(silent: lspkit.Workspace) -> None:
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError, match="the service did not answer in time"):
        silent.hover(A, 2, 4, timeout=0.3)
    assert 0.3 < time.monotonic() - began < 0.3 + OVERRUN


def test_a_timeout_of_a_submitted_call_holds(silent: lspkit.Workspace) -> None:
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError, match="the service did not answer in time"):
        silent.submit(silent.hover, A, 2, 4, timeout=0.3).result(60)
    assert 0.3 < time.monotonic() - began < 0.3 + OVERRUN


def test_a_timeout_of_a_plain_call_holds(silent: lspkit.Workspace) -> None:
    began = time.monotonic()
    with pytest.raises(ServerUnavailableError, match="the service does not answer"):
        client_of(silent).call("lsp/checkFile", {"path": A}, timeout=0.3)
    assert 0.3 < time.monotonic() - began < 0.3 + OVERRUN


def test_a_late_answer_about_many_files_is_not_lost(silent: lspkit.Workspace) -> None:
    """It takes time to make it and to send it, and has what is known at the timeout."""
    ready = client_of(silent).ready
    assert ready is not None
    timer = threading.Timer(0.3 + OVERRUN, os.kill, (ready.pid, signal.SIGCONT))
    timer.start()
    reports = silent.check_all([A, "missing.scr"], timeout=0.3)
    assert [one.name for one in reports] == [A, "missing.scr"]
    timer.join()


@pytest.mark.parametrize("kind", [lspkit.CancelToken, threading.Event])
def test_a_cancel_wakes_its_caller_and_is_passed_on_once(
    silent: lspkit.Workspace, kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    passed_on: list[PendingCall] = []
    monkeypatch.setattr(PendingCall, "cancel", lambda call: passed_on.append(call))
    cancel = kind()
    timer = threading.Timer(0.3, cancel.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        silent.hover(A, 2, 4, cancel=cancel)
    assert 0.3 + GRACE < time.monotonic() - began < 0.3 + OVERRUN
    assert len(passed_on) == 1
    timer.join()


def test_a_program_that_is_no_service_is_named_at_once(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    place = site.place  # makes the folder
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(place.socket)
        listener.listen()

        def say_ready() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(frame(messages.notification("lsp/ready", {"version": 5})))
                connection.recv(1)

        thread = threading.Thread(target=say_ready)
        thread.start()
        with pytest.raises(ServerUnavailableError, match="cannot be read: Expected `str`"):
            site.connect()
        thread.join()
    assert caplog.records == []
