"""A client that writes until it is killed: python -m tests.service.writer_program ROOT FILE

It prints a line with the number that it has written, after each `write` that has returned. If its
service is killed, it goes on with the next one.
"""

from __future__ import annotations

import itertools
import os
import sys

import lspkit


def main() -> None:
    """Write forever."""
    root, name = sys.argv[1:]
    with lspkit.connect(root, restart=True, ready_timeout=60) as ws:
        os.write(1, b"service %d\n" % ws._engine.client.ready.pid)  # type: ignore[attr-defined]
        for number in itertools.count():
            try:
                ws.write(name, f"def n{number}\n")
                ws.check(name)
            except lspkit.ServerUnavailableError:
                continue  # it may have been written, or not
            os.write(1, b"written %d\n" % number)


if __name__ == "__main__":
    main()
