"""Links that come, go and are pointed elsewhere, and files that are written by another name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lspkit.runtime.watch import links
from tests.runtime.watch.watching import ALL, Heard, Start, needs_inotify, shell


@pytest.fixture
def targets(root: Path) -> Path:
    """Two folders outside, with one name in common, and a link to the first."""
    shell("mkdir -p one/deep two; touch one/a.py one/deep/b.py two/a.py two/c.py", root.parent)
    shell("ln -s ../one linked", root)
    return root


@pytest.mark.parametrize("notifier", ALL)
def test_a_link_that_is_pointed_elsewhere_means_all_files_behind_it(
    notifier: str, targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start(notifier)
    shell("ln -sfn ../two linked", targets)
    watcher.catch_up()
    assert heard.lines() == ["± linked/a.py", "+ linked/c.py", "- linked/deep/b.py"]
    watcher.catch_up()
    assert heard.lines() == []


@pytest.mark.parametrize("notifier", ALL)
def test_a_link_that_comes_or_goes_means_all_files_behind_it(
    notifier: str, targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start(notifier)
    shell("ln -s ../two other", targets)
    watcher.catch_up()
    assert heard.lines() == ["+ other/a.py", "+ other/c.py"]
    shell("rm linked other", targets)
    watcher.catch_up()
    assert heard.lines() == [
        *("- linked/a.py", "- linked/deep/b.py", "- other/a.py", "- other/c.py")
    ]


def test_a_link_that_becomes_a_folder_or_leads_nowhere(
    targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start()
    shell("rm linked; mkdir linked; touch linked/a.py linked/new.py", targets)
    watcher.catch_up()
    assert heard.lines() == ["± linked/a.py", "- linked/deep/b.py", "+ linked/new.py"]
    shell("rm -r linked; ln -s ../one linked", targets)
    watcher.catch_up()
    assert heard.lines() == ["± linked/a.py", "+ linked/deep/b.py", "- linked/new.py"]
    shell("ln -sfn ../none linked", targets)
    watcher.catch_up()
    assert heard.lines() == ["- linked/a.py", "- linked/deep/b.py"]


def test_of_very_many_files_behind_a_link_some_are_told(
    targets: Path, start: Start, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MOST_BEHIND", 5)
    shell("for n in $(seq 20); do touch two/$n.py; done", targets.parent)
    watcher = start()
    shell("ln -s ../two other", targets)
    watcher.catch_up()
    assert len(heard.lines()) == 5


@needs_inotify
def test_a_file_that_is_written_by_a_name_outside_has_changed(
    root: Path, start: Start, heard: Heard
) -> None:
    shell("ln root/src/a.py outside.py", root.parent)
    watcher = start()
    for text in ("more", "less"):
        shell(f"echo {text} > outside.py", root.parent)
        watcher.catch_up()
        assert heard.lines() == ["~ src/a.py"]
    # As soon as it is known by its name that it has another one.
    shell("touch new.py; ln new.py ../new.py", root)
    watcher.catch_up()
    assert heard.lines() == ["+ new.py"]
    shell("echo x > new.py", root.parent)
    watcher.catch_up()
    assert heard.lines() == ["~ new.py"]
    shell("rm src/a.py new.py", root)
    watcher.catch_up()
    assert heard.lines() == ["- new.py", "- src/a.py"]
    shell("echo x > outside.py; echo x > new.py", root.parent)
    watcher.catch_up()
    assert heard.lines() == []
    assert watcher.watches == 3


# Targets outside


def seen(heard: Heard) -> set[str]:
    """The files of all events up to now, relative to the root."""
    found = {os.path.relpath(one.path, heard.root) for one in heard.events if not one.is_folder}
    heard.batches = []
    return found


@pytest.mark.parametrize("notifier", ALL)
def test_a_change_behind_a_link_has_the_names_by_the_link_and_outside(
    notifier: str, targets: Path, start: Start, heard: Heard
) -> None:
    shell("ln -s ../two/c.py c.py; ln -s ../two ../one/two", targets)
    watcher = start(notifier, follows=lambda folder, deep: True)
    shell("echo x > one/deep/b.py; echo x > two/c.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {
        *("linked/deep/b.py", "../one/deep/b.py"),
        *("c.py", "../two/c.py", "../one/two/c.py", "linked/two/c.py"),
    }


@pytest.mark.parametrize("notifier", ALL)
def test_what_is_behind_a_new_link_is_watched_when_the_link_is_announced(
    notifier: str, targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start(notifier, follows=lambda folder, deep: True)
    shell("ln -s ../two other; ln -s ../third third; mkdir ../third", targets)
    watcher.catch_up()
    assert {"other/a.py", "other/c.py"} <= seen(heard)
    shell("echo x > two/a.py; echo x > third/new.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {"other/a.py", "../two/a.py", "third/new.py", "../third/new.py"}


def test_a_link_that_is_not_to_be_followed_is_not(
    targets: Path, start: Start, heard: Heard
) -> None:
    asked: list[tuple[str, bool]] = []

    def follows(folder: str, deep: bool) -> bool:
        asked.append((os.path.relpath(folder, targets), deep))
        return False

    shell("ln -s ../two/a.py a.py", targets)
    watcher = start(follows=follows)
    shell("echo x > one/a.py; echo x > two/a.py", targets.parent)
    watcher.catch_up()
    assert sorted(asked) == [("../one", True), ("../two", False)]
    assert seen(heard) == set()
    assert watcher.watches == 3


def test_links_in_a_circle_are_named_a_few_times(root: Path, start: Start, heard: Heard) -> None:
    shell("ln -s .. up", root / "src")
    watcher = start(follows=lambda folder, deep: True)
    shell("echo x > src/a.py", root)
    watcher.catch_up()
    ways = ["src/" + "up/src/" * times + "a.py" for times in range(links.MOST_STEPS + 1)]
    assert seen(heard) == set(ways)
