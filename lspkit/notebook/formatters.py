"""The formatters that IPython asks for the HTML and Markdown of a value.

They are registered for the base class of all values by its name, and for `list` and `dict`, since
most results are lists. A list of anything else is left to the formatter that was there before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lspkit.notebook.open_workspaces import source_line
from lspkit.notebook.rendering import html_of, markdown_of

#: Module and name of the base class of all values.
VALUE = ("lspkit.types", "Value")
#: Set on our formatters, to know them again.
_OURS = "_lspkit"


def register_formatters(shell: Any) -> None:
    """Register them, once."""
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
    for one in items:
        if isinstance(one, list) and isinstance(value, dict):
            if not one:
                continue
            return _is_ours(one[0])
        return _is_ours(one)
    return False


def _is_ours(one: object) -> bool:
    return type(one).__module__.startswith("lspkit.")


def _html(value: Any) -> str | None:
    return html_of(value, source_line)


def _markdown(value: Any) -> str | None:
    return markdown_of(value)
