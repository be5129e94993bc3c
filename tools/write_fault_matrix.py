"""Writes the page about faults: python tools/write_fault_matrix.py [FILE]

All of it comes from the tables that the tests go by; a test compares the committed page with a new
one.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the tables are in the tests, which are not installed

from tests.faults import table  # noqa: E402
from tests.faults.operations import OPERATIONS  # noqa: E402
from tests.faults.table import ROWS, Expected, Row  # noqa: E402

PAGE = ROOT / "docs" / "faults.md"

HEAD = """\
# What servers do wrong

<!-- Written by tools/write_fault_matrix.py from tests/faults/table.py. Change it there. -->

Every fault in the first table meets every operation in the second one, on a scripted server that
is a real process. Whatever the fault is, the following holds, and is tested for each pair:

- the call is back within its time limit, with what the table says and nothing else;
- another server of the same workspace answers meanwhile as if nothing were;
- the next call is answered right, by the same process or by a new one, except where the table says
  that one more call may fail first;
- lspkit itself keeps to the protocol, and no process, thread, descriptor or temporary file is left.

An error is always a `LspkitError`; the table names its code. `check` raises none of them once its
server has started: its report then says `unknown`, and why.
"""

#: What may come of a call, in words.
WORDS = {
    table.RIGHT: "the right answer",
    table.MENDED: "the right answer, with � for what was spoilt",
    table.UNREAD: "the number",
    table.TIMED_OUT: "`ETIMEDOUT`",
    table.BROKEN: "`EBROKEN`",
    table.REFUSED: "`ELSP`",
    table.UNAVAILABLE: "`EUNAVAILABLE`",
}


def outcome(expected: Expected) -> str:
    """What may come of a call."""
    return ", or ".join(words for key, words in WORDS.items() if key in expected.allowed)


def line(row: Row) -> str:
    """One fault."""
    told = outcome(row.expected)
    if row.pushed is not None and row.pushed != row.expected:
        told += f". Pushed diagnostics: {outcome(row.pushed)}"
    if row.raw is not None:
        told += f". A raw `request`: {outcome(row.raw)}"
    after = "a new process" if row.starts == (2,) else "the same process"
    if len(row.starts) > 1:
        after = "either process"
    if row.unnoticed:
        after += f"; up to {row.unnoticed} more may be lost before that can be known"
    if row.mended_by:
        after += f", after `{row.mended_by}`"
    return f"| {row.name} | {row.does} | {told} | {after} |"


def page() -> str:
    """The whole page."""
    faults = ["| fault | the server … | the call gives | the next call is answered by |"]
    faults += ["| --- | --- | --- | --- |", *map(line, ROWS)]
    operations = ["| operation | the fault is in |", "| --- | --- |"]
    operations += [f"| {one.name} | `{one.method}` |" for one in OPERATIONS]
    parts = [HEAD.rstrip(), "## Faults", "\n".join(faults), "## Operations", "\n".join(operations)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write it."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
