"""A user with a home, and a project in it: real files, and nothing of this machine's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lspkit.config.load import Loaded, load

DATA = Path(__file__).resolve().parent.parent / "data" / "config"


class Scene:
    """Writes files and loads what they say."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / "project"
        self.root.mkdir(parents=True)
        self.environ = {"HOME": str(self.home)}

    @property
    def global_file(self) -> Path:
        return self.home / ".config" / "lspkit" / "lsp.json"

    def write(self, file: Path, content: Any) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        file.write_text(text, encoding="utf-8")
        return file

    def say(self, content: Any) -> Path:
        """What the user's own file says."""
        return self.write(self.global_file, content)

    def project(self, content: Any, name: str = ".lspkit/lsp.json") -> Path:
        """What a file of the project says."""
        return self.write(self.root / name, content)

    def sample(self, sample: str, name: str) -> Path:
        return self.project((DATA / sample).read_text(encoding="utf-8"), name)

    def load(self, given: Any = None, **more: Any) -> Loaded:
        more.setdefault("trusted", True)
        return load(str(self.root), given, environ=self.environ, **more)

    def warnings(self, **more: Any) -> list[str]:
        return [str(one) for one in self.load(**more).warnings]
