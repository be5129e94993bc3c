"""Build scripts: a failing one keeps cargo from checking, and one that succeeds writes sources."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests.real.running import environment
from tests.real_servers import command, require

pytestmark = pytest.mark.server

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
GOOD, BAD = "pub fn made() -> i32 { 1 }\n", "pub fn made() -> String { String::new() }\n"


def project(folder: Path, build: str, given: str, main: str) -> lspkit.Workspace:
    """A package with a build script that reads `input.txt`."""
    require("rust-analyzer")
    (folder / "src").mkdir()
    texts = {"Cargo.toml": MANIFEST, "build.rs": build, "input.txt": given, "src/main.rs": main}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    own = {"command": command("rust-analyzer"), "env": environment(folder, "rust-analyzer")}
    return lspkit.Workspace(folder, config={"lsp": {"rust-analyzer": own}}, trusted=True)


def test_rust_analyzer_has_no_verdict_while_the_build_script_fails(tmp_path: Path):
    with project(tmp_path, BUILD, "bad", "fn main() {}\n") as ws:
        failing = ws.check("src/main.rs")
        (tmp_path / "input.txt").write_text("good", encoding="utf-8")
        ws.check("src/main.rs")  # by this run of cargo it finds out
        mended = ws.check("src/main.rs")
    assert (failing.verdict.value, mended.verdict.value) == ("unknown", "clean")
    assert "cargo check failed" in failing.why


def test_rust_analyzer_checks_with_the_source_that_its_own_run_of_cargo_has_written(tmp_path: Path):
    seen: list[tuple[str, set[str]]] = []
    with project(tmp_path, GENERATE, GOOD, MAIN) as ws:
        first = ws.check("src/main.rs")
        for text in (BAD, GOOD) * 3:
            (tmp_path / "input.txt").write_text(text, encoding="utf-8")
            report = ws.check("src/main.rs")
            errors = [one for one in report.diagnostics if one.severity == "error"]
            seen.append((report.verdict.value, {one.source or "" for one in errors}))
    assert first.verdict.value == "clean", first.why
    # Both sources see the error: the compiler, and the server itself.
    assert seen == [("dirty", {"rustc", "rust-analyzer"}), ("clean", set())] * 3
