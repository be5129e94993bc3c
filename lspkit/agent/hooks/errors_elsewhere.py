"""Findings in other files after an edit, and which of them are new.

The engine selects the files as for `check(scope="project")`: files with findings, and open files.
Files that the agent has recently used come first. Findings that were not checked after the edit are
not shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lspkit.diagnostics.report import OtherFiles
from lspkit.operations import CheckOthersRequest
from lspkit.operations.effects import OtherScope
from lspkit.runtime.concurrency.call import CancelLike
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

#: Most other files that are checked, for each server of the edited ones.
MOST = 20

Known = Mapping[Path, Sequence[Diagnostic]]


def check_other_files(
    ws: Workspace,
    edited: Iterable[Path],
    recent: Iterable[Path],
    until: float,
    cancel: CancelLike | None,
) -> OtherFiles:
    """Check the other files after the edit.

    The files of `recent` come first; `until` is a time of the monotonic clock.
    """
    left = until - time.monotonic()
    if left <= 0:
        return OtherFiles()
    scope = OtherScope(first=tuple(map(str, recent)), most=MOST)
    request = CheckOthersRequest(paths=tuple(map(str, edited)), scope=scope)
    return ws.run(request, timeout=left, cancel=cancel)


def findings_by_path(others: OtherFiles) -> dict[Path, list[Diagnostic]]:
    """The findings in files with a known path."""
    files = {found[0].path: found for found in others.diagnostics.values()}
    return {path: found for path, found in files.items() if path is not None}


def new_findings(now: Known, before: Known) -> dict[Path, list[Diagnostic]]:
    """The findings that were not known before, in files with unchanged text."""
    found: dict[Path, list[Diagnostic]] = {}
    for path, findings in now.items():
        old = {(one.range, one.message, one.code) for one in before.get(path, ())}
        new = [one for one in findings if (one.range, one.message, one.code) not in old]
        if new:
            found[path] = new
    return found
