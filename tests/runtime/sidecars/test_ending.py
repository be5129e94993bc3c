"""Programs beside a server: ended, with nothing left."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from lspkit.runtime.process import guardian as guardian_module
from lspkit.runtime.process.sidecar import GRACE, SWEEP, Sidecar, stop_all
from tests.runtime import process_trees as trees
from tests.runtime.process_trees import Host, ends, python
from tests.runtime.sidecars.hearing import DEAF, GENTLE, LATER, SAY, SOON

pytestmark = pytest.mark.slow


def test_stopping_lets_a_program_clean_up(run, ear):
    sidecar = run(
        "import signal\n"
        "def end(*_):\n"
        "    os.write(2, b'x' * 1_000_000)\n"
        "    say('clean')\n"
        "    os._exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n" + GENTLE
    )
    ear.number()
    sidecar.stop()
    assert ear.line() == "clean"
    assert sidecar.status().state == "stopped"


def test_stopping_ends_one_that_is_deaf_and_whoever_got_away_from_it(run, ear):
    sidecar = run(DEAF)
    pids = ear.number(), ear.number()
    began = time.monotonic()
    sidecar.stop()
    assert GRACE <= time.monotonic() - began < GRACE + SWEEP + 1
    assert not any(map(trees.running, pids))
    assert (sidecar.status().state, sidecar.status().pid) == ("stopped", None)


def test_several_are_stopped_at_the_same_time(run, ear):
    sidecars = [run(DEAF) for _ in range(3)]
    pids = [ear.number() for _ in range(6)]
    began = time.monotonic()
    stop_all(sidecars)
    assert time.monotonic() - began < 2 * GRACE
    assert not any(map(trees.running, pids))


def test_stopping_one_that_waits_is_done_at_once(run, states):
    sidecar = run("pass", restart=LATER)
    states.wait_for("waiting")
    began = time.monotonic()
    sidecar.stop()
    assert time.monotonic() - began < GRACE
    assert (sidecar.status().state, sidecar.status().retry_in) == ("stopped", None)


def test_stopping_one_that_is_just_being_started_leaves_nothing(run):
    for _ in range(10):
        run("import signal\nsignal.pause()").stop()  # and the fixture counts what is left


def test_stopping_again_does_not_shorten_the_patience(run, ear):
    sidecar = run(
        "import signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})\n"
        "say('pid %d' % os.getpid())\n"
        "signal.sigwait({signal.SIGTERM})\n"
        "say('told')\n"
        "signal.sigwait({signal.SIGUSR1})\n"
        "say('clean')\n"
    )
    pid = ear.number()
    callers = [threading.Thread(target=sidecar.stop) for _ in range(3)]
    for caller in callers:
        caller.start()
    assert ear.line() == "told"
    sidecar.terminate()
    assert not ends(pid, timeout=0.2)
    os.kill(pid, signal.SIGUSR1)
    assert ear.line() == "clean"
    for caller in callers:
        caller.join()
    sidecar.stop()
    assert sidecar.status().state == "stopped"


def test_one_that_was_stopped_before_its_start_never_starts(tmp_path, guardian):
    sidecar = Sidecar(python("pass"), str(tmp_path), {}, guardian, restart=SOON)
    sidecar.stop()
    sidecar.start()
    assert sidecar.status().state == "stopped"
    assert sidecar.status().restarts == 0


def test_an_interrupt_ends_the_patience_and_not_the_cleaning_up(run, ear):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # It answers SIGTERM by interrupting the test, which waits for it at that time.
    sidecar = run(
        f"import signal\nsignal.signal(signal.SIGTERM, lambda *_: os.kill({os.getpid()}, 10))\n"
        "say('pid %d' % os.getpid())\n"
        "while True:\n"
        "    signal.pause()"
    )
    pid = ear.number()
    former = signal.signal(10, interrupt)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            sidecar.stop()
    finally:
        signal.signal(10, former)
    assert time.monotonic() - began < GRACE
    assert not trees.running(pid)


def test_it_is_the_same_where_there_is_no_guardian(run, ear, monkeypatch):
    monkeypatch.setattr(guardian_module, "guardian_can_run", lambda: False)
    sidecar = run(GENTLE)
    os.kill(ear.number(), signal.SIGKILL)
    pid = ear.number()
    sidecar.stop()
    assert not trees.running(pid)
    assert sidecar.status().error == "it ended with signal 9"


def test_a_host_that_is_killed_leaves_no_sidecar(ear):
    script = f"""
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.sidecar import Sidecar
argv = trees.python({SAY + DEAF!r})
Sidecar(argv, "/", {ear.env!r}, guardian, restart=Restart()).start()
signal.pause()
"""
    with Host(script) as host:
        pids = ear.number(), ear.number()
        host.process.kill()
        assert all(map(ends, pids))


def test_a_forked_child_lets_go_of_it_and_the_parents_goes_on(ear):
    script = f"""
import time
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.sidecar import Sidecar
before = trees.open_descriptors()
argv = trees.python({SAY + GENTLE!r})
sidecar = Sidecar(argv, "/", {ear.env!r}, guardian, restart=Restart())
sidecar.start()
sys.stdin.readline()
while sidecar.status().state == "starting":  # it may have spoken before its start was noticed
    time.sleep(0.001)
if not os.fork():
    sidecar.drop_after_fork()
    guardian.drop_after_fork()
    sidecar.stop()
    print(sidecar.status().state, trees.open_descriptors() == before, flush=True)
    os._exit(0)
os.wait()
print(sidecar.status().state, flush=True)
sidecar.stop()
guardian.close()
print(trees.open_descriptors() == before, flush=True)
"""
    with Host(script) as host:
        pid = ear.number()
        host.process.stdin.write(b"on\n")
        host.process.stdin.flush()
        assert host.lines(3) == ["stopped True", "running", "True"]
        assert ends(pid)
