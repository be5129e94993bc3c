"""What is read by way of a link inside of the project is as fresh as what is read by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

RIGHT, WRONG = "def f() -> int: return 1\n", 'def f() -> str: return ""\n'


@pytest.mark.parametrize("server", ["ty", "pyright", "basedpyright"])
def test_a_module_behind_a_link_is_seen_when_it_changes(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    project = tmp_path / "project"
    for folder in ("app", "shared", "package"):
        (project / folder).mkdir(parents=True)
    (project / "pyproject.toml").touch()
    (project / "app" / "common.py").symlink_to("../shared/common.py")
    (project / "linked").symlink_to("package")
    (project / "app" / "main.py").write_text("from app.common import f\nx: int = f()\n")
    (project / "user.py").write_text("from linked.part import f\ny: int = f()\n")
    files = {"app/main.py": "shared/common.py", "user.py": "package/part.py"}
    for target in files.values():
        (project / target).write_text(RIGHT)
    with workspace(project, server) as ws:
        for user, target in files.items():
            assert ws.check(user, timeout=60).verdict.clean
            (project / target).write_text(WRONG)
            assert ws.check(user, timeout=60).verdict.dirty
            (project / target).write_text(RIGHT)
            assert ws.check(user, timeout=60).verdict.clean
        ws.write("app/common.py", WRONG)
        assert ws.check("app/main.py", timeout=60).verdict.dirty
    assert (project / "app" / "common.py").is_symlink()
