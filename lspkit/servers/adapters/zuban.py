"""zuban: keeps to a module that it has found when a stub or a package takes its place."""

from __future__ import annotations

import os
from collections.abc import Callable

from lspkit.protocol.watching.registrations import CHANGED
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import is_inside


class Zuban(Adapter):
    """See above."""

    def restart_rule(self, definition: Definition, root: str) -> Callable[[str, int], bool]:
        """A new process resolves imports again."""

        def needs_restart(path: str, kind: int) -> bool:
            name = os.path.basename(path)
            decides = name == "__init__.py" or name.endswith(".pyi")
            return decides and kind != CHANGED and is_inside(path, root)

        return needs_restart
