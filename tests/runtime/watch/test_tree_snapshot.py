"""The comparison by itself: no hints, no thread."""

from __future__ import annotations

import itertools
import os
import resource
import sys
import time
from pathlib import Path

import pytest

from lspkit.edits.directory import spare_name
from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent
from lspkit.runtime.watch.event_report import AFTER, merged
from lspkit.runtime.watch.tree_snapshot import TreeSnapshot
from tests.runtime.watch.watching import files_in, folders, lines, shell


class Tree:
    """A snapshot of a folder, and the folders that it wants to be watched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.watched: set[str] = set()
        self.snapshot = TreeSnapshot(lambda path, _: self.watched.add(path), self.watched.discard)
        self.add(root)

    def add(self, top: Path, *, deep: bool = True, since: int | None = None) -> None:
        since = time.time_ns() if since is None else since
        self.snapshot.add(str(top), deep=deep, since=since)
        while self.snapshot.due:
            self.snapshot.read_next()

    def look(self, *paths: str, anew: bool = False) -> list[str]:
        for path in paths:
            self.snapshot.look(str(self.root / path), anew=anew)
        return self.events()

    def look_everywhere(self) -> list[str]:
        self.snapshot.look_everywhere()
        return self.events()

    def events(self) -> list[str]:
        events, self.snapshot.report.events = self.snapshot.report.events, []
        return lines(events, self.root)


@pytest.fixture
def tree(root: Path) -> Tree:
    return Tree(root)


def test_a_folder_is_watched_before_it_is_read(root: Path) -> None:
    def write(folder: str, _: bool) -> None:
        Path(folder, "meanwhile.py").write_text("x")

    snapshot = TreeSnapshot(write, lambda _: None)
    snapshot.add(str(root), deep=True, since=time.time_ns())
    while snapshot.due:
        snapshot.read_next()
    assert files_in(snapshot) == 6


def test_only_what_is_looked_at_is_compared(tree: Tree, root: Path) -> None:
    shell("echo longer > src/a.py; echo longer > src/b.py", root)
    assert tree.look("src/b.py") == ["~ src/b.py"]
    assert tree.look("src/b.py") == []
    assert tree.look_everywhere() == ["~ src/a.py"]


def test_a_file_that_looks_the_same_has_changed_if_it_is_said_to_be_anew(tree: Tree) -> None:
    assert tree.look("src/a.py") == []
    assert tree.look("src/a.py", anew=True) == ["~ src/a.py"]


def test_with_a_folder_that_is_anew_so_is_every_file_in_it(tree: Tree) -> None:
    assert tree.look("src/deep") == []
    assert tree.look("src", anew=True) == ["± src/a.py", "± src/b.py", "± src/deep/c.py"]
    assert tree.look_everywhere() == []


def test_a_file_that_is_there_while_another_is_written_is_told_to_nobody(
    tree: Tree, root: Path
) -> None:
    spare = spare_name()
    shell(
        f"mkdir new; echo x > new/{spare}; echo x > src/{spare}; echo x > src/.lspkit-notes", root
    )
    assert tree.look(f"src/{spare}") == []
    assert tree.look_everywhere() == ["+ src/.lspkit-notes"]


def test_looking_at_a_file_finds_the_folders_that_came_with_it(tree: Tree, root: Path) -> None:
    shell("mkdir -p x/y/z; echo x > x/y/z/new.py; echo x > x/other.py", root)
    assert tree.look("x/y/z/new.py") == ["+ x/other.py", "+ x/y/z/new.py"]


def test_looking_at_a_file_of_a_folder_that_is_gone_is_harmless(tree: Tree, root: Path) -> None:
    shell("rm -r src", root)
    assert tree.look("src/deep/c.py") == ["- src/deep/c.py"]
    assert tree.look("src") == ["- src/a.py", "- src/b.py"]
    assert tree.watched == {str(root)}


@pytest.mark.parametrize(
    "path", ["/", "/nowhere/at/all.py", "../else.py", "node_modules/x/y.js", "/a/\0/x"]
)
def test_what_is_not_watched_is_said_not_to_be(path: str, tree: Tree, root: Path) -> None:
    (root / "node_modules/x").mkdir(parents=True)
    tree.look("node_modules")
    assert not tree.snapshot.look(os.path.normpath(root / path))
    assert tree.events() == []
    assert tree.snapshot.look(str(root / "src/new.py"))


def test_times_before_the_epoch_are_times(tree: Tree, root: Path) -> None:
    for number in (-1, -2, -(10**18)):
        os.utime(root / "src/a.py", ns=(number, number))
        assert tree.look_everywhere() == ["~ src/a.py"]
        assert tree.look_everywhere() == []


def test_files_that_are_younger_than_the_wish_may_be_new_or_not(root: Path) -> None:
    since = max(path.stat().st_ctime_ns for path in root.rglob("*.py"))
    path = root / "src/a.py"
    while path.stat().st_ctime_ns <= since:
        # The time that can be set says that it is old.
        os.utime(path, ns=(10**18, 10**18))
    snapshot = TreeSnapshot(lambda *_: None, lambda _: None)
    snapshot.add(str(root), deep=True, since=since)
    while snapshot.due:
        snapshot.read_next()
    assert snapshot.report.events == [FileEvent(str(path), REPLACED)]


def test_a_folder_that_came_before_its_turn_is_new_with_all_that_is_in_it(root: Path) -> None:
    tree = Tree(root)
    shell("mkdir -p ../else/x; echo x > ../else/x/old.py", root)
    since = time.time_ns()
    shell("mv ../else .", root)
    # Somebody lists the folder, and then the hint comes.
    tree.snapshot.due[str(root / "else")] = since
    assert tree.look("else", anew=True) == ["+ else/x/old.py"]
    assert not tree.snapshot.due


def test_what_is_requested_once_more_is_read_first(root: Path) -> None:
    """The workspace, in a work tree that may be huge."""
    snapshot = TreeSnapshot(lambda *_: None, lambda _: None)
    for top in (root / "src", root.parent, root, root / "src"):
        snapshot.add(str(top), deep=True, since=time.time_ns())
    snapshot.read_next()
    assert list(snapshot.folders) == [str(root / "src")]


def test_looking_ahead_of_the_first_reading_tells_of_nothing_old(root: Path) -> None:
    snapshot = TreeSnapshot(lambda *_: None, lambda _: None)
    since = max(path.stat().st_ctime_ns for path in root.rglob("*"))
    snapshot.add(str(root), deep=True, since=since)
    path = root / "src/deep/new.py"
    while not path.exists() or path.stat().st_ctime_ns <= since:
        path.write_text("x")
    assert snapshot.look(str(path))
    while snapshot.due:
        snapshot.read_next()
    assert lines(snapshot.report.events, root) == ["± src/deep/new.py"]
    assert files_in(snapshot) == 4


def test_a_comparison_leaves_first_readings_to_their_turn(root: Path) -> None:
    snapshot = TreeSnapshot(lambda *_: None, lambda _: None)
    snapshot.add(str(root), deep=True, since=time.time_ns())
    snapshot.read_next()
    snapshot.look_everywhere()
    while snapshot.due:
        snapshot.look_everywhere()
        snapshot.read_next()
    assert snapshot.report.events == []
    assert files_in(snapshot) == 3


def test_without_descriptors_nothing_is_said_to_be_gone(tree: Tree, root: Path) -> None:
    shell("echo x > src/new.py; rm src/deep/c.py; mkdir x; echo x > x/y.py", root)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(name) for name in os.listdir("/dev/fd")) + 1
    spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(used)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (used // 2, hard))
    try:
        assert tree.look_everywhere() == []
        assert str(root) in tree.snapshot.unsure
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in spare:
            os.close(descriptor)
    tree.snapshot.try_again()
    assert tree.events() == ["- src/deep/c.py", "+ src/new.py", "+ x/y.py"]
    assert not tree.snapshot.unsure


def test_a_first_reading_that_failed_stays_one(root: Path) -> None:
    fails = True

    def watch(folder: str, _: bool) -> None:
        if fails and folder.endswith("src"):
            raise OSError(5, "made for this test")

    snapshot = TreeSnapshot(watch, lambda _: None)
    snapshot.add(str(root), deep=True, since=time.time_ns())
    while snapshot.due:
        snapshot.read_next()
    assert files_in(snapshot) == 0
    fails = False
    snapshot.try_again()
    while snapshot.due:
        snapshot.read_next()
    assert files_in(snapshot) == 3
    assert snapshot.report.events == []


def test_very_deep_folders_are_no_problem(tree: Tree, root: Path) -> None:
    try:
        depth = (3500 - len(str(root))) // 2
        assert depth > sys.getrecursionlimit()
        path = str(root)
        for _ in range(depth):
            path += "/d"
            os.mkdir(path)
        Path(path, "f").write_text("x")
        assert tree.look("d", anew=True) == ["+ " + "d/" * depth + "f"]
        assert len(tree.watched) == depth + 3
    finally:
        shell("rm -r d", root)
    assert tree.look("d") == ["- " + "d/" * depth + "f"]


class TestTops:
    def test_a_shallow_folder_becomes_deep_within_a_deep_one(self, root: Path) -> None:
        tree = Tree(root / "src/deep")
        tree.root = root
        tree.add(root / "src", deep=False)
        assert str(root) not in tree.watched
        shell("mkdir src/x; echo x > src/x/1; echo x > src/2", root)
        assert tree.look_everywhere() == ["+ src/2"]
        tree.add(root)
        shell("echo x > src/x/3; echo longer > src/x/1", root)
        assert tree.look_everywhere() == ["~ src/x/1", "+ src/x/3"]

    def test_an_excluded_folder_that_is_asked_for_without_depth_stays_so(self, root: Path) -> None:
        shell("mkdir -p node_modules/x; echo x > node_modules/1", root)
        tree = Tree(root)
        tree.add(root / "node_modules", deep=False)
        shell("echo x > node_modules/x/2; echo x > node_modules/2", root)
        assert tree.look_everywhere() == ["+ node_modules/2"]

    def test_removing_a_folder_that_lies_in_another_changes_nothing(
        self, tree: Tree, root: Path
    ) -> None:
        tree.add(root / "src")
        watched = set(tree.watched)
        tree.snapshot.remove(str(root / "src"))
        assert tree.watched == watched
        shell("echo x > src/new.py", root)
        assert tree.look_everywhere() == ["+ src/new.py"]

    def test_removing_a_folder_leaves_the_ones_in_it_that_were_asked_for(
        self, tree: Tree, root: Path
    ) -> None:
        tree.add(root / "src/deep")
        tree.snapshot.remove(str(root))
        assert tree.watched == {str(root / "src/deep")}
        assert files_in(tree.snapshot) == 1

    def test_removing_a_folder_that_lies_in_a_shallow_one_leaves_that(self, root: Path) -> None:
        tree = Tree(root / "src")
        tree.add(root, deep=False)
        tree.snapshot.remove(str(root / "src"))
        assert tree.watched == {str(root)}
        assert files_in(tree.snapshot) == 0

    def test_asking_twice_reads_once(self, tree: Tree, root: Path) -> None:
        (root / "src/new.py").write_text("x")
        tree.add(root)
        assert tree.look("src/new.py") == ["+ src/new.py"]

    def test_a_file_in_the_place_of_what_was_asked_for_is_no_folder(
        self, tree: Tree, root: Path
    ) -> None:
        shell("mv root away; echo x > root", root.parent)
        assert tree.look_everywhere() == ["- src/a.py", "- src/b.py", "- src/deep/c.py"]
        assert tree.look_everywhere() == []
        assert tree.snapshot.missing() == [str(root)]


class TestFolders:
    """What is told of folders themselves."""

    def events(self, tree: Tree) -> list[str]:
        events, tree.snapshot.report.events = tree.snapshot.report.events, []
        return folders(merged(events), tree.root)

    def test_a_folder_comes_with_those_in_it_and_goes_with_them(
        self, tree: Tree, root: Path
    ) -> None:
        shell("mkdir -p new/inner .tox/left-out", root)
        tree.snapshot.look_everywhere()
        assert self.events(tree) == ["+ new", "+ new/inner"]
        shell("rm -r new .tox", root)
        tree.snapshot.look_everywhere()
        assert self.events(tree) == ["- new", "- new/inner"]

    def test_one_on_the_way_to_a_file_comes_before_it(self, tree: Tree, root: Path) -> None:
        shell("mkdir -p new; echo x > new/x.py", root)
        tree.snapshot.look(str(root / "new/x.py"))
        assert [event.path for event in tree.snapshot.report.events] == [
            str(root / "new"),
            str(root / "new/x.py"),
        ]

    def test_one_that_was_away_for_a_moment_has_come(self, tree: Tree, root: Path) -> None:
        tree.snapshot.look(str(root / "src"), anew=True)
        assert self.events(tree) == ["+ src"]

    def test_one_that_came_during_the_first_reading_is_told(self, root: Path) -> None:
        snapshot = TreeSnapshot(lambda *_: None, lambda _: None)
        since = max(path.stat().st_ctime_ns for path in root.rglob("*"))
        snapshot.add(str(root), deep=True, since=since)
        path = root / "new"
        while not path.exists() or path.stat().st_ctime_ns <= since:
            path.mkdir(exist_ok=True)
            path.touch()
        while snapshot.due:
            snapshot.read_next()
        assert folders(snapshot.report.events, root) == ["+ new"]

    def test_a_file_in_the_place_of_a_folder_is_two_events(self, tree: Tree, root: Path) -> None:
        shell("rm -r src/deep; echo x > src/deep", root)
        tree.snapshot.look(str(root / "src/deep"))
        events = merged(tree.snapshot.report.events)
        assert FileEvent(str(root / "src/deep"), DELETED, True) in events
        assert FileEvent(str(root / "src/deep"), CREATED) in events


class TestMerging:
    def test_every_pair_is_in_the_table(self) -> None:
        kinds = (CREATED, CHANGED, DELETED, REPLACED)
        assert set(AFTER) == set(itertools.product(kinds, kinds))

    @pytest.mark.parametrize(
        "kinds", [*itertools.product((CREATED, CHANGED, DELETED, REPLACED), repeat=3)]
    )
    def test_the_outcome_is_that_of_all_events_together(self, kinds: tuple[int, ...]) -> None:
        there = kinds[-1] != DELETED
        before = kinds[0] != CREATED
        (event,) = merged([FileEvent("x", kind) for kind in kinds]) or [None]
        if event is None:
            assert not there and not before
        else:
            assert (event.kind == DELETED) == (not there)

    def test_files_keep_the_order_in_which_they_came_up(self) -> None:
        events = [FileEvent(path, CREATED) for path in "bac"]
        assert merged([*events, FileEvent("b", CHANGED)]) == events

    def test_what_has_changed_and_was_away_was_replaced(self) -> None:
        events = [FileEvent(path, CHANGED) for path in "ab"]
        assert merged(events, away=["b"]) == [FileEvent("a", CHANGED), FileEvent("b", REPLACED)]

    @pytest.mark.parametrize(
        ("kinds", "kind"),
        [
            ((DELETED, CREATED), REPLACED),
            ((CHANGED, DELETED, CREATED, CHANGED), REPLACED),
            ((CREATED, DELETED, CREATED), CREATED),
        ],
    )
    def test_what_went_and_came_was_replaced_unless_it_is_new(
        self, kinds: tuple[int, ...], kind: int
    ) -> None:
        assert merged(FileEvent("x", each) for each in kinds) == [FileEvent("x", kind)]
