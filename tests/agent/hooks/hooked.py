"""A folder that an agent works in, with its hooks, and the words that they append."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
from lspkit.agent.hooks.summary import Summary
from lspkit.testing import Diagnostics, Script
from tests.scripted import config_for

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
OPEN = "textDocument/didOpen"
PULLED = Script(diagnostics=Diagnostics(how="pull"))
NONE = Diagnostics(how="none")
SAID = "Wrote the file.\n  Really."


class Project:
    """A folder that an agent works in."""

    def __init__(self, folder: Path, ws: lspkit.Workspace, summary: Summary | None = None) -> None:
        self.folder = folder
        self.ws = ws
        self.hooks = EditHooks(ws, summary=summary)

    def write(self, name: str, text: str, tool: str = "edit", **more: Any) -> str:
        """What the model sees after this edit."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.hooks.tool_result(tool, {"path": name}, SAID, **more)


@contextmanager
def project(
    folder: Path, argv: list[str], summary: Summary | None = None, **config: Any
) -> Iterator[Project]:
    with lspkit.Workspace(folder, config={**config_for(argv), **config}) as ws:
        yield Project(folder, ws, summary)


def block(name: str, *lines: str) -> str:
    return "\n".join([f'<diagnostics file="{name}">', *lines, "</diagnostics>"])


def appended(*parts: str) -> str:
    return "\n".join([f"{SAID}\n\nThe edit was applied. {parts[0]}", *parts[1:]])


HERE = "LSP errors detected in this file, please fix:"
ELSEWHERE = "LSP errors detected in other files:"
STILL = "LSP errors from your earlier edits that are still there:"


def late(*names: str) -> str:
    """The line about files that no server has checked in time."""
    return f"Could not be checked in time: <files>{', '.join(names)}</files>"
