"""A command whose time is over before the service is ready, or has answered, gives up."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import filelock
import pytest

from lspkit.testing import Diagnostics, Fault, Script
from tests.runtime.process_trees import ends
from tests.service.site import PATIENCE, Site

PULL = "textDocument/diagnostic"
UNCHECKED = "unknown a.scr: the timeout expired before this file was checked\n1 file: 1 unknown\n"

#: Makes a service that hangs before it does anything, and writes the number of its process.
HANGS = """
import os, sys, threading
if "--started-by-client" in sys.orig_argv:
    with open(os.path.join(os.path.dirname(__file__), "pids"), "a", encoding="utf-8") as file:
        print(os.getpid(), file=file)
    threading.Event().wait()
"""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A project whose server does not answer requests for diagnostics, for commands that may use
    the service."""
    monkeypatch.delenv("LSPKIT_NO_SERVICE")
    hang = Fault(PULL, "hang")
    with Site(Script(diagnostics=Diagnostics(how="pull"), faults=[hang])) as made:
        yield made


@pytest.fixture
def hanging(site: Site) -> Path:
    """The file with the processes of services, of which none becomes ready."""
    folder = site.base / "hangs"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HANGS, encoding="utf-8")
    site.environ["PYTHONPATH"] = os.pathsep.join([str(folder), site.environ["PYTHONPATH"]])
    return folder / "pids"


def test_a_check_starts_no_server_of_its_own_if_no_service_is_ready_in_time(
    site: Site, hanging: Path
) -> None:
    done = site.run("check", "--timeout", "6", "a.scr")
    assert (done.returncode, done.stdout) == (3, UNCHECKED)
    assert done.stderr.startswith("lspkit: no file was checked: the service was not ready in time")
    assert site.log.pids() == []
    pids = [int(line) for line in hanging.read_text(encoding="utf-8").split()]
    assert len(pids) == 1 and all(map(ends, pids)), "the service that hangs is left"


def test_a_check_gives_up_while_another_program_starts_the_service(site: Site) -> None:
    with filelock.FileLock(site.place.starting_lock, mode=0o600):
        done = site.run("check", "--timeout", "3", "a.scr", "none.scr")
        folder = site.run("check", "--timeout", "3", ".")
    assert done.returncode == 2
    assert done.stdout.startswith("unknown a.scr: the timeout expired before this file was checked")
    assert "in this process" not in done.stderr
    assert "lspkit: none.scr does not exist in " in done.stderr
    assert folder.returncode == 3
    late = f"skipped {site.project}: the timeout expired before all its files were found\n"
    assert folder.stdout == f"{late}1 file: 1 skipped\n"
    assert "in this process" not in folder.stderr
    assert site.log.pids() == []


def test_a_query_gives_up_while_another_program_starts_the_service(site: Site) -> None:
    with filelock.FileLock(site.place.starting_lock, mode=0o600):
        done = site.run("hover", "a.scr:2:3", "--timeout", "4")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("lspkit: another program is starting the service")
    assert "give it more time with --timeout" in done.stderr
    assert site.log.pids() == []


def test_a_check_does_not_wait_for_a_service_that_has_stopped_to_answer(site: Site) -> None:
    with site.connect():
        service = site.service_pid()
    process = site.start("check", "--timeout", "5", "a.scr", stdout=subprocess.PIPE)
    site.log.wait_for_message(PULL)
    os.kill(service, signal.SIGSTOP)
    try:
        printed, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.kill(service, signal.SIGCONT)
    assert (process.returncode, printed.decode()) == (3, UNCHECKED)


@pytest.mark.parametrize("seconds", ["1e10", "1e308"])
def test_a_timeout_that_no_timer_takes_is_no_limit(site: Site, seconds: str) -> None:
    with site.connect() as ws:
        expected = ws.hover("a.scr", 2, 3, timeout=float(seconds))
        assert expected is not None
        assert ws.hover("a.scr", 2, 3, timeout=float("inf")) == expected
        done = site.run("hover", "a.scr:2:3", "--timeout", seconds)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{expected}\n"
        assert len(site.log.pids()) == 1, "the command has used the service"
