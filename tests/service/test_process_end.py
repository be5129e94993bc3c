"""The ends of a service: after each, no process of it is left and its socket is gone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest

import lspkit
from lspkit.testing import Grandchild, Script
from tests.runtime.process_trees import ends
from tests.scripted import ask, comes_true
from tests.service.raw_client import RawClient
from tests.service.site import PATIENCE, Site, descendants, nothing_runs, started


def ended_in_order(site: Site, process: subprocess.Popen[bytes]) -> bool:
    """Whether it ends with status 0, and leaves nothing."""
    status = process.wait(PATIENCE)
    assert nothing_runs(), descendants()
    return status == 0 and site.sockets() == []


def test_without_a_client_it_ends_after_the_idle_time(site: Site) -> None:
    process = started(site, "--idle", "1")
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        # Longer than the idle time: a service with a client does not end.
        assert not ends(process.pid, timeout=1.5)
        assert ask(ws) == "1:5"
    assert ended_in_order(site, process)


def test_it_ends_when_a_client_asks_for_it(site: Site) -> None:
    process = started(site)
    with site.connect() as ws, RawClient(site.place.socket) as client:
        assert ask(ws) == "1:5"
        assert client.ask("lsp/shutdown") == {"jsonrpc": "2.0", "id": 1, "result": None}
        assert client.is_disconnected()
        with pytest.raises(lspkit.ServerUnavailableError):
            ask(ws)
    assert ended_in_order(site, process)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_a_signal(site: Site, number: signal.Signals) -> None:
    process = started(site)
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        process.send_signal(number)
        assert ended_in_order(site, process)
        with pytest.raises(lspkit.ServerUnavailableError):
            ask(ws)
    assert site.log.messages("shutdown"), "the server was not shut down"


def test_it_ends_when_its_root_is_deleted(site: Site) -> None:
    process = started(site)
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        shutil.rmtree(site.project)
        assert ended_in_order(site, process)


def test_it_ends_when_another_folder_takes_the_place_of_its_root(site: Site) -> None:
    process = started(site)
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        site.project.rename(site.base / "old")
        site.project.mkdir()
        assert ended_in_order(site, process)


def test_it_ends_when_its_root_is_deleted_and_made_again(site: Site) -> None:
    process = started(site)
    number = site.project.stat().st_ino
    shutil.rmtree(site.project)
    # As long as the service has it open, the number of the old folder is not used again.
    site.project.mkdir()
    assert site.project.stat().st_ino != number
    assert ended_in_order(site, process)


def test_after_sigkill_the_servers_end_and_the_next_client_starts_a_service() -> None:
    kinds = [Grandchild(kind) for kind in ("group", "session", "escaped")]
    with Site(Script(grandchildren=kinds)) as site:
        with site.connect() as ws:
            assert ask(ws) == "1:5"
            killed = site.service_pid()
            os.kill(killed, signal.SIGKILL)
            assert nothing_runs(), descendants()
            assert os.path.exists(site.place.socket)
        with site.connect() as ws:
            assert ask(ws) == "1:5"
            assert site.service_pid() != killed


def test_a_server_that_ignores_every_request_to_end_is_killed() -> None:
    with Site(Script(ignore=("shutdown", "exit", "eof", "SIGTERM"))) as site:
        process = started(site)
        with site.connect() as ws:
            assert ask(ws) == "1:5"
            process.terminate()
            process.wait(PATIENCE)
            assert nothing_runs(), descendants()
            assert site.sockets() == []


def test_a_signal_at_any_time_during_the_start_ends_it(site: Site) -> None:
    for _ in range(3):
        process = site.start("serve", str(site.project), stderr=subprocess.DEVNULL)
        lock = site.place.running_lock
        assert comes_true(lambda lock=lock: os.path.exists(lock))
        process.terminate()
        process.wait(PATIENCE)
        assert nothing_runs(), descendants()
        os.unlink(lock)
