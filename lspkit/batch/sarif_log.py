"""The result of a check as SARIF 2.1.0, which code hosts and editors read.

Each server has a run of its own, also if it has found nothing, so that earlier findings of it are
closed. A finding of two servers is in the run of the first. Paths are relative to `%SRCROOT%`, the
git work tree. A fingerprint goes by the text of the line and not by its number.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.diagnostics.report import Evidence, Report
from lspkit.edits.text_edits import decode
from lspkit.errors import LspkitError
from lspkit.protocol.text import Text
from lspkit.protocol.uris import path_to_uri
from lspkit.regular_files import open_regular
from lspkit.types import Diagnostic, Range, Severity, Verdict
from lspkit.version import VERSION
from lspkit.workspace_boundary import is_inside

# Lines and texts of the files that were checked.


def read_text(path: Path) -> Text:
    """The text of a file; empty if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as stream:
            return Text(decode(stream.read(), str(path))[1])
    except (OSError, LspkitError):
        return Text("")


class SourceText:
    """The lines of files, each of which is read once."""

    def __init__(self) -> None:
        self._texts: dict[Path, Text] = {}

    def line(self, path: Path | None, number: int) -> str:
        """A line, counted from 1; empty if there is none."""
        if path is None:
            return ""
        if path not in self._texts:
            self._texts[path] = read_text(path)
        text = self._texts[path]
        return text.line(number - 1) if 1 <= number <= text.line_count else ""


SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
BASE = "%SRCROOT%"
#: The name of lspkit's fingerprint, with its version.
FINGERPRINT = "lspkitFinding/v1"
LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
    Severity.HINT: "note",
}

#: What the format would read as a placeholder, or as a link, in a message.
_PLACEHOLDER = re.compile(r"\{(\d+)\}")
_LINK = re.compile(r"(\[)(?=[^\[\]]*\]\()")
_HALVES = re.compile("[\ud800-\udfff]")
#: As in comparisons: an edit elsewhere can change it.
_LINE_NUMBER = re.compile(r"\b([Ll]ines?) \d+")


def as_sarif(outcome: CheckOutcome) -> dict[str, Any]:
    """The log as plain values."""
    return sarif_log(sarif_runs(outcome))


def sarif_log(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A log of these runs."""
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def sarif_runs(outcome: CheckOutcome, project: str = "") -> list[dict[str, Any]]:
    """The runs of a log, with the project in their category."""
    sources = SourceText()
    servers = {server.server: None for report in outcome.reports for server in report.servers}
    named = {
        server: None for report in outcome.reports for server in _first_servers(outcome, report)
    }
    everybody = sorted({**servers, **named}) or [""]
    runs = [_run(outcome, server, sources, first=server == everybody[0]) for server in everybody]
    for run in runs if project else ():
        _name_project(run, project)
    return runs


def failure_runs(project: str, why: str) -> list[dict[str, Any]]:
    """The run of a project that was not checked."""
    run = _run(CheckOutcome(base=project, reports=[]), "", SourceText(), first=True)
    notes = [{"level": "error", "message": {"text": _message(why)}}]
    run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": notes}]
    _name_project(run, project)
    return [run]


def _name_project(run: dict[str, Any], project: str) -> None:
    details = run["automationDetails"]
    details["id"] += _text(project).strip(os.sep) + "/"


def _first_servers(outcome: CheckOutcome, report: Report) -> Iterable[str]:
    return (_server_of(finding) for finding in outcome.findings(report))


def _server_of(finding: Diagnostic) -> str:
    return finding.servers[0] if finding.servers else ""


def _run(outcome: CheckOutcome, server: str, sources: SourceText, *, first: bool) -> dict[str, Any]:
    """The run of a server. The first one also has what no server has checked."""
    findings = [
        finding
        for report in outcome.reports
        for finding in outcome.findings(report)
        if _server_of(finding) == server
    ]
    rules = _rules(findings, server)
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for finding in findings:
        result = _result(finding, outcome, server)
        result["ruleIndex"] = numbers[result["ruleId"]]
        key = _fingerprint(finding, outcome.base, sources)
        seen[key] += 1
        result["partialFingerprints"] = {FINGERPRINT: f"{key}:{seen[key]}"}
        results.append(result)
    driver = {"name": _text(server or "lspkit"), "rules": rules}
    return {
        "tool": {
            "driver": driver,
            "extensions": [{"name": "lspkit", "version": VERSION}],
        },
        "automationDetails": {"id": f"lspkit/{_text(server)}/" if server else "lspkit/"},
        "invocations": [_invocation(outcome, server, first=first)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"uri": _folder_uri(outcome.base)}},
        "results": results,
    }


def _rules(findings: Iterable[Diagnostic], server: str) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for finding in findings:
        id = _rule_id(finding, server)
        rule = rules.setdefault(id, {"id": id})
        text = f"{id} of {_text(finding.source or server or 'a language server')}"
        rule["shortDescription"] = rule["fullDescription"] = {"text": text}
        rule["help"] = {"text": text}
        if _is_web_page(finding.href):
            rule["help"] = {"text": f"See {_text(finding.href)}"}
            rule["helpUri"] = quote(finding.href, safe=":/?#[]@!$&'()*+,;=%~-._")
    return [rules[id] for id in sorted(rules)]


def _is_web_page(href: str) -> bool:
    return href.startswith(("https://", "http://"))


def _rule_id(finding: Diagnostic, server: str) -> str:
    return _text(finding.code or finding.source or server or "finding")


def _result(finding: Diagnostic, outcome: CheckOutcome, server: str) -> dict[str, Any]:
    place = _location(finding.path, finding.uri, finding.range, outcome.base)
    result: dict[str, Any] = {
        "ruleId": _rule_id(finding, server),
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding.message)},
        "locations": [place],
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": _message(other.message)},
                **_location(
                    other.location.path, other.location.uri, other.location.range, outcome.base
                ),
            }
            for number, other in enumerate(finding.related, 1)
        ]
    if outcome.revision:
        result["baselineState"] = "new"
    properties = {"servers": [_text(name) for name in finding.servers], "tags": list(finding.tags)}
    result["properties"] = {name: value for name, value in properties.items() if value}
    return result


def _location(path: Path | None, uri: str, where: Range, base: str) -> dict[str, Any]:
    start, end = where.start, where.end
    region = {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }
    artifact = _artifact(path, base) if path is not None else {"uri": quote(uri, safe=":/?#@=&%")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _artifact(path: Path, base: str) -> dict[str, Any]:
    whole = str(path)
    if not is_inside(whole, base):
        return {"uri": path_to_uri(whole)}
    relative = os.path.relpath(whole, base)
    return {"uri": quote(os.fsencode(relative)), "uriBaseId": BASE}


def _folder_uri(folder: str) -> str:
    return path_to_uri(folder).rstrip("/") + "/"


def _invocation(outcome: CheckOutcome, server: str, *, first: bool) -> dict[str, Any]:
    """Whether the server has checked all its files, and what was not checked."""
    silent = [
        (report.path, evidence.reason or evidence.how)
        for report in outcome.reports
        for evidence in report.servers
        if evidence.server == server and _is_silent(evidence, report)
    ]
    notes = [_notification(path, why, "warning", outcome) for path, why in silent]
    unclear: dict[Path, str] = {}
    if first:
        unclear = {**outcome.missing, **outcome.failed, **outcome.uncompared}
        for level, files in (("warning", unclear), ("note", outcome.skipped)):
            notes += [_notification(path, why, level, outcome) for path, why in files.items()]
    invocation: dict[str, Any] = {"executionSuccessful": not silent and not unclear}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    return invocation


def _is_silent(server: Evidence, report: Report) -> bool:
    """Whether it is not known if the server has further findings in the file."""
    quiet = server.how == "quiet" and report.verdict is Verdict.DIRTY
    return server.applies and not server.proven and not quiet


def _notification(path: Path, why: str, level: str, outcome: CheckOutcome) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": _artifact(path, outcome.base)}}
    return {"level": level, "message": {"text": _message(why)}, "locations": [place]}


def _fingerprint(finding: Diagnostic, base: str, sources: SourceText) -> str:
    """Identifies a finding. It stays as it is if the line moves."""
    name = os.path.relpath(finding.path, base) if finding.path is not None else finding.uri
    line = sources.line(finding.path, finding.range.start.line).strip()
    message = _LINE_NUMBER.sub(r"\1", finding.message)
    parts = [name, finding.code, finding.source, finding.severity.value, message, line]
    whole = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:32]


def _message(text: str) -> str:
    """A text that the format reads as it is. Two braces mean one."""
    return _LINK.sub(r"\\[", _PLACEHOLDER.sub(r"{{\1}}", _text(text))) or "(no message)"


def _text(text: str) -> str:
    """Without lone surrogates, which many readers of JSON refuse."""
    return _HALVES.sub("\ufffd", text)
