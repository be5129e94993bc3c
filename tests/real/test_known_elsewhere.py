"""What a server has reported about other files is told, and never contradicted."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from lspkit.agent.tools.toolbox import Toolbox
from tests import real_servers
from tests.real.running import TIMING
from tests.real.test_broken_elsewhere import GO, TIMEOUT, scene, shown
from tests.real.test_complete_answers import write

pytestmark = [
    pytest.mark.server,
    pytest.mark.timeout(300),  # the first run of cargo check, on a busy machine
]
#: Seconds for the first check.
FIRST = 200.0

RUST = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/main.rs": "mod old;\n\nfn main() {\n    old::g();\n}\n",
    "src/old.rs": 'pub fn g() {\n    let _y: i32 = "a";\n}\n',
}
#: The files, one in order, and one with an error that nobody opens.
KNOWN = {
    "gopls": (GO.files, "main.go", "old/old.go"),
    "rust-analyzer": (RUST, "src/main.rs", "src/old.rs"),
}


@pytest.mark.parametrize("server", KNOWN)
def test_no_other_file_is_clean_that_a_server_has_errors_in(tmp_path: Path, server: str) -> None:
    real_servers.require(server)
    files, clean, broken = KNOWN[server]
    folder = tmp_path / "project"
    write(folder, files)
    (tmp_path / "tmp").mkdir()
    said = {
        "command": real_servers.command(server),
        "env": {**real_servers.environment(server), "TMPDIR": str(tmp_path / "tmp")},
        "disabled": False,
    }
    config = {"lsp": {server: said}, "timing": TIMING}
    with lspkit.Workspace(folder, config=config, trusted=True) as ws:
        report = ws.check(clean, scope="project", timeout=FIRST)
        assert folder / broken in ws.diagnostics()
        assert report.verdict.dirty
        assert report.other_files.verdict.dirty
        assert list(report.other_files.diagnostics) == [folder / broken]
        assert "no errors" not in str(report).splitlines()[-1]


def test_a_header_that_is_written_is_told_of_at_once_and_not_when_it_is_mended(
    tmp_path: Path,
) -> None:
    with scene(tmp_path, "clangd") as here:
        project = here.project
        path = here.folder / project.path
        good = path.read_text(encoding="utf-8")
        for _ in range(3):
            path.write_text(good.replace(project.old, project.new), encoding="utf-8")
            arguments = {"path": project.path}
            told = here.hooks.tool_result("write_file", arguments, "Wrote.", timeout=TIMEOUT)
            assert sorted(shown(told)) == [project.user, project.broken], told
            path.write_text(good, encoding="utf-8")
            told = here.hooks.tool_result("write_file", arguments, "Wrote.", timeout=TIMEOUT)
            assert told == "Wrote."


@pytest.mark.parametrize("server", ["ty", "typescript"])
def test_a_tool_says_which_files_its_list_is_about(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        tools = Toolbox(here.ws)
        clean = tools.execute("lsp_diagnostics", {"filePath": here.project.path}, timeout=TIMEOUT)
        assert clean == f"{here.project.path}: no errors"
        tools.execute("lsp_diagnostics", {"filePath": here.project.broken}, timeout=TIMEOUT)
        known = tools.execute("lsp_diagnostics", {}, timeout=TIMEOUT)
        assert here.project.broken in known
        assert "checked so far" in known, known
