"""What is watched for which server: from the first server to the last, each folder once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lspkit.protocol.registrations import FileEvent, WatchRegistrations
from lspkit.runtime.files import Files
from lspkit.runtime.pool import disk_events
from lspkit.runtime.pool.disk_events import DiskEvents
from lspkit.runtime.watch.watcher import Watcher
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import boundary_of
from tests.runtime.watch.watching import Heard, lines, shell, until_ready


def server_in(root: Path, *outer: Path) -> Any:
    """A server that is not ready, and the folders that it registers for."""
    watched = WatchRegistrations(str(root))
    watched.new_bases = lambda: {str(folder): True for folder in outer}  # type: ignore[method-assign]
    choice = SimpleNamespace(
        definition=Definition(id="any", family="any", languages={".py": "python"}), argv=("any",)
    )
    channel = SimpleNamespace(lock=threading.Lock(), connection=None)
    return SimpleNamespace(
        root=str(root), choice=choice, watched=watched, channel=channel, is_ready=False
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shell("mkdir -p root/src/deep lib; touch root/src/a.py", tmp_path)
    return tmp_path / "root"


@pytest.fixture
def heard(root: Path) -> Heard:
    return Heard(root)


@pytest.fixture
def disk(root: Path, heard: Heard) -> Iterator[DiskEvents]:
    def soon(job: Any) -> bool:
        job()
        return True

    disk = DiskEvents(Files(boundary_of(str(root))), heard, lambda *_: None, soon)
    yield disk
    disk.close()


def ready(disk: DiskEvents) -> None:
    """Wait until everything is read that is to be watched."""
    assert disk._watcher is not None
    until_ready(disk._watcher)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "lspkit-watcher"]


def test_it_watches_from_the_first_server_to_the_last(
    disk: DiskEvents, root: Path, heard: Heard
) -> None:
    servers = [server_in(root), server_in(root)]
    assert threads() == []
    for server in servers:
        disk.begin(server)
        disk.begin(server)
    ready(disk)
    disk.end(servers[0])
    disk.end(servers[0])
    assert threads() == ["lspkit-watcher"]
    shell("echo x > new.py", root)
    assert disk.catch_up()
    assert heard.lines() == ["+ new.py"]
    disk.end(servers[1])
    assert threads() == []
    shell("echo x > later.py", root)
    assert disk.catch_up()
    assert heard.lines() == []


def test_it_starts_again_after_the_last_server(disk: DiskEvents, root: Path, heard: Heard) -> None:
    for name in ("1", "2"):
        server = server_in(root)
        disk.begin(server)
        ready(disk)
        shell(f"echo x > {name}", root)
        assert disk.catch_up()
        assert heard.lines() == [f"+ {name}"]
        disk.end(server)


@pytest.mark.parametrize("first", [0, 1])
def test_another_folder_is_watched_as_long_as_a_server_needs_it(
    first: int, disk: DiskEvents, root: Path, heard: Heard
) -> None:
    heard.root = root.parent
    library = root.parent / "lib"
    servers = [server_in(root / "src", library), server_in(root / "src/deep", library)]
    for server in servers:
        disk.begin(server)
        disk.registered(server)
    keeper = server_in(root)
    disk.begin(keeper)
    disk.end(servers.pop(first))
    ready(disk)
    shell("echo x > lib/new.py; echo x > root/src/deep/new.py", root.parent)
    assert disk.catch_up()
    assert heard.lines() == ["+ lib/new.py", "+ root/src/deep/new.py"]
    disk.end(servers.pop())
    ready(disk)
    shell("echo x > lib/later.py; echo x > root/src/deep/later.py", root.parent)
    assert disk.catch_up()
    assert heard.lines() == ["+ root/src/deep/later.py"]


def test_a_server_that_has_ended_has_nothing_watched_any_more(disk: DiskEvents, root: Path) -> None:
    server = server_in(root, root.parent / "lib")
    disk.begin(server)
    disk.end(server)
    disk.registered(server)
    assert threads() == []


def test_without_a_server_there_is_nothing_to_do(disk: DiskEvents, heard: Heard) -> None:
    assert disk.catch_up()
    assert disk.first_scan() is None
    assert disk.warnings() == []
    assert disk.unseen == ""


def test_changes_by_lspkit_are_told_once(disk: DiskEvents, root: Path, heard: Heard) -> None:
    disk.begin(server_in(root))
    ready(disk)
    (root / "new.py").write_text("x")
    disk.changed_by_us([FileEvent(str(root / "new.py"), 1)])
    assert lines(heard.events, root) == ["+ new.py"]
    heard.batches = []
    assert disk.catch_up()
    assert heard.lines() == []


def test_after_the_end_nothing_starts(disk: DiskEvents, root: Path) -> None:
    disk.begin(server_in(root))
    disk.close()
    disk.begin(server_in(root))
    disk.close()
    assert threads() == []


def test_warnings_are_those_of_the_watcher(
    disk: DiskEvents, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise OSError(24, "made for this test")

    monkeypatch.setattr(disk_events, "Watcher", partial(Watcher, notifier=fails))
    disk.begin(server_in(root))
    ready(disk)
    (warning,) = disk.warnings()
    assert "made for this test" in warning
