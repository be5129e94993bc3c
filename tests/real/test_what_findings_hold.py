"""What a finding holds besides its place and words, if the server is told that it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

SOURCE = """\
import { unused } from "./other";
/** @deprecated */
function old() {}
old();
interface Place { line: number }
export const place: Place = {};
"""


def test_typescript_7_says_what_is_unused_and_deprecated_and_where_it_comes_from(
    tmp_path: Path,
) -> None:
    real_servers.require("typescript-7")
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (
        ("tsconfig.json", '{"compilerOptions": {"strict": true}}\n'),
        ("main.ts", SOURCE),
        ("other.ts", "export const unused = 1;\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    with workspace_with(folder, {"typescript-7": real_servers.command("typescript-7")}) as ws:
        found = {one.range.start.line: one for one in ws.check("main.ts", timeout=60).diagnostics}
    assert found[1].tags == ("unnecessary",)
    assert found[4].tags == ("deprecated",)
    [related] = found[6].related
    assert related.location.range.start.line == 5
