"""Callbacks that misbehave, the end of a watcher, and forks."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from lspkit.protocol.registrations import FileEvent
from lspkit.runtime.watch.watcher import Watcher
from tests.runtime.watch.watching import (
    ALL,
    NOTIFIERS,
    PATIENCE,
    Heard,
    Start,
    files_of,
    needs_inotify,
    shell,
    until_ready,
)


class TestCallingBack:
    def test_whoever_fails_to_hear_is_logged_and_hears_the_next(
        self, root: Path, heard: Heard, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail_first(events: list[FileEvent]) -> None:
            if not heard.batches:
                heard(events)
                raise ZeroDivisionError("made for this test")
            heard(events)

        watcher = until_ready(Watcher(str(root), fail_first))
        try:
            for name in ("1", "2"):
                shell(f"echo x > {name}", root)
                watcher.catch_up()
        finally:
            watcher.close()
        assert heard.lines() == ["+ 1", "+ 2"]
        assert "made for this test" in caplog.text

    def test_after_an_interrupt_it_is_announced_again(self, root: Path, heard: Heard) -> None:
        interrupts = [signal.SIGINT]

        def interrupted(events: list[FileEvent]) -> None:
            while interrupts:
                signal.raise_signal(interrupts.pop())
            heard(events)

        watcher = until_ready(Watcher(str(root), interrupted))
        try:
            shell("echo x > new.py", root)
            with pytest.raises(KeyboardInterrupt):
                watcher.catch_up()
            assert heard.lines() == []
            watcher.catch_up()
            assert heard.lines() == ["+ new.py"]
        finally:
            watcher.close()

    def test_it_may_ask_to_be_caught_up(self, root: Path, heard: Heard) -> None:
        def ask(events: list[FileEvent]) -> None:
            heard(events)
            if events[0].path.endswith("1"):
                (root / "2").write_text("x")
                watcher.catch_up()

        watcher = until_ready(Watcher(str(root), ask))
        try:
            (root / "1").write_text("x")
            watcher.catch_up()
            assert heard.lines() == ["+ 1", "+ 2"]
        finally:
            watcher.close()

    @pytest.mark.usefixtures("announcing")
    @pytest.mark.parametrize("by", ["the thread", "a caller"])
    def test_it_may_close_the_watcher(self, by: str, root: Path, heard: Heard) -> None:
        def close(events: list[FileEvent]) -> None:
            watcher.close()
            heard(events)

        watcher = until_ready(Watcher(str(root), close))
        shell("echo x > new.py", root)
        if by == "a caller":
            watcher.catch_up()
        heard.wait_for("+ new.py")
        watcher.close()
        assert "closed" in repr(watcher)


class TestEnding:
    @pytest.mark.parametrize("notifier", ALL)
    def test_closing_twice_is_closing_once(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        watcher.close()
        watcher.close()
        shell("echo x > new.py", root)
        watcher.catch_up()
        assert watcher.note([str(root / "new.py")]) == []
        assert heard.batches == []
        assert (watcher.watches, files_of(watcher)) == (0, 0)
        watcher.also(str(root))
        assert watcher.reading() is None

    @pytest.mark.parametrize("notifier", ALL)
    def test_closing_does_not_wait_for_the_first_reading(
        self, notifier: str, root: Path, heard: Heard
    ) -> None:
        shell("for n in $(seq 300); do mkdir -p x/$n; done", root)
        for _ in range(20):
            watcher = Watcher(str(root), heard, notifier=NOTIFIERS[notifier])
            reading = watcher.reading()
            watcher.close()
            assert reading is None or reading.done

    @needs_inotify
    def test_a_forked_child_lets_go_and_the_parent_goes_on(
        self, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start()
        opened = {
            int(name)
            for name in os.listdir("/proc/self/fd")
            if _target(name) in ("anon_inode:inotify", "anon_inode:[eventfd]")
        }
        assert len(opened) >= 2
        # Held by a thread that the child does not have.
        with _taken(watcher):
            child = os.fork()
            if child == 0:
                watcher.drop_after_fork()
                watcher.catch_up()
                left = {one for one in opened if _target(str(one)) == "anon_inode:inotify"}
                os._exit(1 if left else 0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert heard.after("echo x > src/deep/new.py", watcher) == ["+ src/deep/new.py"]


def _target(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


class _taken:
    """Another thread has the turn."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._has, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def _hold(self) -> None:
        with self._watcher._caller_lock, self._watcher._turn:
            self._has.set()
            self._over.wait(PATIENCE)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._has.wait(PATIENCE)

    def __exit__(self, *args: object) -> None:
        self._over.set()
        self._thread.join()
