"""Where watching fails: limits of the system, lost events, permissions, threads."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.protocol.registrations import FileEvent
from lspkit.runtime.watch import watcher as module
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher
from lspkit.testing import Script
from tests.runtime.watch.watching import (
    NOTIFIERS,
    PATIENCE,
    Heard,
    needs_inotify,
    shell,
    until_ready,
)
from tests.scripted import workspace


@needs_inotify
@pytest.mark.usefixtures("announcing")
def test_events_that_the_kernel_dropped_are_made_up_for(root: Path) -> None:
    held, go_on = threading.Event(), threading.Event()
    heard = Heard(root)

    def hold(events: list[FileEvent]) -> None:
        heard(events)
        held.set()
        go_on.wait(PATIENCE)

    watcher = until_ready(Watcher(str(root), hold))
    try:
        limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        shell("echo x > first.py; mv first.py root", root.parent)
        assert held.wait(PATIENCE)
        (root / "many").mkdir()
        for number in range(limit + 1):
            # Two names by turns, since equal events that follow each other are one.
            os.utime(root / "src" / ("a.py", "b.py")[number % 2], ns=(number, number))
        (root / "src/deep/c.py").write_text("longer")
        (root / "many/new.py").write_text("x")
        go_on.set()
        watcher.catch_up()
        assert heard.lines() == [
            *("+ first.py", "+ many/new.py", "~ src/a.py", "~ src/b.py", "~ src/deep/c.py")
        ]
        assert heard.after("echo x >> many/new.py", watcher) == ["~ many/new.py"]
    finally:
        go_on.set()
        watcher.close()


#: Run by another interpreter, in a namespace with limits of its own.
LIMITED = """
import os, sys, threading
from lspkit.runtime.watch import watcher as module
from tests.runtime.watch.watching import Heard, until_ready
from lspkit.runtime.watch.watcher import Watcher
from pathlib import Path
module.POLL = 0.05
root = Path(sys.argv[1], "root")
for number in range(20):
    (root / f"{number}").mkdir(parents=True)
for name in "12":
    Path(sys.argv[1], name).write_text("x")
heard = Heard(root)
watcher = until_ready(Watcher(str(root), heard))
Path(sys.argv[1], "1").rename(root / "7/new.py")
print(heard.wait_for("+ 7/new.py"))
Path(sys.argv[1], "2").rename(root / "8/new.py")
watcher.catch_up()
print(heard.lines()[1:], watcher.watches)
print(watcher.warning)
watcher.close()
print(threading.active_count())
"""


CHECKOUT = Path(__file__).parents[3]


def in_namespace(limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program as a user of its own, after it has set a limit."""
    script = f'echo {limit} && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-ec", script, "sh", *arguments]
    return subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture
def namespaces() -> None:
    # Not everywhere may a user have a namespace.
    probe = ["unshare", "--user", "--map-root-user", "true"]
    if not shutil.which("unshare") or subprocess.run(probe, check=False).returncode:
        pytest.skip("no user namespaces")


@needs_inotify
@pytest.mark.slow
@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("5 > /proc/sys/user/max_inotify_watches", "the limit for watches is reached"),
        ("0 > /proc/sys/user/max_inotify_instances", "Too many open files"),
    ],
)
def test_at_the_limit_of_the_system_files_are_polled_with_a_warning(
    limit: str, words: str, tmp_path: Path
) -> None:
    done = in_namespace(limit, sys.executable, "-c", LIMITED, str(tmp_path))
    assert done.returncode == 0, done.stderr
    first, second, warning, threads = done.stdout.splitlines()
    assert first == "['+ 7/new.py']"
    assert second == "['+ 8/new.py'] 0"
    assert words in warning and "max_user_watches" in warning
    assert threads == "1"


def test_without_hints_all_changes_are_announced_however_long_it_takes(
    root: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The thread compares all the time, and each comparison is interrupted after each folder: one
    # that has begun before the call is often under way.
    monkeypatch.setattr(module, "POLL", 0.0)
    monkeypatch.setattr(module, "LONG_SLICE", 0.0)
    watcher = until_ready(Watcher(str(root), heard, notifier=Notifier))
    try:
        for number in range(30):
            (root / "src" / "a.py").write_text(f"{number:5}")
            assert watcher.catch_up(time.monotonic() + PATIENCE)
            assert "~ src/a.py" in heard.lines()
    finally:
        watcher.close()


@needs_inotify
def test_nothing_is_clean_while_a_folder_with_changes_cannot_be_read(
    tmp_path: Path, scripted
) -> None:
    argv = scripted(Script())
    for name in ("inner", "other"):
        (tmp_path / name).mkdir()
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        with no_descriptors_left():
            (tmp_path / "inner").rename(tmp_path / "away")
            (tmp_path / "other").rename(tmp_path / "inner")
            report = ws.check("a.scr", text="fine\n")  # the file cannot be read either
        assert report.verdict.unknown
        assert f"{tmp_path / 'inner'} cannot be read now" in str(report.servers[0].reason)
        assert ws.check("a.scr").verdict.clean


@contextlib.contextmanager
def no_descriptors_left() -> Iterator[None]:
    """This process can open nothing."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = [os.open(os.devnull, os.O_RDONLY)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(opened) + 50, limits[1]))
        with contextlib.suppress(OSError):
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


FORBIDDEN = """
import os, sys
from pathlib import Path
from tests.runtime.watch.watching import NOTIFIERS, Heard, files_of, until_ready
from lspkit.runtime.watch import watcher as module
from lspkit.runtime.watch.watcher import Watcher
module.SETTLE = 20
root = Path(sys.argv[1])
(root / "x/y").mkdir(parents=True)
(root / "x/y/old.py").write_text("x")
(root / "x").chmod(0)
heard = Heard(root)
watcher = until_ready(Watcher(str(root), heard, notifier=NOTIFIERS[sys.argv[2]]))
print(files_of(watcher), watcher.warning)
(root / "x").chmod(0o700)
watcher.catch_up()
print(heard.lines())
(root / "x/y/new.py").write_text("x")
watcher.catch_up()
print(heard.lines())
(root / "x/y").chmod(0)
watcher.catch_up()
print(heard.lines())
(root / "x/y").chmod(0o700)
(root / "x/y/last.py").write_text("x")
watcher.catch_up()
print(heard.lines())
watcher.close()
"""


@needs_inotify
@pytest.mark.slow
@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("notifier", NOTIFIERS)
def test_a_folder_without_permission_is_read_when_there_is_one(
    notifier: str, tmp_path: Path
) -> None:
    # In a namespace without a root even the root of the system has to ask for permission.
    command = ["unshare", "--user", sys.executable, "-c", FORBIDDEN, str(tmp_path), notifier]
    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    found = ["['+ x/y/old.py']", "['+ x/y/new.py']", "[]", "['+ x/y/last.py']"]
    assert done.stdout.splitlines() == ["0 ", *found]


def test_without_a_thread_there_is_a_warning_and_the_next_question_tries_again(
    root: Path, heard: Heard
) -> None:
    usual = threading.stack_size(1 << 46)
    try:
        watcher = Watcher(str(root), heard)
        watcher.catch_up()
        assert "cannot be watched" in watcher.warning
        assert watcher.unseen == watcher.warning
        assert watcher.reading() is None, "nobody waits in vain"
        assert [event.path for event in watcher.note([str(root / "x")])] == [str(root / "x")]
    finally:
        threading.stack_size(usual)
    try:
        watcher.catch_up()
        assert watcher.warning == ""
        until_ready(watcher)
        assert heard.after("echo x > new.py", watcher) == ["+ new.py"]
    finally:
        watcher.close()
