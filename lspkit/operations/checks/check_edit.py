"""The check after an edit by any tool: the edited files, and the files that depend on them."""

from __future__ import annotations

import msgspec

from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.diagnostics.report import EditReport, OtherFiles, Report
from lspkit.errors import LspkitError
from lspkit.operations.checks.check import CheckAllRequest, check_all
from lspkit.operations.checks.dependent_files import (
    EditedFile,
    EditSearch,
    add_importers,
    check_dependents,
    find_dependents,
    limits_of,
    old_states,
    proven_servers,
    search_again,
    time_left,
)
from lspkit.operations.host import Host, OtherScope
from lspkit.operations.request import Request, operation
from lspkit.protocol.text import Text
from lspkit.types import Verdict


class CheckEditRequest(Request[EditReport], frozen=True, kw_only=True):
    """Check the files of an edit, and those that depend on them."""

    files: tuple[EditedFile, ...]
    #: Paths of other files that are checked, too.
    first: tuple[str, ...] = ()
    #: Paths of files that the edit has removed.
    gone: tuple[str, ...] = ()
    #: Seconds for the check of each edited file; None: the time of the call.
    seconds: float | None = None

    @property
    def is_about_many_files(self) -> bool:
        """Those that depend on the edit may be many."""
        return True


@operation("check_edit", CheckEditRequest, EditReport)
def check_edit(request: CheckEditRequest, host: Host) -> EditReport:
    """Reports about the edited files, and about what has changed in others."""
    settings = host.settings()
    # None is for callers that have the configuration.
    most, seconds = limits_of(settings.config) if settings is not None else (None, None)
    search = find_dependents(host, request.files, seconds, request.seconds)
    return check_after(request, host, search, most, seconds)


def check_after(
    request: CheckEditRequest,
    host: Host,
    search: EditSearch,
    most: int | None = None,
    seconds: float | None = None,
) -> EditReport:
    """Check the files of an edit after a search, which may have come before the edit."""
    if request.gone:
        search = add_importers(host, search, request.gone, seconds)
    before = _baselines(host, search)
    paths = tuple(file.path for file in request.files)
    checked = CheckAllRequest(paths=paths, seconds=time_left(request.seconds, search.waited))
    reports = list(check_all(checked, host).values())
    search = search_again(host, search, request.files, seconds).without(
        str(report.path) for report in reports
    )
    others = OtherFiles()
    answered = any(
        evidence.version is not None for report in reports for evidence in report.servers
    )
    concerned = answered or bool(request.gone and search.lines)
    if concerned and not search.is_internal:
        scope = OtherScope(
            request.first, search.dependents, most, seconds=search.left if most else None
        )
        others = check_dependents(host, search, (*paths, *request.gone), scope)
    elif not search.is_internal:
        others = _unchecked(search)
    before |= _old_findings(host, reports, search, before)
    compared: list[Report] = []
    for report in reports:
        compared.append(_compare(host, report, before.get(str(report.path))))
    for path in search.old:
        host.note_text(path)
    return EditReport(compared, others)


def _unchecked(search: EditSearch) -> OtherFiles:
    """The result if no server has checked the edited files in time: all dependents are left out.

    A server that has never searched, and has not told what the edit changed, says nothing about
    other files.
    """
    has_searched = bool(search.names) or not search.is_first
    if not search.lines and not (has_searched and search.unsearched):
        return OtherFiles()
    return OtherFiles(
        "open",
        Verdict.UNKNOWN,
        left_out=len(search.lines),
        unsearched=list(search.unsearched),
        reason=search.reason,
    )


def _baselines(host: Host, search: EditSearch) -> dict[str, Before]:
    """The known findings of the texts before the edit, by path."""
    baselines: dict[str, Before] = {}
    for path, old in search.old.items():
        known = host.baseline(path)
        # Without an old text nothing was known: what is known now, another call has found since.
        if known is not None and known.text.value == old:
            baselines[path] = known
    return baselines


def _old_findings(
    host: Host, reports: list[Report], search: EditSearch, known: dict[str, Before]
) -> dict[str, Before]:
    """The findings of texts before the edit that have not been checked, where that matters."""
    wanted = {str(report.path) for report in reports if report.counted} - known.keys()
    old_findings: dict[str, Before] = {}
    for path, state in old_states(host, search.old, sorted(wanted), (), search.left):
        text = search.old.get(path)
        if text is not None and path in wanted:
            old_findings[path] = Before(Text(text), tuple(state.findings))
    return old_findings


def _compare(host: Host, report: Report, before: Before | None) -> Report:
    """Compare the findings of an edited file with those of its text before the edit."""
    if before is None:
        # What an earlier check has found belongs to another text.
        return msgspec.structs.replace(report, introduced=None, fixed=None, remaining=None)
    try:
        text = host.read_text(str(report.path))
    except LspkitError:
        return report
    introduced, fixed, remaining = compare_findings(
        before, text, report.diagnostics, proven_servers(report.servers)
    )
    return msgspec.structs.replace(report, introduced=introduced, fixed=fixed, remaining=remaining)
