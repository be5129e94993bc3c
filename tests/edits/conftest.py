"""Workspaces for the tests of changes, each beside a folder that it may not touch."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.edits import directory
from lspkit.workspace_boundary import Boundary, boundary_of


@pytest.fixture
def full_root(tmp_path) -> Path:
    """A workspace with some of everything, beside a folder that begins with the same letters."""
    root = tmp_path / "work"
    for name, content, mode in (
        ("a.py", "name = 'Ä🙂'\nname\n", 0o644),
        ("run.sh", "name\r\nname", 0o755),
        ("pkg/b.py", "\ufeffname\r\nname\n", 0o640),
        ("pkg/inner/c.py", "name", 0o600),
        ("old/d.py", "name\n", 0o644),
        ("old/sub/e.bin", "\0\1", 0o444),
        ("lib/dep.js", "name\n", 0o644),
        (".git/config", "name\n", 0o644),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        path.chmod(mode)
    (root / "old" / "link").symlink_to("../a.py")
    (root / "old" / "sub").chmod(0o750)
    (tmp_path / "work2").mkdir()
    (tmp_path / "work2" / "x.py").write_bytes(b"name\n")
    return root


@pytest.fixture
def full_boundary(full_root) -> Boundary:
    return boundary_of(str(full_root), exclude=("**/.git/**", "lib/**"))


@pytest.fixture
def small_root(tmp_path) -> Path:
    """A workspace beside a folder that begins with the same letters."""
    root = tmp_path / "work"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "node_modules").mkdir()
    (root / "a.py").write_bytes(b"one\r\n")
    (root / "sub" / "b.py").write_bytes(b"two\n")
    (tmp_path / "work2").mkdir()
    (tmp_path / "work2" / "c.py").write_bytes(b"three\n")
    return root


@pytest.fixture
def small_boundary(small_root) -> Boundary:
    return boundary_of(str(small_root), exclude=("**/node_modules/**",))


@pytest.fixture(params=["by descriptor", "by path"])
def by_descriptor(request, monkeypatch) -> bool:
    """All holds by descriptors, and on systems that have none."""
    chosen = request.param == "by descriptor"
    monkeypatch.setattr(directory, "BY_DESCRIPTOR", chosen)
    return chosen
