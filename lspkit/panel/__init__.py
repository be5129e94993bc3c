"""The panel: the state of the servers in a terminal.

`run(ws)` shows it; it needs the extra: pip install 'lspkit[panel]'. `panel_of(status)` gives the
same rows and totals as plain values.
"""

from lspkit.panel.open_panel import is_installed, run
from lspkit.panel.panel_rows import (
    Panel,
    PanelBroken,
    PanelDiagnostics,
    PanelRow,
    PanelTotals,
    panel_of,
    rows,
    totals,
)

__all__ = [
    "Panel",
    "PanelBroken",
    "PanelDiagnostics",
    "PanelRow",
    "PanelTotals",
    "is_installed",
    "panel_of",
    "rows",
    "run",
    "totals",
]
