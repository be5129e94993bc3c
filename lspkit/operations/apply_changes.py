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
from lspkit.diagnostics.edit_report import EditReport
from lspkit.diagnostics.report import OtherFiles, Report, unchecked_report
from lspkit.edit_types import AppliedEdit, CodeAction, FileEdit, WorkspaceEdit, combine_edits
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
from lspkit.types import Caveat, Diagnostic
from lspkit.visible_text import count, one_line

#: Most names that an edit which is a rename replaces, and puts in their place.
MOST_NAMES = 6


class WriteRequest(Request[Report], frozen=True, kw_only=True):
    """Write a text to a file."""

    only_once = True

    path: str
    text: str
    #: `project` adds the files that depend on it.
    scope: Literal["file", "project"] = "file"


class DeleteRequest(Request[EditReport | None], frozen=True, kw_only=True):
    """Delete a file."""

    only_once = True

    path: str
    #: Whether to check the files that depend on it.
    check: bool = False


class MoveRequest(Request[EditReport | None], frozen=True, kw_only=True):
    """Move a file."""

    only_once = True

    path: str
    new_path: str
    #: Whether to check the file, and those that depend on it.
    check: bool = False


class ApplyRequest(Request[AppliedEdit], frozen=True, kw_only=True):
    """Apply an edit that a server proposed."""

    only_once = True

    edit: WorkspaceEdit | None = None
    #: Instead of an edit: an action, whose edit may have to be resolved first.
    action: CodeAction | None = None
    #: Whether to check the changed files afterwards, and undo the edit if it introduces errors.
    verify: bool = False
    #: Whether to apply also an edit that may be incomplete.
    force: bool = False


class UndoRequest(Request[EditReport | None], frozen=True, kw_only=True):
    """Undo an edit."""

    only_once = True

    applied: AppliedEdit
    #: Whether to check the files, and those that depend on them.
    check: bool = False


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


@operation("write", WriteRequest, Report)
def write(request: WriteRequest, host: Host) -> Report:
    """Write the file, and check it."""
    before = _present_text(host, request.path) if request.scope == "project" else None
    host.write_file(request.path, request.text)
    checked = checks.CheckRequest(path=request.path, scope=request.scope)
    try:
        if request.scope == "file":
            return checks.check(checked, host)
        return checks.check_project(checked, host, before)
    except (errors.NoServerError, errors.ServerUnavailableError) as problem:
        return unchecked_report(request.path, problem)  # the file is written nevertheless


def _present_text(host: Host, path: str) -> str | None:
    """The text of a file, None if there is none."""
    try:
        text = host.read_text(path)
    except errors.PathError:
        return None
    return text.value


@operation("delete", DeleteRequest, EditReport | None)
def delete(request: DeleteRequest, host: Host) -> EditReport | None:
    """Delete the file, and check those that depend on it."""
    search = _before_removal(host, request.path) if request.check else EditSearch()
    host.delete_file(request.path)
    if not request.check:
        return None
    return check_after(CheckEditRequest(files=(), gone=(request.path,)), host, search)


@operation("move", MoveRequest, EditReport | None)
def move(request: MoveRequest, host: Host) -> EditReport | None:
    """Move the file, and check it and those that depend on it."""
    search = _before_removal(host, request.path) if request.check else EditSearch()
    host.move_file(request.path, request.new_path)
    if not request.check:
        return None
    files = (EditedFile(request.new_path),)
    return check_after(CheckEditRequest(files=files, gone=(request.path,)), host, search)


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


@operation("undo", UndoRequest, EditReport | None)
def undo(request: UndoRequest, host: Host) -> EditReport | None:
    """Undo the edit, and check its files and those that depend on them."""
    files: list[EditedFile] = []
    gone: list[str] = []
    for one in request.applied.touched if request.check else ():
        path = str(one.path)
        if one.was == "file":
            files.append(EditedFile(path, _present_text(host, path)))
        elif one.now == "file":
            gone.append(path)
    host.undo_edit(request.applied)
    if not request.check:
        return None
    search = find_dependents(host, files)
    checked = CheckEditRequest(files=tuple(files), gone=tuple(gone))
    return check_after(checked, host, search)


@operation("show_texts", ShowTextsRequest, int)
def show_texts(request: ShowTextsRequest, host: Host) -> int:
    """Show the texts; the number that ends it."""
    return host.show_texts(request.texts)


@operation("show_disk", ShowDiskRequest, None)
def show_disk(request: ShowDiskRequest, host: Host) -> None:
    """Show the files again."""
    host.end_overlay(request.number)


@operation("apply", ApplyRequest, AppliedEdit)
def apply(request: ApplyRequest, host: Host) -> AppliedEdit:
    """Apply an edit or an action, all or none."""
    edit = request.edit
    if request.action is not None:
        found = resolve_action(host, request.action)
        if isinstance(found, WireCommand):
            return _run(host, request.action, found, verify=request.verify)
        edit = found
    if edit is None:
        raise errors.RequestFailedError(
            "there is nothing to apply: neither an edit nor an action was given"
        )
    if (missing := missing_parts(edit)) and not request.force:
        raise incomplete_error(missing)
    if not request.verify:
        return host.apply_edit(edit)
    versions = host.document_versions(edit)
    before = _reports(host, edit)
    texts = _texts(edit).items()
    search = find_dependents(host, [EditedFile(str(one), *both) for one, both in texts])
    search, left = _with_word_files(host, search, edit)
    _check_others(host, search, tuple(str(path) for path in edit.files))
    applied = host.apply_edit(edit, versions)
    verified = _verify(host, applied, before, search)
    doubts = tuple(one_line(caveat.message) for caveat in edit.caveats)
    return msgspec.structs.replace(
        verified, unverified=(*verified.unverified, *doubts, *filter(None, [left]))
    )


def _with_word_files(host: Host, search: EditSearch, edit: WorkspaceEdit) -> tuple[EditSearch, str]:
    """A search with the files that hold a renamed name, and what is said of those left out."""
    names = renamed_names(edit)
    path = next((str(change.path) for change in edit.changes if change.path is not None), "")
    if not names or not path:
        return search, ""
    near = tuple(path.stem for path in edit.files)
    found = host.find_words(path, path, names, near, SEARCH_SECONDS)
    edited = {*map(str, edit.files), *search.old}
    words = {other: held for other, held in found.code.items() if other not in edited}
    chosen = files_to_open(words)
    lines = {other: tuple(sorted({word.line for word in words[other]})) for other in chosen}
    search = msgspec.structs.replace(search, lines={**lines, **search.lines})
    left = len(words) - len(chosen)
    if not left:
        return search, found.reason
    return search, f"{count(left, 'file')} with {' or '.join(names)} in code: not checked"


def renamed_names(edit: WorkspaceEdit) -> tuple[str, ...]:
    """The old and the new names of an edit that renames something; empty for other edits."""
    names: dict[str, None] = {}
    for change in edit.changes:
        if not isinstance(change, FileEdit) or change.before is None:
            continue
        text = Text(change.before)
        for one in change.edits:
            start, end = one.range.start, one.range.end
            old = text.value[
                text.offset(start.line - 1, start.column - 1) : text.offset(
                    end.line - 1, end.column - 1
                )
            ]
            if old.isidentifier() and one.new_text.isidentifier():
                names |= {old: None, one.new_text: None}
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


def _run(host: Host, action: CodeAction, command: WireCommand, *, verify: bool) -> AppliedEdit:
    """Let the server execute a command: all edits that it requests are applied, or none.

    The changed files are not known in advance, so only the action's own file is checked before.
    """
    text = host.read_text(action.via)
    if text_digest(text) != action.sha256:
        message = f"{action.via} has changed since {action.title!r} was offered; request it again"
        raise errors.PathError(message, code="ECHANGED", path=action.via)
    before: dict[Path, Report] = {}
    if verify:
        before = checks.check_all(checks.CheckAllRequest(paths=(action.via,)), host)
    made: list[AppliedEdit] = []

    def make(reply: Reply) -> None:
        for wire in decode_edits(reply):
            edit = translate_edit(host, wire, reply)
            made.append(host.apply_edit(edit))

    arguments = command.arguments or []
    try:
        host.run_command(action.server, action.via, command.command, arguments, make)
        applied = combine_edits(made, action.server)
        search = EditSearch()
        if verify:
            texts = _texts(applied.edit).items()
            files = [EditedFile(str(one), both[0]) for one, both in texts]
            search = find_dependents(host, files)
    except BaseException as reason:  # also an interrupt: the caller does not get the edits
        _undo_all(host, made, reason)
        raise
    return _verify(host, applied, before, search) if verify else applied


def _reports(host: Host, edit: WorkspaceEdit) -> dict[Path, Report]:
    """Reports about the files of an edit before it is applied."""
    paths = tuple(str(one.path) for one in edit.changes if one.path is not None)
    return checks.check_all(checks.CheckAllRequest(paths=paths), host)


def _verify(
    host: Host, applied: AppliedEdit, before: dict[Path, Report], search: EditSearch
) -> AppliedEdit:
    """Check what was changed; undo the edit if it breaks anything, or if the check is ended.

    The result has what could not be checked.
    """
    try:
        new, unverified = _check_applied(host, applied, before, search)
    except BaseException as reason:  # also an interrupt: the caller does not get the edit
        _undo_all(host, [applied], reason)
        raise
    if not new:
        return msgspec.structs.replace(applied, unverified=unverified)
    host.undo_edit(applied)
    found = "; ".join(str(one) for findings in new for one in findings[:3])
    raise errors.RequestFailedError(
        f"the edit was undone, since it introduces errors: {found}",
        server=applied.edit.server,
        introduced=tuple(_as_data(one) for findings in new for one in findings),
    )


def _undo_all(host: Host, edits: list[AppliedEdit], reason: BaseException) -> None:
    """Undo edits, the last first. One that cannot be undone is the error, unless the caller has
    interrupted the call."""
    failures: list[errors.LspkitError] = []
    for one in reversed(edits):
        try:
            host.undo_edit(one)
        except errors.LspkitError as problem:
            failures.append(problem)
            reason.add_note(f"an edit was not undone: {problem}")
    if failures and isinstance(reason, errors.LspkitError):
        raise failures[0] from reason


def _check_applied(
    host: Host, applied: AppliedEdit, before: dict[Path, Report], search: EditSearch
) -> tuple[list[list[Diagnostic]], tuple[str, ...]]:
    """The new errors in the changed files and those that depend on them, by file, and a line for
    everything that could not be checked. Raises `CancelledError` if the caller has cancelled."""
    there = tuple(str(one.path) for one in applied.touched if one.now == "file")
    after = checks.check_all(checks.CheckAllRequest(paths=there), host)
    new = _without_copies(applied.edit, _introduced_errors(applied.edit, before, after))
    unknown = {str(path): one.why for path, one in after.items() if one.verdict.unknown}
    left_out = 0
    if not new and search.lines:
        others = _check_others(host, search, there)
        severities = next((one.severities for one in after.values()), ("error",))
        new = _introduced_elsewhere(host, applied.edit, others, severities)
        unknown |= others.unknown
        named = others.unknown.keys() & set(search.dependents)
        left_out = others.left_out - len(named)
    new = _without_copies(applied.edit, new)
    host.raise_if_cancelled()
    lines = [f"{path}: {why}" if path else why for path, why in unknown.items()]
    if left_out > 0:
        lines.append(f"{count(left_out, 'file')} with uses of it: not checked in time")
    return new, tuple(map(one_line, lines))


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
    host: Host, edit: WorkspaceEdit, others: OtherFiles, severities: tuple[str, ...]
) -> list[list[Diagnostic]]:
    """The new findings that count in other files, by file, without those that are reworded."""
    words = _renamed_words(edit)
    found: list[list[Diagnostic]] = []
    for path, findings in (others.introduced or {}).items():
        text = host.read_text(path)
        gone = Before(text, tuple((others.fixed or {}).get(path, ())))
        new = [one for one in findings if one.severity.value in severities]
        found.append(drop_reworded(new, text, gone, words))
    return [new for new in found if new]


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
    found = [
        _new_findings(report, before.get(path), texts.get(path), words)
        for path, report in after.items()
    ]
    return [new for new in found if new]


def _new_findings(
    report: Report, before: Report | None, texts: tuple[str, str] | None, words: set[str]
) -> list[Diagnostic]:
    if report.introduced is None or before is None:
        return [] if before is not None and before.counted else report.counted
    new = [one for one in report.introduced if one.severity.value in report.severities]
    if not new or texts is None:
        return new
    # The compared findings may belong to an older text than the edited one.
    gone = tuple(one for one in report.fixed or () if one in before.diagnostics)
    return drop_reworded(new, Text(texts[1]), Before(Text(texts[0]), gone), words)


def _texts(edit: WorkspaceEdit) -> dict[Path, tuple[str, str]]:
    """The text of each file before and after the edit, which may change it more than once."""
    texts: dict[Path, tuple[str, str]] = {}
    for one in edit.changes:
        if not isinstance(one, FileEdit) or one.path is None:
            continue
        if one.before is not None and one.after is not None:
            first, _ = texts.get(one.path, (one.before, ""))
            texts[one.path] = first, one.after
    return texts
