"""A host that will be killed. Run by test_hosts.py.

    python killed.py FOLDER fork|alone SERVER_ARGV…

Starts a server, optionally forks a child that lives on, says so on standard output, and waits.
"""

from __future__ import annotations

import os
import signal
import sys

import lspkit


def main(folder: str, mode: str, argv: list[str]) -> None:
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    ws = lspkit.Workspace(folder, config=config)
    ws.definition("a.scr", 2, 4)
    child = os.fork() if mode == "fork" else 0
    if mode == "fork" and child == 0:
        signal.pause()
    print(child, flush=True)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
