"""What a server says about a configuration that it cannot read. Pure.

A server that says so continues with its defaults, or with a part of the configuration: what it
finds is true of another project, and an empty list proves nothing.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence

import msgspec

from lspkit.protocol.wire.results import read_diagnostics

#: How the reason of a verdict begins.
CANNOT_READ = "it cannot read its configuration: "
#: Longest message that is shown.
LONGEST_MESSAGE = 600

#: The message is elsewhere.
_SEE_LOG = "refer to the logs"
#: The beginning of an entry in a log that is written to standard error.
_ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d[T ])", re.MULTILINE)
#: Lines of an entry that quote the file.
_QUOTATION = re.compile(r"^\s*(\d*\s*\||-->)")
_QUOTED_PATH = re.compile(r'"(/[^"\n]+)"')
_POSITION = re.compile(r"\bline (\d{1,6}),? column (\d{1,6})\b")

#: TypeScript's errors because of which a file of the configuration, or an option in it, does not
#: count. Below 2000: its syntax. Options that contradict each other are understood.
_UNREAD = frozenset({5012, 5014, 5023, 5024, 5025, 5083, 6044, 6046, 6053, 6114, 6258, 18000})


class ConfigurationError(msgspec.Struct, frozen=True):
    """Why a server cannot read its configuration."""

    message: str
    #: The files that it may be about, the most likely one first.
    paths: tuple[str, ...]
    #: Whether the message says what is wrong, and not only that the log does.
    is_whole: bool = True
    #: Zero-based.
    line: int = 0
    column: int = 0

    def may_be_about(self, path: str) -> bool:
        """Whether a change of a file may mend it: of any, if the error only refers to a log."""
        return not self.is_whole or path in self.paths or path in self.message


def configuration_error(
    line: str, log: str, candidates: Sequence[str]
) -> ConfigurationError | None:
    """Read the line by which a server says it; None if it is about another file of these names.

    `log` is what it has written to standard error, `candidates` are the files that configure it.
    """
    if _SEE_LOG in line:
        names = {os.path.basename(path) for path in candidates}
        errors = [text for text in _ENTRY.split(log) if " ERROR " in text]
        about = [text for text in errors if any(f"/{name}" in text for name in names)]
        own = [text for text in about if any(path in text for path in candidates)]
        if about and not own:
            return None
        line = own[0].partition(" ERROR ")[2] if own else line
    named = sorted((path for path in candidates if path in line), key=len, reverse=True)
    position = _POSITION.search(line)
    kept = (part.strip() for part in line.splitlines() if not _QUOTATION.match(part))
    message = " ".join(part for part in kept if part)[:LONGEST_MESSAGE]
    paths = (*named, *_QUOTED_PATH.findall(line), *candidates)
    is_whole = _SEE_LOG not in line
    if position is None:
        return ConfigurationError(message, paths, is_whole)
    return ConfigurationError(message, paths, is_whole, int(position[1]) - 1, int(position[2]) - 1)


def as_finding(error: ConfigurationError, source: str) -> bytes:
    """The error as a list of the protocol's diagnostics."""
    edge = {"line": error.line, "character": error.column}
    finding = {
        "range": {"start": edge, "end": edge},
        "severity": 1,
        "source": source,
        "message": error.message,
    }
    return msgspec.json.encode([finding])


def unread_option(reports: Iterable[tuple[str, bytes]]) -> str:
    """The first of TypeScript's findings in a configuration that says it is not all understood.

    From the name of each file of the configuration and the findings in it.
    """
    for name, items in reports:
        for finding in read_diagnostics(items).items:
            code = finding.code
            if isinstance(code, int) and (1000 <= code < 2000 or code in _UNREAD):
                start = finding.range.start
                return f"{name}:{start.line + 1}:{start.character + 1}: {finding.text}"
    return ""
