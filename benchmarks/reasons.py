"""Why a bar is not met: what the time goes into, in words. For `page.py`."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.bars import Bar

#: By row of the table, or by row and what was measured where one reason does not fit all.
REASONS: dict[str, str] = {
    "warm request, canned": (
        "The floor sends fixed bytes and reads the next line. Before each request lspkit also asks "
        "the kernel where the path leads now, and whether anything has changed below the root, "
        "compares the open document with its file, and turns the answer into values with paths and "
        "columns in characters: about 160 Python calls and 20 system calls. One thread writes, "
        "waits and reads, so no time goes into hand-overs. What is left is the amount of Python "
        "code; it costs half as much again after a pause, when the processor is cold."
    ),
    "warm request, peers: hover, canned": (
        "SolidLSP sends the request as it is: it looks neither at the disk nor at the path. On "
        "answers with many positions lspkit is ahead, since those are decoded once and at once."
    ),
    "files edited at once: 20 files, clangd": (
        "clangd looks at one file after the other on few cores, and every file is built twice: see "
        "below."
    ),
    "lspkit definition, warm service": (
        "The warm command is nearly all the start of Python and of the command itself, 0.2 s; how "
        "much longer a cold one takes depends on how quickly the server starts."
    ),
}


def reasons(bars: Iterable[Bar]) -> str:
    """A line for each row with a bar that is not met; empty if all are."""
    found: dict[str, list[str]] = {}
    for bar in bars:
        if not bar.met:
            reason = REASONS.get(f"{bar.row}: {bar.what}") or REASONS.get(bar.row)
            found.setdefault(reason or "Not examined.", []).append(f"{bar.row}, {bar.what}")
    return "\n".join(f"- {'; '.join(names)}. {reason}" for reason, names in found.items())
