"""The operations of a workspace, each as a request and a function.

A request is a frozen value with a result type. Its function calls a host (`host.py`) for the
servers, files and texts that it needs, and blocks until it has the result; it does no I/O itself.
So the same operation runs in the caller's thread, behind `submit`, for one server or for several,
or in a test without a process.

The module of an operation is imported when its request is first used: a command needs one or two.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lspkit.late_imports import late_names, safe_imports

if TYPE_CHECKING:
    from lspkit.operations.apply_changes import (
        ApplyRequest,
        DeleteRequest,
        MoveRequest,
        ShowDiskRequest,
        ShowTextsRequest,
        UndoRequest,
        WriteRequest,
    )
    from lspkit.operations.checks.check import (
        CheckAllRequest,
        CheckRequest,
        DiagnosticsRequest,
    )
    from lspkit.operations.checks.check_edit import CheckEditRequest
    from lspkit.operations.checks.dependent_files import EditedFile
    from lspkit.operations.code_actions import CodeActionsRequest
    from lspkit.operations.hierarchy import (
        CallHierarchyRequest,
        IncomingCallsRequest,
        OutgoingCallsRequest,
        SubtypesRequest,
        SupertypesRequest,
    )
    from lspkit.operations.navigation import (
        DeclarationRequest,
        DefinitionRequest,
        HoverRequest,
        ImplementationRequest,
        SignatureHelpRequest,
        TypeDefinitionRequest,
    )
    from lspkit.operations.references.references import ReferencesRequest
    from lspkit.operations.renaming.rename import RenameRequest
    from lspkit.operations.request import Operation, Request
    from lspkit.operations.symbols import DocumentSymbolsRequest, WorkspaceSymbolsRequest
    from lspkit.operations.workspace_state import (
        ChangedSinceRequest,
        FileServersRequest,
        RawRequest,
        ReloadRequest,
        RestartServerRequest,
        SettingsRequest,
        StatusRequest,
        StatusTextRequest,
        SyncRequest,
        TrustNoticeRequest,
        WaitForChangeRequest,
        WarningsRequest,
    )

__all__ = [
    "ApplyRequest",
    "CallHierarchyRequest",
    "ChangedSinceRequest",
    "CheckAllRequest",
    "CheckEditRequest",
    "CheckRequest",
    "CodeActionsRequest",
    "DeclarationRequest",
    "DefinitionRequest",
    "DeleteRequest",
    "DiagnosticsRequest",
    "DocumentSymbolsRequest",
    "EditedFile",
    "FileServersRequest",
    "HoverRequest",
    "ImplementationRequest",
    "IncomingCallsRequest",
    "MoveRequest",
    "OutgoingCallsRequest",
    "RawRequest",
    "ReferencesRequest",
    "ReloadRequest",
    "RenameRequest",
    "Request",
    "RestartServerRequest",
    "SettingsRequest",
    "ShowDiskRequest",
    "ShowTextsRequest",
    "SignatureHelpRequest",
    "StatusRequest",
    "StatusTextRequest",
    "SubtypesRequest",
    "SupertypesRequest",
    "SyncRequest",
    "TrustNoticeRequest",
    "TypeDefinitionRequest",
    "UndoRequest",
    "WaitForChangeRequest",
    "WarningsRequest",
    "WorkspaceSymbolsRequest",
    "WriteRequest",
    "all_operations",
]

#: The names of each module.
_MODULES = {
    "lspkit.operations.apply_changes": (
        "ApplyRequest DeleteRequest MoveRequest ShowDiskRequest ShowTextsRequest UndoRequest "
        "WriteRequest"
    ),
    "lspkit.operations.checks.check": "CheckAllRequest CheckRequest DiagnosticsRequest",
    "lspkit.operations.checks.check_edit": "CheckEditRequest",
    "lspkit.operations.checks.dependent_files": "EditedFile",
    "lspkit.operations.code_actions": "CodeActionsRequest",
    "lspkit.operations.hierarchy": (
        "CallHierarchyRequest IncomingCallsRequest OutgoingCallsRequest SubtypesRequest "
        "SupertypesRequest"
    ),
    "lspkit.operations.navigation": (
        "DeclarationRequest DefinitionRequest HoverRequest ImplementationRequest "
        "SignatureHelpRequest TypeDefinitionRequest"
    ),
    "lspkit.operations.references.references": "ReferencesRequest",
    "lspkit.operations.renaming.rename": "RenameRequest",
    "lspkit.operations.request": "Request",
    "lspkit.operations.symbols": "DocumentSymbolsRequest WorkspaceSymbolsRequest",
    "lspkit.operations.workspace_state": (
        "ChangedSinceRequest FileServersRequest RawRequest ReloadRequest RestartServerRequest "
        "SettingsRequest StatusRequest StatusTextRequest SyncRequest TrustNoticeRequest "
        "WaitForChangeRequest WarningsRequest"
    ),
}
__getattr__ = late_names(__name__, _MODULES)


def all_operations() -> dict[type[Request[Any]], Operation]:
    """The whole table of operations, by the type of the request."""
    with safe_imports():
        for name in _MODULES:
            import_module(name)
        from lspkit.operations.request import OPERATIONS
    return OPERATIONS


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
