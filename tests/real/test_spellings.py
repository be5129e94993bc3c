"""Folders whose names servers write in URIs otherwise than lspkit does."""

from __future__ import annotations

import pytest

import lspkit
from tests import real_servers
from tests.real.running import TIMING

pytestmark = pytest.mark.server

#: By server: a file with one error that it finds.
BROKEN = {
    "gopls": ("main.go", "package main\n\nfunc main() { missing() }\n"),
    "pyrefly": ("main.py", "def main() -> None: missing()\n"),
    "clangd": ("main.cpp", "int main() { return missing(); }\n"),
}
#: What makes a folder a project of theirs.
MANIFESTS = {
    "go.mod": "module example.org/x\n\ngo 1.20\n",
    "pyrefly.toml": "",
    "compile_flags.txt": "",
}


@pytest.mark.parametrize("folder", ["c++", "@scope", "pkg@v2", "a+b@c!(d) é"])
@pytest.mark.parametrize("server", BROKEN)
def test_what_a_server_finds_is_found_in_a_folder_with_any_name(tmp_path, server, folder):
    real_servers.require(server)
    root = tmp_path / folder
    root.mkdir()
    name, text = BROKEN[server]
    for manifest, content in MANIFESTS.items():
        (root / manifest).write_text(content, encoding="utf-8")
    (root / name).write_text(text, encoding="utf-8")
    said = {"command": real_servers.command(server), "env": real_servers.environment(server)}
    config = {"lsp": {server: said, "ruff": {"disabled": True}}, "timing": TIMING}
    with lspkit.Workspace(root, config=config) as ws:
        report = ws.check(name, timeout=60.0)
        known = ws.diagnostics(name)
        found = ws.definition(name, symbol="main", timeout=60.0)
    assert report.verdict.dirty, str(report)
    assert list(known) == [root / name]
    assert {place.path for place in found} == {root / name}
