"""Many clients at the same moment start one service; one that is killed does not block them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import filelock
import pytest

import lspkit
from tests.runtime.process_trees import ends, read_lines
from tests.scripted import ask
from tests.service.site import PATIENCE, Site, descendants, is_service, nothing_runs

CLIENTS = 20
ANSWER = "1:5"


class Clients:
    """A program with many clients."""

    def __init__(self, process: subprocess.Popen[bytes], count: int) -> None:
        self.process, self.count = process, count

    def ask(self) -> list[dict[str, Any]]:
        """All clients ask at the same moment; what each has printed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        lines = read_lines(self.process.stdout.fileno(), self.count)
        return [json.loads(line) for line in lines]


@contextmanager
def clients(site: Site, *options: str, count: int = CLIENTS) -> Iterator[Clients]:
    """A program with so many clients, which wait for the first question."""
    words = [sys.executable, "-m", "tests.service.clients_program", str(site.project), str(count)]
    with subprocess.Popen(
        [*words, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=site.environ,
    ) as process:
        yield Clients(process, count)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_clients_that_come_at_the_same_moment_share_one_service(site: Site) -> None:
    with clients(site) as started:
        told = started.ask()
    assert [one.get("answer") for one in told] == [ANSWER] * CLIENTS, told
    assert {one["service"] for one in told} == {site.service_pid()}
    assert len(list(filter(is_service, descendants()))) == 1
    assert len(site.log.pids()) == 1


def test_clients_of_a_killed_service_are_dead_without_restart(site: Site) -> None:
    with clients(site, "--rounds", "2", count=5) as started:
        (pid,) = {one["service"] for one in started.ask()}
        kill(pid)
        told = started.ask()
    assert {one.get("error") for one in told} == {"ServerUnavailableError"}, told
    assert {one["state"] for one in told} == {"dead"}
    assert nothing_runs(), descendants()


def test_clients_of_a_killed_service_share_a_new_one_with_restart(site: Site) -> None:
    with clients(site, "--rounds", "3", "--restart", count=10) as started:
        before = [one["service"] for one in started.ask()]
        kill(before[0])
        told = started.ask()
        kill(told[0]["service"])
        again = started.ask()
    for answers in (told, again):
        assert [one.get("answer") for one in answers] == [ANSWER] * 10, answers
        assert len({one["service"] for one in answers}) == 1
    assert len({before[0], told[0]["service"], again[0]["service"]}) == 3
    servers = site.log.pids()
    assert len(servers) == 3
    assert all(map(ends, servers[:2]))


def test_the_locks_of_killed_processes_do_not_block(site: Site) -> None:
    with site.connect():
        pass
    kill(site.service_pid())
    code = (
        "import filelock, os, signal, sys\n"
        "locks = [filelock.FileLock(name, mode=0o600).acquire() for name in sys.argv[1:]]\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [sys.executable, "-c", code, site.place.starting_lock, site.place.running_lock]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    with site.connect() as ws:
        assert ask(ws) == ANSWER


def test_a_client_waits_for_another_that_starts_the_service_until_its_time_is_over(
    site: Site,
) -> None:
    with (
        filelock.FileLock(site.place.starting_lock, mode=0o600),
        pytest.raises(lspkit.ServerUnavailableError, match="another program is starting"),
    ):
        site.connect(ready_timeout=0.1)
    with site.connect() as ws:
        assert ask(ws) == ANSWER


def test_a_service_that_hangs_is_an_error_when_the_time_is_over(site: Site) -> None:
    with site.connect() as ws:
        pid = site.service_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(
                lspkit.ServerUnavailableError, match="does not say that it is ready"
            ):
                site.connect(ready_timeout=0.2)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert ask(ws) == ANSWER


def kill(pid: int) -> None:
    """Kill a service, and wait for its end."""
    os.kill(pid, signal.SIGKILL)
    assert ends(pid)
