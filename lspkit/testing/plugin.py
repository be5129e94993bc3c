"""A pytest plugin: the fixtures `scripted` and `leak_check`.

A conftest.py asks for it by `pytest_plugins = ["lspkit.testing.plugin"]`. As an entry point it
would slow down every run of pytest in an environment that has lspkit: pytest then rewrites the
asserts in all modules of the package.

`scripted` turns a Script into an argv. `leak_check` fails the test that leaves a process, a
thread, a descriptor or a temporary file behind; to have it everywhere, put in the conftest.py

    @pytest.fixture(autouse=True)
    def no_leaks(leak_check):
        pass

The snapshot is taken for each test in the process that runs it, so that what belongs to pytest,
its plugins, an xdist worker, or to fixtures of a wider scope does not count.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from lspkit.testing.leaks import (
    GRACE,
    adopt_orphans,
    kill_leaked_processes,
    leaks_since,
    take_snapshot,
)
from lspkit.testing.script import Script


class Scripted(Protocol):
    """The type of the fixture `scripted`."""

    def __call__(self, script: Script | None = None) -> list[str]: ...


@pytest.fixture
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Scripted:
    """Makes the argv of a scripted server: `scripted(Script(...))`. See also `Log.of(argv)`."""

    # Not in tmp_path: a test's workspace often lives there, and a log that grows would be in it.
    def command(script: Script | None = None) -> list[str]:
        return (script or Script()).command(tmp_path_factory.mktemp("scripted"))

    return command


@pytest.fixture
def leak_grace() -> float:
    """Seconds that processes and threads get to end after the test; override it to change that."""
    return GRACE


@pytest.fixture
def leak_check(tmp_path_factory: pytest.TempPathFactory, leak_grace: float) -> Iterator[Path]:
    """Fails the test that leaves something behind. Gives the test's folder for temporary files."""
    adopt_orphans()
    tmp_path_factory.getbasetemp()  # now: else pytest makes its own folder inside of ours
    # A short name: the path of a Unix socket has room for some 100 bytes only.
    folder = Path(tempfile.mkdtemp(prefix="leak-"))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", str(folder))
            patch.setattr(tempfile, "tempdir", str(folder))
            snapshot = take_snapshot(folder)
            yield folder
            leaks = leaks_since(snapshot, grace=leak_grace)
            if leaks:
                kill_leaked_processes(snapshot)
    finally:
        _remove(folder)
    if leaks:
        pytest.fail("the test left behind:\n  " + "\n  ".join(leaks), pytrace=False)


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()  # it is empty after most tests, and this is quicker
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
