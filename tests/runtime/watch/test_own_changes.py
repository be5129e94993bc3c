"""What lspkit itself changes is handed back, and told once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runtime.watch.watching import (
    ALL,
    Heard,
    Start,
    lines,
    shell,
)


@pytest.mark.parametrize("notifier", ALL)
class TestOurOwnChanges:
    def test_they_are_handed_back_and_not_announced(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        (root / "src/a.py").write_text("longer")
        (root / "src/b.py").unlink()
        (root / "src/new.py").write_text("new")
        paths = [str(root / "src" / name) for name in ("a.py", "b.py", "new.py")]
        assert lines(watcher.note(paths), root) == ["~ src/a.py", "- src/b.py", "+ src/new.py"]
        assert heard.after("echo x > last.py", watcher) == ["+ last.py"]

    def test_they_are_not_told_twice_when_somebody_was_quicker(
        self, notifier: str, start: Start, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        (root / "src/a.py").write_text("longer")
        watcher.catch_up()
        assert heard.lines() == ["~ src/a.py"]
        assert watcher.note([str(root / "src/a.py")]) == []

    def test_what_others_did_meanwhile_is_announced(
        self, start: Start, notifier: str, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        shell("echo longer > src/b.py", root)
        (root / "src/a.py").write_text("longer")
        assert lines(watcher.note([str(root / "src/a.py")]), root) == ["~ src/a.py"]
        watcher.catch_up()
        assert heard.lines() == ["~ src/b.py"]

    def test_folders_count_for_their_files(
        self, start: Start, notifier: str, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        os.rename(root / "src", root / "lib")
        events = watcher.note([str(root / "src"), str(root / "lib")])
        assert lines(events, root) == [
            *("+ lib/a.py", "+ lib/b.py", "+ lib/deep/c.py"),
            *("- src/a.py", "- src/b.py", "- src/deep/c.py"),
        ]
        watcher.catch_up()
        assert heard.lines() == []

    def test_what_is_handed_back_is_not_told_as_brief_besides(
        self, start: Start, notifier: str, root: Path
    ) -> None:
        brief: list[str] = []
        watcher = start(notifier, on_brief=brief.extend)
        (root / "src/a.py").unlink()
        os.rename(root / "src/deep", root / "deep")
        events = watcher.note([str(root / one) for one in ("src/a.py", "src/deep", "deep")])
        assert lines(events, root) == ["+ deep/c.py", "- src/a.py", "- src/deep/c.py"]
        watcher.catch_up()
        assert brief == []

    def test_a_file_in_new_folders_is_found(
        self, start: Start, notifier: str, root: Path, heard: Heard
    ) -> None:
        watcher = start(notifier)
        path = root / "x/y/z/new.py"
        path.parent.mkdir(parents=True)
        path.write_text("x")
        assert lines(watcher.note([str(path)]), root) == ["+ x/y/z/new.py"]
        watcher.catch_up()
        assert heard.lines() == []

    def test_a_path_that_is_not_watched_has_its_event_all_the_same(
        self, start: Start, notifier: str, root: Path
    ) -> None:
        watcher = start(notifier)
        paths = [root / "node_modules/x.js", root.parent / "else.py"]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
        events = watcher.note([*map(str, paths), str(root.parent / "gone.py")])
        assert lines(events, root.parent) == [
            *("± else.py", "- gone.py", "± root/node_modules/x.js")
        ]
