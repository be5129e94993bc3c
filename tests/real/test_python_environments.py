"""A virtual environment that another process creates or removes while the workspace is open.

As `uv venv` and an installation do: the next check has to use its packages, and none of them when
it is gone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lspkit
from lspkit import Verdict
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import TIMING, environment

pytestmark = pytest.mark.server

CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)


def make_project(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    text = "from zpkg import VALUE\n\nprint(VALUE)\n"
    (folder / "main.py").write_text(text, encoding="utf-8")


def make_environment(folder: Path) -> None:
    """An environment with the package that is imported."""
    argv = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(argv, check=True, timeout=TIMEOUT)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "zpkg").mkdir()
    (packages / "zpkg" / "__init__.py").write_text("VALUE = 1\n", encoding="utf-8")
    (packages / "zpkg" / "py.typed").touch()


def open_workspace(
    folder: Path, server: str, *, trusted: bool = True, **variables: str
) -> lspkit.Workspace:
    real_servers.require(server)
    own = {
        "command": real_servers.command(server),
        "env": {**environment(folder, server), **variables},
        "disabled": False,
    }
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    config = {"lsp": {**others, server: own}, "timing": TIMING}
    return lspkit.Workspace(folder, config=config, trusted=trusted)


def verdict_and_reason(ws: lspkit.Workspace) -> tuple[Verdict, bool]:
    """The verdict, and whether its evidence says that the project has an environment."""
    report = ws.check("main.py", timeout=TIMEOUT)
    [evidence] = report.servers
    assert evidence.interpreter is not None
    why = evidence.interpreter.why
    return report.verdict, "in the project" in why or os.path.join(".venv", "bin") in why


@pytest.mark.parametrize(
    ("server", "trusted"),
    [
        ("pyright", True),
        ("pyright", False),
        ("basedpyright", True),
        ("basedpyright", False),
        ("pyrefly", True),
        ("ty", True),
        ("zuban", True),
    ],
)
def test_the_next_check_uses_an_environment_as_long_as_it_exists(
    server: str, trusted: bool, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    make_project(project)
    with open_workspace(project, server, trusted=trusted) as ws:
        found = [verdict_and_reason(ws)]
        make_environment(project / ".venv")
        found.append(verdict_and_reason(ws))
        shutil.rmtree(project / ".venv")
        found.append(verdict_and_reason(ws))
    assert found == [(DIRTY, False), (CLEAN, True), (DIRTY, False)]


def test_a_restart_uses_an_environment_that_is_new(tmp_path: Path) -> None:
    project = tmp_path / "project"
    make_project(project)
    with open_workspace(project, "pyright") as ws:
        assert verdict_and_reason(ws) == (DIRTY, False)
        make_environment(project / "venv")
        ws.restart("pyright", timeout=TIMEOUT)
        assert verdict_and_reason(ws) == (CLEAN, True)


def test_an_interpreter_that_comes_last_counts(tmp_path: Path) -> None:
    """It is the last file of a new environment that is written."""
    project = tmp_path / "project"
    make_project(project)
    make_environment(project / ".venv")
    python = project / ".venv" / "bin" / "python"
    python.rename(python.with_name("later"))
    with open_workspace(project, "pyrefly") as ws:
        assert verdict_and_reason(ws) == (DIRTY, False)
        python.with_name("later").rename(python)
        assert verdict_and_reason(ws) == (CLEAN, True)


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_environment_that_a_variable_names_may_be_created_later(
    variable: str, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    make_project(project)
    with open_workspace(project, "pyrefly", **{variable: str(project / "env")}) as ws:
        assert ws.check("main.py", timeout=TIMEOUT).verdict is DIRTY
        make_environment(project / "env")
        assert ws.check("main.py", timeout=TIMEOUT).verdict is CLEAN


def test_pyrefly_uses_an_environment_above_its_root(tmp_path: Path) -> None:
    """As a workspace of uv has it, for all its packages."""
    make_project(tmp_path / "project" / "package")
    with open_workspace(tmp_path / "project", "pyrefly") as ws:
        assert ws.check("package/main.py", timeout=TIMEOUT).verdict is DIRTY
        make_environment(tmp_path / "project" / ".venv")
        assert ws.check("package/main.py", timeout=TIMEOUT).verdict is CLEAN
