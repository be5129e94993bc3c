"""A package that another process puts in the place of an installed one, as the next check sees it.

What package managers do: the old folder is removed or renamed, and another one moved in or copied.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lspkit import Verdict
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY

#: In the project; the next package is beside it.
ACTS = (
    "rm -r node_modules/pk; mv ../next node_modules/pk",
    "rm -r node_modules/pk; cp -r ../next node_modules/pk; rm -r ../next",
    "mv node_modules/pk node_modules/.old; mv ../next node_modules/pk; rm -r node_modules/.old",
    "cp -r ../next/. node_modules/pk; rm -r ../next",
)


def make_package(folder: Path, types: str, returned: str) -> None:
    """A package with a function that returns this type, declared in this file."""
    (folder / types).parent.mkdir(parents=True)
    about = {"name": "pk", "version": "1.0.0", "types": types}
    (folder / "package.json").write_text(json.dumps(about), encoding="utf-8")
    text = f"export declare function f(): {returned};\n"
    (folder / types).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("server", "types"),
    [
        ("typescript-7", "index.d.ts"),
        ("typescript-7", "dist/types/index.d.ts"),
        pytest.param("typescript", "dist/types/index.d.ts", marks=pytest.mark.slow),
        pytest.param("vtsls", "dist/types/index.d.ts", marks=pytest.mark.slow),
    ],
)
def test_the_next_check_goes_by_the_package_that_is_there(
    server: str, types: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    project = tmp_path / "project"
    make_package(project / "node_modules" / "pk", types, "number")
    (project / "package.json").write_text("{}", encoding="utf-8")
    (project / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}', encoding="utf-8")
    importer = "import { f } from 'pk';\nexport const x: number = f();\n"
    (project / "main.ts").write_text(importer, encoding="utf-8")
    found = {}
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        assert ws.check("main.ts", timeout=TIMEOUT).verdict is CLEAN
        for act in ACTS:
            found[act] = []
            for returned in ("string", "number"):
                make_package(tmp_path / "next", types, returned)
                subprocess.run(["sh", "-ec", act], cwd=project, check=True, timeout=TIMEOUT)
                found[act].append(ws.check("main.ts", timeout=TIMEOUT).verdict)
    assert found == {act: [DIRTY, CLEAN] for act in ACTS}
