"""A user with folders, a list of trusted projects, and a file of settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lspkit.config.model import SecurityConfig
from lspkit.config.trust.decision import TrustDecision, trust_of
from lspkit.config.trust.key_gate import EXECUTION_KEYS, digest
from lspkit.config.trust.trust_store import add

posix = pytest.mark.skipif(os.name != "posix", reason="about owners and permissions of POSIX")
root_only = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
)

PROJECT = {"lsp": {"pyright": {"command": ["./server"]}}}
CHANGED = {"lsp": {"pyright": {"command": ["./server", "--more"]}}}


class World:
    """A user with folders, a list of trusted projects, and a file of settings."""

    def __init__(self, folder: Path) -> None:
        self.home = folder.resolve() / "home"
        self.home.mkdir()
        self.environ = {"HOME": str(self.home), "LSPKIT_STATE": str(self.home / "state")}

    def folder(self, name: str) -> Path:
        made = self.home / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def repository(self, name: str) -> Path:
        made = self.folder(name)
        (made / ".git").mkdir()
        return made

    def config(self, folder: Path, name: str = ".lspkit/lsp.json") -> str:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
        return str(file)

    def trust(self, folder: Path, project: dict[str, Any], *, shared: bool = False) -> None:
        content = digest(project, EXECUTION_KEYS)
        add(self.environ["LSPKIT_STATE"], str(folder), content, shared=shared)

    def asked(
        self,
        root: Path,
        *roots: str | Path,
        file: str | None = None,
        project: dict[str, Any] | None = None,
        policy: Any = "trusted-only",
        override: bool | None = None,
        **environ: str,
    ) -> TrustDecision:
        security = SecurityConfig(policy, tuple(map(str, roots)))
        said = PROJECT if project is None else project
        return trust_of(file, str(root), said, security, {**self.environ, **environ}, override)
