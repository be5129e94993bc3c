"""The envelope: the form of every answer to a model, and its limits.

Plain data in, plain data out. `toolbox.py` runs the calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lspkit.agent.tools.result_data import ResultPieces, replace_surrogates, shorten
from lspkit.answer import SERVER_FAILED, caveat_line
from lspkit.diagnostics.render import name_of
from lspkit.diagnostics.report import Evidence, Report
from lspkit.errors import (
    CancelledError,
    LspkitError,
    NoServerError,
    RequestFailedError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
    UnsupportedError,
)
from lspkit.runtime.concurrency.call import AnswerLog
from lspkit.types import Diagnostic
from lspkit.visible_text import count, one_line, visible_json

#: Default limits of results in one answer, and of its bytes.
MOST_ITEMS = 200
MOST_BYTES = 32 * 1024
#: The smallest limit that has room for an answer.
FEWEST_BYTES = 4096
#: Most errors of an edit that was undone.
MOST_INTRODUCED = 5
#: Errors and warnings in one answer.
MOST_NOTES = 10

Envelope = dict[str, Any]


class TextBudget(msgspec.Struct, frozen=True):
    """The size limits of an answer."""

    items: int = MOST_ITEMS
    bytes: int = MOST_BYTES


class ToolOutcome(msgspec.Struct, kw_only=True):
    """The outcome of a call, from which the envelope is made."""

    operation: str = ""
    #: None if there is no answer.
    shaped: ResultPieces | None = None
    #: Ids of the servers that answered.
    hits: set[str] = msgspec.field(default_factory=set)
    errors: list[LspkitError] = msgspec.field(default_factory=list)
    #: Why the answer may be incomplete.
    caveats: tuple[str, ...] = ()
    #: Warnings about this call.
    warnings: list[str] = msgspec.field(default_factory=list)
    #: Warnings about the workspace.
    standing: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.shaped is not None


def to_json(value: Any) -> str:
    """JSON on one line, with lone surrogates replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return visible_json(replace_surrogates(text))


def size_of(value: Any) -> int:
    """The size of a value as JSON in bytes."""
    return len(to_json(value).encode())


def error_text(error: LspkitError) -> str:
    """The message of an error for a model."""
    if isinstance(error, NoServerError) and error.extension:
        return f"No LSP server configured for {error.extension} files."
    return error.message


def with_relative_paths(error: LspkitError, root: str) -> LspkitError:
    """The error with the paths of its findings relative to the workspace, as in all results."""
    introduced: tuple[dict[str, Any], ...] = getattr(error, "introduced", ())
    if not introduced:
        return error
    made = error.copy()
    named = [
        {**finding, "path": name_of(Path(finding["path"]), Path(root))} for finding in introduced
    ]
    made.fields["introduced"] = made.__dict__["introduced"] = tuple(named)
    return made


def make_envelope(outcome: ToolOutcome, milliseconds: int, room: TextBudget) -> Envelope:
    """The answer, within the size limits."""
    share = room.bytes // 2 // (2 * MOST_NOTES)
    made: Envelope = {
        "ok": outcome.ok,
        "operation": shorten(one_line(outcome.operation), 60),
        "data": None,
        "errors": _errors(outcome.errors, share),
        "meta": {
            "durationMs": max(0, milliseconds),
            "serverHits": len(outcome.hits),
            "partial": outcome.ok and bool(outcome.errors or outcome.caveats),
            "timedOut": any(isinstance(error, RequestTimeoutError) for error in outcome.errors),
            "empty": outcome.shaped is not None and outcome.shaped.size == 0,
            "truncated": False,
            "warnings": _warnings((*outcome.caveats, *outcome.warnings, *outcome.standing), share),
        },
    }
    if outcome.shaped is not None:
        _fill(made, outcome.shaped, room)
    return made


def _errors(errors: Sequence[LspkitError], share: int) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for error in errors:
        faults: tuple[str, ...] = getattr(error, "faults", ()) if error.code == "EINVAL" else ()
        server = getattr(error, "server", "") or next(iter(getattr(error, "servers", ())), "")
        for message in faults or (error_text(error),):
            entry: dict[str, Any] = {
                "serverId": shorten(server, 60),
                "message": _fit(message, share),
                "code": error.code,
            }
            if introduced := getattr(error, "introduced", ()):
                entry["introduced"] = [
                    {
                        **finding,
                        "path": _fit(finding["path"], share),
                        "message": _fit(finding["message"], share),
                    }
                    for finding in introduced[:MOST_INTRODUCED]
                ]
            if entry not in entries:
                entries.append(entry)
    return entries[:MOST_NOTES]


def _warnings(warnings: Sequence[str], share: int) -> list[str]:
    return [_fit(warning, share) for warning in list(dict.fromkeys(warnings))[:MOST_NOTES]]


def _fit(text: str, share: int) -> str:
    """The text on one line, cut so that its JSON has at most `share` bytes."""
    # Every character has at least one byte, so the text beyond the share is not needed.
    line = replace_surrogates(
        " ".join(one_line(part) for part in text[:share].splitlines() if part)
    )
    if len(text) <= share and size_of(line) <= share:
        return line
    return (
        line[: largest_fitting(len(line), lambda size: size_of(line[:size] + "…") <= share)] + "…"
    )


def _fill(made: Envelope, pieces: ResultPieces, room: TextBudget) -> None:
    """Add as many pieces as there is room for."""
    left = room.bytes - size_of(made) - len(',"total":') - len(str(pieces.size))
    wanted = min(pieces.size, room.items) if pieces.counted else pieces.size
    kept = largest_fitting(wanted, lambda size: size_of(pieces.build(size)) <= left)
    made["data"] = pieces.build(kept)
    if kept < pieces.size or pieces.cut:
        made["meta"]["truncated"] = True
        if pieces.counted:
            made["meta"]["total"] = pieces.size


def largest_fitting(size: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `size` that fits, by binary search."""
    if fits(size):
        return size
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def caveats_of(result: Any) -> tuple[str, ...]:
    """Why a result may be incomplete, as one line; empty if it is complete.

    Servers that have failed are among the errors of the envelope.
    """
    caveats = [caveat for caveat in getattr(result, "caveats", ()) if caveat.kind != SERVER_FAILED]
    return (f"perhaps not all: {caveat_line(caveats)}",) if caveats else ()


# Which servers have answered


def servers_of(findings: Mapping[Path, Iterable[Diagnostic]]) -> set[str]:
    """The servers of these findings."""
    return {server for all in findings.values() for finding in all for server in finding.servers}


def failures_of(answers: AnswerLog) -> list[LspkitError]:
    """The errors of servers. `UnsupportedError` is not counted as a failure."""
    return [
        failure
        for failure in answers.failed
        if isinstance(failure, LspkitError) and not isinstance(failure, UnsupportedError)
    ]


def evaluate_report(
    report: Report, *, cancelled: bool
) -> tuple[set[str], list[LspkitError], list[str]]:
    """Of a check: the servers that answered, the errors of the others, and warnings."""
    evidence = [server for server in report.servers if server.applies]
    hits = {server.server for server in evidence if server.how != "none"}
    errors = [_error_of(server, cancelled=cancelled) for server in evidence if server.how == "none"]
    warnings: list[str] = []
    if report.verdict.unknown and hits:
        warnings.append(
            f"there are no findings, but that does not prove that the file is clean: {report.why}"
        )
    if report.stale_diagnostics and errors:
        warnings.append(f"not shown: {count(len(report.stale_diagnostics), 'earlier finding')}")
    return hits, errors, warnings


def _error_of(silent: Evidence, *, cancelled: bool) -> LspkitError:
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
