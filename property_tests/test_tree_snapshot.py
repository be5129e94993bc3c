"""A watcher is told nothing, and has to find out: random changes of a tree, and what it says.

Whoever hears keeps a picture of the tree: which files there are, and what was in each when it was
announced. Every event has to fit the picture, and once the watcher has caught up the picture has to
be the tree.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lspkit.protocol.registrations import CREATED, DELETED, FileEvent
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.tree_snapshot import is_excluded
from lspkit.runtime.watch.watcher import Watcher, best_notifier
from tests.runtime.watch.watching import until_ready

#: Few names, so that things meet. The last folder is excluded, the first part is outside.
FOLDERS = st.sampled_from(["in", "in/a", "in/a/b", "in/a/b/c", "in/d", "out", "out/a", "in/target"])
FILES = st.builds("{}/{}".format, FOLDERS, st.sampled_from(["f", "g", "a"]))
_numbers = itertools.count(1)


def _fresh() -> str:
    """A content whose size none of the last thousand has: then it is another by every clock."""
    return "x" * (next(_numbers) % 1000 + 1)


def write(root: Path, path: str, _: str) -> None:
    (root / path).write_text(_fresh())


def write_with_folders(root: Path, path: str, _: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(_fresh())


def append(root: Path, path: str, _: str) -> None:
    with open(root / path, "a") as file:
        file.write(_fresh())


def replace(root: Path, path: str, _: str) -> None:
    draft = (root / path).with_suffix(".draft")
    draft.write_text(_fresh())
    os.replace(draft, root / path)


def write_again(root: Path, path: str, _: str) -> None:
    (root / path).unlink()
    (root / path).write_text(_fresh())


def delete(root: Path, path: str, _: str) -> None:
    (root / path).unlink()


def move(root: Path, path: str, other: str) -> None:
    os.rename(root / path, root / other)


def swap(root: Path, path: str, other: str) -> None:
    aside = root / "aside"
    os.rename(root / path, aside)
    try:
        os.rename(root / other, root / path)
    finally:
        if not (root / other).exists():
            os.rename(aside, root / other)
        else:
            os.rename(aside, root / "out" / f"left{next(_numbers)}")


def make_folder(root: Path, path: str, _: str) -> None:
    (root / path).mkdir(parents=True)


def delete_folder(root: Path, path: str, _: str) -> None:
    if path not in ("in", "out"):
        shutil.rmtree(root / path)


def delete_root(root: Path, _: str, __: str) -> None:
    shutil.rmtree(root / "in")


Step = tuple[Callable[[Path, str, str], None], str, str]

ON_FILES = [write, write_with_folders, append, replace, write_again, delete, move, swap]
ON_FOLDERS = [make_folder, delete_folder, move, swap]
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(ON_FILES), FILES, FILES),
    st.tuples(st.sampled_from(ON_FOLDERS), FOLDERS, FOLDERS),
    st.tuples(st.just(delete_root), st.just(""), st.just("")),
)
#: None: the watcher is asked.
STEPS_AND_QUESTIONS = st.none() | STEPS


class Picture:
    """What somebody knows who only hears."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.known = actual(root)
        self.wrong: list[str] = []
        self._inside = threading.Lock()

    def __call__(self, events: list[FileEvent]) -> None:
        if not self._inside.acquire(blocking=False):
            self.wrong.append("two at the same time")
            return
        for event in events:
            if event.is_folder:
                continue
            if (event.path in self.known) == (event.kind == CREATED):
                self.wrong.append(f"{event} although {sorted(self.known)}")
            if event.kind == DELETED:
                self.known.pop(event.path, None)
            else:
                self.known[event.path] = content(event.path)
        self._inside.release()


def content(path: str) -> str | None:
    try:
        return Path(path).read_text()
    except OSError:
        return None  # it is gone again, and that will be told


def actual(root: Path) -> dict[str, str | None]:
    found = {}
    for folder, inner, names in os.walk(root / "in"):
        inner[:] = [one for one in inner if not is_excluded(one)]
        for name in names:
            path = os.path.join(folder, name)
            found[path] = content(path)
    return found


@contextmanager
def watching(notifier: Callable[[], Notifier]) -> Iterator[tuple[Path, Watcher, Picture]]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path in ("in/a/b/f", "in/a/g", "in/d/f", "out/a/f", "in/target/f"):
            write_with_folders(root, path, "")
        picture = Picture(root)
        watcher = Watcher(str(root / "in"), picture, notifier=notifier)
        try:
            until_ready(watcher)
            yield root, watcher, picture
        finally:
            watcher.close()


def run(steps: list[Step | None], notifier: Callable[[], Notifier]) -> None:
    with watching(notifier) as (root, watcher, picture):
        for step in steps:
            if step is None:
                watcher.catch_up()
                assert picture.known == actual(root)
                continue
            act, path, other = step
            try:
                act(root, path, other)
            except OSError:
                pass  # that could not be done to this tree
        watcher.catch_up()
        assert picture.wrong == []
        assert picture.known == actual(root)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is exact")
@given(st.lists(STEPS_AND_QUESTIONS, max_size=30))
def test_every_change_is_told_and_every_event_is_true(steps: list[Step | None]) -> None:
    run(steps, best_notifier)


@given(st.lists(STEPS_AND_QUESTIONS, max_size=30))
@settings(max_examples=30)
def test_the_same_holds_without_any_hints(steps: list[Step | None]) -> None:
    run(steps, Notifier)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is exact")
@given(st.lists(STEPS, min_size=5, max_size=30))
def test_it_holds_while_another_thread_asks_all_the_time(steps: list[Step]) -> None:
    with watching(best_notifier) as (root, watcher, picture):
        over = threading.Event()

        def ask() -> None:
            while not over.is_set():
                watcher.catch_up()

        asker = threading.Thread(target=ask)
        asker.start()
        try:
            for act, path, other in steps:
                try:
                    act(root, path, other)
                except OSError:
                    pass
        finally:
            over.set()
            asker.join()
        watcher.catch_up()
        assert picture.wrong == []
        assert picture.known == actual(root)
