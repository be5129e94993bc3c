"""Code intelligence for synchronous Python programs.

import lspkit

with lspkit.Workspace("path/to/project") as ws:
    ws.definition("src/app.py", 12, 8)
    report = ws.check("src/app.py")
    if report.verdict is lspkit.Verdict.DIRTY:
        print(report)
"""

import os
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lspkit.late_imports import late_names, safe_imports
from lspkit.version import VERSION as __version__

if TYPE_CHECKING:
    from lspkit import batch, conversations
    from lspkit.answer import Answer
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
        IncompleteEditError,
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
    from lspkit.runtime.concurrency.call import CancelToken
    from lspkit.servers.status import ServerState, ServerStatus, WorkspaceStatus
    from lspkit.service import ServiceEnvironmentWarning, connect
    from lspkit.types import (
        Call,
        CallItem,
        Caveat,
        Diagnostic,
        Hover,
        Interpreter,
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
    from lspkit.workspace import UntrustedProjectWarning, UnusedSettingWarning, Workspace

__all__ = [
    "Answer",
    "AppliedEdit",
    "Call",
    "CallItem",
    "CancelToken",
    "CancelledError",
    "Caveat",
    "ChangedFiles",
    "CodeAction",
    "Config",
    "ConfigError",
    "Diagnostic",
    "Evidence",
    "FileEdit",
    "FileOperation",
    "Hover",
    "IncompleteEditError",
    "Interpreter",
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
    "UnusedSettingWarning",
    "Verdict",
    "Workspace",
    "WorkspaceClosedError",
    "WorkspaceEdit",
    "WorkspaceStatus",
    "__version__",
    "batch",
    "connect",
    "conversations",
]

#: The names of each module. They are imported when they are first used: some commands of the
#: command line need none of them.
_get = late_names(
    __name__,
    {
        "lspkit.answer": "Answer",
        "lspkit.batch": "",
        "lspkit.config": "Config",
        "lspkit.conversations": "",
        "lspkit.diagnostics.report": "Evidence Report",
        # For `%load_ext lspkit`.
        "lspkit.notebook": "load_ipython_extension unload_ipython_extension",
        "lspkit.edit_types": (
            "AppliedEdit ChangedFiles CodeAction FileEdit FileOperation TextEdit WorkspaceEdit"
        ),
        "lspkit.errors": (
            "CancelledError ConfigError IncompleteEditError LspkitError NoServerError PathError "
            "PositionError RequestFailedError RequestTimeoutError ServerBrokenError "
            "ServerUnavailableError "
            "UnsupportedError WorkspaceClosedError"
        ),
        "lspkit.runtime.concurrency.call": "CancelToken",
        "lspkit.service": "ServiceEnvironmentWarning connect",
        "lspkit.servers.status": "ServerState ServerStatus WorkspaceStatus",
        "lspkit.types": (
            "Call CallItem Caveat Diagnostic Hover Interpreter Location Parameter Position Range "
            "RelatedLocation Severity Signature SignatureHelp Symbol TypeItem Verdict"
        ),
        "lspkit.workspace": "UntrustedProjectWarning UnusedSettingWarning Workspace",
    },
)

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


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        return _get(name)
    message = f"lspkit.{name} is called lspkit.{_RENAMED[name]} now"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return _get(_RENAMED[name])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "LSPKIT_LOG" in os.environ:
    with safe_imports():
        import_module("lspkit.runtime.process.debug_records").start_log(os.environ["LSPKIT_LOG"])

if "IPython" in sys.modules:  # perhaps a notebook, which shows results as tables
    with safe_imports():
        import_module("lspkit.notebook").enable()
