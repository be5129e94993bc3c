"""A file that is not open changes on disk: the next check of what depends on it knows of that."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import workspace_with
from tests.runtime.server_log import written_outside

pytestmark = pytest.mark.server

USER = "mod other;\npub fn copy() -> i32 { other::value() }\n"
GOOD = "pub fn value() -> i32 { 1 }\n"
BAD = 'pub fn value() -> &\'static str { "" }\n'
PACKAGE = '[package]\nname = "racing"\nversion = "0.1.0"\nedition = "2021"\n'


@contextmanager
def project(folder: Path) -> Iterator[tuple[lspkit.Workspace, Path]]:
    """A workspace in which `src/lib.rs` is open, and the file that it depends on."""
    real_servers.require("rust-analyzer")
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(PACKAGE, encoding="utf-8")
    (folder / "src" / "lib.rs").write_text(USER, encoding="utf-8")
    other = folder / "src" / "other.rs"
    other.write_text(GOOD, encoding="utf-8")
    with workspace_with(folder, {"rust-analyzer": real_servers.command("rust-analyzer")}) as ws:
        assert ws.check("src/lib.rs", timeout=120).verdict.clean
        yield ws, other


def test_rust_analyzer_is_asked_once_it_has_read_what_changed(tmp_path: Path) -> None:
    """It reads in the background, and answered from before in a third of the tries."""
    verdicts = []
    with project(tmp_path / "project") as (ws, other):
        for number in range(12):
            written_outside(other, f"{GOOD if number % 2 else BAD}// {number}\n")
            # With a text of its own, so that cargo has no say.
            report = ws.check("src/lib.rs", text=USER, timeout=60)
            verdicts.append(report.verdict.value)
    assert verdicts == ["dirty", "clean"] * 6


def test_rust_analyzer_has_read_a_file_with_a_mark_and_one_that_is_not_utf_8(
    tmp_path: Path,
) -> None:
    """It keeps the mark, and has an empty text instead of one that is not UTF-8."""
    contents = [codecs.BOM_UTF8 + BAD.encode(), GOOD.encode() + b"// caf\xe9\n", BAD.encode()]
    known = []
    with project(tmp_path / "project") as (ws, other):
        for content in contents:
            written_outside(other, content)
            report = ws.check("src/lib.rs", text=USER, timeout=20)
            params = {"uri": other.as_uri()}
            text = ws.request("src/lib.rs", "rust-analyzer/viewFileText", params)
            known.append((report.verdict.value, text))
    assert known == [("dirty", "\ufeff" + BAD), ("clean", ""), ("dirty", BAD)]
