"""What can be asked, each as data and as a generator.

A request is a frozen value with a result type. Its generator yields effects (`effects.py`), which
say what to ask, and is sent the answers; it does no I/O itself. So the same operation runs in the
caller's thread, behind `submit`, for one server or for several, or in a test without a process.
"""

from lspkit.operations.check import Check, CheckAll
from lspkit.operations.effects import (
    Ask,
    AskWorkspace,
    AwaitChange,
    DoAll,
    Effect,
    Examination,
    Examine,
    Examined,
    FindPlaces,
    Known,
    KnownFindings,
    Place,
    ReadText,
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
    "Check",
    "CheckAll",
    "CodeActions",
    "Declaration",
    "Definition",
    "Diagnostics",
    "DoAll",
    "DocumentSymbols",
    "Effect",
    "Examination",
    "Examine",
    "Examined",
    "FindPlaces",
    "Hover",
    "Implementation",
    "IncomingCalls",
    "Known",
    "KnownFindings",
    "OutgoingCalls",
    "Place",
    "PrepareCallHierarchy",
    "RawRequest",
    "ReadText",
    "References",
    "Reload",
    "Rename",
    "Reply",
    "Request",
    "Reread",
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
]
