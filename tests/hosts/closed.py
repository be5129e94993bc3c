"""A host that is interrupted again and again while it closes. Run by test_interrupts.py.

    python closed.py FOLDER ROUNDS INTERRUPTS SEED SERVER_ARGV…

Each round opens a workspace, asks it something, and interrupts the main thread in `close`, several
times in a row; then it closes once more, as anybody would. Prints one line of JSON: how often an
interrupt came through, and what was left after a round.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from types import FrameType

import psutil

import lspkit


def main(folder: str, rounds: int, interrupts: int, seed: int, argv: list[str]) -> None:
    signal.signal(signal.SIGINT, interrupt)
    dice = random.Random(seed)
    interrupted, left = 0, []
    for _ in range(rounds):
        delays = [dice.uniform(0, 0.06), *(dice.uniform(0, 0.02) for _ in range(interrupts - 1))]
        interrupted += one_round(folder, argv, delays)
        left += what_is_left()
    print(json.dumps({"interrupted": interrupted, "left": left}))


def one_round(folder: str, argv: list[str], delays: list[float]) -> bool:
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    ws = lspkit.Workspace(folder, config=config)
    ws.submit(ws.definition, "a.scr", 2, 4).result()

    def shoot() -> None:
        for delay in delays:
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

    gun = threading.Thread(target=shoot)
    gun.start()
    try:
        ws.close()
        return False
    except KeyboardInterrupt:
        return True
    finally:
        gun.join()
        ws.close()


def interrupt(_: int, frame: FrameType | None) -> None:
    """As usual, but only in the middle of `close`."""
    while frame is not None:
        if frame.f_code is lspkit.Workspace.close.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back


def what_is_left() -> list[str]:
    """Threads and processes of lspkit, also those that have ended and were not waited for."""
    threads = [one.name for one in threading.enumerate() if one.name.startswith("lspkit-")]
    return threads + [one.name() for one in psutil.Process().children(recursive=True)]


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5:])
