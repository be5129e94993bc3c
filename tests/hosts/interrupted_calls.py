"""A host that is interrupted at random moments of all kinds of calls. Run by test_interrupts.py.

    python interrupted_calls.py FOLDER ROUNDS SEED SERVER_ARGV…

In each round a timer interrupts the main thread at a random moment of a check, a definition, a
write, an applied edit, an overlay, or while it iterates over the events of the workspace. After
that a call that nobody interrupts has to be right. Prints one line of JSON.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import lspkit

PATIENCE = 20.0
#: Seconds after which no further round is begun.
LONGEST = 40.0
#: The texts that are written: a file has to hold one of them, whole.
TEXTS = ["def greet\ngreet\n", "\n\ndef greet\ngreet\n", "def greet\n" + "# x\n" * 500 + "greet\n"]
RENAMED = [text.replace("greet", "meets") for text in TEXTS]


class Rounds:
    """One workspace, and the calls that are interrupted."""

    def __init__(self, ws: lspkit.Workspace, folder: Path, dice: random.Random) -> None:
        self.ws, self.folder, self.dice = ws, folder, dice
        self.wrong: list[str] = []
        self.is_calling = False
        self.interrupted = dict.fromkeys(
            ("check", "definition", "write", "apply", "overlay", "events"), 0
        )

    def run(self, rounds: int) -> None:
        until = time.monotonic() + LONGEST
        for number in range(rounds):
            if time.monotonic() >= until:  # on a machine that is very busy
                break
            name = self.dice.choice(list(self.interrupted))
            call: Callable[[], object] = getattr(self, f"{name}_once")()
            self.is_calling = True
            try:
                with interrupt_after(self.dice.uniform(0.00002, 0.003)):
                    call()
            except KeyboardInterrupt:
                self.is_calling = False
                self.interrupted[name] += 1
            self.is_calling = False
            if number % 10 == 0:
                self.look(name)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The timer's signal. It may come late, when the call has ended: then it means nothing."""
        if self.is_calling:
            raise KeyboardInterrupt

    def look(self, name: str) -> None:
        """What nobody interrupts has to be right."""
        text = (self.folder / "a.scr").read_text(encoding="utf-8")
        if text not in (*TEXTS, *RENAMED):
            self.wrong.append(f"after {name}: {text[:40]!r}")
        line = text[: text.index("def ")].count("\n") + 1
        use = text.count("\n")
        places = self.ws.definition("a.scr", use, 2, timeout=PATIENCE)
        if [place.range.start.line for place in places] != [line]:
            self.wrong.append(f"after {name}: {places} is not line {line}")
        report = self.ws.check("a.scr", timeout=PATIENCE)
        if report.verdict is not lspkit.Verdict.CLEAN:
            self.wrong.append(f"after {name}: {report}")

    def check_once(self) -> Callable[[], object]:
        return lambda: self.ws.check("a.scr", timeout=PATIENCE)

    def definition_once(self) -> Callable[[], object]:
        line = (self.folder / "a.scr").read_text(encoding="utf-8").count("\n")
        return lambda: self.ws.definition("a.scr", line, 2, timeout=PATIENCE)

    def write_once(self) -> Callable[[], object]:
        text = self.dice.choice(TEXTS)
        return lambda: self.ws.write("a.scr", text, timeout=PATIENCE)

    def apply_once(self) -> Callable[[], object]:
        text = (self.folder / "a.scr").read_text(encoding="utf-8")
        line = text[: text.index("def ")].count("\n") + 1
        new = "meets" if "greet" in text else "greet"
        edit = self.ws.rename("a.scr", line, 5, new_name=new, timeout=PATIENCE)
        return lambda: self.ws.apply(edit, force=True, timeout=PATIENCE)

    def overlay_once(self) -> Callable[[], object]:
        def show() -> None:
            with self.ws.overlay({"a.scr": "ERROR\n"}):
                pass

        return show

    def events_once(self) -> Callable[[], object]:
        """An interrupt while the main thread waits for events must not stop who sends them."""

        def listen() -> None:
            with self.ws.events() as events:
                self.ws.submit(self.ws.check, "a.scr", timeout=PATIENCE)
                for _ in events:
                    pass

        return listen


@contextlib.contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """The block gets an interrupt after so long, unless it has ended.

    And again: one that comes just before the thread waits for a lock does not end that wait.
    """
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(folder: str, rounds: int, seed: int, argv: list[str]) -> None:
    faulthandler.dump_traceback_later(2 * LONGEST, exit=True)  # it says where it hangs
    config = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    with lspkit.Workspace(folder, config=config) as ws:
        state = Rounds(ws, Path(folder), random.Random(seed))
        signal.signal(signal.SIGALRM, state.interrupt)
        ws.check("a.scr", timeout=PATIENCE)
        state.run(rounds)
        state.look("all")
        threads = sum(thread.name.startswith("lspkit-call") for thread in threading.enumerate())
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("lspkit")]
    result = {
        "interrupted": state.interrupted,
        "wrong": state.wrong,
        "threads": threads,
        "left": left,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
