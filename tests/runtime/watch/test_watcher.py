"""The file watcher on real folders, with real other processes."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from lspkit.protocol.registrations import FileEvent
from lspkit.runtime.watch import watcher as watcher_module
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher
from tests.runtime.watch.changes import BY_ITSELF, CHANGES
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


@pytest.mark.parametrize("notifier", ALL)
@pytest.mark.parametrize("change", CHANGES)
def test_catching_up_tells_exactly_what_happened_before_it_returns(
    change: str, notifier: str, start: Start, root: Path, heard: Heard
) -> None:
    watcher = start(notifier)
    script, expected = CHANGES[change]
    shell(script, root)
    watcher.catch_up()
    # Only the kernel tells that nothing was there for a moment; a link shows that by itself.
    exact = notifier == "inotify" or "link" in change
    assert heard.lines() == [line if exact else line.replace("±", "~") for line in expected]
    watcher.catch_up()
    assert heard.lines() == []


@pytest.mark.slow
@pytest.mark.usefixtures("announcing")
@pytest.mark.parametrize("notifier", [name for name in NOTIFIERS if name != "polling"])
@pytest.mark.parametrize("change", BY_ITSELF)
def test_what_happens_is_announced_by_itself(
    change: str, notifier: str, start: Start, root: Path, heard: Heard
) -> None:
    start(notifier)
    script, expected = CHANGES[change]
    shell(script, root)
    # The last file that is touched: everything before it is announced before it, or with it.
    shell("echo x > last.py", root)
    heard.wait_for("+ last.py", *expected)


@pytest.mark.usefixtures("announcing")
def test_files_that_come_at_once_are_one_batch(start: Start, root: Path, heard: Heard) -> None:
    start()
    shell("mkdir new; for n in 1 2 3; do echo x > new/$n.py; done", root.parent)
    shell("mv ../new .", root)
    heard.wait_for("+ new/1.py", "+ new/2.py", "+ new/3.py")
    assert len(heard.batches) == 1


@needs_inotify
@pytest.mark.usefixtures("announcing")
def test_a_file_that_is_being_written_is_left_alone_until_it_is_closed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher_module, "LONGEST", PATIENCE)
    heard, texts = Heard(root), list[str]()

    def listen(events: list[FileEvent]) -> None:
        texts.extend(Path(event.path).read_text() for event in events)
        heard(events)

    watcher = until_ready(Watcher(str(root), listen))
    try:
        shell("exec 3> src/a.py 4> new.py; sleep 0.1; echo old >&3; echo new >&4", root)
        heard.wait_for("~ src/a.py", "+ new.py")
    finally:
        watcher.close()
    assert sorted(texts) == ["new\n", "old\n"]


@needs_inotify
@pytest.mark.usefixtures("announcing")
def test_a_file_that_stays_open_is_announced_all_the_same(
    start: Start, root: Path, heard: Heard
) -> None:
    start()
    with open(root / "src/a.py", "a", buffering=1) as file:
        file.write("a line of a log\n")
        heard.wait_for("~ src/a.py")


@needs_inotify
def test_a_write_within_the_tick_of_the_clock_is_seen(
    start: Start, root: Path, heard: Heard
) -> None:
    watcher = start()
    path = root / "src/a.py"
    for number in range(50):
        # The same size, the same inode, and by chance the same time.
        with open(path, "r+b", buffering=0) as file:
            file.write(b"%02d" % number)
        watcher.catch_up()
        assert heard.lines() == ["~ src/a.py"]


@pytest.mark.parametrize("notifier", ALL)
def test_nothing_of_the_first_reading_is_announced(
    notifier: str, start: Start, heard: Heard
) -> None:
    watcher = start(notifier)
    watcher.catch_up()
    assert heard.batches == []
    assert files_of(watcher) == 3
    assert watcher.is_ready


@needs_inotify
def test_only_the_folders_that_count_have_watches(start: Start, root: Path) -> None:
    shell("mkdir -p node_modules/a/b/c .git/objects/aa .venv/lib", root)
    watcher = start()
    assert watcher.watches == 3
    shell("mkdir -p src/x/y node_modules/d", root)
    watcher.catch_up()
    assert watcher.watches == 5
    shell("mv src ../away; mkdir src", root)
    watcher.catch_up()
    assert watcher.watches == 2
    shell("mv src other; mv other again", root)
    watcher.catch_up()
    assert watcher.watches == 2
    shell("mv again ..", root)
    watcher.catch_up()
    assert watcher.watches == 1


def test_the_first_reading_does_not_wake_the_one_who_reads(tmp_path: Path, heard: Heard) -> None:
    wakes: list[int] = []

    class Counting(Notifier):
        def wake(self) -> None:
            wakes.append(threading.get_ident())
            super().wake()

    for number in range(200):
        (tmp_path / f"{number % 20}/{number}").mkdir(parents=True)
    watcher = Watcher(str(tmp_path), heard, notifier=Counting)
    try:
        until_ready(watcher)
        assert wakes == []
    finally:
        watcher.close()


def test_changes_during_the_first_reading_are_not_lost(tmp_path: Path) -> None:
    heard, folders = Heard(tmp_path), [tmp_path / f"{n % 20}/{n}" for n in range(400)]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "old.py").write_text("old")
    begun = threading.Event()

    def excluded(folder: str) -> bool:
        begun.set()
        return False

    watcher = Watcher(str(tmp_path), heard, excluded=excluded)
    try:
        assert begun.wait(PATIENCE)
        for number, folder in enumerate(folders):
            (folder / "new.py").write_text("new")
            (folder / "old.py").write_text("changed")
            if number % 50 == 0:
                watcher.catch_up()
        until_ready(watcher)
        watcher.catch_up()
        found = heard.lines()
    finally:
        watcher.close()
    # A file that was not read yet when it changed may count as a new one.
    assert {line[2:] for line in found} == {
        str(folder.relative_to(tmp_path) / name)
        for folder in folders
        for name in ("old.py", "new.py")
    }
    # A caller may have come between the two steps of a write.
    assert {line for line in found if line.startswith("-")} == set()


def test_it_logs_nothing_in_daily_life(
    start: Start, root: Path, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        watcher = start()
        shell("echo x > new.py; rm -r src", root)
        watcher.catch_up()
        watcher.close()
    assert caplog.text == ""


@needs_inotify
def test_many_callers_hear_of_everything_once_and_in_order(start: Start, root: Path) -> None:
    known: dict[str, bool] = {}
    wrong: list[FileEvent] = []
    inside = threading.Lock()

    def follow(events: list[FileEvent]) -> None:
        assert inside.acquire(blocking=False), "two threads announce at the same time"
        for event in events:
            if event.is_folder:
                continue
            if known.get(event.path, False) == (event.kind == 1):
                wrong.append(event)
            known[event.path] = event.kind != 3
        inside.release()

    watcher = until_ready(Watcher(str(root), follow))
    known.update({str(path): True for path in root.rglob("*.py")})
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            watcher.catch_up()

    askers = [threading.Thread(target=ask) for _ in range(6)]
    try:
        for asker in askers:
            asker.start()
        shell(
            "for n in $(seq 60); do mkdir -p x/$n; echo $n > x/$n/f.py; mv x/$n x/m$n; "
            "echo $n >> x/m$n/f.py; done; rm -r x/m1*",
            root,
        )
    finally:
        over.set()
        for asker in askers:
            asker.join()
    watcher.catch_up()
    watcher.close()
    assert wrong == []
    assert {path for path, there in known.items() if there} == set(map(str, root.rglob("*.py")))
