"""For tests of programs that use language servers: a scripted server, and a check for leaks.

docs/testing.md shows how to use them. Nothing else in lspkit imports this package.
"""

from __future__ import annotations

from lspkit.testing.leaks import (
    ResourceSnapshot,
    adopt_orphans,
    kill_leaked_processes,
    leaks_since,
    take_snapshot,
)
from lspkit.testing.script import (
    SERVER_FILE,
    Diagnostics,
    Fault,
    Grandchild,
    Log,
    LogEntry,
    Say,
    Script,
    configuration,
    progress,
    read_log,
    watchers,
)

__all__ = [
    "SERVER_FILE",
    "Diagnostics",
    "Fault",
    "Grandchild",
    "Log",
    "LogEntry",
    "ResourceSnapshot",
    "Say",
    "Script",
    "adopt_orphans",
    "configuration",
    "kill_leaked_processes",
    "leaks_since",
    "progress",
    "read_log",
    "take_snapshot",
    "watchers",
]
