"""Other names for the same things, so that the files of other tools work as they are: tables."""

from __future__ import annotations

import functools
import re

#: Beside `lsp`: other names of the object that holds the servers.
SERVER_TABLES = ("lspServers", "servers")

#: Inside `lsp`: what is no server, and where it belongs.
INSIDE_LSP: dict[str, tuple[str, ...]] = {
    "timeout": ("timing", "requestTimeoutMs"),
    "diagnosticTimeout": ("timing", "diagnosticsWaitTimeoutMs"),
    "firstTouchTimeout": ("timing", "firstTouchTimeoutMs"),
    "includeSeverities": ("diagnostics", "includeSeverities"),
    "maxDiagnosticsPerFile": ("diagnostics", "maxPerFile"),
    "maxProjectDiagnosticsFiles": ("diagnostics", "maxOtherFiles"),
    "navigationTools": ("navigationTools",),
}

#: Inside a server: another name, and the one it stands for. Of several the last one counts.
INSIDE_SERVER: tuple[tuple[str, str], ...] = (
    ("initOptions", "initialization"),
    ("initializationOptions", "initialization"),
    ("rootMarkers", "roots"),
    ("rootPatterns", "roots"),
    ("workspaceRootMarkers", "roots"),
)

#: Inside a server: extensions, as a list, or as an object that also has their languages.
EXTENSIONS = ("fileTypes", "fileExtensions", "extensionToLanguage")

#: Inside a server: times that stand in its `timing`.
TIMES: dict[str, str] = {
    "startupTimeout": "initializeTimeoutMs",
    "requestTimeoutMs": "requestTimeoutMs",
}

#: Inside a server, in the files of other tools: what changes nothing here. A server is restarted as
#: `restart` says, and is called by its id.
PASSED_OVER = frozenset(
    {"name", "restartOnCrash", "maxRestarts", "shutdownTimeout", "loggingConfig"}
)


@functools.cache
def snake(name: str) -> str:
    """`requestTimeoutMs` as `request_timeout_ms`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
