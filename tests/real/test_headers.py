"""A header and what includes it change at the same time: the next verdict goes by both."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace_with
from tests.runtime.told import written_outside

pytestmark = [pytest.mark.server, pytest.mark.slow]

# The standard header makes it slow to read what is included anew.
USER = '#include <string>\n#include "other.h"\n// {}\nint copy = value();\n'
GOOD, BAD = "int value();\n", "char *value();\n"


@pytest.mark.parametrize("apart", [True, False], ids=["a-second-apart", "at-once"])
def test_clangd_reads_a_header_again_that_has_changed(tmp_path: Path, apart: bool) -> None:
    """It notices by itself what was written in another second, but publishes from before first."""
    real_servers.require("clangd")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "compile_flags.txt").write_text("-xc++\n", encoding="utf-8")
    user, other = folder / "user.cpp", folder / "other.h"
    other.write_text(GOOD, encoding="utf-8")
    user.write_text(USER.format(0), encoding="utf-8")
    verdicts = []
    with workspace_with(folder, {"clangd": real_servers.command("clangd")}) as ws:
        assert ws.check(user, timeout=60).verdict.clean
        for number in range(1, 7):
            if apart:
                second = int(time.time())
                while int(time.time()) == second:  # a new one begins
                    threading.Event().wait(0.01)
            written_outside(other, f"{BAD if number % 2 else GOOD}// {number}\n")
            verdicts.append(ws.write(user, USER.format(number), timeout=60).verdict.value)
    assert verdicts == ["dirty", "clean"] * 3
