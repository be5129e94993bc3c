"""What all tests share: lspkit's own pytest plugin, and its leak check on every single test."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from lspkit.testing import plugin
from tests.long_tests import mark_long
from tests.server_summary import pytest_terminal_summary as pytest_terminal_summary
from tests.unread_modules import SLOW_FIXTURES, SLOW_PLACES, is_unread

#: Servers of the tests' own run in folders that nobody has vetted. Tests of trust say otherwise.
os.environ.setdefault("LSPKIT_TRUST", "always")
#: A command must not leave a service behind. Tests of the service say otherwise.
os.environ.setdefault("LSPKIT_NO_SERVICE", "1")


def pytest_configure(config: pytest.Config) -> None:
    # Not by `pytest_plugins`, which pytest takes from the outermost folder only. Once: the property
    # tests call this, too.
    if not config.pluginmanager.is_registered(plugin):
        config.pluginmanager.register(plugin)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in the background of a script. Tests interrupt themselves and what they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)


#: Folders whose modules take longest. They are run first, so that at the end of a run no worker is
#: busy with a long module for which the others have to wait. (xdist by itself begins with the
#: modules that have most tests, which are the quick ones: the Makefile tells it not to.)
FIRST_FOLDERS = ("tests/real/same", "tests/real", "property_tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: the garbage collector need not go over it.

    That took a fifth of the time to collect, in each worker.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return is_unread(collection_path, config.option.markexpr) or None


def turn(folder: str) -> int:
    """When the tests of a folder are run: the place of it in the order of the whole run."""
    places = [at for at, first in enumerate(FIRST_FOLDERS) if folder.endswith(first)]
    return min(places, default=len(FIRST_FOLDERS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: turn(item.path.parent.as_posix()))
    for item in items:
        places = {item.path.parent.name, item.path.name}
        if places & SLOW_PLACES or SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    mark_long(items)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(leak_check: object) -> None:
    """Every test, also one that asks for no fixture, has to end with nothing of it left."""
