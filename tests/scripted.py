"""Workspaces on the scripted server, for tests of the runtime."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lspkit

#: A text of the scripted server's language: `greet` is defined on line 1 and used on line 2.
SOURCE = "def greet\n😀 greet ok\n"


def config_for(argv: list[str], **more: Any) -> dict[str, Any]:
    """A configuration in which `.scr` files belong to this server, whose pulls are right."""
    scripted = {"command": argv, "extensions": [".scr"], "proof": "pull", **more}
    return {"lsp": {"scripted": scripted}}


@contextmanager
def workspace(
    folder: Path, argv: list[str], *, text: str = SOURCE, **config: Any
) -> Iterator[lspkit.Workspace]:
    """A workspace with one file, `a.scr`."""
    (folder / "a.scr").write_text(text, encoding="utf-8")
    with lspkit.Workspace(folder, config={**config_for(argv), **config}) as ws:
        yield ws


def ask(ws: lspkit.Workspace, **limits: Any) -> str:
    """One question whose right answer is `1:5`."""
    return ", ".join(str(place.range.start) for place in ws.definition("a.scr", 2, 4, **limits))


def comes_true(condition: Callable[[], object]) -> bool:
    """Whether it does, in a time that is enough for anything."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not condition():
        threading.Event().wait(0.005)
    return bool(condition())


@contextmanager
def interrupted(condition: Callable[[], object]) -> Iterator[None]:
    """Interrupt this process when the condition is true, as Ctrl-C does. For the main thread."""

    def interrupt() -> None:
        if comes_true(condition):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def lives(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
