"""The bare loop that has many files under way: all changes, then all questions, then all answers.

What it needs is the server's own time, which no client can go below. It tells and asks what lspkit
does, and stops at the first sign that the server has looked at each file (`overlap_floor.py`).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.overlap_floor import PATIENCE, PULL, Floor
from lspkit.diagnostics.tsserver import COMMANDS, request


class AllAtOnce(Floor):
    """One server, any number of documents."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._versions: dict[Path, int] = {}
        self._ids = 1_000_000

    def edit_all(self, paths: list[Path], texts: list[str], language: str) -> float:
        """Milliseconds from the last write to the last answer."""
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        began, before = time.perf_counter(), self._pushed
        for path, text in zip(paths, texts, strict=True):
            self._tell(path, text, language)
        asked: set[int] = set()
        for path in paths:
            for method, params in self._questions(path):
                self._ids += 1
                asked.add(self._ids)
                self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        limit = time.monotonic() + PATIENCE
        awaited = set(paths) if self.stop in ("version", "push") else set()
        while asked or awaited:
            message = self.read(limit)
            if "method" in message:
                self.take(message)
                awaited = {path for path in awaited if not self._has_spoken(path, before)}
            else:
                asked.discard(message["id"])
        return (time.perf_counter() - began) * 1000

    def _tell(self, path: Path, text: str, language: str) -> None:
        version = self._versions[path] = self._versions.get(path, 0) + 1
        if version == 1:
            item = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
            self.notify("textDocument/didOpen", {"textDocument": item})
            return
        self.tell_of_change(path, version, text)

    def _has_spoken(self, path: Path, before: int) -> bool:
        version, _, number = self._pushes.get(path.as_uri(), (None, [], 0))
        if self.stop == "version" and self._versions[path] > 1:
            return (version or 0) >= self._versions[path]
        # A file that is opened may have been spoken of before.
        return number > before or (self._versions[path] == 1 and number > 0)

    def _questions(self, path: Path) -> list[tuple[str, Any]]:
        if self.stop == "tsserver":
            return [("workspace/executeCommand", request(one, str(path))) for one in COMMANDS]
        if self.stop == "pull":
            return [(PULL, {"textDocument": {"uri": path.as_uri()}, **self.identified})]
        return []
