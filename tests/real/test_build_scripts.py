"""A build script that fails keeps cargo from looking at anything: nothing is known then."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests.real.running import environment
from tests.real_servers import command, require

pytestmark = pytest.mark.server

BUILD = """fn main() {
    println!("cargo:rerun-if-changed=input.txt");
    assert_eq!(std::fs::read_to_string("input.txt").unwrap(), "good");
}
"""


def test_rust_analyzer_has_no_verdict_while_the_build_script_fails(tmp_path: Path):
    require("rust-analyzer")
    manifest = '[package]\nname = "built"\nversion = "0.1.0"\nedition = "2021"\n'
    (tmp_path / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (tmp_path / "build.rs").write_text(BUILD, encoding="utf-8")
    (tmp_path / "input.txt").write_text("bad", encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("fn main() {}\n", encoding="utf-8")
    env = environment(tmp_path, "rust-analyzer")
    own = {"command": command("rust-analyzer"), "env": env}
    with lspkit.Workspace(tmp_path, config={"lsp": {"rust-analyzer": own}}, trusted=True) as ws:
        failing = ws.check("src/main.rs")
        (tmp_path / "input.txt").write_text("good", encoding="utf-8")
        ws.check("src/main.rs")  # by this run of cargo it finds out
        mended = ws.check("src/main.rs")
    assert (failing.verdict.value, mended.verdict.value) == ("unknown", "clean")
    assert "cargo check failed" in failing.why
