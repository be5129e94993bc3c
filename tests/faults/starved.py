"""A host that runs out of file descriptors. Run by test_environment.py.

    python starved.py FOLDER FREE SERVER_ARGV…

Asks with only so many descriptors to spare, then with plenty again, and prints a line of JSON: what
the first call said, what the last one said, and what was left after the workspace was closed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time

import lspkit

#: Seconds for each call.
LIMIT = 10.0
#: Seconds in which calls have to succeed again: a program that did not start is tried every few.
RECOVERY = 15.0


def ask(ws: lspkit.Workspace) -> str:
    """Where the symbol is defined, or the code of the error."""
    try:
        return str(ws.definition("a.scr", 2, 4, timeout=LIMIT)[0].range.start)
    except lspkit.LspkitError as problem:
        return problem.code


def descriptors() -> set[str]:
    """Those that are open now."""
    with os.scandir("/proc/self/fd") as found:
        return {one.name for one in found}


def main(folder: str, free: int, argv: list[str]) -> None:
    """See above."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    config = {**config, "restart": {"baseMs": 0, "jitter": 0}}
    before, threads = descriptors(), threading.active_count()
    with lspkit.Workspace(folder, config=config) as ws:
        # The lowest free number is the next one to be given out, so this leaves exactly `free`.
        lowest = os.open(os.devnull, os.O_RDONLY)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + free, hard))
        began = time.monotonic()
        first = ask(ws)
        took = time.monotonic() - began
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        deadline = time.monotonic() + RECOVERY
        while (last := ask(ws)) != "1:5" and time.monotonic() < deadline:
            threading.Event().wait(0.05)
    left = sorted(descriptors() - before)
    more = threading.active_count() - threads
    print(json.dumps({"first": first, "took": took, "last": last, "left": left, "threads": more}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
