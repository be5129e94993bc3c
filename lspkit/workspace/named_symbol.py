"""Questions about a symbol that is given by its name alone, for the command line and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lspkit.errors import PositionError
from lspkit.types import Symbol
from lspkit.workspace.workspace import Workspace

T = TypeVar("T")


def named_symbol(ws: Workspace, name: str, timeout: float | None = None) -> Symbol:
    """The symbol of the workspace with a name such as `total` or `Basket.total`.

    Of several it is the one in that class, and a class or function rather than an import of it.
    Raises `PositionError` if there is none.
    """
    within, _, last = name.rpartition(".")
    symbols = ws.workspace_symbols(last, timeout=timeout)
    places = [symbol for symbol in symbols if symbol.name == last and symbol.path is not None]
    if not places:
        raise PositionError(f"no file of {ws.root} defines {name}")

    def distance(symbol: Symbol) -> tuple[bool, bool, str]:
        is_elsewhere = symbol.container != within.rpartition(".")[2]
        return is_elsewhere, symbol.kind in ("variable", "module"), str(symbol.path)

    return min(places, key=distance)


def ask_at_symbol(
    method: Callable[..., T], symbol: Symbol, timeout: float | None = None, **more: object
) -> T:
    """Call a method of the workspace about a symbol.

    Some servers say where the whole symbol begins, so its name is searched on that line, and if it
    is on a later one, in the file.
    """
    try:
        line = symbol.selection.start.line
        return method(symbol.path, line, symbol=symbol.name, timeout=timeout, **more)
    except PositionError:
        return method(symbol.path, symbol=symbol.name, timeout=timeout, **more)
