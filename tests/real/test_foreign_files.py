"""What servers write into a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.servers.built_in import BUILT_IN
from tests.real.running import command, workspace
from tests.real_servers import require

pytestmark = [pytest.mark.server, pytest.mark.slow]

POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>example</artifactId>
  <version>1</version>
</project>
"""


def test_jdtls_writes_nothing_into_a_maven_project_but_the_output_of_the_build(tmp_path: Path):
    require("jdtls")
    [definition] = [one for one in BUILT_IN if one.id == "jdtls"]
    project = tmp_path / "project"
    (project / "src/main/java").mkdir(parents=True)
    (project / "pom.xml").write_text(POM, encoding="utf-8")
    (project / "src/main/java/Main.java").write_text("class Main { int x = true; }\n")
    argv = [*command("jdtls", ()), *definition.launch.commands[0][1:]]
    with workspace(project, "jdtls", argv=argv) as ws:
        assert ws.check("src/main/java/Main.java", timeout=100).verdict.dirty
    assert {path.name for path in project.iterdir()} - {"target"} == {"pom.xml", "src"}
