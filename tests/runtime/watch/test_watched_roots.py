"""Roots that are held and released."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watched_roots import WatchedRoots
from tests.runtime.watch.watching import (
    PATIENCE,
    Heard,
    lines,
    shell,
)


class TestHolding:
    @pytest.fixture
    def watchers(self, heard: Heard) -> Iterator[WatchedRoots]:
        watchers = WatchedRoots(heard)
        yield watchers
        watchers.close()

    @staticmethod
    def ready(watchers: WatchedRoots, root: Path) -> None:
        """Orders are obeyed one after the other: wait for those that were given."""
        assert watchers.also(str(root), "/nowhere/at/all").wait(PATIENCE)

    @staticmethod
    def threads() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name == "lspkit-watcher"]

    def test_it_watches_from_the_first_holder_to_the_last(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        assert self.threads() == []
        watchers.hold(str(root))
        watchers.hold(str(root))
        self.ready(watchers, root)
        watchers.release(str(root))
        assert self.threads() == ["lspkit-watcher"]
        shell("echo x > new.py", root)
        watchers.catch_up()
        assert heard.lines() == ["+ new.py"]
        watchers.release(str(root))
        assert self.threads() == []
        shell("echo x > later.py", root)
        watchers.catch_up()
        assert heard.lines() == []

    def test_it_starts_again_after_the_last_holder(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        for name in ("1", "2"):
            watchers.hold(str(root))
            self.ready(watchers, root)
            shell(f"echo x > {name}", root)
            watchers.catch_up()
            watchers.release(str(root))
        assert heard.lines() == ["+ 1", "+ 2"]

    @pytest.mark.parametrize("order", [("src", "."), (".", "src"), ("src/deep", "src", ".")])
    def test_a_root_in_another_one_shares_it(
        self, order: tuple[str, ...], watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        for place in order:
            watchers.hold(str(root / place))
        self.ready(watchers, root / order[-1])
        assert self.threads() == ["lspkit-watcher"]
        shell("echo x > src/deep/new.py", root)
        watchers.catch_up()
        assert heard.lines() == ["+ src/deep/new.py"]
        watchers.release(str(root))
        self.ready(watchers, root / "src")
        shell("echo x > new.py; echo x > src/new.py", root)
        watchers.catch_up()
        assert heard.lines() == ["+ src/new.py"]

    def test_what_was_watched_for_a_root_goes_with_it(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        shell("mkdir lib other", root.parent)
        watchers.hold(str(root))
        watchers.hold(str(root.parent / "other"))
        assert watchers.also(str(root), str(root.parent / "lib")).wait(PATIENCE)
        heard.root = root.parent
        shell("echo x > lib/1", root.parent)
        watchers.catch_up()
        assert heard.lines() == ["+ lib/1"]
        watchers.release(str(root))
        self.ready(watchers, root.parent / "other")
        shell("echo x > lib/2; echo x > other/2", root.parent)
        watchers.catch_up()
        assert heard.lines() == ["+ other/2"]

    def test_what_two_roots_need_stays_until_both_are_released(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        shell("mkdir lib", root.parent)
        heard.root = root.parent
        for place in ("src", "src/deep"):
            watchers.hold(str(root / place))
            assert watchers.also(str(root / place), str(root.parent / "lib")).wait(PATIENCE)
        watchers.release(str(root / "src"))
        self.ready(watchers, root / "src/deep")
        shell("echo x > lib/new.py", root.parent)
        watchers.catch_up()
        assert heard.lines() == ["+ lib/new.py"]

    def test_more_releases_than_holders_do_no_harm(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        watchers.release(str(root))
        watchers.hold(str(root))
        watchers.release(str(root))
        watchers.release(str(root))
        watchers.hold(str(root))
        self.ready(watchers, root)
        shell("echo x > new.py", root)
        watchers.catch_up()
        assert heard.lines() == ["+ new.py"]

    def test_without_a_root_there_is_nothing_to_do(
        self, watchers: WatchedRoots, root: Path
    ) -> None:
        watchers.catch_up()
        watchers.reconsider()
        assert watchers.also(str(root), str(root)).wait(PATIENCE)
        assert watchers.note([str(root)]) == []
        assert watchers.warnings() == []
        assert watchers.is_ready

    def test_its_own_changes_are_handed_back(
        self, watchers: WatchedRoots, root: Path, heard: Heard
    ) -> None:
        watchers.hold(str(root))
        self.ready(watchers, root)
        (root / "new.py").write_text("x")
        assert lines(watchers.note([str(root / "new.py")]), root) == ["+ new.py"]
        watchers.catch_up()
        assert heard.lines() == []

    def test_after_the_end_nothing_starts(self, watchers: WatchedRoots, root: Path) -> None:
        watchers.hold(str(root))
        watchers.close()
        watchers.hold(str(root))
        watchers.close()
        assert self.threads() == []

    def test_warnings_are_those_of_the_watcher(self, root: Path, heard: Heard) -> None:
        def fails() -> Notifier:
            raise OSError(24, "made for this test")

        watchers = WatchedRoots(heard, notifier=fails)
        try:
            watchers.hold(str(root))
            self.ready(watchers, root)
            (warning,) = watchers.warnings()
            assert "made for this test" in warning
        finally:
            watchers.close()
