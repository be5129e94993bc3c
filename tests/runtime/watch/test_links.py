"""Links that come, go and are pointed elsewhere, and files that are written by another name."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from lspkit.runtime.watch import event_report, watched_folders
from lspkit.runtime.watch.watched_folders import OuterFolders
from tests.runtime.watch.watching import ALL, Heard, Start, needs_inotify, shell, until_ready


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
    found = heard.after("ln -sfn ../two linked", watcher)
    assert found == ["± linked/a.py", "+ linked/c.py", "- linked/deep/b.py"]
    watcher.catch_up()
    assert heard.lines() == []


@pytest.mark.parametrize("notifier", ALL)
def test_a_link_that_comes_or_goes_means_all_files_behind_it(
    notifier: str, targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start(notifier)
    assert heard.after("ln -s ../two other", watcher) == ["+ other/a.py", "+ other/c.py"]
    assert heard.after("rm linked other", watcher) == [
        *("- linked/a.py", "- linked/deep/b.py", "- other/a.py", "- other/c.py")
    ]


def test_a_link_that_becomes_a_folder_or_leads_nowhere(
    targets: Path, start: Start, heard: Heard
) -> None:
    watcher = start()
    found = heard.after("rm linked; mkdir linked; touch linked/a.py linked/new.py", watcher)
    assert found == ["± linked/a.py", "- linked/deep/b.py", "+ linked/new.py"]
    found = heard.after("rm -r linked; ln -s ../one linked", watcher)
    assert found == ["± linked/a.py", "+ linked/deep/b.py", "- linked/new.py"]
    assert heard.after("ln -sfn ../none linked", watcher) == ["- linked/a.py", "- linked/deep/b.py"]


def test_of_very_many_files_behind_a_link_some_are_told(
    targets: Path, start: Start, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_report, "MOST_BEHIND", 5)
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
        assert heard.after(f"echo {text} > outside.py", watcher, root.parent) == ["~ src/a.py"]
    # As soon as it is known by its name that it has another one.
    assert heard.after("touch new.py; ln new.py ../new.py", watcher) == ["+ new.py"]
    assert heard.after("echo x > new.py", watcher, root.parent) == ["~ new.py"]
    assert heard.after("rm src/a.py new.py", watcher) == ["- new.py", "- src/a.py"]
    assert heard.after("echo x > outside.py; echo x > new.py", watcher, root.parent) == []
    assert watcher.watches == 3


# Targets outside


@pytest.fixture
def outer(root: Path) -> OuterFolders:
    """What decides which targets outside of the root are watched."""
    return OuterFolders(str(root), threading.Lock())


def followed(outer: OuterFolders, root: Path) -> set[str]:
    """The folders outside that are watched because of links."""
    return {os.path.relpath(folder, root) for folder in outer._linked}


def seen(heard: Heard) -> set[str]:
    """The files of all events up to now, relative to the root."""
    found = {os.path.relpath(one.path, heard.root) for one in heard.events if not one.is_folder}
    heard.batches = []
    return found


@pytest.mark.parametrize("notifier", ALL)
def test_a_change_behind_a_link_has_the_names_by_the_link_and_outside(
    notifier: str, targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    shell("ln -s ../two/c.py c.py; ln -s ../two ../one/two", targets)
    watcher = start(notifier, outer=outer)
    shell("echo x > one/deep/b.py; echo x > two/c.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {
        *("linked/deep/b.py", "../one/deep/b.py"),
        *("c.py", "../two/c.py", "../one/two/c.py", "linked/two/c.py"),
    }


@pytest.mark.parametrize("notifier", ALL)
def test_what_is_behind_a_new_link_is_watched_when_the_link_is_announced(
    notifier: str, targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    watcher = start(notifier, outer=outer)
    shell("ln -s ../two other; ln -s ../third third; mkdir ../third", targets)
    watcher.catch_up()
    assert seen(heard) == {"other/a.py", "other/c.py"}
    until_ready(watcher)
    shell("echo x > two/a.py; echo x > third/new.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {"other/a.py", "../two/a.py", "third/new.py", "../third/new.py"}


def test_a_link_that_is_not_to_be_followed_is_not(
    targets: Path, outer: OuterFolders, start: Start, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_folders, "MOST_LINKED_FOLDERS", 0)
    shell("ln -s ../two/a.py a.py", targets)
    watcher = start(outer=outer)
    shell("echo x > one/a.py; echo x > two/a.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == set()
    assert watcher.watches == 3


def test_links_in_a_circle_are_named_once(
    root: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    shell("ln -s .. up", root / "src")
    watcher = start(outer=outer)
    shell("echo x > src/a.py", root)
    watcher.catch_up()
    assert seen(heard) == {"src/a.py", "src/up/src/a.py"}


def test_a_target_is_watched_as_long_as_a_link_leads_there(
    targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    shell("ln -s ../one/a.py a.py; ln -s ../one again", targets)
    watcher = start(outer=outer)
    before = watcher.watches
    assert followed(outer, targets) == {"../one"}
    shell("rm linked; ln -sfn ../two again; ln -sf ../two/a.py a.py", targets)
    watcher.catch_up()
    until_ready(watcher)
    assert followed(outer, targets) == {"../two"}
    assert watcher.watches == before - 1, "one/deep has no counterpart"
    seen(heard)
    shell("echo x > one/a.py; echo x > two/a.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {"a.py", "again/a.py", "../two/a.py"}
    shell("rm again; rm a.py; echo x > a.py", targets)
    watcher.catch_up()
    assert followed(outer, targets) == set()
    assert watcher.watches == 3


@pytest.mark.parametrize("target", ["lib/built", "lib/built/a.py"])
def test_what_is_linked_before_it_is_made_is_watched_from_then_on(
    target: str, root: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    """As the output of a build."""
    shell(f"ln -s ../{target} linked", root)
    watcher = start(outer=outer)
    name = "linked" if target.endswith(".py") else "linked/a.py"
    for script in ("mkdir lib", "mkdir lib/built; echo 1 > lib/built/a.py", "rm -r lib"):
        shell(script, root.parent)
        watcher.catch_up()
        until_ready(watcher)
        if script != "mkdir lib":
            assert name in seen(heard)
    shell("mkdir -p lib/built; echo 2 > lib/built/a.py", root.parent)
    watcher.catch_up()
    until_ready(watcher)
    assert name in seen(heard)
    shell("echo longer > lib/built/a.py", root.parent)
    watcher.catch_up()
    assert seen(heard) == {name, "../lib/built/a.py"}


def test_a_folder_that_is_made_anew_is_watched_again(
    targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    watcher = start(outer=outer)
    shell("rm -r one", targets.parent)
    watcher.catch_up()
    seen(heard)
    shell("mkdir one; touch one/a.py", targets.parent)
    watcher.catch_up()
    until_ready(watcher)
    assert "linked/a.py" in seen(heard)
    shell("echo x > one/a.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {"linked/a.py", "../one/a.py"}


def test_folders_that_are_made_behind_a_link_are_no_targets(
    targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    watcher = start(outer=outer)
    shell("mkdir one/new; touch one/new/d.py", targets.parent)
    watcher.catch_up()
    assert seen(heard) == {"linked/new/d.py", "../one/new/d.py"}
    assert followed(outer, targets) == {"../one"}


def test_links_beside_the_target_of_a_file_are_not_followed(
    targets: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    shell("rm linked; ln -s ../two/a.py a.py; ln -s ../one ../two/more", targets)
    watcher = start(outer=outer)
    assert followed(outer, targets) == {"../two"}
    shell("ln -s ../one two/again", targets.parent)
    watcher.catch_up()
    assert followed(outer, targets) == {"../two"}


def test_a_path_has_no_names_through_several_links_inside(
    root: Path, outer: OuterFolders, start: Start, heard: Heard
) -> None:
    """As packages of one workspace that depend on each other: there would be very many."""
    shell("mkdir a b c; touch c/x.py; ln -s ../c a/c; ln -s ../c b/c; ln -s ../b a/b", root)
    watcher = start(outer=outer)
    shell("echo x > c/x.py", root)
    watcher.catch_up()
    assert seen(heard) == {"c/x.py", "a/c/x.py", "b/c/x.py"}
