"""Which findings of a file an edit has introduced, an earlier edit of the agent, or none. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence

import msgspec

from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.protocol.text import Text
from lspkit.types import Diagnostic


class FileState(msgspec.Struct, frozen=True):
    """The findings of one file after an edit."""

    findings: Sequence[Diagnostic]
    #: Those among them that an edit has introduced; None: the state before it is not known.
    introduced: Sequence[Diagnostic] | None
    #: Those that were there before the edit.
    remaining: Sequence[Diagnostic]
    #: The servers whose findings are all known.
    proven: Container[str]


class SortedFindings(msgspec.Struct, frozen=True):
    """The findings of one file, as one agent sees them."""

    #: Introduced by the present edit.
    new: tuple[Diagnostic, ...] = ()
    #: Introduced by an earlier edit of this agent.
    still: tuple[Diagnostic, ...] = ()
    #: From before the first edit of this agent.
    old: tuple[Diagnostic, ...] = ()
    #: Introduced earlier by this agent, of servers that have not answered now.
    unproven: tuple[Diagnostic, ...] = ()
    #: All that are known now.
    all: tuple[Diagnostic, ...] = ()


def sort_findings(own: Before | None, text: Text, state: FileState) -> SortedFindings:
    """Which findings are new, which ones this agent has introduced earlier, and which are old."""
    still: list[Diagnostic] = []
    unproven: list[Diagnostic] = []
    if own is not None:
        _, _, still = compare_findings(own, text, state.findings, state.proven)
        unproven = [
            finding
            for finding in own.findings
            if not all(server in state.proven for server in finding.servers)
            and not any(finding.message == other.message for other in still)
        ]
    introduced = state.findings if state.introduced is None else state.introduced
    new = [finding for finding in introduced if finding not in still]
    old = [finding for finding in state.remaining if finding not in still]
    return SortedFindings(
        tuple(new), tuple(still), tuple(old), tuple(unproven), tuple(state.findings)
    )
