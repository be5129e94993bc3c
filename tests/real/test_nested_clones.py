"""Trust ends at the edge of a repository, for every file of it, whatever the root of its server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lspkit
from lspkit.errors import ServerUnavailableError
from tests import real_servers
from tests.real.planting import Planted

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A user, a repository that is trusted, and somebody else's clone in it."""
    made = Planted(tmp_path)
    monkeypatch.delenv("LSPKIT_TRUST")
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    made.write(".git/HEAD", "")
    made.write("clone/.git/HEAD", "")
    return made


def trust(planted: Planted, server: str) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server, security={"trustedProjectRoots": [str(planted.project)]})


def database(planted: Planted, folder: Path) -> str:
    tool = planted.program(f"{folder.relative_to(planted.project)}/bin/offload-arch")
    arguments = ["clang++", "-DFROM_DATABASE", "-fopenmp", "--offload-arch=native"]
    arguments += [f"--offload-arch-tool={tool}", "-c", "main.cpp"]
    return json.dumps([{"directory": str(folder), "file": "main.cpp", "arguments": arguments}])


SOURCE = "#ifndef FROM_DATABASE\n#error no database\n#endif\nint area() { return missing; }\n"


def test_clangd_does_not_follow_the_database_of_a_clone_in_a_trusted_repository(
    planted: Planted,
) -> None:
    trust(planted, "clangd")
    clone = planted.project / "clone"
    planted.write("compile_commands.json", "[]")
    planted.write("clone/build/compile_commands.json", database(planted, clone))
    planted.write("main.cpp", "int one;\n")
    planted.write("clone/src/main.cpp", SOURCE)
    with lspkit.Workspace(planted.project) as ws:
        assert ws.check("main.cpp", timeout=TIMEOUT).verdict == "clean"
        report = ws.check("clone/src/main.cpp", timeout=TIMEOUT)
        assert any("missing" in one.message for one in report.diagnostics)
        assert planted.ran == []
        roots = {one.root for row in ws.status().rows for one in row.roots}
    assert roots == {str(planted.project), str(clone)}


def test_svelte_does_not_run_the_configuration_of_a_clone_in_a_trusted_workspace(
    planted: Planted,
) -> None:
    trust(planted, "svelte")
    planted.write("pnpm-workspace.yaml", "packages: []\n")
    planted.write("clone/svelte.config.js", planted.javascript("svelte.config.js"))
    planted.write("clone/package.json", "{}")
    planted.write("clone/main.svelte", "<p>hello</p>\n")
    with lspkit.Workspace(planted.project) as ws:
        with pytest.raises(ServerUnavailableError, match="held back") as caught:
            ws.document_symbols("clone/main.svelte", timeout=TIMEOUT)
        assert f"lspkit trust add {planted.project}/clone" in caught.value.message
    assert planted.ran == []
