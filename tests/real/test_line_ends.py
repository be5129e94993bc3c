"""Texts with line ends that a server counts and the protocol does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.disk_courses import CLEAN, DIRTY, TIMEOUT, workspace
from tests.real.test_disk_changes import project

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("programs_on_the_path")]

_TSCONFIG = '{"compilerOptions": {"strict": true, "types": []}}\n'
_LINE = "export const name{0}: number = {0}; // {0}\n"


@pytest.mark.parametrize("server", ["typescript", "vtsls", "typescript-7"])
def test_a_change_behind_a_line_separator_is_made_where_it_belongs(
    server: str, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    path = folder / "main.ts"
    before = "// a\u2028// b\u2029" + "".join(map(_LINE.format, range(40)))
    after = before.replace("name30: number", "other: number").replace(
        "name35: number = 35", "x = 1"
    )
    course = project(server, {"main.ts": before, "tsconfig.json": _TSCONFIG})
    with workspace(server, course, folder) as ws:
        assert ws.check(path, timeout=TIMEOUT).verdict is CLEAN
        path.write_text(after, encoding="utf-8", newline="")
        assert ws.check(path, timeout=TIMEOUT).verdict is CLEAN
        path.write_text(after.replace("= 20;", '= "";'), encoding="utf-8", newline="")
        assert ws.check(path, timeout=TIMEOUT).verdict is DIRTY
