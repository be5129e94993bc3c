"""The leak check: each kind of leak is named, and a test that leaks fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil
import pytest

from lspkit.testing import (
    Grandchild,
    Script,
    adopt_orphans,
    kill_leaked_processes,
    leaks,
    leaks_since,
    take_snapshot,
)
from tests.scripted import comes_true
from tests.testing.raw import PATIENCE

pytest_plugins = ["pytester"]

#: For things that leak for certain, no grace is needed.
AT_ONCE = 0.0

#: A test for each kind of leak, as it would be written by accident.
LEAKING_TESTS = """
    import os, subprocess, tempfile, threading
    from lspkit.testing import Grandchild, Script

    def test_process():
        global kept
        kept = subprocess.Popen(["sleep", "60"])

    def test_grandchild(scripted):
        argv = scripted(Script(grandchildren=[Grandchild("escaped")]))
        subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=10)

    def test_thread():
        threading.Thread(target=threading.Event().wait, args=(60,), daemon=True).start()

    def test_descriptor():
        os.pipe()

    def test_temporary_file():
        tempfile.mkdtemp()

    def test_nothing():
        assert kept.poll() is not None, "leaked processes are killed before the next test"
"""

CONFTEST = """
    import pytest
    pytest_plugins = ["lspkit.testing.plugin"]
    @pytest.fixture(autouse=True)
    def no_leaks(leak_check):
        pass
    @pytest.fixture
    def leak_grace():
        return 0.3
"""


@pytest.fixture
def run_tests(pytester, monkeypatch):
    """Runs a test file with the leak check, in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile(source)
        # As in pyproject.toml: importing it takes 0.8 s of CPU, also in each worker.
        quick = ["-p", "no:langsmith_plugin"]
        return pytester.runpytest_subprocess(*quick, *arguments, timeout=60)

    return run


def test_pytest_imports_nothing_of_lspkit_that_was_not_asked_for(pytester):
    pytester.makepyfile(
        """
        import sys
        def test_it():
            assert "lspkit" not in sys.modules
        """
    )
    quick = ["-p", "no:langsmith_plugin"]
    pytester.runpytest_subprocess(*quick, timeout=60).assert_outcomes(passed=1)


def test_nothing_is_found_where_nothing_happened(tmp_path):
    assert leaks_since(take_snapshot(tmp_path), grace=AT_ONCE) == []


def test_a_process_is_named_by_its_pid_and_command_and_can_be_killed():
    snapshot = take_snapshot()
    with subprocess.Popen(["sleep", "60"]) as process:
        # For a moment after its start a process has a name, but no arguments yet.
        assert comes_true(lambda: psutil.Process(process.pid).cmdline() == ["sleep", "60"])
        assert leaks_since(snapshot, grace=AT_ONCE) == [f"process {process.pid}: sleep 60"]
        kill_leaked_processes(snapshot)
        assert leaks_since(snapshot, grace=AT_ONCE) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one of them is for Linux only")
def test_both_ways_to_look_for_processes_find_the_same():
    take_snapshot()
    with subprocess.Popen(["sh", "-c", "env -i sleep 60 & sleep 60"]) as process:
        try:
            assert comes_true(lambda: len(psutil.Process(process.pid).children()) == 2)
            found = {one.pid for one in leaks._ours()}
            assert found == {one.pid for one in leaks._descendants()}
            assert found >= {process.pid, *(one.pid for one in psutil.Process().children(True))}
        finally:
            for one in psutil.Process(process.pid).children():
                one.kill()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="strangers are noted on Linux")
def test_a_process_that_gets_the_number_of_a_stranger_is_found():
    with subprocess.Popen(["env", "-i", "sleep", "60"]) as process:
        leaks._STRANGERS.add((process.pid, -1))
        assert process.pid in {one.pid for one in leaks._ours()}
        assert (process.pid, -1) not in leaks._STRANGERS
        process.kill()


def test_a_process_that_is_about_to_end_is_given_grace():
    snapshot = take_snapshot()
    with subprocess.Popen(["sleep", "0.1"]):
        assert len(leaks_since(snapshot, grace=AT_ONCE)) == 1
        assert leaks_since(snapshot, grace=PATIENCE) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans are adopted on Linux")
def test_a_grandchild_that_escaped_is_found_by_adoption(scripted):
    assert adopt_orphans()
    snapshot = take_snapshot()
    argv = scripted(Script(grandchildren=[Grandchild("escaped")]))
    subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    [leak] = leaks_since(snapshot, grace=AT_ONCE)
    assert leak.endswith("sleep 300")
    kill_leaked_processes(snapshot)
    assert leaks_since(snapshot, grace=AT_ONCE) == []


def test_a_process_of_another_parent_is_found_by_its_marker():
    # In a process that adopts nobody: its orphan is handed to somebody further up.
    source = """
import json, subprocess
from lspkit.testing import kill_leaked_processes, leaks_since, take_snapshot
snapshot = take_snapshot()
subprocess.run(["sh", "-c", "sleep 60 > /dev/null 2>&1 &"])
leaks = leaks_since(snapshot, grace=0)
kill_leaked_processes(snapshot)
print(json.dumps([leaks, leaks_since(snapshot, grace=0)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        cwd=Path(__file__).parents[2],
    )
    [[leak], after] = json.loads(done.stdout)
    assert "sleep 60" in leak
    assert after == []


def test_a_thread_is_named_and_forgotten_when_it_ends():
    done = threading.Event()
    snapshot = take_snapshot()
    thread = threading.Thread(target=done.wait, name="lingerer")
    thread.start()
    assert leaks_since(snapshot, grace=AT_ONCE) == [f"thread {thread.native_id}: lingerer"]
    threading.Timer(0.05, done.set).start()
    assert leaks_since(snapshot, grace=PATIENCE) == []


def test_a_descriptor_is_named_by_number_and_target(tmp_path):
    snapshot = take_snapshot()
    with (tmp_path / "file").open("w") as file:
        assert leaks_since(snapshot, grace=AT_ONCE) == [
            f"descriptor {file.fileno()}: {tmp_path / 'file'}"
        ]
    assert leaks_since(snapshot, grace=AT_ONCE) == []


def test_a_descriptor_that_was_put_to_another_use_is_found(tmp_path):
    ends = os.pipe()
    snapshot = take_snapshot()
    other = os.open(tmp_path, os.O_RDONLY)
    os.dup2(other, ends[0])
    os.close(other)
    assert leaks_since(snapshot, grace=AT_ONCE) == [f"descriptor {ends[0]}: {tmp_path}"]
    for descriptor in ends:
        os.close(descriptor)


def test_a_temporary_file_is_named_by_its_path(tmp_path):
    snapshot = take_snapshot(tmp_path)
    left = tmp_path / "left"
    left.touch()
    assert leaks_since(snapshot, grace=AT_ONCE) == [f"temporary file {left}"]


def test_the_fixture_owns_the_folder_for_temporary_files(leak_check):
    with tempfile.NamedTemporaryFile() as file:
        assert Path(file.name).parent == leak_check
    assert os.environ["TMPDIR"] == str(leak_check)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans are adopted on Linux")
def test_each_kind_of_leak_fails_the_test_that_left_it(run_tests):
    result = run_tests(LEAKING_TESTS)
    result.assert_outcomes(passed=6, errors=5)
    for test, leak in (
        ("process", "process *: sleep 60"),
        ("grandchild", "process *: *sleep 300"),
        ("thread", "thread *: Thread-1*"),
        ("descriptor", "descriptor *: pipe:*"),
        ("temporary_file", "temporary file *"),
    ):
        blame = [f"*ERROR at teardown of test_{test} *", "the test left behind:", f"  {leak}"]
        result.stdout.fnmatch_lines(blame)


@pytest.mark.slow
def test_an_xdist_worker_blames_a_leak_on_the_test_that_left_it(run_tests):
    source = """
        import os, subprocess, tempfile, threading
        import pytest
        @pytest.mark.parametrize("number", range(6))
        def test_it(number, tmp_path):
            with tempfile.TemporaryFile(), subprocess.Popen(["true"]):
                thread = threading.Thread(target=print)
                thread.start()
                thread.join()
            if number == 2:
                os.pipe()
    """
    result = run_tests(source, "-n", "2")
    result.assert_outcomes(passed=6, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_it?2?*"])


def test_what_a_fixture_of_a_wider_scope_started_is_no_leak_of_a_test(run_tests):
    source = """
        import subprocess
        import pytest
        @pytest.fixture(scope="module")
        def process():
            with subprocess.Popen(["sleep", "60"]) as process:
                yield process
                process.kill()
        def test_one(process): pass
        def test_two(process): pass
    """
    run_tests(source).assert_outcomes(passed=2)
