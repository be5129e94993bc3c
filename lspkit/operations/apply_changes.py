"""Operations that change files, apply and undo edits, and show texts instead of files.

The host accesses the disk; what is done, and in which order, is here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from lspkit import errors
from lspkit.answer import INSTALLED_COPY, UNEXPLAINED
from lspkit.diagnostics.compare import Before, changed_words, drop_reworded
from lspkit.diagnostics.report import Change, EditReport, OtherFiles, Report
from lspkit.edit_types import CodeAction, FileEdit, TouchedFile, WorkspaceEdit
from lspkit.operations.checks import check as checks
from lspkit.operations.checks.check_edit import CheckEditRequest, check_after
from lspkit.operations.checks.dependent_files import (
    EditedFile,
    EditSearch,
    check_dependents,
    find_dependents,
)
from lspkit.operations.code_actions import resolve_action, text_digest
from lspkit.operations.host import Host, OtherScope
from lspkit.operations.host_results import Reply
from lspkit.operations.references.word_net import SEARCH_SECONDS, files_to_open
from lspkit.operations.request import Request, check_text, operation
from lspkit.operations.workspace_edit import decode_edits, translate_edit
from lspkit.protocol.text import Text
from lspkit.protocol.wire.results import WireCommand
from lspkit.types import Caveat, Diagnostic, Severity
from lspkit.visible_text import count, one_line

#: Most names that an edit which is a rename replaces, and puts in their place.
MOST_NAMES = 6


class ChangeRequest(Request[Change], frozen=True, kw_only=True):
    """Base of the requests that change files."""

    only_once = True

    #: What is checked afterwards: the changed files, or also those that depend on them.
    check: Literal["file", "project"] | None = None


class WriteRequest(ChangeRequest, frozen=True, kw_only=True):
    """Write a text to a file."""

    path: str
    text: str


class DeleteRequest(ChangeRequest, frozen=True, kw_only=True):
    """Delete a file."""

    path: str


class MoveRequest(ChangeRequest, frozen=True, kw_only=True):
    """Move a file."""

    path: str
    new_path: str


class ApplyRequest(ChangeRequest, frozen=True, kw_only=True):
    """Apply an edit that a server proposed; if a check says that it breaks something, undo it."""

    edit: WorkspaceEdit | None = None
    #: Instead of an edit: an action, whose edit may have to be resolved first.
    action: CodeAction | None = None
    #: Whether to apply also an edit that may be incomplete.
    force: bool = False


class UndoRequest(ChangeRequest, frozen=True, kw_only=True):
    """Undo a change."""

    change: Change


class ShowTextsRequest(Request[int], frozen=True, kw_only=True):
    """Show the servers these texts instead of the files."""

    only_once = True
    shows_texts = True

    texts: dict[str, str]

    def __post_init__(self) -> None:
        for path, text in self.texts.items():
            check_text(f"the text of {path}", text)


class ShowDiskRequest(Request[None], frozen=True, kw_only=True):
    """Show the servers the files again."""

    shows_texts = True

    number: int


@operation("write", WriteRequest, Change)
def write(request: WriteRequest, host: Host) -> Change:
    """Write the file, and check it."""
    before = _present_text(host, request.path) if request.check == "project" else None
    change = host.write_file(request.path, request.text)
    return _with_report(host, change, request.check, (EditedFile(request.path, before),))


def _with_report(
    host: Host,
    change: Change,
    check: Literal["file", "project"] | None,
    files: tuple[EditedFile, ...] = (),
    gone: tuple[str, ...] = (),
    search: EditSearch | None = None,
) -> Change:
    """The change with a report about its files, and about those that depend on them.

    `search` has the latter if they had to be searched before the change.
    """
    if check == "project":
        search = search or find_dependents(host, files)
        report = check_after(CheckEditRequest(files=files, gone=gone), host, search)
    elif check == "file" and files:
        paths = tuple(file.path for file in files)
        reports = checks.check_all(checks.CheckAllRequest(paths=paths), host)
        report = EditReport(list(reports.values()))
    else:
        return change
    host.raise_if_cancelled()
    return msgspec.structs.replace(change, report=report)


def _present_text(host: Host, path: str) -> str | None:
    """The text of a file, None if there is none."""
    try:
        text = host.read_text(path)
    except errors.PathError:
        return None
    return text.value


@operation("delete", DeleteRequest, Change)
def delete(request: DeleteRequest, host: Host) -> Change:
    """Delete the file, and check those that depend on it."""
    search = _before_removal(host, request.path) if request.check == "project" else None
    change = host.delete_file(request.path)
    return _with_report(host, change, request.check, gone=(request.path,), search=search)


@operation("move", MoveRequest, Change)
def move(request: MoveRequest, host: Host) -> Change:
    """Move the file, and check it and those that depend on it."""
    search = _before_removal(host, request.path) if request.check == "project" else None
    change = host.move_file(request.path, request.new_path)
    files = (EditedFile(request.new_path),)
    return _with_report(host, change, request.check, files, (request.path,), search)


def _before_removal(host: Host, path: str) -> EditSearch:
    """The files that depend on a file that will be removed. Their findings are kept: afterwards,
    no server can be shown the state before."""
    text = _present_text(host, path)
    if text is None:
        return EditSearch()
    search = find_dependents(host, [EditedFile(path, text, "")])
    if search.lines:
        _check_others(host, search, (path,))
    return msgspec.structs.replace(search, old={})


def _check_others(host: Host, search: EditSearch, paths: tuple[str, ...]) -> OtherFiles:
    """Check the files that depend on an edit of these files, before it or after it.

    What is known of them before the edit is kept for the comparison after it.
    """
    if not search.lines:
        return OtherFiles()
    scope = OtherScope(dependents=search.dependents, most=len(search.lines), only=True)
    return check_dependents(host, search, paths, scope)


@operation("undo", UndoRequest, Change)
def undo(request: UndoRequest, host: Host) -> Change:
    """Undo the change, and check its files and those that depend on them."""
    files: list[EditedFile] = []
    gone: list[str] = []
    for file in request.change.touched if request.check else ():
        path = str(file.path)
        if file.was == "file":
            files.append(EditedFile(path, _present_text(host, path)))
        elif file.now == "file":
            gone.append(path)
    change = host.undo_edit(request.change)
    return _with_report(host, change, request.check, tuple(files), tuple(gone))


@operation("show_texts", ShowTextsRequest, int)
def show_texts(request: ShowTextsRequest, host: Host) -> int:
    """Show the texts; the number that ends it."""
    return host.show_texts(request.texts)


@operation("show_disk", ShowDiskRequest, None)
def show_disk(request: ShowDiskRequest, host: Host) -> None:
    """Show the files again."""
    host.end_overlay(request.number)


@operation("apply", ApplyRequest, Change)
def apply(request: ApplyRequest, host: Host) -> Change:
    """Apply an edit or an action, all or none."""
    edit = request.edit
    if request.action is not None:
        resolved = resolve_action(host, request.action)
        if isinstance(resolved, WireCommand):
            return _run(host, request.action, resolved, request.check)
        edit = resolved
    if edit is None:
        raise errors.RequestFailedError(
            "there is nothing to apply: neither an edit nor an action was given"
        )
    if (missing := missing_parts(edit)) and not request.force:
        raise incomplete_error(missing)
    if request.check is None:
        return host.apply_edit(edit)
    versions = host.document_versions(edit)
    before = _reports(host, edit)
    search, left_out = EditSearch(), ""
    if request.check == "project":
        files = [EditedFile(str(path), *texts) for path, texts in _texts(edit).items()]
        search, left_out = _with_word_files(host, find_dependents(host, files), edit)
        _check_others(host, search, tuple(str(path) for path in edit.files))
    change = _verify(host, host.apply_edit(edit, versions), before, search)
    doubts = tuple(one_line(caveat.message) for caveat in edit.caveats)
    unchecked = (*change.unchecked, *doubts, *filter(None, [left_out]))
    return msgspec.structs.replace(change, unchecked=unchecked)


def _with_word_files(host: Host, search: EditSearch, edit: WorkspaceEdit) -> tuple[EditSearch, str]:
    """A search with the files that hold a renamed name, and what is said of those left out."""
    names = renamed_names(edit)
    path = next((str(change.path) for change in edit.changes if change.path is not None), "")
    if not names or not path:
        return search, ""
    near = tuple(path.stem for path in edit.files)
    word_files = host.find_words(path, path, names, near, SEARCH_SECONDS)
    edited = {*map(str, edit.files), *search.old}
    words = {other: held for other, held in word_files.code.items() if other not in edited}
    chosen = files_to_open(words)
    lines = {other: tuple(sorted({word.line for word in words[other]})) for other in chosen}
    search = msgspec.structs.replace(search, lines={**lines, **search.lines})
    left = len(words) - len(chosen)
    if not left:
        return search, word_files.reason
    return search, f"{count(left, 'file')} with {' or '.join(names)} in code: not checked"


def renamed_names(edit: WorkspaceEdit) -> tuple[str, ...]:
    """The old and the new names of an edit that renames something; empty for other edits."""
    names: dict[str, None] = {}
    for change in edit.changes:
        if not isinstance(change, FileEdit) or change.before is None:
            continue
        text = Text(change.before)
        for replacement in change.edits:
            start, end = replacement.range.start, replacement.range.end
            old = text.value[
                text.offset(start.line - 1, start.column - 1) : text.offset(
                    end.line - 1, end.column - 1
                )
            ]
            if old.isidentifier() and replacement.new_text.isidentifier():
                names |= {old: None, replacement.new_text: None}
    return tuple(names) if len(names) <= MOST_NAMES else ()


def missing_parts(edit: WorkspaceEdit) -> tuple[Caveat, ...]:
    """Why parts of an edit may be missing.

    Words that no server explains are no such reason, or no untyped code could be changed, and
    neither is an installed copy. They make the verdict of the edit unknown.
    """
    known = (UNEXPLAINED, INSTALLED_COPY)
    return tuple(caveat for caveat in edit.caveats if caveat.kind not in known)


def incomplete_error(missing: tuple[Caveat, ...]) -> errors.IncompleteEditError:
    """The error for an edit that may be incomplete."""
    reasons = tuple(map(str, missing))
    message = f"the edit may be incomplete, and was not applied: {'; '.join(reasons)}"
    return errors.IncompleteEditError(f"{message}; `force` applies it anyway", reasons=reasons)


def _run(
    host: Host, action: CodeAction, command: WireCommand, check: Literal["file", "project"] | None
) -> Change:
    """Let the server execute a command: all edits that it requests are applied, or none.

    The changed files are not known in advance, so only the action's own file is checked before.
    """
    text = host.read_text(action.via)
    if text_digest(text) != action.sha256:
        message = f"{action.via} has changed since {action.title!r} was offered; request it again"
        raise errors.PathError(message, code="ECHANGED", path=action.via)
    before: dict[Path, Report] = {}
    if check:
        before = checks.check_all(checks.CheckAllRequest(paths=(action.via,)), host)
    made: list[Change] = []

    def make(reply: Reply) -> None:
        for wire in decode_edits(reply):
            edit = translate_edit(host, wire, reply)
            made.append(host.apply_edit(edit))

    arguments = command.arguments or []
    try:
        host.run_command(action.server, action.via, command.command, arguments, make)
        change = combine_changes(made, action.server)
        search = EditSearch()
        if check == "project":
            texts = _texts(change.edit).items()
            files = [EditedFile(str(path), before_and_after[0]) for path, before_and_after in texts]
            search = find_dependents(host, files)
    except BaseException as reason:  # also an interrupt: the caller does not get the edits
        _undo_all(host, made, reason)
        raise
    return _verify(host, change, before, search) if check else change


def combine_changes(changes: list[Change], server: str) -> Change:
    """Combine changes that were made one after the other."""
    touched: dict[Path, TouchedFile] = {}
    for file in (file for change in changes for file in change.touched):
        first = touched.get(file.path, file)
        touched[file.path] = msgspec.structs.replace(
            file, was=first.was, before=first.before, mode=first.mode, owner=first.owner
        )
    parts = tuple(part for change in changes for part in change.edit.changes)
    there = tuple(file for file in touched.values() if {file.was, file.now} != {"nothing"})
    return Change(WorkspaceEdit(parts, server), there)


def _reports(host: Host, edit: WorkspaceEdit) -> dict[Path, Report]:
    """Reports about the files of an edit before it is applied."""
    paths = tuple(str(change.path) for change in edit.changes if change.path is not None)
    return checks.check_all(checks.CheckAllRequest(paths=paths), host)


def _verify(host: Host, change: Change, before: dict[Path, Report], search: EditSearch) -> Change:
    """Check what was changed; undo the edit if it breaks anything, or if the check is ended.

    The result has what could not be checked.
    """
    try:
        new, checked = _check_applied(host, change, before, search)
    except BaseException as reason:  # also an interrupt: the caller does not get the edit
        _undo_all(host, [change], reason)
        raise
    if not new:
        return checked
    host.undo_edit(change)
    lines = "; ".join(str(finding) for findings in new for finding in findings[:3])
    raise errors.RequestFailedError(
        f"the edit was undone, since it introduces errors: {lines}",
        server=change.edit.server,
        introduced=tuple(_as_data(finding) for findings in new for finding in findings),
    )


def _undo_all(host: Host, changes: list[Change], reason: BaseException) -> None:
    """Undo changes, the last first. One that cannot be undone is the error, unless the caller has
    interrupted the call."""
    failures: list[errors.LspkitError] = []
    for change in reversed(changes):
        try:
            host.undo_edit(change)
        except errors.LspkitError as problem:
            failures.append(problem)
            reason.add_note(f"an edit was not undone: {problem}")
    if failures and isinstance(reason, errors.LspkitError):
        raise failures[0] from reason


def _check_applied(
    host: Host, change: Change, before: dict[Path, Report], search: EditSearch
) -> tuple[list[list[Diagnostic]], Change]:
    """The new errors in the changed files and those that depend on them, by file, and the change
    with its report. Raises `CancelledError` if the caller has cancelled."""
    edit = change.edit
    there = tuple(str(file.path) for file in change.touched if file.now == "file")
    after = checks.check_all(checks.CheckAllRequest(paths=there), host)
    new = _without_copies(edit, _introduced_errors(edit, before, after))
    unknown = {path: report.why for path, report in after.items() if report.verdict.unknown}
    others, left_out = OtherFiles(), 0
    if not new and search.lines:
        others = _check_others(host, search, there)
        severity = next((report.severity for report in after.values()), Severity.ERROR)
        new = _introduced_elsewhere(host, edit, others, severity)
        unknown |= others.unknown
        named = others.unknown.keys() & {Path(path) for path in search.dependents}
        left_out = others.left_out - len(named)
    new = _without_copies(edit, new)
    host.raise_if_cancelled()
    lines = [f"{path}: {why}" for path, why in unknown.items()]
    if others.reason:
        lines.append(others.reason)
    if left_out > 0:
        lines.append(f"{count(left_out, 'file')} with uses of it: not checked in time")
    report = EditReport(list(after.values()), others)
    unchecked = tuple(map(one_line, lines))
    return new, msgspec.structs.replace(change, report=report, unchecked=unchecked)


def _without_copies(
    edit: WorkspaceEdit, findings: list[list[Diagnostic]]
) -> list[list[Diagnostic]]:
    """The findings without those at places that lead to an installed copy, which the edit leaves
    as it is."""
    lines = {
        (place.path, place.line)
        for caveat in edit.caveats
        if caveat.kind == INSTALLED_COPY
        for place in caveat.places
    }
    kept = [
        [finding for finding in each if (finding.path, finding.range.start.line) not in lines]
        for each in findings
    ]
    return [each for each in kept if each]


def _as_data(finding: Diagnostic) -> dict[str, Any]:
    """A finding as JSON values."""
    return {
        "path": str(finding.path or finding.uri),
        "line": finding.range.start.line,
        "column": finding.range.start.column,
        "severity": finding.severity.value,
        "message": finding.message,
        "code": finding.code,
    }


def _introduced_elsewhere(
    host: Host, edit: WorkspaceEdit, others: OtherFiles, severity: Severity
) -> list[list[Diagnostic]]:
    """The new findings that count in other files, by file, without those that are reworded."""
    words = _renamed_words(edit)
    introduced: list[list[Diagnostic]] = []
    for path, findings in (others.introduced or {}).items():
        text = host.read_text(str(path))
        gone = Before(text, tuple((others.fixed or {}).get(path, ())))
        new = [finding for finding in findings if finding.severity.counts(severity)]
        introduced.append(drop_reworded(new, text, gone, words))
    return [new for new in introduced if new]


def _renamed_words(edit: WorkspaceEdit) -> set[str]:
    return {word for old, new in _texts(edit).values() for word in changed_words(old, new)}


def _introduced_errors(
    edit: WorkspaceEdit, before: dict[Path, Report], after: dict[Path, Report]
) -> list[list[Diagnostic]]:
    """The new findings that count, by file, without files that have none.

    An error that differs only in names which the edit has renamed is not new.
    """
    texts = _texts(edit)
    words = _renamed_words(edit)
    introduced = [
        _new_findings(report, before.get(path), texts.get(path), words)
        for path, report in after.items()
    ]
    return [new for new in introduced if new]


def _new_findings(
    report: Report, before: Report | None, texts: tuple[str, str] | None, words: set[str]
) -> list[Diagnostic]:
    if report.introduced is None or before is None:
        return [] if before is not None and before.counted else report.counted
    new = [finding for finding in report.introduced if finding.severity.counts(report.severity)]
    if not new or texts is None:
        return new
    # The compared findings may belong to an older text than the edited one.
    gone = tuple(finding for finding in report.fixed or () if finding in before.diagnostics)
    return drop_reworded(new, Text(texts[1]), Before(Text(texts[0]), gone), words)


def _texts(edit: WorkspaceEdit) -> dict[Path, tuple[str, str]]:
    """The text of each file before and after the edit, which may change it more than once."""
    texts: dict[Path, tuple[str, str]] = {}
    for change in edit.changes:
        if not isinstance(change, FileEdit) or change.path is None:
            continue
        if change.before is not None and change.after is not None:
            first, _ = texts.get(change.path, (change.before, ""))
            texts[change.path] = first, change.after
    return texts
