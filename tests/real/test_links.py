"""What is read by way of a link inside of the project is as fresh as what is read by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace, workspace_with

pytestmark = [pytest.mark.server, pytest.mark.slow]

PYTHON = ["ty", "pyright", "basedpyright", "pyrefly"]
SCRIPTS = ["typescript", "vtsls", "typescript-7"]
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


def python_project(folder: Path) -> Path:
    """A project, beside two versions of a package; it has a link to the good one."""
    for name, text in (("good", RIGHT), ("bad", WRONG)):
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
        (folder / name / "part.py").write_text(text)
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "linked").symlink_to("../good")
    (project / "user.py").write_text("from linked.part import f\ny: int = f()\n")
    return project


def script_project(folder: Path) -> Path:
    """The same for TypeScript."""
    for name, value in (("good", "1"), ("bad", '"one"')):
        (folder / name).mkdir()
        (folder / name / "part.ts").write_text(f"export const f = {value};\n")
    project = folder / "project"
    project.mkdir()
    (project / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}}')
    (project / "linked").symlink_to("../good")
    (project / "user.ts").write_text(
        'import { f } from "./linked/part";\nexport const y: number = f;\n'
    )
    return project


@pytest.mark.parametrize("server", [*PYTHON, *SCRIPTS])
def test_a_link_that_is_pointed_elsewhere_is_followed(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    scripts = server in SCRIPTS
    project = (script_project if scripts else python_project)(tmp_path)
    user = "user.ts" if scripts else "user.py"
    found = []
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        for target in ("good", "bad", "good", "bad"):
            (project / "new").symlink_to(f"../{target}")
            (project / "new").replace(project / "linked")
            found.append(ws.check(user, timeout=60).verdict.value)
    assert found == ["clean", "dirty"] * 2


@pytest.mark.parametrize("server", PYTHON)
def test_a_file_that_is_written_by_a_name_outside_is_read_again(
    server: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    project = python_project(tmp_path)
    (project / "linked").unlink()
    (project / "linked").mkdir()
    (project / "linked/__init__.py").touch()
    (project / "linked/part.py").hardlink_to(tmp_path / "good/part.py")
    found = []
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        for text in (RIGHT, WRONG, RIGHT):
            (tmp_path / "good/part.py").write_text(text)
            found.append(ws.check("user.py", timeout=60).verdict.value)
    assert found == ["clean", "dirty", "clean"]


@pytest.mark.parametrize("kind", ["link", "link of its folder", "not UTF-8"])
@pytest.mark.parametrize("server", ["ty", "pyright", "typescript", "typescript-7"])
def test_an_open_file_that_is_no_longer_a_text_of_its_own(
    server: str, kind: str, tmp_path: Path
) -> None:
    """The server goes by what is on disk, not by the text that it was shown last."""
    real_servers.require(server)
    name = "common.py" if server in PYTHON else "common.ts"
    texts = {
        "common.py": ("K: int = 1\n", "K: str = ''\n", "from shared.common import K\nx: int = K\n"),
        "common.ts": (
            "export const K: number = 1;\n",
            "export const K: string = '';\n",
            'import { K } from "./shared/common";\nexport const x: number = K;\n',
        ),
    }
    right, wrong, use = texts[name]
    for folder, text in (("shared", right), ("other", wrong)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}')
    user, path = tmp_path / f"user{Path(name).suffix}", tmp_path / "shared" / name
    user.write_text(use)
    with workspace(tmp_path, server, argv=real_servers.command(server)) as ws:
        assert ws.check(path, timeout=60).verdict.clean  # it stays open
        assert ws.check(user, timeout=60).verdict.clean
        if kind == "not UTF-8":
            path.write_bytes(
                wrong.encode().rstrip()
                + b"  # \xe9\n".replace(b"#", b"//" if name.endswith("ts") else b"#")
            )
        else:
            path.unlink()
        if kind == "link":
            path.symlink_to(f"../other/{name}")
        elif kind == "link of its folder":
            path.parent.rmdir()
            path.parent.symlink_to("other")
        assert ws.check(user, timeout=60).verdict.dirty
