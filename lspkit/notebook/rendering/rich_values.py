"""What a notebook shows for a value: HTML or Markdown, or None for plain text.

Pure functions of values; source lines come from a function that the caller gives. A rendering that
fails is None, so that the notebook shows the plain text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lspkit.diagnostics.report import Change, Report
from lspkit.edit_types import CodeAction, FileEdit, WorkspaceEdit
from lspkit.notebook.rendering.hover_markdown import hover_markdown
from lspkit.notebook.rendering.html_parts import Sources, line, muted, text
from lspkit.notebook.rendering.value_html import (
    actions_html,
    calls_html,
    change_html,
    diagnostics_html,
    edit_html,
    file_edit_html,
    items_html,
    known_diagnostics_html,
    locations_html,
    reports_html,
    servers_html,
    signatures_html,
    status_html,
    symbols_html,
)
from lspkit.servers.status import ServerStatus, WorkspaceStatus
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
    Hover,
    Location,
    SignatureHelp,
    Symbol,
    TypeItem,
    Value,
)

_log = logging.getLogger("lspkit.notebook")

#: How lists of one type are shown. A single value is shown as a list of one.
LISTS: dict[type, Callable[[Sequence[Any], Sources], str]] = {
    Location: locations_html,
    Diagnostic: diagnostics_html,
    Report: reports_html,
    Symbol: symbols_html,
    CallItem: items_html,
    TypeItem: items_html,
    Call: calls_html,
    CodeAction: actions_html,
    ServerStatus: servers_html,
}
#: How values that do not come in lists are shown.
SINGLE: dict[type, Callable[[Any, Sources], str]] = {
    WorkspaceEdit: edit_html,
    FileEdit: file_edit_html,
    Change: change_html,
    SignatureHelp: signatures_html,
    WorkspaceStatus: status_html,
}


def no_sources(path: Path, number: int) -> str:
    """No source lines are known."""
    return ""


def html_of(value: object, sources: Sources = no_sources) -> str | None:
    """A value, a list of values, or a result of `check_all` or `diagnostics`, as HTML."""
    try:
        if isinstance(value, list):
            return _list_html(value, sources)
        if isinstance(value, dict):
            return _mapping_html(value, sources)
        if type(value) in SINGLE:
            return SINGLE[type(value)](value, sources)
        return LISTS[type(value)]([value], sources) if type(value) in LISTS else None
    except Exception:  # noqa: BLE001 (whatever is wrong with a value, it can be shown as text)
        _log.debug("a %s was not rendered", type(value).__name__, exc_info=True)
        return None


def markdown_of(value: object) -> str | None:
    """A hover as Markdown."""
    try:
        return hover_markdown(value) if isinstance(value, Hover) else None
    except Exception:  # noqa: BLE001 (as above)
        _log.debug("a hover was not rendered", exc_info=True)
        return None


def _list_html(values: list[Any], sources: Sources) -> str | None:
    kind = _kind_of(values)
    if kind not in LISTS:
        return None
    return LISTS[kind](values, sources) + _caveats(values)


def _caveats(values: object) -> str:
    """Why a list may be incomplete, if it says so."""
    if getattr(values, "complete", True):
        return ""
    caveats = [str(caveat) for caveat in list(getattr(values, "caveats", ()))[:5]]
    return line(
        muted(text(f"may be incomplete: {'; '.join(caveats)}" if caveats else "incomplete"))
    )


def _mapping_html(values: dict[Any, Any], sources: Sources) -> str | None:
    if not values or not isinstance(next(iter(values)), Path):
        return None
    if _kind_of(values.values()) is Report:
        return reports_html(list(values.values()), sources)
    lists = all(isinstance(value, list) for value in values.values())
    if lists and _kind_of(value for several in values.values() for value in several) is Diagnostic:
        return known_diagnostics_html(values, sources)
    return None


def _kind_of(values: Iterable[object]) -> type | None:
    """The type of all of them; None if there are none, or they differ, or are not lspkit's."""
    kind: type | None = None
    for value in values:
        if not isinstance(value, Value) or kind not in (None, type(value)):
            return None
        kind = type(value)
    return kind
