"""Starting servers, their status, and what is left of them: nothing. With real processes."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lspkit.runtime.process import guardian as guardian_module
from lspkit.runtime.process.child import Child, LaunchError, readable
from lspkit.runtime.process.guardian import GroupChild, Guardian
from tests.runtime import process_trees as trees
from tests.runtime.process_trees import ECHO, MARKED, PATIENCE, ends, family, python, read_lines


@pytest.fixture(params=["guardian", "groups"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to start a server."""
    if request.param == "groups":
        monkeypatch.setattr(guardian_module, "guardian_can_run", lambda: False)


@pytest.fixture
def launch(way: None) -> Iterator[object]:
    """Starts a server, and has to give back every descriptor and process."""
    before = trees.open_descriptors()
    guardian = Guardian()
    yield guardian.launch
    guardian.close()
    assert trees.open_descriptors() == before


def test_a_server_has_the_arguments_folder_and_environment_it_was_given(launch, tmp_path):
    script = "import os, sys; print(sys.argv[1:], os.getcwd(), *map(os.getenv, ('ONLY', 'HOME')))"
    child = launch(python(script, "a b", "ü"), cwd=str(tmp_path), env={"ONLY": "this=that"})
    said = read_lines(child.stdout, 1)
    child.close()
    assert said == [f"['a b', 'ü'] {tmp_path} this=that None"]


def test_a_server_answers_over_its_pipes_and_ends_with_its_input(launch):
    child = launch(python(ECHO), cwd="/", env={})
    os.write(child.stdin, b"hello\n")
    assert read_lines(child.stdout, 1) == ["hello"]
    child.close_stdin()
    assert child.wait(PATIENCE) == 0
    assert child.close()


def test_standard_error_is_a_pipe_of_its_own(launch):
    child = launch(python("import os; os.write(2, b'oops\\n')"), cwd="/", env={})
    assert read_lines(child.stderr, 1) == ["oops"]
    child.close()


def test_the_hosts_ends_do_not_block_and_are_not_inherited(launch):
    child = launch(python(ECHO), cwd="/", env={})
    for descriptor in (child.stdin, child.stdout, child.stderr):
        assert not os.get_blocking(descriptor)
        assert not os.get_inheritable(descriptor)
    assert not os.get_inheritable(child.exit_fd)
    child.close()


def test_a_server_has_only_its_three_streams_and_they_block(launch):
    inherited = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    script = "import os; print(os.listdir('/proc/self/fd'), *map(os.get_blocking, range(3)))"
    child = launch(python(script), cwd="/", env={})
    said = read_lines(child.stdout, 1)[0]
    os.close(inherited)
    child.close()
    # The fourth is the listing's own.
    assert said == "['0', '1', '2', '3'] True True True"


def test_a_server_leads_a_session_of_its_own(launch):
    child = launch(python(ECHO), cwd="/", env={})
    assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid
    child.close()


@pytest.fixture
def changed_signals() -> Iterator[None]:
    """What a host inherits under nohup or in the background of a script, and a blocked signal."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR2)
    former = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("thread", ["main thread", "other thread"])
def test_a_server_starts_with_default_signals_whatever_the_host_ignores(changed_signals, thread):
    guardian = Guardian()
    script = ["/bin/sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status"]
    if thread == "main thread":
        child = guardian.launch(script, cwd="/", env={})
    else:
        with ThreadPoolExecutor(1) as pool:
            child = pool.submit(guardian.launch, script, cwd="/", env={}).result(PATIENCE)
    masks = {line.split()[0]: int(line.split()[1], 16) for line in read_lines(child.stdout, 2)}
    child.close()
    guardian.close()
    # The C library keeps 32 and 33 for itself.
    assert {name: mask & ~(3 << 31) for name, mask in masks.items()} == {"SigBlk:": 0, "SigIgn:": 0}


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_the_exit_status_is_reported(launch, code):
    child = launch(python(f"raise SystemExit({code})"), cwd="/", env={})
    assert child.wait(PATIENCE) == code
    assert child.status() == code
    assert child.close()
    assert child.status() == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_signal_is_reported_as_its_negative_number(launch, number):
    child = launch(python(ECHO), cwd="/", env={})
    os.kill(child.pid, number)
    assert child.wait(PATIENCE) == -number
    child.close()


def test_status_is_none_and_exit_fd_quiet_while_the_server_runs(launch):
    child = launch(python(ECHO), cwd="/", env={})
    os.write(child.stdin, b"x\n")
    read_lines(child.stdout, 1)
    assert child.status() is None
    assert child.wait(0.01) is None
    assert not readable(child.exit_fd, 0)
    child.close()


def test_exit_fd_stays_readable_after_the_status_was_read(launch):
    child = launch(python(""), cwd="/", env={})
    assert readable(child.exit_fd, PATIENCE)
    assert child.wait(PATIENCE) == 0
    assert readable(child.exit_fd, 0)
    child.close()


def test_terminate_sends_sigterm_to_the_whole_group(launch):
    script = "import os, signal; os.fork(); print(os.getpid(), flush=True); signal.pause()"
    child = launch(python(script), cwd="/", env={})
    pids = [int(line) for line in read_lines(child.stdout, 2)]
    child.terminate()
    assert child.wait(PATIENCE) == -signal.SIGTERM
    assert all(ends(pid) for pid in pids)
    assert child.close()


def test_terminate_and_kill_after_the_end_do_nothing(launch):
    child = launch(python(""), cwd="/", env={})
    child.wait(PATIENCE)
    child.terminate()
    child.kill()
    child.close()
    child.terminate()
    child.kill()
    assert child.status() == 0


def test_kill_ends_a_server_that_ignores_sigterm_and_end_of_input(launch):
    child = launch(python(MARKED), cwd="/", env={})
    family(child)
    child.close_stdin()
    child.terminate()
    assert child.wait(0.05) is None
    child.kill()
    assert child.wait(PATIENCE) == -signal.SIGKILL
    child.close()


def test_a_descendant_that_carries_the_marker_is_killed_in_another_session(launch):
    child = launch(python(MARKED), cwd="/", env={})
    pids = family(child)
    assert child.close(PATIENCE)
    assert not any(map(trees.running, pids.values()))


def test_a_group_member_that_outlives_the_server_is_killed(launch):
    script = "import os, signal; os.fork() and os._exit(3); signal.pause()"
    child = launch(python(script), cwd="/", env={})
    assert child.wait(PATIENCE) == 3
    assert child.close(PATIENCE)
    assert trees_of_session(child.pid) == []


def trees_of_session(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(name))
    return found


def test_close_may_be_called_again_and_from_many_threads(launch):
    child = launch(python(MARKED), cwd="/", env={})
    family(child)
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(child.close(PATIENCE))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
    assert child.close()
    assert (child.stdin, child.stdout, child.stderr, child.exit_fd) == (-1, -1, -1, -1)


def test_many_threads_wait_for_one_end_and_all_are_told(launch):
    child = launch(python(ECHO), cwd="/", env={})
    told: list[int | None] = []
    threads = [threading.Thread(target=lambda: told.append(child.wait(PATIENCE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    child.kill()
    for thread in threads:
        thread.join()
    assert told == [-signal.SIGKILL] * 8
    child.close()


def test_a_thread_that_waits_is_told_when_another_closes(launch):
    child = launch(python(ECHO), cwd="/", env={})
    told: list[int | None] = []
    thread = threading.Thread(target=lambda: told.append(child.wait(PATIENCE)))
    thread.start()
    child.close()
    thread.join(PATIENCE)
    assert told == [-signal.SIGKILL]


@pytest.mark.parametrize(
    ("text", "mode", "number"),
    [
        (None, 0, errno.ENOENT),
        ("#!/bin/sh\n", 0o644, errno.EACCES),
        ("no program at all\n", 0o755, errno.ENOEXEC),
        ("#!/nowhere/at/all\n", 0o755, errno.ENOENT),
    ],
)
def test_what_is_no_program_for_this_system_is_the_error_of_the_system(
    launch, tmp_path, text, mode, number
):
    program = tmp_path / "program"
    if text is not None:
        program.write_text(text)
        program.chmod(mode)
    with pytest.raises(LaunchError) as caught:
        launch([str(program)], cwd="/", env={})
    assert caught.value.errno == number
    assert str(program) in caught.value.message


def test_a_missing_folder_is_named_in_the_error(launch, tmp_path):
    with pytest.raises(LaunchError) as caught:
        launch(python(ECHO), cwd=str(tmp_path / "away"), env={})
    assert caught.value.errno == errno.ENOENT
    assert str(tmp_path / "away") in caught.value.message


def test_arguments_beyond_the_systems_limit_are_e2big(launch):
    with pytest.raises(LaunchError) as caught:
        launch(python("", *["x" * 100_000] * 200), cwd="/", env={})
    assert caught.value.errno == errno.E2BIG


@pytest.mark.parametrize(
    ("argv", "env", "number"),
    [
        ([], {}, errno.ENOENT),
        (["sleep", "1"], {}, errno.ENOENT),
        (["/bin/sleep", "a\0b"], {}, errno.EINVAL),
        (["/bin/sleep"], {"A": "a\0b"}, errno.EINVAL),
        (["/bin/sleep"], {"A=B": ""}, errno.EINVAL),
        (["/bin/sleep"], {"": "x"}, errno.EINVAL),
    ],
)
def test_what_cannot_be_asked_of_the_system_is_refused_before_anything_starts(argv, env, number):
    guardian = Guardian()
    with pytest.raises(LaunchError) as caught:
        guardian.launch(argv, cwd="/", env=env)
    assert caught.value.errno == number
    assert guardian.pid == 0


def test_a_launch_error_survives_pickling():
    error = pickle.loads(pickle.dumps(LaunchError(errno.ENOENT, "gone")))
    assert (error.errno, error.message, str(error)) == (errno.ENOENT, "gone", "gone")


def test_a_big_environment_and_many_arguments_arrive_whole(launch):
    env = {f"VARIABLE_{n}": "ü" * 500 for n in range(200)}
    arguments = [f"argument {n}" for n in range(5000)]
    script = (
        "import os, sys; print(sum(map(len, os.environb.values())), sys.argv[-1], len(sys.argv))"
    )
    child = launch(python(script, *arguments), cwd="/", env={**env, "LC_ALL": "C.UTF-8"})
    said = read_lines(child.stdout, 1)[0].split(" ", 1)
    child.close()
    assert int(said[0]) >= 200_000
    assert said[1] == "argument 4999 5001"


def test_sixteen_threads_launch_at_once(launch):
    children: list[Child] = []
    start = threading.Barrier(16)

    def one() -> None:
        start.wait()
        children.append(launch(python(ECHO), cwd="/", env={}))

    threads = [threading.Thread(target=one) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, child in enumerate(children):
        os.write(child.stdin, b"%d\n" % number)
    answers = [read_lines(child.stdout, 1) for child in children]
    assert answers == [[str(number)] for number in range(16)]
    assert len({child.pid for child in children}) == 16
    assert all(child.close(PATIENCE) for child in children)


def test_the_repr_shows_the_state(launch):
    child = launch(python(ECHO), cwd="/", env={})
    assert repr(child).endswith(f"pid={child.pid} running status=None>")
    child.close()
    assert repr(child).endswith(f"pid={child.pid} closed status=-9>")


def test_a_launch_that_runs_out_of_descriptors_anywhere_leaves_nothing(way):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = trees.open_descriptors()
    free = [number for number in range(200) if str(number) not in before]
    errors = []
    for spare in range(40):
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[spare], limits[1]))
        guardian = Guardian()
        try:
            guardian.launch(python(ECHO), cwd="/", env={}).close()
            break
        except LaunchError as error:
            errors.append(error.errno)
        finally:
            guardian.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert trees.open_descriptors() == before
    assert len(errors) > 5
    assert set(errors) == {errno.EMFILE}


def test_a_host_without_a_guardian_uses_groups(monkeypatch):
    monkeypatch.setattr(guardian_module, "guardian_can_run", lambda: False)
    guardian = Guardian()
    child = guardian.launch(python(ECHO), cwd="/", env={})
    assert isinstance(child, GroupChild)
    assert guardian.pid == 0
    assert child.close()


def test_launching_and_closing_again_and_again_leaves_nothing(launch):
    for _ in range(20):
        child = launch(python(ECHO), cwd="/", env={})
        assert child.close()  # and the fixture counts what is left
