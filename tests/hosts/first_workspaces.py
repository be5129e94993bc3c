"""Run as a program: eight threads open the first workspaces of the process, all at once."""

from __future__ import annotations

import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import lspkit

THREADS = 8


def opened(start: threading.Barrier) -> int:
    with tempfile.TemporaryDirectory() as folder:
        start.wait()
        with lspkit.Workspace(folder) as ws:
            return len(ws.status().rows)


if __name__ == "__main__":
    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(THREADS) as threads:
        rows = list(threads.map(opened, [threading.Barrier(THREADS)] * THREADS))
    print(len(rows), len(set(rows)))
