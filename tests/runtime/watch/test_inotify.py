"""The kernel's events as hints."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.runtime.watch.notifier import Hints
from tests.runtime.watch.watching import PATIENCE, needs_inotify, shell

pytestmark = needs_inotify


@pytest.fixture
def inotify(root: Path) -> Iterator[object]:
    from lspkit.runtime.watch.inotify import InotifyNotifier

    inotify = InotifyNotifier()
    for folder in (root, root / "src"):
        inotify.watch(str(folder), False)
    yield inotify
    inotify.close()


def drained(inotify, root: Path) -> dict[str, bool]:
    hints: Hints = {}
    inotify.drain(hints)
    return {os.path.relpath(path, root): anew for path, anew in hints.items()}


@pytest.mark.parametrize(
    ("script", "hints"),
    [
        ("echo x > new", {"new": True}),
        (": > new", {"new": True}),
        ("echo x > src/a.py", {"src/a.py": True}),
        (": >> src/a.py", {"src/a.py": False}),
        ("chmod 600 src/a.py", {"src/a.py": False}),
        ("rm src/a.py", {"src/a.py": False}),
        ("mv src/a.py z", {"src/a.py": False, "z": True}),
        ("mv src/a.py ..", {"src/a.py": False}),
        ("mv ../draft .", {"draft": True}),
        ("mkdir x", {"x": True}),
        ("chmod 711 src/deep", {"src/deep": False}),
        ("mv src x", {"src": True, "x": True}),
        ("rm -r src", {"src": True, "src/a.py": False, "src/b.py": False, "src/deep": False}),
        ("echo x > src/deep/c.py; cat src/a.py > /dev/null", {}),
    ],
)
def test_what_is_not_what_it_was_is_said_to_be_anew(
    script: str, hints: dict[str, bool], inotify, root: Path
) -> None:
    (root.parent / "draft").write_text("x")
    shell(script, root)
    assert drained(inotify, root) == hints
    assert drained(inotify, root) == {}


def test_a_folder_with_two_paths_is_watched_until_both_are_given_up(inotify, root: Path) -> None:
    shell("mv src lib", root)
    inotify.watch(str(root / "lib"), False)
    assert inotify.watches == 2
    drained(inotify, root)
    inotify.unwatch(str(root / "src"))
    shell("echo x > lib/new.py", root)
    assert drained(inotify, root) == {"lib/new.py": True}
    inotify.unwatch(str(root / "lib"))
    shell("echo x > lib/other.py", root)
    assert drained(inotify, root) == {}
    assert inotify.watches == 1


def test_a_link_is_only_followed_when_it_is_meant_to_be(inotify, root: Path) -> None:
    (root / "link").symlink_to("src/deep")
    with pytest.raises(NotADirectoryError):
        inotify.watch(str(root / "link"), False)
    inotify.watch(str(root / "link"), True)
    drained(inotify, root)
    shell("echo x > src/deep/new.py", root)
    assert drained(inotify, root) == {"link/new.py": True}


def test_a_wait_ends_with_an_event_and_with_a_wake(inotify, root: Path) -> None:
    for act in (inotify.wake, (root / "new").mkdir):
        waiter = threading.Thread(target=inotify.wait, args=(PATIENCE * 2,))
        waiter.start()
        act()
        waiter.join(PATIENCE)
        assert not waiter.is_alive()


def test_waking_what_is_closed_is_harmless(inotify) -> None:
    inotify.close()
    inotify.wake()
    inotify.close()
    assert inotify.watches == 0


def test_files_that_are_open_for_writing_are_known(inotify, root: Path) -> None:
    written, removed, folder = root / "src/a.py", root / "new.py", root / "x"
    with open(written, "w") as file, open(removed, "w"):
        folder.mkdir()
        drained(inotify, root)
        assert inotify.writing == {str(written), str(removed)}
        removed.unlink()
        file.write("longer")
        drained(inotify, root)
        assert inotify.writing == {str(written)}
    drained(inotify, root)
    assert inotify.writing == set()
