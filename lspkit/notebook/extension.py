"""What is registered in IPython, and how it is taken back."""

from __future__ import annotations

import sys
from typing import Any

from lspkit.notebook.formatters import register_formatters
from lspkit.notebook.magic.lsp_magic import LspMagic
from lspkit.notebook.open_workspaces import opened
from lspkit.workspace_hooks import opened_hooks

#: The name under which the magic keeps its state in the shell.
_STATE = "_lspkit_magic"


def enable() -> None:
    """Show results as tables, and the start of servers, if IPython runs this process."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = ask() if ask is not None else None
    if shell is not None:
        _enable_in(shell)


def _enable_in(shell: Any) -> None:
    register_formatters(shell)
    if opened not in opened_hooks:
        opened_hooks.append(opened)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext lspkit`: add the magic `%lsp`."""
    _enable_in(shell)
    if getattr(shell, _STATE, None) is None:
        magic = LspMagic(shell)
        setattr(shell, _STATE, magic)
        shell.events.register("post_run_cell", magic.cells.cell_was_run)
        shell.register_magic_function(magic.run, "line_cell", "lsp")


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext lspkit`: remove the magic, and close the workspace that it has opened."""
    magic = getattr(shell, _STATE, None)
    if magic is None:
        return
    setattr(shell, _STATE, None)
    shell.events.unregister("post_run_cell", magic.cells.cell_was_run)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("lsp", None)
    magic.close()
