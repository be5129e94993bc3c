"""Code intelligence for synchronous Python programs.

import lspkit

with lspkit.Workspace("path/to/project") as ws:
    ws.definition("src/app.py", 12, 8)
    report = ws.check("src/app.py")
    if report.verdict is lspkit.Verdict.DIRTY:
        print(report)
"""

import importlib
import warnings
from typing import Any

from lspkit.config import Config
from lspkit.diagnostics.report import Evidence, Report
from lspkit.edit_types import (
    AppliedEdit,
    ChangedFiles,
    CodeAction,
    FileEdit,
    FileOperation,
    TextEdit,
    WorkspaceEdit,
)
from lspkit.errors import (
    CancelledError,
    ConfigError,
    LspkitError,
    NoServerError,
    PathError,
    PositionError,
    RequestFailedError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
    UnsupportedError,
    WorkspaceClosedError,
)
from lspkit.late_imports import safe_imports
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.servers.status import ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
    Hover,
    Location,
    Parameter,
    Position,
    Range,
    RelatedLocation,
    Severity,
    Signature,
    SignatureHelp,
    Symbol,
    TypeItem,
    Verdict,
)
from lspkit.version import VERSION as __version__
from lspkit.workspace import UntrustedProjectWarning, Workspace

__all__ = [
    "AppliedEdit",
    "Call",
    "CallItem",
    "CancelToken",
    "CancelledError",
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
    "NoServerError",
    "Parameter",
    "PathError",
    "Position",
    "PositionError",
    "Range",
    "RelatedLocation",
    "Report",
    "RequestFailedError",
    "RequestTimeoutError",
    "ServerBrokenError",
    "ServerState",
    "ServerStatus",
    "ServerUnavailableError",
    "ServiceEnvironmentWarning",
    "Severity",
    "Signature",
    "SignatureHelp",
    "Symbol",
    "TextEdit",
    "TypeItem",
    "UnsupportedError",
    "UntrustedProjectWarning",
    "Verdict",
    "Workspace",
    "WorkspaceClosedError",
    "WorkspaceEdit",
    "WorkspaceStatus",
    "__version__",
    "connect",
]

#: Former names and their present ones. A former name works, with a warning.
_RENAMED = {
    "Applied": "AppliedEdit",
    "Cancel": "CancelToken",
    "Cancelled": "CancelledError",
    "NoServer": "NoServerError",
    "Related": "RelatedLocation",
    "RequestFailed": "RequestFailedError",
    "RequestTimeout": "RequestTimeoutError",
    "Row": "ServerStatus",
    "ServerBroken": "ServerBrokenError",
    "ServerUnavailable": "ServerUnavailableError",
    "Snapshot": "WorkspaceStatus",
    "Unsupported": "UnsupportedError",
    "UntrustedProject": "UntrustedProjectWarning",
    "WorkspaceClosed": "WorkspaceClosedError",
}


#: Names that are loaded when they are used, and their modules.
_LATE = {
    "ServiceEnvironmentWarning": "lspkit.service",
    "connect": "lspkit.service",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        with safe_imports():
            return getattr(importlib.import_module(_LATE[name]), name)
    if name not in _RENAMED:
        raise AttributeError(f"module 'lspkit' has no attribute {name!r}")
    message = f"lspkit.{name} is called lspkit.{_RENAMED[name]} now"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
