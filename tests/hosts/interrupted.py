"""A host that is interrupted at random moments, again and again. Run by test_interrupts.py.

    python interrupted.py FOLDER ROUNDS SEED [SERVER_ARGV…]

Without the command of a server it asks the service.

Each round asks a question and interrupts the main thread in the middle of it; then asks one that
nobody interrupts, whose answer has to be right. Every question comes with a text of its own, so
that document sync is interrupted as well. Prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time

import lspkit


def main(folder: str, rounds: int, seed: int, argv: list[str]) -> None:
    dice = random.Random(seed)
    interrupted = wrong = 0
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    with lspkit.Workspace(folder, config=config) if argv else lspkit.connect(folder) as ws:
        ws.definition("a.scr", 2, 3)
        for number in range(rounds):
            interrupted += interrupt_one(ws, number, dice.uniform(0, 0.002))
            lines = number % 7 + 1
            text = "\n" * lines + "def greet\n😀 greet\n"
            found = ws.definition("a.scr", lines + 2, 4, text=text)
            wrong += [str(one.range.start) for one in found] != [f"{lines + 1}:5"]
        on_disk = [str(one.range.start) for one in ws.definition("a.scr", 2, 4)]
    print(json.dumps({"interrupted": interrupted, "wrong": wrong, "on disk": on_disk}))


def interrupt_one(ws: lspkit.Workspace, number: int, after: float) -> bool:
    """One question with an interrupt in it; whether the interrupt came through."""
    asking = threading.Event()

    def shoot() -> None:
        asking.wait()
        until = time.perf_counter() + after
        while time.perf_counter() < until:  # finer than any sleep
            pass
        os.kill(os.getpid(), signal.SIGINT)

    gun = threading.Thread(target=shoot)
    gun.start()
    try:
        asking.set()
        ws.definition("a.scr", 2, 4, text=f"def greet\n😀 greet {'x' * (number % 50)}\n")
        gun.join()
        time.sleep(0.01)  # the interrupt may be on its way: it must not hit the next question
    except KeyboardInterrupt:
        gun.join()
        return True
    return False


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
