"""The end of a test run: which servers were there, which not and why, and what that cost.

A run without a test of a real server says nothing. A test counts for the first thing that it asked
for and that was missing. Works on reports alone, so that it is the same with pytest-xdist.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from tests import real_servers

#: What `require` and `require_program` of `real_servers.py` say.
_MISSING = re.compile(r"\bno (server|program) (\S+?)(?:, which must be there)?: ")
_WIDTH = 100


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    groups = terminalreporter.stats
    if not servers_were_asked_for(groups):
        return
    losses = {word: counted(groups.get(word, ())) for word in ("skipped", "failed", "error")}
    terminalreporter.section("language servers")
    for line in summary(real_servers.servers(), real_servers.programs(), losses):
        terminalreporter.write_line(line)


def servers_were_asked_for(groups: Mapping[str, Iterable[Any]]) -> bool:
    """Whether a test that ran has the marker; those that were deselected are no reports."""
    everything = (one for group in groups.values() for one in group)
    reports = (one for one in everything if isinstance(one, pytest.TestReport))
    return any("server" in report.keywords for report in reports)


def counted(reports: Iterable[Any]) -> Counter[tuple[str, str]]:
    """How many tests each missing server or program cost."""
    found = (_MISSING.search(reason(report)) for report in reports)
    return Counter((match[1], match[2]) for match in found if match)


def reason(report: Any) -> str:
    """Why a test was skipped, or the whole of its failure."""
    told = report.longrepr
    return str(told[2] if isinstance(told, tuple) else told)


def summary(
    servers: Mapping[str, Mapping[str, Any]],
    programs: Mapping[str, Mapping[str, Any]],
    losses: Mapping[str, Counter[tuple[str, str]]],
) -> list[str]:
    """The lines that are shown."""
    there = [f"{name} {row['version']}" for name, row in servers.items() if "version" in row]
    said = f"{len(there)} of {len(servers)} were there: {', '.join(there) or 'none'}"
    lines = textwrap.wrap(said, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    known = {("server", name): row.get("missing") for name, row in servers.items()}
    known |= {("program", name): row.get("missing") for name, row in programs.items()}
    asked = dict.fromkeys(key for counts in losses.values() for key in counts)
    missing = [key for key, why in known.items() if why and (key[0] == "server" or key in asked)]
    for key in (*missing, *(key for key in asked if key not in missing)):
        cost = [f"{counts[key]} {word}" for word, counts in losses.items() if counts[key]]
        why = known.get(key) or real_servers.NO_SET_UP
        lines.append(f"missing {key[0]} {key[1]}, tests: {', '.join(cost) or 'none'}. {why}")
    return lines
