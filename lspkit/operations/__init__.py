"""The operations of a workspace, each as a request and a generator.

A request is a frozen value with a result type. Its generator yields effects (`effects.py`) and
receives their results; it does no I/O itself. So the same operation runs in the caller's thread,
behind `submit`, for one server or for several, or in a test without a process.
"""

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
from lspkit.operations.checks.check_edit import CheckEditRequest, EditReport
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
    ReferencesRequest,
    SignatureHelpRequest,
    TypeDefinitionRequest,
)
from lspkit.operations.renaming.rename import RenameRequest
from lspkit.operations.request import OPERATIONS, Request
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
    "OPERATIONS",
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
    "EditReport",
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
