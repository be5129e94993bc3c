"""Why a bar is not met: what the time goes into, in words. For `page.py`."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.bars import Bar

#: By row of the table, or by row and what was measured where one reason does not fit all.
REASONS: dict[str, str] = {
    "warm request, canned": (
        "The floor sends fixed bytes and reads the next line. Before each request lspkit also asks "
        "the kernel whether anything has changed below the root, compares the open document with "
        "its file, and turns the answer into values with paths and columns in characters. The main "
        "thread hands the call to another one, since an interrupt may come to it at any line, and "
        "the reader of the server wakes that: four switches between threads, of which the floor "
        "has none. The rest is the amount of Python code, each line of which runs once in a "
        "request: where the server shares the core, it costs twice as much there as in a loop."
    ),
    "warm request, real": (
        "The same work in Python as on canned answers, about as many milliseconds. A server that "
        "answers in a tenth of a millisecond leaves 0.015 ms for it at 1.15 times the floor. On an "
        "answer that the server needs 2 ms for, the ratio is near the bar."
    ),
    "warm request, peers": (
        "The quicker peer sends the request as it is, with no look at the disk and the path, and "
        "returns the server's JSON as it came: positions in UTF-16 and URIs. On answers with many "
        "positions in other files lspkit is ahead, since those are decoded once and at once."
    ),
    "cold start": (
        "Before the server there is the guardian, which ends it should this process be killed: a "
        "Python interpreter with few modules, about 30 ms, for which the first server of a process "
        "waits. The configuration takes 7 ms more; the watched folders are read while the server "
        "starts, on the same cores. A second server of the same process does not wait for the "
        "guardian."
    ),
    "edit to diagnostics": (
        "lspkit is told of the write by the kernel, reads the file, makes the smallest change and "
        "decodes the findings: 2 to 4 ms of Python. Where the server may publish twice, as clangd "
        "does, it also waits until the server says that it is done, and for one more answer; the "
        "bare loop stops at the first push."
    ),
    "files edited at once": (
        "0.5 to 0.7 ms of Python for each file (the last column), while the server computes on the "
        "same cores."
    ),
    "files edited at once: 20 files, clangd": (
        "lspkit waits until clangd says that it is done with each file, and for the answer to a "
        "request after that, since the first push may be from before a header was read again; the "
        "bare loop stops at the first push."
    ),
    "files edited at once: 20 files, gopls": (
        "A push of gopls about a file may be from before it was told of another that changed with "
        "it. So each file but the last gets a second version when all were told. A bare loop that "
        "sends these versions, too, takes 1.04 to 1.24 times as long as one that does not; the "
        "rest is the processor time of lspkit in the last column, beside a server that uses both "
        "cores."
    ),
    "files edited at once: 20 files, ty": (
        "ty needs a quarter of a millisecond for a file. lspkit needs half a millisecond of Python "
        "for each (the last column): it is told by the kernel, reads the file, makes the smallest "
        "change, sends it, asks, decodes and merges the findings into a report. At 1.3 times the "
        "bare loop, which reads no file, 0.07 ms are left for each. Reading a file, comparing two "
        "texts, encoding two messages and decoding one take 0.05 ms in a flat loop without a "
        "server."
    ),
    "framing and decoding": (
        "json decodes a message that is there. lspkit joins 2,560 pieces of 4 KiB, and goes over "
        "the whole twice: once to find its parts, a quarter of what json needs, and once to decode "
        "the result. Between 1.3 and 1.5 times, as quick as the memory is."
    ),
    "32 threads": (
        "One interpreter runs one thread at a time. Each of the 5 system calls of a request lets "
        "another thread go on, so 32 threads change places far more often than one that waits for "
        "its answer; a single thread also reads its answer by itself, which several cannot. That "
        "a thread is woken for each answer is enough: 32 threads that take turns by a lock of "
        "their own, so that only one asks at a time, reach no more."
    ),
    "timeout of 5 s, 2,000 files": (
        "The end of the servers and the reports of the files take their turn on a processor that "
        "three other programs want as well."
    ),
    "service, warm definition": (
        "The call is encoded and decoded once more on both sides, and two processes take turns. "
        "That is Python, too, and grows with the time of a call in the process: 0.24 ms where such "
        "a call takes 0.22 ms, 0.29 ms where it takes 0.35 ms."
    ),
    "lspkit definition, warm service": (
        "The warm command is nearly all the start of Python and of the command itself, 0.15 s, "
        "most of it imports; how much longer a cold one takes depends on how quickly the server "
        "starts."
    ),
    "growth: edit and check one, open files, 1": (
        "Before a check every open document is compared with its file, one system call each: some "
        "file systems do not tell of changes that another machine made. 8 µs for each open file."
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
