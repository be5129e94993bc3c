"""Which folders are watched: more than the root, and the root when it comes and goes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lspkit.runtime.watch import watcher as watcher_module
from tests.runtime.watch.watching import (
    ALL,
    Heard,
    Start,
    also,
    files_of,
    needs_inotify,
    shell,
    until_ready,
)


@pytest.mark.parametrize("notifier", ALL)
class TestMoreFolders:
    def test_an_excluded_folder_is_watched_when_it_is_asked_for(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("mkdir -p node_modules/a; echo x > node_modules/a/old.js", root)
        watcher = start(notifier)
        also(watcher, root / "node_modules")
        assert heard.after("echo x > node_modules/a/new.js; rm node_modules/a/old.js", watcher) == [
            "+ node_modules/a/new.js",
            "- node_modules/a/old.js",
        ]
        watcher.forget(str(root / "node_modules"))
        until_ready(watcher)
        assert heard.after("echo x > node_modules/a/later.js; echo x > new.py", watcher) == [
            "+ new.py"
        ]

    def test_a_folder_elsewhere_is_watched_when_it_is_asked_for(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("mkdir -p lib/python; echo x > lib/python/old.py", root.parent)
        watcher = start(notifier)
        also(watcher, root.parent / "lib")
        assert heard.batches == []
        shell("echo longer > lib/python/old.py; echo x > lib/new.py", root.parent)
        heard.root = root.parent
        watcher.catch_up()
        assert heard.lines() == ["+ lib/new.py", "~ lib/python/old.py"]

    def test_without_depth_only_the_files_in_a_folder_count(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("mkdir -p home/deep", root.parent)
        watcher = start(notifier)
        also(watcher, root.parent / "home", deep=False)
        shell("echo x > home/deep/a; mkdir home/x; echo x > home/x/a; echo x > home/a", root.parent)
        heard.root = root.parent
        watcher.catch_up()
        assert heard.lines() == ["+ home/a"]
        also(watcher, root.parent / "home")
        assert heard.after("echo longer > home/deep/a", watcher, root.parent) == ["~ home/deep/a"]

    def test_an_outer_folder_and_an_inner_one_tell_once(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        also(watcher, root / "src")
        also(watcher, root.parent)
        assert heard.after("echo x > src/new.py", watcher) == ["+ src/new.py"]

    def test_an_inner_folder_stays_when_the_outer_one_is_forgotten(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        watcher.also(str(root / "src"))
        watcher.forget(str(root))
        until_ready(watcher)
        assert heard.after(
            "echo x > new.py; echo x > src/new.py; echo x > src/deep/new.py", watcher
        ) == ["+ src/deep/new.py", "+ src/new.py"]

    def test_what_is_excluded_may_be_decided_anew(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("mkdir -p node_modules/x src/.venv; echo x > node_modules/x/old.js", root)
        names = {"node_modules", ".venv"}
        watcher = start(notifier, excluded=lambda folder: os.path.basename(folder) in names)
        names.remove("node_modules")
        watcher.reconsider()
        until_ready(watcher)
        assert heard.batches == []
        assert heard.after(
            "echo x > node_modules/x/new.js; echo x > src/.venv/new.py", watcher
        ) == ["+ node_modules/x/new.js"]
        # To exclude it again deletes nothing.
        names.add("node_modules")
        assert heard.after("touch node_modules", watcher) == []

    @pytest.mark.parametrize("path", ["a\0b", "a\ud800b", "x" * 5000, "src/a.py"])
    def test_what_can_be_no_folder_is_passed_over(
        self, path: str, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        also(watcher, root / path)
        assert heard.after("echo x > new.py", watcher) == ["+ new.py"]
        assert watcher.warning == ""

    def test_a_link_that_was_asked_for_by_name_is_followed(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("mkdir real; ln -s real link", root.parent)
        watcher = start(notifier)
        also(watcher, root.parent / "link")
        shell("echo x > real/new.py", root.parent)
        heard.root = root.parent
        watcher.catch_up()
        assert heard.lines() == ["+ link/new.py"]


@pytest.mark.parametrize("notifier", ALL)
class TestTheRoot:
    def test_a_root_that_goes_takes_its_files_and_brings_them_back(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        found = heard.after("rm -r root", watcher, root.parent)
        assert found == ["- src/a.py", "- src/b.py", "- src/deep/c.py"]
        assert files_of(watcher) == 0
        found = heard.after("mkdir -p root/src; echo x > root/src/a.py", watcher, root.parent)
        assert found == ["+ src/a.py"]
        assert heard.after("echo longer > src/a.py", watcher) == ["~ src/a.py"]

    @pytest.mark.usefixtures("announcing")
    def test_a_root_that_comes_back_is_noticed_by_itself(
        self, notifier: str, start: Start, root: Path, heard: Heard, monkeypatch
    ) -> None:
        monkeypatch.setattr(watcher_module, "POLL", 0.05)
        start(notifier)
        shell("mv root away", root.parent)
        heard.wait_for("- src/a.py")
        shell("mv away root", root.parent)
        heard.wait_for("+ src/a.py", "+ src/deep/c.py")

    def test_a_root_that_is_not_there_yet_is_no_failure(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shutil.rmtree(root)
        watcher = start(notifier)
        assert files_of(watcher) == 0
        assert heard.after("mkdir root; echo x > root/new.py", watcher, root.parent) == ["+ new.py"]
        assert watcher.warning == ""

    def test_a_root_in_the_place_of_another_is_the_one_that_counts(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        found = heard.after(
            "mkdir new; echo x > new/x.py; mv root away; mv new root", watcher, root.parent
        )
        assert found == ["- src/a.py", "- src/b.py", "- src/deep/c.py", "+ x.py"]
        assert heard.after("echo longer > x.py", watcher) == ["~ x.py"]


@needs_inotify
@pytest.mark.parametrize("folder", ["", "src", "src/deep"])
def test_a_folder_that_was_away_for_a_moment_is_told_again(
    folder: str, start: Start, root: Path, heard: Heard
) -> None:
    """Whoever was just told of a file in it may have found nothing there."""
    watcher = start()
    away = root.parent / "away"
    (root / folder).rename(away)
    away.rename(root / folder)
    watcher.catch_up()
    inside = [line for line in ("src/a.py", "src/b.py", "src/deep/c.py") if line.startswith(folder)]
    assert heard.lines() == [f"± {path}" for path in inside]


@pytest.mark.parametrize("notifier", ALL)
class TestLinks:
    def test_what_happens_to_a_file_is_told_by_the_names_of_its_links_too(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("ln -s src/a.py link.py; ln -s src/deep folder; ln -s ../outside far", root)
        watcher = start(notifier)
        assert heard.after(
            "echo longer > src/a.py; echo longer > src/deep/c.py; echo x > src/deep/d.py", watcher
        ) == [
            "~ folder/c.py",
            "+ folder/d.py",
            "~ link.py",
            "~ src/a.py",
            "~ src/deep/c.py",
            "+ src/deep/d.py",
        ]

    def test_a_link_to_a_folder_is_a_name_from_the_moment_it_is_there(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        shell("ln -s src/a.py link.py", root)
        watcher = start(notifier)
        assert heard.after("echo longer > src/deep/c.py", watcher) == ["~ src/deep/c.py"]
        shell("ln -s src folder", root)
        watcher.catch_up()
        heard.lines()
        assert heard.after("echo longer still > src/deep/c.py", watcher) == [
            "~ folder/deep/c.py",
            "~ src/deep/c.py",
        ]

    def test_a_link_that_leads_elsewhere_by_now_is_no_name_any_more(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        assert heard.after("ln -s src/a.py link.py", watcher) == ["+ link.py"]
        assert heard.after("rm src/a.py", watcher) == ["- link.py", "- src/a.py"]
        assert heard.after("ln -sfn src/b.py link.py; echo x > src/a.py", watcher) == [
            "~ link.py",
            "+ src/a.py",
        ]
        assert heard.after("echo longer > src/a.py", watcher) == ["~ src/a.py"]
