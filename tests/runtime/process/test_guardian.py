"""The guardian and its keepers: nothing is left, whoever is killed. With real processes."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.runtime.process import guardian_main
from lspkit.runtime.process.child import LaunchError, readable
from lspkit.runtime.process.guardian import Guardian
from tests.runtime import process_trees as trees
from tests.runtime.process_trees import (
    CRASHING,
    ECHO,
    PATIENCE,
    STUBBORN,
    Host,
    ends,
    family,
    python,
)

#: Prints all that a host with one stubborn server consists of.
REPORT = """
child = guardian.launch(trees.python(trees.STUBBORN), cwd="/", env={})
pids = trees.family(child)
pids["keeper"] = trees.parent(child.pid)
pids["guardian"] = guardian.pid
for name, pid in pids.items():
    print(name, pid, flush=True)
"""


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    before = trees.open_descriptors()
    guardian = Guardian()
    yield guardian
    guardian.close()
    assert trees.open_descriptors() == before
    assert guardian.pid == 0


def test_close_leaves_no_descendant_however_it_hides(guardian):
    child = guardian.launch(python(STUBBORN), cwd="/", env={})
    pids = family(child)
    assert child.close()
    assert not any(map(trees.running, pids.values()))


def test_the_end_of_the_server_ends_its_descendants_without_a_word_of_the_host(guardian):
    child = guardian.launch(python(CRASHING), cwd="/", env={})
    pids = family(child)
    os.write(child.stdin, b"x")
    assert ends(pids["escapee"])
    assert child.status() == 7
    assert child.close()


def test_kill_ends_every_descendant(guardian):
    child = guardian.launch(python(STUBBORN), cwd="/", env={})
    pids = family(child)
    child.kill()
    assert all(map(ends, pids.values()))
    assert trees.hung_up(child.stdout)
    child.close()


def test_a_descendant_that_changes_its_number_all_the_time_is_caught(guardian):
    script = """
import os
if os.fork() == 0:
    os.write(1, b"on\\n")
    while os.fork() == 0:
        os.setsid()
    os._exit(0)
os.read(0, 1)
"""
    child = guardian.launch(python(script), cwd="/", env={})
    trees.read_lines(child.stdout, 1)
    assert child.close(PATIENCE)
    assert child.status() == -signal.SIGKILL


def test_the_end_is_known_at_once_though_a_grandchild_holds_the_output(guardian):
    delays = []
    for _ in range(5):  # the best of some, since a busy machine may keep any of us waiting
        child = guardian.launch(python(CRASHING), cwd="/", env={})
        family(child)
        os.write(child.stdin, b"x")
        assert readable(child.exit_fd, PATIENCE)
        known = trees.now()
        assert child.status() == 7
        delays.append(known - float(trees.read_lines(child.stdout, 1)[0].split()[1]))
        child.close()
    assert min(delays) < 0.05


#: Children of the host that live on; the last is one that Python's hooks never hear of.
FORKS = {
    "alone": "",
    "forked": "if os.fork() == 0: signal.pause()\n",
    "forked by C": "import ctypes\nif ctypes.CDLL(None).fork() == 0: signal.pause()\n",
}


@pytest.mark.parametrize("fork", FORKS.values(), ids=FORKS.keys())
def test_nothing_outlives_a_host_that_is_killed(fork):
    """Also when a forked child of the host lives on, with copies of all descriptors."""
    with Host(REPORT + fork + "print('ready 0', flush=True)\nsignal.pause()") as host:
        pids = trees.numbers(host.lines(5))
        del pids["ready"]
        assert all(map(trees.running, pids.values()))
        host.process.kill()
        deadline = trees.now() + 2.0
        left = [name for name, pid in pids.items() if not ends(pid, deadline - trees.now())]
        os.killpg(host.process.pid, signal.SIGKILL)  # the forked child
    assert left == []


def test_nothing_outlives_a_host_that_exits_without_closing():
    with Host(REPORT + "os._exit(0)") as host:
        pids = trees.numbers(host.lines(4))
        assert all(map(ends, pids.values()))


def test_an_interrupt_of_the_foreground_group_reaches_neither_server_nor_guardian():
    # Not `print`: the signal may come while another one is being printed.
    listen = 'signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted 1\\n"))\n'
    script = """
sys.stdin.readline()
os.write(child.stdin, b"x")
print("status", child.wait(0.05) or 0, flush=True)
child.close()
guardian.close()
print("guardian", guardian.pid, flush=True)
"""
    with Host(listen + REPORT + script) as host:
        pids = trees.numbers(host.lines(4))
        os.killpg(host.process.pid, signal.SIGINT)
        assert host.lines(1) == ["interrupted 1"]
        assert all(map(trees.running, pids.values()))
        assert host.process.stdin is not None
        host.process.stdin.write(b"\n")
        host.process.stdin.flush()
        assert host.lines(2) == ["status 0", "guardian 0"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT])
def test_guardian_and_keeper_ignore_what_asks_them_to_end(guardian, number):
    child = guardian.launch(python(ECHO), cwd="/", env={})
    keeper = trees.parent(child.pid)
    os.kill(keeper, number)
    os.kill(guardian.pid, number)
    second = guardian.launch(python(ECHO), cwd="/", env={})
    assert trees.parent(second.pid) != keeper
    assert trees.parent(keeper) == trees.parent(trees.parent(second.pid))
    assert child.close()
    assert second.close()


def test_a_killed_guardian_harms_no_server_and_is_replaced(guardian):
    child = guardian.launch(python(STUBBORN), cwd="/", env={})
    pids = family(child)
    former = guardian.pid
    os.kill(former, signal.SIGKILL)
    assert ends(former)
    second = guardian.launch(python(ECHO), cwd="/", env={})
    assert guardian.pid not in (0, former)
    assert child.status() is None
    child.kill()
    assert child.wait(PATIENCE) == -signal.SIGKILL
    assert child.close()
    assert not any(map(trees.running, pids.values()))
    assert second.close()


def test_a_host_that_is_killed_after_its_guardian_leaves_nothing():
    with Host(
        REPORT + "os.kill(pids['guardian'], 9)\nprint('ready 0', flush=True)\nsignal.pause()"
    ) as host:
        pids = trees.numbers(host.lines(5))
        del pids["ready"]
        assert ends(pids["guardian"])
        assert trees.running(pids["escapee"])
        host.process.kill()
        assert all(map(ends, pids.values()))


def test_the_orphans_of_a_killed_keeper_are_killed_by_the_guardian(guardian):
    child = guardian.launch(python(STUBBORN), cwd="/", env={})
    pids = family(child)
    other = guardian.launch(python(ECHO), cwd="/", env={})
    os.kill(trees.parent(child.pid), signal.SIGKILL)
    assert all(map(ends, pids.values()))
    assert child.wait(PATIENCE) == -signal.SIGKILL
    child.close()
    assert other.status() is None
    assert other.close()


def test_a_host_that_reaps_every_child_itself_confuses_nobody(guardian):
    child = guardian.launch(python(ECHO), cwd="/", env={})
    os.kill(guardian.pid, signal.SIGKILL)
    os.waitpid(-1, 0)
    assert child.close()
    second = guardian.launch(python(ECHO), cwd="/", env={})
    assert second.close()


def test_a_host_that_ignores_sigchld_confuses_nobody(guardian):
    former = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    child = guardian.launch(python("raise SystemExit(5)"), cwd="/", env={})
    assert child.wait(PATIENCE) == 5
    assert child.close()
    signal.signal(signal.SIGCHLD, former)


def test_one_guardian_serves_all_and_ends_when_it_is_closed(guardian):
    assert guardian.pid == 0
    guardian.launch(python(ECHO), cwd="/", env={}).close()
    pid = guardian.pid
    second = guardian.launch(python(ECHO), cwd="/", env={})
    assert guardian.pid == pid
    second.close()
    assert trees.running(pid)
    guardian.close()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(LaunchError, match="closing"):
        guardian.launch(python(ECHO), cwd="/", env={})


def test_a_guardian_that_is_closed_leaves_a_server_to_its_keeper(guardian):
    child = guardian.launch(python(ECHO), cwd="/", env={})
    guardian.close()
    assert child.status() is None
    assert child.close()


#: Writes into its temporary folder, and says its name.
WRITER = """
import os
os.makedirs(os.path.join(os.environ["TMPDIR"], "some", "where"))
os.symlink("/", os.path.join(os.environ["TMPDIR"], "link"))
open(os.path.join(os.environ["TMPDIR"], "some", "file"), "w").close()
os.write(1, os.environb[b"TMPDIR"] + b"\\n")
os.read(0, 1)
"""


@pytest.mark.parametrize("killed", [False, True], ids=["", "guardian killed"])
def test_each_server_has_a_folder_in_the_one_that_goes_with_the_guardian(guardian, killed):
    children, folders = [], []
    for _ in range(2):
        folder = guardian.new_folder()
        folders.append(Path(folder))
        children.append(guardian.launch(python(WRITER), cwd=folder, env={"TMPDIR": folder}))
        assert trees.read_lines(children[-1].stdout, 1) == [folder]
        if killed:
            os.kill(guardian.pid, signal.SIGKILL)
            ends(guardian.pid)
    assert folders[0] != folders[1]
    [outer] = {folder.parent for folder in folders}
    assert sorted(outer.iterdir()) == folders
    assert {one.stat().st_mode & 0o777 for one in (outer, *folders)} == {0o700}
    for child in children:
        child.close()
    guardian.close()
    assert not outer.exists()


@pytest.mark.parametrize("moment", ["with a server", "at once"])
def test_the_folders_go_when_the_host_is_killed(moment):
    launch = f"child = guardian.launch(trees.python({WRITER!r}), cwd='/', env={{'TMPDIR': one}})\n"
    wait = "trees.read_lines(child.stdout, 1)\n"
    script = "one = guardian.new_folder()\n" + (launch + wait if moment != "at once" else "")
    with Host(script + "print(one, guardian.pid, flush=True)\nos.kill(os.getpid(), 9)") as host:
        folder, pid = host.lines(1)[0].split()
        assert ends(int(pid))
    assert not Path(folder).parent.exists()


def test_a_folder_that_another_put_in_the_place_of_the_guardians_is_not_used(guardian, tmp_path):
    outer = Path(guardian.new_folder()).parent
    shutil.rmtree(outer)
    guardian.new_folder()  # whoever cleans up temporary files may do so
    shutil.rmtree(outer)
    outer.symlink_to(tmp_path)
    with pytest.raises(FileExistsError):
        guardian.new_folder()
    outer.unlink()


def test_an_idle_guardian_and_keeper_use_no_processor(guardian):
    child = guardian.launch(python(ECHO), cwd="/", env={})
    os.write(child.stdin, b"x\n")
    trees.read_lines(child.stdout, 1)
    idle = [trees.parent(child.pid), guardian.pid]
    child.wait(0.1)  # they may still be on their way to sleep
    before = [trees.switches(pid) for pid in idle]
    child.wait(0.4)
    assert [trees.switches(pid) for pid in idle] == before
    child.close()


def test_guardian_and_keeper_have_names_and_hold_no_descriptor_of_the_host(guardian):
    inherited = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    child = guardian.launch(python(ECHO), cwd="/", env={})
    keeper, guarding = trees.parent(child.pid), guardian.pid
    # Both have three streams, the host's pidfd and the two ends of the bell, one more socket the
    # keeper; the guardian's socket is its standard input, and must not be the keeper's.
    assert len(os.listdir(f"/proc/{guarding}/fd")) == 6
    # It closes the server's ends of the pipes when it has said that the server runs.
    deadline = time.monotonic() + 5
    while len(os.listdir(f"/proc/{keeper}/fd")) != 7:
        assert time.monotonic() < deadline, os.listdir(f"/proc/{keeper}/fd")
        child.wait(0.005)
    assert os.readlink(f"/proc/{keeper}/fd/0") == os.devnull
    assert Path(f"/proc/{guarding}/comm").read_text() == "lspkit-guardian\n"
    assert Path(f"/proc/{keeper}/comm").read_text() == "lspkit-keeper\n"
    child.close()
    os.close(inherited)


def test_a_forked_child_launches_its_own_and_leaves_the_parents_alone():
    script = """
os.register_at_fork(after_in_child=guardian.drop_after_fork)
before = len(os.listdir("/proc/self/fd"))
child = guardian.launch(trees.python(trees.ECHO), cwd="/", env={})
pid = os.fork()
if pid == 0:
    assert len(os.listdir("/proc/self/fd")) == before, "copies of the parent's descriptors"
    assert guardian.pid == 0
    assert child.status() is None and child.wait(0) is None
    child.kill()
    child.close()
    another = Guardian()
    own = another.launch(trees.python(trees.ECHO), cwd="/", env={})
    os.write(own.stdin, b"own 1\\n")
    print(*trees.read_lines(own.stdout, 1), flush=True)
    assert own.close()
    another.close()
    assert len(os.listdir("/proc/self/fd")) == before
    os._exit(0)
print("forked", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
os.write(child.stdin, b"parent 1\\n")
print(*trees.read_lines(child.stdout, 1), flush=True)
print("closed", int(child.close()), flush=True)
guardian.close()
print("left", len(os.listdir("/proc/self/fd")) - before, flush=True)
"""
    with Host(script) as host:
        said = host.lines(5)
    assert said == ["own 1", "forked 0", "parent 1", "closed 1", "left 0"]


def test_a_guardian_whose_parent_is_not_the_host_it_was_told_of_ends_at_once():
    argv = f"[sys.executable, '-I', '-S', {guardian_main.__file__!r}, '1', '']"
    with Host(f"os.execv(sys.executable, {argv})") as host:
        assert host.process.wait(PATIENCE) == 0
