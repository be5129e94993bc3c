"""Projects that lie right below the top of the file system, as they do in containers.

Some servers watch nothing there, so that nobody makes them watch a whole home directory: a module
that comes or goes has to be brought to their notice in another way.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace_with

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.skipif(
        len(Path(tempfile.gettempdir()).parts) != 2,
        reason="the folder for temporary files does not lie at the top",
    ),
]

USER = 'import { made } from "./made";\nexport const count: number = made;\n'


@pytest.fixture
def project() -> Iterator[Path]:
    above = Path(tempfile.mkdtemp(prefix="near-the-top-"))
    (above / "package.json").write_text("{}")
    options = '"strict": true, "types": [], "module": "esnext", "moduleResolution": "bundler"'
    (above / "tsconfig.json").write_text(f'{{"compilerOptions": {{{options}}}}}')
    (above / "node_modules").symlink_to(real_servers.NODE_MODULES)
    yield above
    shutil.rmtree(above)
    shutil.rmtree(above.with_name(above.name + "-tmp"), ignore_errors=True)


@pytest.mark.parametrize("server", ["typescript", "vtsls", "typescript-7"])
def test_a_module_that_comes_and_goes_is_seen(server: str, project: Path) -> None:
    real_servers.require(server)
    (project / "user.ts").write_text(USER)
    made, verdicts = project / "made.ts", []
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        for step in ("", "number = 1", "", "number = 1", "string = ''", "number = 1"):
            if step:
                made.write_text(f"export const made: {step};\n")
            else:
                made.unlink(missing_ok=True)
            verdicts.append(ws.check("user.ts", timeout=60).verdict.value)
    assert verdicts == ["dirty", "clean", "dirty", "clean", "dirty", "clean"]
