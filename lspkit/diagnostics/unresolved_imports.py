"""Whether most findings of a check are imports that a server of Python could not resolve. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from lspkit.diagnostics.report import Report
from lspkit.types import Diagnostic

#: Codes of findings about imports that were not found.
CODES = frozenset(
    {"reportMissingImports", "reportMissingModuleSource", "unresolved-import", "missing-import"}
    | {"import-not-found", "import-error"}
)
#: With fewer findings, one missing package is no sign of the wrong interpreter.
FEWEST = 3


def is_unresolved_import(finding: Diagnostic) -> bool:
    """Whether a finding says that a module was not found."""
    return finding.code in CODES


def import_hint(reports: Iterable[Report]) -> str:
    """One line about the interpreter, if most findings are unresolved imports; else empty."""
    several = list(reports)
    findings = [finding for report in several for finding in report.counted]
    missing = [finding for finding in findings if is_unresolved_import(finding)]
    if len(missing) < FEWEST or 2 * len(missing) <= len(findings):
        return ""
    servers = {server for finding in missing for server in finding.servers}
    for evidence in chain.from_iterable(report.servers for report in several):
        used = evidence.interpreter
        if used is not None and evidence.server in servers:
            what = used.path or "no interpreter"
            return (
                f"{len(missing)} of {len(findings)} findings are unresolved imports; "
                f"{evidence.server} uses {what} because {used.why}; to use another: {used.change}"
            )
    return ""
