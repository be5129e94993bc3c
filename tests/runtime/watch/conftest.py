"""A small tree, and watchers of it that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lspkit.runtime.watch import watcher as watcher_module
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher
from tests.runtime.watch.watching import NOTIFIERS, PATIENCE, Heard, Start, shell, until_ready


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    shell("mkdir -p root/src/deep; for n in a b; do echo $n > root/src/$n.py; done", tmp_path)
    (root / "src/deep/c.py").write_text("c")
    return root


@pytest.fixture
def heard(root: Path) -> Heard:
    return Heard(root)


@pytest.fixture
def announcing() -> None:
    """For tests of what the thread announces by itself."""


@pytest.fixture(autouse=True)
def quiet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it announces nothing by itself, however long the steps of a change take."""
    if "announcing" not in request.fixturenames:
        monkeypatch.setattr(watcher_module, "SETTLE", PATIENCE)
        monkeypatch.setattr(watcher_module, "POLL", PATIENCE)


@pytest.fixture
def start(root: Path, heard: Heard) -> Iterator[Start]:
    """Starts a watcher and waits until it is ready."""
    watchers: list[Watcher] = []

    def start(
        name: str = next(iter(NOTIFIERS)),
        make: Callable[[], Notifier] | None = None,
        **options: Any,
    ) -> Watcher:
        notifier = make or NOTIFIERS[name]
        watchers.append(Watcher(str(root), heard, notifier=notifier, **options))
        return until_ready(watchers[-1])

    yield start
    for watcher in watchers:
        watcher.close()
