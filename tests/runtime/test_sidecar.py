"""Programs beside a server: started, started again and ended, for real, with nothing left."""

from __future__ import annotations

import json
import logging
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lspkit.config import ServerConfig
from lspkit.runtime import guarding
from lspkit.runtime.backoff import Restart
from lspkit.runtime.child import readable
from lspkit.runtime.sidecar import GRACE, STDERR_KEPT, SWEEP, Sidecar, start_all, stop_all
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.sidecars import commands
from tests.runtime import trees
from tests.runtime.trees import PATIENCE, Host, ends, python

pytestmark = pytest.mark.slow

#: Ends as soon as it is told to.
GENTLE = "import os, signal\nsay('pid %d' % os.getpid())\nsignal.pause()"
#: Hears no SIGTERM, and has a descendant that got away.
DEAF = "os.dup2(ear, 1)\n" + trees.STUBBORN
#: How a program says a line to the test.
SAY = """
import os
ear = os.open(os.environ["EAR"], os.O_WRONLY)
def say(line):
    os.write(ear, line.encode() + b"\\n")
"""

SOON, LATER, NEVER = (
    Restart(base=0.01, most=0.01),
    Restart(base=3600, most=3600),
    Restart(never=True),
)


class Ear:
    """A pipe with a name, by which programs tell the test what they do."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.env = {"EAR": str(path)}
        # For writing, too: so it has no end while one program comes after the other.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._heard = b""

    def line(self) -> str:
        """The next line that a program says."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._heard:
            assert readable(self._descriptor, deadline - time.monotonic()), "nothing was said"
            self._heard += os.read(self._descriptor, 65536)
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def number(self) -> int:
        """The process id in a line such as `pid 12`."""
        return int(self.line().split()[1])

    def close(self) -> None:
        os.close(self._descriptor)


class States(logging.Handler):
    """The states that sidecars enter, as they are logged."""

    def __init__(self) -> None:
        super().__init__()
        self._entered: queue.Queue[str] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("sidecar") and isinstance(record.args, tuple):
            self._entered.put(str(record.args[2]))

    def wait_for(self, state: str) -> None:
        while self._entered.get(timeout=PATIENCE) != state:
            pass


@pytest.fixture
def ear(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ear]:
    ear = Ear(tmp_path_factory.mktemp("ear") / "ear")
    yield ear
    ear.close()


@pytest.fixture
def states() -> Iterator[States]:
    log = logging.getLogger("lspkit.runtime")
    states, level = States(), log.level
    log.addHandler(states)
    log.setLevel(logging.DEBUG)
    yield states
    log.removeHandler(states)
    log.setLevel(level)


@pytest.fixture
def run(tmp_path: Path, ear: Ear) -> Iterator[object]:
    """Starts a sidecar that is a script, and ends it after the test."""
    sidecars: list[Sidecar] = []

    def start(script: str, *arguments: str, restart: Restart = SOON) -> Sidecar:
        argv = python(SAY + script, *arguments)
        sidecars.extend(start_all([argv], str(tmp_path), ear.env, restart=restart, dice=middle))
        return sidecars[-1]

    yield start
    stop_all(sidecars)


def middle() -> float:
    """Dice that change nothing."""
    return 0.0


# Running


def test_it_runs_in_its_root_with_its_arguments_and_its_environment(run, ear, tmp_path):
    run("import sys\nsay(repr((os.getcwd(), sys.argv[1:], sorted(os.environ))))", "a b", "ü")
    told = ear.line()
    assert told.startswith(repr((str(tmp_path), ["a b", "ü"]))[:-1])
    assert "HOME" not in told


def test_its_input_is_empty(run, ear):
    run("say(repr(os.read(0, 1)))")
    assert ear.line() == "b''"


def test_its_status_while_it_runs(run, ear, states):
    sidecar = run(GENTLE)
    pid = ear.number()
    states.wait_for("running")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts, status.error) == ("running", pid, 0, "")
    assert status.command == sidecar.argv
    assert "running" in str(status)
    assert "running" in repr(sidecar)


def test_much_output_on_both_streams_blocks_nothing_and_the_end_of_it_is_kept(run, ear, states):
    sidecar = run(
        "for _ in range(40):\n"
        "    os.write(1, b'o' * 50_000)\n"
        "    os.write(2, b'e' * 50_000)\n"
        "os.write(2, b' last words')\n"
        "say('written')",
        restart=NEVER,
    )
    assert ear.line() == "written"
    states.wait_for("failed")
    tail = sidecar.stderr_tail()
    assert len(tail) == STDERR_KEPT
    assert "o" not in tail.removesuffix(" last words")
    assert sidecar.stderr_tail(10) == "last words"
    assert sidecar.status().stderr.endswith("e last words")


def test_a_program_that_closes_its_streams_runs_on(run, ear):
    run("os.close(1)\nos.close(2)\n" + GENTLE)
    pid = ear.number()
    # Both ends are seen, and then there is nothing to do: a thread that spins would burn this up.
    began = time.process_time()
    assert not ends(pid, timeout=0.3)
    assert time.process_time() - began < 0.2


# Again


def test_a_program_that_ends_is_started_again(run, ear, states):
    sidecar = run("say('pid %d' % os.getpid())\nos.write(2, b'oh no\\n')\nos._exit(3)")
    assert ear.number() != ear.number()
    states.wait_for("waiting")
    status = sidecar.status()
    assert status.restarts > 0
    assert status.error == "it ended with exit status 3"
    assert status.stderr.startswith("oh no")


def test_one_that_was_killed_is_started_again(run, ear, states):
    sidecar = run(GENTLE)
    os.kill(ear.number(), signal.SIGKILL)
    again = ear.number()
    states.wait_for("waiting")
    states.wait_for("running")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts) == ("running", again, 1)
    assert status.error == "it ended with signal 9"


def test_the_next_start_waits_as_long_as_that_of_a_server(run, ear, states):
    sidecar = run("say('here')\nos._exit(1)", restart=LATER)
    states.wait_for("waiting")
    status = sidecar.status()
    assert (status.state, status.pid, status.restarts) == ("waiting", None, 0)
    assert 3500 < status.retry_in <= 3600
    assert "next try in" in str(status)


def test_one_that_was_well_for_long_is_started_again_at_once(run, ear):
    sidecar = run(GENTLE, restart=Restart(base=3600, most=3600, well=0.0))
    for _ in range(3):  # as long as it is well, also a later time
        os.kill(ear.number(), signal.SIGKILL)
    assert trees.running(ear.number())
    assert sidecar.status().restarts == 3


def test_where_nothing_is_started_again_it_has_failed(run, ear, states):
    sidecar = run("os._exit(5)", restart=NEVER)
    states.wait_for("failed")
    status = sidecar.status()
    assert (status.state, status.retry_in) == ("failed", None)
    assert status.error == "it ended with exit status 5"
    sidecar.stop()


def test_a_program_that_is_missing_is_tried_again_and_told_of(tmp_path, ear, states):
    program = tmp_path / "program"
    sidecar = Sidecar([str(program)], str(tmp_path), ear.env, restart=SOON, dice=middle)
    sidecar.start()
    states.wait_for("waiting")
    assert "No such file or directory" in sidecar.status().error
    made = tmp_path / "made"
    made.write_text('#!/bin/sh\necho "pid $$" > "$EAR"\nread line\n', encoding="utf-8")
    made.chmod(0o755)
    made.rename(program)
    assert ear.number()
    sidecar.stop()


def test_a_process_without_descriptors_gets_a_status_and_no_exception(tmp_path):
    sidecar = Sidecar(python("pass"), str(tmp_path), {}, restart=SOON)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        sidecar.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    status = sidecar.status()
    assert status.state == "failed"
    assert "no means left" in status.error
    sidecar.stop()


# The end


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
    sidecar.tell()
    assert not ends(pid, timeout=0.2)
    os.kill(pid, signal.SIGUSR1)
    assert ear.line() == "clean"
    for caller in callers:
        caller.join()
    sidecar.stop()
    assert sidecar.status().state == "stopped"


def test_one_that_was_stopped_before_its_start_never_starts(tmp_path):
    sidecar = Sidecar(python("pass"), str(tmp_path), {}, restart=SOON)
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
    monkeypatch.setattr(guarding, "guardian_can_run", lambda: False)
    sidecar = run(GENTLE)
    os.kill(ear.number(), signal.SIGKILL)
    pid = ear.number()
    sidecar.stop()
    assert not trees.running(pid)
    assert sidecar.status().error == "it ended with signal 9"


def test_a_host_that_is_killed_leaves_no_sidecar(ear):
    script = f"""
from lspkit.runtime.backoff import Restart
from lspkit.runtime.sidecar import start_all
argv = trees.python({SAY + DEAF!r})
start_all([argv], "/", {ear.env!r}, restart=Restart())
signal.pause()
"""
    with Host(script) as host:
        pids = ear.number(), ear.number()
        host.process.kill()
        assert all(map(ends, pids))


def test_a_forked_child_lets_go_of_it_and_the_parents_goes_on(ear):
    script = f"""
from lspkit.runtime.backoff import Restart
from lspkit.runtime.sidecar import start_all
before = trees.open_descriptors()
argv = trees.python({SAY + GENTLE!r})
sidecar, = start_all([argv], "/", {ear.env!r}, restart=Restart())
sys.stdin.readline()
if not os.fork():
    sidecar.drop_after_fork()
    launching.drop_after_fork()
    sidecar.stop()
    print(sidecar.status().state, trees.open_descriptors() == before, flush=True)
    os._exit(0)
os.wait()
print(sidecar.status().state, flush=True)
sidecar.stop()
print(trees.open_descriptors() == before, flush=True)
"""
    with Host(script) as host:
        pid = ear.number()
        host.process.stdin.write(b"on\n")
        host.process.stdin.flush()
        assert host.lines(3) == ["stopped True", "running", "True"]
        assert ends(pid)


# Rojo


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program `rojo`."""
    folder = tmp_path_factory.mktemp("bin")
    script = Path(__file__).with_name("rojo.py")
    program = folder / "rojo"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -I -S "{script}" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return folder


def modules(path: Path) -> list[str]:
    """The modules of a source map."""
    children = json.loads(path.read_text(encoding="utf-8"))["children"]
    return [child["name"] for child in children]


def test_the_source_map_of_a_rojo_project_follows_its_files(tmp_path, programs, ear):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.luau").write_text("return 1\n", encoding="utf-8")
    (tmp_path / "game.project.json").write_text('{"name": "game"}', encoding="utf-8")
    [definition] = [one for one in BUILT_IN if one.id == "luau-lsp"]
    said = {"autogenerate": True, "rojoProjectFile": "game.project.json"}
    definition = msgspec.structs.replace(
        definition, initialization={"luau-lsp": {"sourcemap": said}}
    )
    found = commands(definition, ServerConfig(), str(tmp_path), [str(programs)], trusted=True)
    sidecars = start_all(found.commands, str(tmp_path), ear.env, restart=SOON)
    try:
        assert ear.line() == "one"
        assert modules(tmp_path / "sourcemap.json") == ["one"]
        (tmp_path / "src" / "two.luau").write_text("return 2\n", encoding="utf-8")
        assert ear.line() == "one two"
        assert modules(tmp_path / "sourcemap.json") == ["one", "two"]
        (tmp_path / "src" / "one.luau").unlink()
        assert ear.line() == "two"
        assert "Created sourcemap" in sidecars[0].stderr_tail()
    finally:
        stop_all(sidecars)


def test_a_rojo_project_that_is_missing_is_told_of_in_rojos_words(tmp_path, programs, states):
    argv = [str(programs / "rojo"), "sourcemap", "none.json", "--watch", "-o", "sourcemap.json"]
    [sidecar] = start_all([argv], str(tmp_path), {}, restart=LATER)
    states.wait_for("waiting")
    status = sidecar.status()
    sidecar.stop()
    assert status.error == "it ended with exit status 1"
    assert "none.json" in status.stderr
