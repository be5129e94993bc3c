"""Code intelligence for synchronous Python programs.

import lspkit

with lspkit.Workspace("path/to/project") as ws:
    ws.definition("src/app.py", 12, 8)
    report = ws.check("src/app.py")
    if report.verdict is lspkit.Verdict.DIRTY:
        print(report)
"""

from lspkit.config import Config
from lspkit.diagnostics.report import Evidence, Report
from lspkit.errors import (
    Cancelled,
    ConfigError,
    LspkitError,
    NoServer,
    PathError,
    PositionError,
    RequestFailed,
    RequestTimeout,
    ServerBroken,
    ServerUnavailable,
    Unsupported,
    WorkspaceClosed,
)
from lspkit.runtime.waiting import Cancel
from lspkit.types import (
    Diagnostic,
    Hover,
    Location,
    Position,
    Range,
    Related,
    Severity,
    Symbol,
    Verdict,
)
from lspkit.version import VERSION as __version__
from lspkit.workspace import Workspace

__all__ = [
    "Cancel",
    "Cancelled",
    "Config",
    "ConfigError",
    "Diagnostic",
    "Evidence",
    "Hover",
    "Location",
    "LspkitError",
    "NoServer",
    "PathError",
    "Position",
    "PositionError",
    "Range",
    "Related",
    "Report",
    "RequestFailed",
    "RequestTimeout",
    "ServerBroken",
    "ServerUnavailable",
    "Severity",
    "Symbol",
    "Unsupported",
    "Verdict",
    "Workspace",
    "WorkspaceClosed",
    "__version__",
]
