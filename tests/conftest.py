"""What all tests share: lspkit's own pytest plugin, and its leak check on every single test."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.server_summary import pytest_terminal_summary as pytest_terminal_summary
from tests.unread_modules import SLOW_FIXTURES, SLOW_PLACES, is_unread

#: Servers of the tests' own run in folders that nobody has vetted. Tests of trust say otherwise.
os.environ.setdefault("LSPKIT_TRUST", "always")
#: A command must not leave a service behind. Tests of the service say otherwise.
os.environ.setdefault("LSPKIT_NO_SERVICE", "1")

#: Registered by the entry point under the name `lspkit` where lspkit is installed.
PLUGIN = "lspkit.testing.plugin"


def pytest_configure(config: pytest.Config) -> None:
    # Registering the same module twice is an error, so look whether the entry point did it.
    plugins = config.pluginmanager.get_plugins()
    if not any(getattr(plugin, "__name__", None) == PLUGIN for plugin in plugins):
        config.pluginmanager.import_plugin(PLUGIN)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in the background of a script. Tests interrupt themselves and what they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)


#: Folders whose modules take longest. They are run first, so that at the end of a run no worker is
#: busy with a long module for which the others have to wait. (xdist by itself begins with the
#: modules that have most tests, which are the quick ones: the Makefile tells it not to.)
FIRST_FOLDERS = ("tests/real/same", "tests/real", "property_tests")


#: Servers that are tested whole only with `LSPKIT_THOROUGH=1`, so that a usual run stays within its
#: time: it tries that they start, most of what they answer, and that they run nothing of a project.
#: None of them is in `real_servers.NEVER_SKIP` (`test_run_order.py`).
SELDOM = frozenset(
    {"biome", "deno", "intelephense", "jdtls", "oxlint", "pyrefly", "svelte", "tombi", "vtsls"}
    | {"vue", "zuban"}
)
USUAL = frozenset(
    {"test_every_server_starts.py", "test_every_operation.py", "test_planted.py"}
    | {"test_schema_downloads.py", "test_break_in.py", "test_src_layout.py"}
)
#: Further tests of these, by their class or by the beginning of their names.
LONG = ("TestJdtls", "test_svelte_")
LEFT_OUT = pytest.mark.skip(reason="it takes long: LSPKIT_THOROUGH=1 runs it")


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
        if is_seldom(item) and not os.environ.get("LSPKIT_THOROUGH"):
            item.add_marker(LEFT_OUT)


def is_seldom(item: pytest.Item) -> bool:
    """Whether a test is left out of a usual run."""
    owner = getattr(item, "cls", None)
    if item.name.startswith(LONG) or (owner is not None and owner.__name__ in LONG):
        return True
    if item.path.parent.name != "real" or item.path.name in USUAL:
        return False
    called = getattr(item, "callspec", None)
    given = called.params.values() if called is not None else ()
    names = {one if isinstance(one, str) else getattr(one, "server", "") for one in given}
    return bool(names & SELDOM)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(leak_check: object) -> None:
    """Every test, also one that asks for no fixture, has to end with nothing of it left."""
