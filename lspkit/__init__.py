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
from lspkit.edit_types import (
    Applied,
    ChangedFiles,
    CodeAction,
    FileEdit,
    FileOperation,
    TextEdit,
    WorkspaceEdit,
)
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
from lspkit.runtime.concurrency.waiting import Cancel
from lspkit.servers.status import Row, ServerState, Snapshot
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
    Hover,
    Location,
    Parameter,
    Position,
    Range,
    Related,
    Severity,
    Signature,
    SignatureHelp,
    Symbol,
    TypeItem,
    Verdict,
)
from lspkit.version import VERSION as __version__
from lspkit.workspace import UntrustedProject, Workspace

__all__ = [
    "Applied",
    "Call",
    "CallItem",
    "Cancel",
    "Cancelled",
    "ChangedFiles",
    "CodeAction",
    "Config",
    "ConfigError",
    "Diagnostic",
    "Evidence",
    "FileEdit",
    "FileOperation",
    "Hover",
    "Location",
    "LspkitError",
    "NoServer",
    "Parameter",
    "PathError",
    "Position",
    "PositionError",
    "Range",
    "Related",
    "Report",
    "RequestFailed",
    "RequestTimeout",
    "Row",
    "ServerBroken",
    "ServerState",
    "ServerUnavailable",
    "Severity",
    "Signature",
    "SignatureHelp",
    "Snapshot",
    "Symbol",
    "TextEdit",
    "TypeItem",
    "Unsupported",
    "UntrustedProject",
    "Verdict",
    "Workspace",
    "WorkspaceClosed",
    "WorkspaceEdit",
    "__version__",
]
