"""What a usual run leaves out, so that it stays within its time: `LSPKIT_THOROUGH=1` runs all.

Left out are tests with the mark `thorough`, most tests of servers that few people use, and pyright
where the same test is run with basedpyright, which is made of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

_A = TypeVar("_A")
_B = TypeVar("_B")

#: A usual run tries that these start, most of what they answer, and that they run nothing of a
#: project. None of them is in `real_servers.NEVER_SKIP` (`test_run_order.py`).
SELDOM = frozenset(
    {"biome", "deno", "intelephense", "jdtls", "oxlint", "pyrefly", "svelte", "tombi", "vtsls"}
    | {"vue", "vue-typescript", "zuban"}
)
#: Modules in which every server is tried.
USUAL = frozenset(
    {"test_every_server_starts.py", "test_every_operation.py", "test_planted.py"}
    | {"test_schema_downloads.py", "test_break_in.py"}
)
#: Further tests of these, by their class or by the beginning of their names.
LONG = ("TestJdtls", "test_svelte_")
#: Set: nothing is left out.
THOROUGH = "LSPKIT_THOROUGH"
LEFT_OUT = pytest.mark.skip(reason="it takes long: LSPKIT_THOROUGH=1 runs it")


def leave_out_of_a_usual_run(items: Sequence[pytest.Item]) -> None:
    names = {item.nodeid for item in items}
    for item in items:
        if is_seldom(item) or item.get_closest_marker("thorough") or has_twin(item, names):
            item.add_marker(LEFT_OUT)


def some_pairs(rows: Iterable[_A], columns: Sequence[_B]) -> list[tuple[_A, _B]]:
    """Of all pairs those on every third diagonal: each row and each column is there."""
    every = 1 if os.environ.get(THOROUGH) else 3
    return [
        (row, column)
        for line, row in enumerate(rows)
        for place, column in enumerate(columns)
        if (line + place) % every == 0
    ]


def is_seldom(item: pytest.Item) -> bool:
    """Whether it is a test of a server that few people use."""
    owner = getattr(item, "cls", None)
    if item.name.startswith(LONG) or (owner is not None and owner.__name__ in LONG):
        return True
    return _may_be_left_out(item) and bool(_servers(item) & SELDOM)


def has_twin(item: pytest.Item, names: set[str]) -> bool:
    """Whether it is a test of pyright, and among these there is the same of basedpyright."""
    is_concerned = _may_be_left_out(item) and "pyright" in _servers(item)
    return is_concerned and twin_of(item.nodeid) in names


def twin_of(name: str) -> str:
    """The name of the same test with basedpyright instead of pyright."""
    test, parameters = name.split("[", 1)
    return f"{test}[{parameters.replace('pyright', 'basedpyright')}"


def _may_be_left_out(item: pytest.Item) -> bool:
    return item.path.parent.name == "real" and item.path.name not in USUAL


def _servers(item: pytest.Item) -> set[str]:
    called = getattr(item, "callspec", None)
    given = called.params.values() if called is not None else ()
    return {one if isinstance(one, str) else getattr(one, "server", "") for one in given}
