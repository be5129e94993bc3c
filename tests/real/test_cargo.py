"""rust-analyzer and cargo: the next check of what depends on a file knows of its change.

A failing build script keeps cargo from checking, and one that succeeds writes sources.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import environment, workspace_with
from tests.real_servers import command, require
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


MANIFEST = '[package]\nname = "built"\nversion = "0.1.0"\nedition = "2021"\n'
BUILD = """fn main() {
    println!("cargo:rerun-if-changed=input.txt");
    assert_eq!(std::fs::read_to_string("input.txt").unwrap(), "good");
}
"""
GENERATE = """use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=input.txt");
    let text = fs::read_to_string("input.txt").unwrap();
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("made.rs"), text).unwrap();
}
"""
MAIN = """include!(concat!(env!("OUT_DIR"), "/made.rs"));

fn main() {
    let number: i32 = made();
    println!("{number}");
}
"""
GOOD_INPUT, BAD_INPUT = (
    "pub fn made() -> i32 { 1 }\n",
    "pub fn made() -> String { String::new() }\n",
)


def built_project(folder: Path, build: str, given: str, main: str) -> lspkit.Workspace:
    """A package with a build script that reads `input.txt`."""
    require("rust-analyzer")
    (folder / "src").mkdir()
    texts = {"Cargo.toml": MANIFEST, "build.rs": build, "input.txt": given, "src/main.rs": main}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    own = {"command": command("rust-analyzer"), "env": environment(folder, "rust-analyzer")}
    return lspkit.Workspace(folder, config={"lsp": {"rust-analyzer": own}}, trusted=True)


def test_rust_analyzer_has_no_verdict_while_the_build_script_fails(tmp_path: Path):
    with built_project(tmp_path, BUILD, "bad", "fn main() {}\n") as ws:
        failing = ws.check("src/main.rs")
        (tmp_path / "input.txt").write_text("good", encoding="utf-8")
        ws.check("src/main.rs")  # by this run of cargo it finds out
        mended = ws.check("src/main.rs")
    assert (failing.verdict.value, mended.verdict.value) == ("unknown", "clean")
    assert "cargo check failed" in failing.why


def test_rust_analyzer_checks_with_the_source_that_its_own_run_of_cargo_has_written(tmp_path: Path):
    seen: list[tuple[str, set[str]]] = []
    with built_project(tmp_path, GENERATE, GOOD_INPUT, MAIN) as ws:
        first = ws.check("src/main.rs")
        for text in (BAD_INPUT, GOOD_INPUT) * 3:
            (tmp_path / "input.txt").write_text(text, encoding="utf-8")
            report = ws.check("src/main.rs")
            errors = [one for one in report.diagnostics if one.severity == "error"]
            seen.append((report.verdict.value, {one.source or "" for one in errors}))
    assert first.verdict.value == "clean", first.why
    # Both sources see the error: the compiler, and the server itself.
    assert seen == [("dirty", {"rustc", "rust-analyzer"}), ("clean", set())] * 3
