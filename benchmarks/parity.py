"""The parity table against OpenCode: from the section `opencode` to pass or fail for each row.

Pure. A row passes only with figures of both sides; without one it is "not measured".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Shares that lspkit may be slower.
WARM, COLD = 1.05, 1.10
#: Milliseconds from an edit to its diagnostics at most, and bytes of a summary.
EDIT_P95_MS, SUMMARY_BYTES = 3500.0, 2048


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    what: str
    language: str
    own: float | None
    #: None where the bar is a number of its own.
    theirs: float | None
    limit: float | None
    unit: str

    @property
    def verdict(self) -> str:
        if self.own is None or self.limit is None:
            return "not measured"
        return "pass" if self.own <= self.limit else "**fail**"

    @property
    def cells(self) -> list[Any]:
        """The cells of its line in the table."""
        return [
            self.what,
            self.language,
            self.own,
            self.theirs,
            self.limit,
            self.unit,
            self.verdict,
        ]


def parity(section: dict[str, Any]) -> list[Row]:
    """All rows, for each language."""
    rows: list[Row] = []
    for language, sides in section.get("languages", {}).items():
        rows += _of_language(language, sides.get("lspkit") or {}, sides.get("opencode") or {})
    return rows


def passes(rows: list[Row]) -> bool:
    """Whether every row passes, and there is one."""
    return bool(rows) and all(row.verdict == "pass" for row in rows)


def _of_language(language: str, own: dict[str, Any], theirs: dict[str, Any]) -> Iterator[Row]:
    for what, allowed in (
        ("warm hover", WARM),
        ("edit that breaks or mends", WARM),
        ("edit that stays clean", WARM),
        ("cold check", COLD),
    ):
        for share in ("p50", "p95"):
            yield _compared(f"{what}, {share}", language, own, theirs, (what, share), allowed)
    edits = [own[what]["p95"] for what in own if what.startswith("edit ")]
    slowest = max(edits) if edits else None
    yield Row("edit to diagnostics, p95", language, slowest, None, EDIT_P95_MS, "ms")
    yield Row("processes left", language, own.get("left"), theirs.get("left"), 0, "")
    size = own.get("summary_bytes")
    yield Row("summary", language, size, theirs.get("summary_bytes"), SUMMARY_BYTES, "bytes")


def _compared(
    what: str,
    language: str,
    own: dict[str, Any],
    theirs: dict[str, Any],
    key: tuple[str, str],
    allowed: float,
) -> Row:
    kind, share = key
    mine, other = own.get(kind, {}).get(share), theirs.get(kind, {}).get(share)
    limit = None if other is None else other * allowed
    return Row(what, language, mine, other, limit, "ms")
