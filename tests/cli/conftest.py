"""A command line with the embedded server, one without any server, and a project for both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import CommandLine, is_there

RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
WRONG = 'text: str = "a"\nnumber: int = "😀" + text\n'


@pytest.fixture(scope="session")
def with_ty(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    if not is_there("ty"):
        pytest.skip("the embedded server is not installed: pip install 'lspkit[python]'")
    return CommandLine(tmp_path_factory.mktemp("with-ty"), "ty")


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """No server at all."""
    return CommandLine(tmp_path_factory.mktemp("bare"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\n', encoding="utf-8")
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    return tmp_path
