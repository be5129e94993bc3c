"""The operations of a workspace, each as a request and a function.

A request is a frozen value with a result type. Its function calls a host (`host.py`) for the
servers, files and texts that it needs, and blocks until it has the result; it does no I/O itself.
So the same operation runs in the caller's thread, behind `submit`, for one server or for several,
or in a test without a process.
"""

from __future__ import annotations

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
from lspkit.operations.request import Request
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
]
