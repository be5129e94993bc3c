"""Guardian and keepers that are stopped, or killed by the server itself. With real processes."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator

import pytest

from lspkit.runtime.process import launch as launching
from lspkit.runtime.process.launch import launch
from tests.runtime import process_trees as trees
from tests.runtime.process.test_guardian import REPORT
from tests.runtime.process_trees import (
    ECHO,
    PATIENCE,
    START_ESCAPEE,
    STUBBORN,
    Host,
    ends,
    family,
    python,
)

pytestmark = pytest.mark.skipif(
    not launching.guardian_client.guardian_can_run(), reason="there is no guardian here"
)

#: Kills its keeper and the guardian, and has descendants that nobody finds by their parents.
MURDERER = f"""
{START_ESCAPEE}
def parent(pid):
    return int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
keeper = os.getppid()
guardian = parent(keeper)
os.write(1, b"server %d\\n" % os.getpid())
escape(ENVIRONMENT)
os.read(0, 1)
for pid in (guardian, keeper):
    os.kill(pid, signal.SIGKILL)
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    signal.pause()
os._exit(0)
"""


@pytest.fixture(autouse=True)
def _nothing_is_open() -> Iterator[None]:
    before = trees.open_descriptors()
    yield
    assert trees.open_descriptors() == before
    assert launching.guardian_pid() == 0


def stop(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


@pytest.mark.parametrize("keeper", [False, True], ids=["guardian", "guardian and keeper"])
def test_a_stopped_guardian_goes_on_when_it_is_needed(keeper: bool) -> None:
    launching.retain()
    child = launch(python(STUBBORN), cwd="/", env={})
    pids = family(child)
    stop(launching.guardian_pid(), *([trees.parent(child.pid)] if keeper else []))
    other = launch(python(ECHO), cwd="/", env={})
    assert other.close(PATIENCE)
    stop(launching.guardian_pid(), *([trees.parent(child.pid)] if keeper else []))
    assert child.close(PATIENCE)
    assert not any(map(trees.running, pids.values()))
    stop(launching.guardian_pid())
    launching.release()


def test_stopped_processes_do_not_outlive_a_host_that_is_killed() -> None:
    with Host(REPORT + "print('ready 0', flush=True)\nsignal.pause()") as host:
        pids = trees.numbers(host.lines(5))
        del pids["ready"]
        stop(pids["guardian"], pids["keeper"])
        host.process.kill()
        assert [name for name, pid in pids.items() if not ends(pid)] == []


@pytest.mark.parametrize("environment", ["{}", "dict(os.environ)"], ids=["by pipe", "by variable"])
def test_what_a_server_leaves_that_kills_its_keeper_is_found_ended_and_told(
    environment: str, tmp_path: os.PathLike[str], caplog: pytest.LogCaptureFixture
) -> None:
    script = MURDERER.replace("ENVIRONMENT", environment)
    variables = {"TMPDIR": os.fspath(tmp_path)}
    child = launch(python(script), cwd="/", env=variables, scratch=os.fspath(tmp_path))
    pids = family(child)
    os.write(child.stdin, b"x")
    assert child.wait(PATIENCE) == -signal.SIGKILL
    assert ends(pids["server"])
    with caplog.at_level(logging.WARNING, "lspkit.runtime"):
        assert child.close(PATIENCE)
    assert ends(pids["escapee"])
    assert str(pids["escapee"]) in caplog.text
    assert caplog.text.count("\n") == 1
