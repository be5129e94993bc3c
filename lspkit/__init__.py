"""Code intelligence for synchronous Python programs.

import lspkit

with lspkit.Workspace("path/to/project") as ws:
    ws.definition("src/app.py", 12, 8)
    report = ws.check("src/app.py")
    if report.verdict is lspkit.Verdict.DIRTY:
        print(report)
"""

# Before msgspec (0.22), which ignores an interrupt while it loads it, and crashes when it is used.
import datetime as dt  # noqa: F401
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lspkit.version import VERSION as __version__

if TYPE_CHECKING:
    from lspkit import batch, conversations
    from lspkit.answer import Answer
    from lspkit.config import Config
    from lspkit.diagnostics.report import Change, Evidence, Report
    from lspkit.edit_types import (
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
    "Call",
    "CallItem",
    "CancelToken",
    "CancelledError",
    "Caveat",
    "Change",
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

#: The names of each module, which is imported when one of them is first used: a program that only
#: imports lspkit, and some commands of the command line, need none of them. The modules themselves
#: can be used as attributes, too.
_NAMES = {
    "agent": "",
    "batch": "",
    "cli": "",
    "conversations": "",
    "edits": "",
    "mcp": "",
    "operations": "",
    "panel": "",
    "testing": "",
    "web": "",
    "answer": "Answer",
    "config": "Config",
    "diagnostics.report": "Change Evidence Report",
    "edit_types": ("ChangedFiles CodeAction FileEdit FileOperation TextEdit WorkspaceEdit"),
    "errors": (
        "CancelledError ConfigError IncompleteEditError LspkitError NoServerError PathError "
        "PositionError RequestFailedError RequestTimeoutError ServerBrokenError "
        "ServerUnavailableError UnsupportedError WorkspaceClosedError"
    ),
    # For `%load_ext lspkit`.
    "notebook": "load_ipython_extension unload_ipython_extension",
    "runtime.concurrency.call": "CancelToken",
    "servers.status": "ServerState ServerStatus WorkspaceStatus",
    "service": "ServiceEnvironmentWarning connect",
    "types": (
        "Call CallItem Caveat Diagnostic Hover Interpreter Location Parameter Position Range "
        "RelatedLocation Severity Signature SignatureHelp Symbol TypeItem Verdict"
    ),
    "workspace": "UntrustedProjectWarning UnusedSettingWarning Workspace",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = getattr(import_module(f"lspkit.{_MODULES[name]}"), name)
    elif name in _NAMES:
        value = import_module(f"lspkit.{name}")
    else:
        raise AttributeError(f"module 'lspkit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_NAMES})


if "LSPKIT_LOG" in os.environ:
    import_module("lspkit.runtime.process.debug_records").start_log(os.environ["LSPKIT_LOG"])

if "IPython" in sys.modules:  # perhaps a notebook, which shows results as tables
    import_module("lspkit.notebook").enable()
