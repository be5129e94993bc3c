"""Links that come, go and are pointed elsewhere, and files that are written by another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.runtime.watch import symlinks
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
    monkeypatch.setattr(symlinks, "MOST_BEHIND", 5)
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
