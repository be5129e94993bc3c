"""Alternative names of configuration keys, so that the files of other tools can be used."""

from __future__ import annotations

import functools
import re

#: Beside `lsp`: other names of the object that holds the servers.
SERVER_TABLES = ("lspServers", "servers")

#: Inside `lsp`: keys that are not servers, and the settings that they stand for.
INSIDE_LSP: dict[str, tuple[str, ...]] = {
    "timeout": ("timing", "requestTimeoutMs"),
    "diagnosticTimeout": ("timing", "diagnosticsWaitTimeoutMs"),
    "firstTouchTimeout": ("timing", "firstTouchTimeoutMs"),
    "includeSeverities": ("diagnostics", "includeSeverities"),
    "maxDiagnosticsPerFile": ("diagnostics", "maxPerFile"),
    "maxProjectDiagnosticsFiles": ("diagnostics", "maxOtherFiles"),
    "navigationTools": ("navigationTools",),
}

#: Inside a server: alternative name and the setting that it stands for. The last one is used.
INSIDE_SERVER: tuple[tuple[str, str], ...] = (
    ("initOptions", "initialization"),
    ("initializationOptions", "initialization"),
    ("rootMarkers", "roots"),
    ("rootPatterns", "roots"),
    ("workspaceRootMarkers", "roots"),
)

#: Inside a server: extensions, as a list, or as an object with their language ids.
EXTENSIONS = ("fileTypes", "fileExtensions", "extensionToLanguage")

#: Inside a server: keys that stand for settings in its `timing`.
TIMES: dict[str, str] = {
    "startupTimeout": "initializeTimeoutMs",
    "requestTimeoutMs": "requestTimeoutMs",
}

#: Inside a server, in the files of other tools: keys that lspkit ignores without a warning.
#: Restarts are configured in `restart`, and a server's name is its id.
PASSED_OVER = frozenset(
    {"name", "restartOnCrash", "maxRestarts", "shutdownTimeout", "loggingConfig"}
)


@functools.cache
def snake(name: str) -> str:
    """`requestTimeoutMs` as `request_timeout_ms`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
