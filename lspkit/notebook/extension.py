"""What is registered in IPython, and how it is taken back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lspkit.notebook.lsp_magic import LspMagic
from lspkit.notebook.open_workspaces import opened, source_line
from lspkit.notebook.rendering import html_of, markdown_of
from lspkit.workspace.workspace import opened_hooks

#: Module and name of the base class of all values.
VALUE = ("lspkit.types", "Value")
#: Set on our formatters, to know them again.
_OURS = "_lspkit"


def register_formatters(shell: Any) -> None:
    """Register what IPython asks for the HTML and Markdown of a value, once.

    They are registered for the base class of all values by its name, and for `list` and `dict`,
    since most results are lists. A list of anything else is left to the formatter that was there
    before.
    """
    formatters = shell.display_formatter.formatters
    html = formatters["text/html"]
    html.for_type_by_name(*VALUE, _html)
    formatters["text/markdown"].for_type_by_name(*VALUE, _markdown)
    for kind in (list, dict):
        try:
            before = html.lookup_by_type(kind)
        except KeyError:
            before = None
        if not hasattr(before, _OURS):
            html.for_type(kind, _container_formatter(before))


def _container_formatter(before: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    def format_container(value: Any) -> Any:
        if _may_be_ours(value):
            shown = _html(value)
            if shown is not None:
                return shown
        return before(value) if before is not None else None

    setattr(format_container, _OURS, True)
    return format_container


def _may_be_ours(value: list[Any] | dict[Any, Any]) -> bool:
    """Whether the first item is a value of lspkit, or the first list of a mapping has one."""
    items = value.values() if isinstance(value, dict) else value
    for item in items:
        if isinstance(item, list) and isinstance(value, dict):
            if not item:
                continue
            return _is_ours(item[0])
        return _is_ours(item)
    return False


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith("lspkit.")


def _html(value: Any) -> str | None:
    return html_of(value, source_line)


def _markdown(value: Any) -> str | None:
    return markdown_of(value)


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
