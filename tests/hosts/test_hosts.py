"""The programs that lspkit runs in: event loops, threads, forks, exits and violent ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

import lspkit
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, config_for, workspace

KILLED = Path(__file__).with_name("killed.py")
FIRST = Path(__file__).with_name("first_workspaces.py")
#: Ignores everything, and has a grandchild that has left its group, its session and its marks.
STUBBORN = Script(ignore=["shutdown", "exit", "eof", "SIGTERM"], grandchildren=["escaped", "group"])


def test_it_works_inside_a_running_event_loop(tmp_path, scripted):
    async def main() -> str:
        with workspace(tmp_path, scripted(Script())) as ws:
            return ask(ws)

    assert asyncio.run(main()) == "1:5"


def test_threads_may_open_the_first_workspaces_at_once():
    """A race that msgspec may lose in one of three processes, where it has to learn a type."""
    for _ in range(12):
        done = subprocess.run(
            [sys.executable, str(FIRST)], capture_output=True, check=False, text=True, timeout=60
        )
        assert (done.returncode, done.stdout) == (0, "8 1\n"), done.stderr


def test_any_thread_may_ask(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(8) as callers:
        answers = set(callers.map(lambda _: ask(ws), range(80)))
    assert answers == {"1:5"}
    assert len(Log.of(argv).pids()) == 1


def test_a_fork_closes_the_workspace_in_the_child_and_leaves_the_parents_alone(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        assert ask(ws) == "1:5"
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            told = b"no error"
            try:
                ask(ws)
            except lspkit.WorkspaceClosedError:
                told = b"closed"
            finally:
                ws.close()
                os.write(write, told)
                os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)
        said = os.read(read, 100)
        os.close(read)
        assert said == b"closed"
        assert ask(ws) == "1:5"


def test_a_forked_child_can_open_a_workspace_of_its_own(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            told = "nothing"
            try:
                with lspkit.Workspace(tmp_path, config=config_for(argv)) as own:
                    told = ask(own)
            except lspkit.LspkitError as problem:
                told = repr(problem)
            finally:
                os.write(write, told.encode())
                os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)
        said = os.read(read, 1000).decode()
        os.close(read)
        assert said == "1:5"
        assert ask(ws) == "1:5"


def test_interpreter_exit_closes_what_was_left_open(tmp_path, scripted):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(STUBBORN)
    program = (
        "import lspkit, sys\n"
        "ws = lspkit.Workspace(sys.argv[1], config={'lsp': {'scripted': "
        "{'command': sys.argv[2:], 'extensions': ['.scr']}}})\n"
        "print(ws.definition('a.scr', 2, 4)[0].range.start)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1:5", "")
    assert not [pid for pid in _family(argv) if psutil.pid_exists(pid)]


#: Opens a workspace between two others that fail to close.
FAILING = """
import sys, lspkit
from lspkit.runtime.concurrency import teardown
class Failing:
    def __init__(self, problem): self.problem = problem
    def close(self): raise self.problem
teardown.register(Failing({problem}("the first")))
ws = lspkit.Workspace(sys.argv[1], config={{"lsp": {{"scripted": {{
    "command": sys.argv[2:], "extensions": [".scr"]}}}}}})
print(ws.definition("a.scr", 2, 4)[0].range.start)
teardown.register(Failing(OSError("the last")))
"""


@pytest.mark.parametrize("problem", ["OSError", "KeyboardInterrupt"])
def test_a_workspace_that_fails_to_close_at_exit_does_not_leave_others_open(
    tmp_path, scripted, problem
):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(Script())
    program = FAILING.format(problem=problem)
    command = [sys.executable, "-c", program, str(tmp_path), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout == "1:5\n"
    assert Log.of(argv).messages("shutdown")
    assert done.stderr.splitlines()[-1] == f"{problem}: the first"


def _family(argv: list[str]) -> list[int]:
    log = Log.of(argv)
    return [*log.pids(), *(one.pid for one in log.grandchildren())]


@pytest.mark.parametrize("mode", ["alone", "fork"])
def test_a_host_that_is_killed_leaves_nothing_behind(tmp_path, scripted, mode):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(STUBBORN)
    command = [sys.executable, str(KILLED), str(tmp_path), mode, *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        forked = int(host.stdout.readline())
        family = _family(argv)
        assert len(family) == 3
        others = {one.pid for one in psutil.Process(host.pid).children(recursive=True)} - {forked}
        host.kill()
        host.wait()
        deadline = time.monotonic() + 2
        waiting = others | set(family)
        while any(_lives(pid) for pid in waiting) and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        left = [pid for pid in waiting if _lives(pid)]
        if forked:
            assert _lives(forked)
            os.kill(forked, signal.SIGKILL)
            _reap(forked)
    assert left == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_host_that_is_killed_while_it_starts_a_server_leaves_no_folder(
    tmp_path, scripted, moment
):
    """Before the server is asked for, and before it is known that it runs."""
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = (
        "import lspkit, os, sys\n"
        "from lspkit.runtime.process.guardian import Guardian\n"
        "launch = Guardian.launch\n"
        "def killed(*given, **named):\n"
        "    if sys.argv[2] == 'after':\n"
        "        launch(*given, **named)\n"
        "    os.kill(os.getpid(), 9)\n"
        "Guardian.launch = killed\n"
        "ws = lspkit.Workspace(sys.argv[1], config={'lsp': {'scripted': "
        "{'command': sys.argv[3:], 'extensions': ['.scr']}}})\n"
        "ws.definition('a.scr', 2, 4)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), moment, *scripted(Script())]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(command, env=environment, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 30
    while (left := os.listdir(temporary)) and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert left == []


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _reap(pid: int) -> None:
    """The test process has adopted the orphan."""
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        return


def test_an_interrupt_of_the_terminal_does_not_reach_the_server(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        pid = Log.of(argv).pids()[0]
        assert os.getsid(pid) != os.getsid(0)
        assert os.getpgid(pid) != os.getpgid(0)


def test_close_ends_a_stubborn_server_with_all_that_it_started(tmp_path, scripted):
    argv = scripted(STUBBORN)
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        began = time.monotonic()
    assert time.monotonic() - began < 10
    assert not [pid for pid in _family(argv) if _lives(pid)]


def test_close_is_idempotent_and_any_later_call_says_so(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        ask(ws)
        ws.close()
        ws.close()
        with pytest.raises(lspkit.WorkspaceClosedError):
            ask(ws)


def test_close_from_another_thread_ends_the_calls_in_flight(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/definition", "hang")]))
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(4) as callers:
        waiting = [callers.submit(ask, ws, timeout=30) for _ in range(4)]
        Log.of(argv).wait_for_message("textDocument/definition", count=4)
        ws.close()
        errors = [type(one.exception(10)) for one in waiting]
    assert errors == [lspkit.WorkspaceClosedError] * 4


def test_an_interrupt_during_close_goes_straight_to_the_kill(tmp_path, scripted):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(STUBBORN)
    program = (
        "import lspkit, os, signal, sys, threading, time\n"
        "ws = lspkit.Workspace(sys.argv[1], config={'lsp': {'scripted': "
        "{'command': sys.argv[2:], 'extensions': ['.scr']}}})\n"
        "ws.definition('a.scr', 2, 4)\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "began = time.monotonic()\n"
        "try:\n"
        "    ws.close()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', time.monotonic() - began)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    word, _, took = done.stdout.strip().partition(" ")
    assert word == "interrupted", done.stderr
    assert float(took) < 1.5  # the ladder alone would take 4.5 s
    assert not [pid for pid in _family(argv) if _lives(pid)]
