"""Opens the panel on a workspace. The application is imported when it is first shown."""

from __future__ import annotations

import importlib.util

from lspkit.workspace import Workspace

#: What to type where the extra is missing.
INSTALL = "pip install 'lspkit[panel]'"


def is_installed() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("textual") is not None


def run(ws: Workspace) -> None:
    """Show the panel in this terminal until the user leaves it, or the workspace is closed.

        with lspkit.connect(".") as ws:
            lspkit.panel.run(ws)

    The workspace stays open. Raises `ImportError` without the extra `panel`.
    """
    if not is_installed():
        raise ImportError(f"the panel needs an extra: {INSTALL}", name="textual")
    from lspkit.panel.panel_app import PanelApp  # here: `panel_of` works without the extra

    PanelApp(ws).run()
