"""Many threads on one real server: no request is lost, and one process serves them all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from tests.real_servers import command, require

pytestmark = pytest.mark.server

FILES = ("one.py", "two.py", "three.py")


def _config(server: str) -> dict:
    own = {"command": command(server), "disabled": False}
    return {"lsp": {server: own, "ruff": {"disabled": True}}}


@pytest.mark.parametrize("server", ["ty", "pyright"])
def test_8_threads_ask_800_times_over_3_files_without_a_failure(tmp_path: Path, server: str):
    require(server)
    for name in FILES:
        (tmp_path / name).write_text("def greet() -> int: ...\n\n\nprint(greet())\n")

    def caller(number: int) -> int:
        name = FILES[number % 3]
        right = 0
        for turn in range(100):
            if turn % 2:
                found = ws.definition(name, 4, 7)
                right += [str(one.range.start) for one in found] == ["1:5"]
            else:
                hover = ws.hover(name, 4, symbol="greet")
                right += hover is not None and "greet" in hover.contents[0]
        return right

    with lspkit.Workspace(tmp_path, config=_config(server)) as ws, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(caller, range(8))) == [100] * 8
        row = next(row for row in ws.status().rows if row.server == server)
    assert len(row.roots) == 1
    assert row.roots[0].requests.count >= 800
    assert (row.roots[0].requests.starts, row.roots[0].requests.timeouts) == (1, 0)
