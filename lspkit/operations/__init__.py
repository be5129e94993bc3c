"""What can be asked, each as data and as a generator.

A request is a frozen value with a result type. Its generator yields effects (`effects.py`), which
say what to ask, and is sent the answers; it does no I/O itself. So the same operation runs in the
caller's thread, behind `submit`, for one server or for several, or in a test without a process.
"""

from lspkit.operations.changing import Delete, Move, ShowDisk, ShowTexts, Write
from lspkit.operations.check import Check, CheckAll
from lspkit.operations.effects import (
    Ask,
    AskWorkspace,
    AwaitChange,
    ChangeDisk,
    DoAll,
    Effect,
    Elsewhere,
    EndOverlay,
    Examination,
    Examine,
    Examined,
    FindPlaces,
    Known,
    KnownFindings,
    Overlay,
    Place,
    ReadText,
    Remember,
    Reply,
    Reread,
    SyncFile,
    TakeStatus,
)
from lspkit.operations.hierarchy import (
    IncomingCalls,
    OutgoingCalls,
    PrepareCallHierarchy,
    Subtypes,
    Supertypes,
)
from lspkit.operations.navigate import (
    Declaration,
    Definition,
    Hover,
    Implementation,
    References,
    TypeDefinition,
)
from lspkit.operations.proposals import CodeActions, Rename
from lspkit.operations.request import OPERATIONS, Request
from lspkit.operations.signatures import SignatureHelp
from lspkit.operations.symbols import DocumentSymbols
from lspkit.operations.whole import (
    Diagnostics,
    RawRequest,
    Reload,
    Status,
    Sync,
    WaitForChange,
    WorkspaceSymbols,
)

__all__ = [
    "OPERATIONS",
    "Ask",
    "AskWorkspace",
    "AwaitChange",
    "ChangeDisk",
    "Check",
    "CheckAll",
    "CodeActions",
    "Declaration",
    "Definition",
    "Delete",
    "Diagnostics",
    "DoAll",
    "DocumentSymbols",
    "Effect",
    "Elsewhere",
    "EndOverlay",
    "Examination",
    "Examine",
    "Examined",
    "FindPlaces",
    "Hover",
    "Implementation",
    "IncomingCalls",
    "Known",
    "KnownFindings",
    "Move",
    "OutgoingCalls",
    "Overlay",
    "Place",
    "PrepareCallHierarchy",
    "RawRequest",
    "ReadText",
    "References",
    "Reload",
    "Remember",
    "Rename",
    "Reply",
    "Request",
    "Reread",
    "ShowDisk",
    "ShowTexts",
    "SignatureHelp",
    "Status",
    "Subtypes",
    "Supertypes",
    "Sync",
    "SyncFile",
    "TakeStatus",
    "TypeDefinition",
    "WaitForChange",
    "WorkspaceSymbols",
    "Write",
]
