"""Who has answered, and who has not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lspkit.diagnostics.report import Evidence, Report
from lspkit.errors import (
    CancelledError,
    LspkitError,
    RequestFailedError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
    UnsupportedError,
)
from lspkit.runtime.concurrency.call import AnswerLog
from lspkit.types import Diagnostic


def servers_of(findings: Mapping[Path, Iterable[Diagnostic]]) -> set[str]:
    """The servers that have reported something."""
    return {server for all in findings.values() for one in all for server in one.servers}


def failures_of(answer_log: AnswerLog) -> list[LspkitError]:
    """What went wrong with servers. One that cannot do a thing at all has not failed to do it."""
    return [
        one
        for one in answer_log.failed
        if isinstance(one, LspkitError) and not isinstance(one, UnsupportedError)
    ]


def weighed(report: Report, *, cancelled: bool) -> tuple[set[str], list[LspkitError], list[str]]:
    """Of a check: who has answered, the errors of those who have not, and what to be careful of."""
    asked = [one for one in report.servers if one.applies]
    hits = {one.server for one in asked if one.how != "none"}
    errors = [_error(one, cancelled=cancelled) for one in asked if one.how == "none"]
    warnings: list[str] = []
    if report.verdict.unknown and hits:
        warnings.append(f"nothing was found, but that proves nothing: {report.why}")
    if report.stale_diagnostics and errors:
        warnings.append(f"{len(report.stale_diagnostics)} findings from before are not shown")
    return hits, errors, warnings


def _error(silent: Evidence, *, cancelled: bool) -> LspkitError:
    message = f"{silent.server}: {silent.reason or 'no answer'}"
    if silent.timed_out:
        return RequestTimeoutError(message, server=silent.server)
    if cancelled:
        return CancelledError(message)
    if silent.code == ServerBrokenError.code:
        return ServerBrokenError(message, server=silent.server)
    if silent.code == ServerUnavailableError.code:
        return ServerUnavailableError(message, server=silent.server)
    return RequestFailedError(message, server=silent.server)
