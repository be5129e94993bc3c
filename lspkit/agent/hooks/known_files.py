"""The other files after an edit: what the hooks ask for, and what of the answer is new.

What is asked is the engine's business, the same as of `check(scope="project")`: the files that a
server has findings about, and those that it has open. First come those that the agent has lately
dealt with. What nobody has looked at after the edit is not shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lspkit.diagnostics.report import OtherFiles
from lspkit.operations import CheckOthersRequest
from lspkit.operations.effects import OtherScope
from lspkit.runtime.concurrency.waiting import CancelLike
from lspkit.runtime.engine_api import Limits
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

#: So many files are looked at again, for each server of the edited ones.
MOST = 20

Known = Mapping[Path, Sequence[Diagnostic]]


def check_other_files(
    ws: Workspace,
    edited: Iterable[Path],
    recent: Iterable[Path],
    until: float,
    cancel: CancelLike | None,
) -> OtherFiles:
    """The files besides the edited ones, as they are after the edit.

    `recent` are those that come first; `until` is by the monotonic clock.
    """
    left = until - time.monotonic()
    if left <= 0:
        return OtherFiles()
    scope = OtherScope(first=tuple(map(str, recent)), most=MOST)
    request = CheckOthersRequest(paths=tuple(map(str, edited)), scope=scope)
    return ws._engine.run(request, Limits(left, cancel))


def findings_by_path(others: OtherFiles) -> dict[Path, list[Diagnostic]]:
    """The findings that somebody can place."""
    files = {found[0].path: found for found in others.diagnostics.values()}
    return {path: found for path, found in files.items() if path is not None}


def new_findings(now: Known, before: Known) -> dict[Path, list[Diagnostic]]:
    """What was not there before, in files whose own text is the same."""
    found: dict[Path, list[Diagnostic]] = {}
    for path, findings in now.items():
        old = {(one.range, one.message, one.code) for one in before.get(path, ())}
        new = [one for one in findings if (one.range, one.message, one.code) not in old]
        if new:
            found[path] = new
    return found
