"""The walks on the architecture page are what really happens: who calls whom, in which thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import lspkit
from lspkit.testing import Diagnostics, Fault, Script, progress
from tests.scripted import SOURCE, ask, comes_true, workspace
from tests.test_docs import draw

PACKAGE = Path(__file__).resolve().parent.parent / "lspkit"
#: What the name of a thread contains, by a word of what the page calls it.
THREADS = {"writer": "-writer", "reader": "-reader", "calls": "lspkit-call-", "main": "MainThread"}

#: A function: its file in the package, and its name in there.
Function = tuple[str, str]


class Calls:
    """Which of some functions were called, by which others of them, and by which threads."""

    def __init__(self, wanted: set[Function]) -> None:
        self._wanted = wanted
        self._known: dict[CodeType, Function | None] = {}
        #: A function, and one that it was called by, at any distance.
        self.pairs: set[tuple[Function, Function]] = set()
        self.threads: set[tuple[Function, str]] = set()

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """What `sys.setprofile` calls."""
        if event != "call" or (called := self._function(frame.f_code)) is None:
            return
        self.threads.add((called, threading.current_thread().name))
        above = frame.f_back
        while above is not None:
            caller = self._function(above.f_code)
            if caller is not None:
                self.pairs.add((caller, called))
            above = above.f_back

    def _function(self, code: CodeType) -> Function | None:
        if code not in self._known:
            path = Path(code.co_filename)
            found = None
            if path.is_relative_to(PACKAGE):
                found = (path.relative_to(PACKAGE).as_posix(), code.co_qualname)
            self._known[code] = found if found in self._wanted else None
        return self._known[code]


@contextmanager
def noted(steps: Any) -> Iterator[Calls]:
    """Notes the calls of this thread and of those that start meanwhile."""
    calls = Calls({(one.file, one.function) for one in steps if hasattr(one, "function")})
    threading.setprofile(calls.note)
    sys.setprofile(calls.note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def wrong_steps(steps: Any, calls: Calls) -> list[str]:
    """One sentence for each step that did not happen as the page shows it."""
    wrong: list[str] = []
    path: list[Function] = []
    thread = ""
    for step in steps:
        if not hasattr(step, "function"):
            thread = next(part for word, part in THREADS.items() if word in step.name)
            path = []
            continue
        called = (step.file, step.function)
        if not any(one == called and thread in name for one, name in calls.threads):
            wrong.append(f"{called} was not called by a thread {thread!r}")
        elif step.depth and (path[step.depth - 1], called) not in calls.pairs:
            wrong.append(f"{called} was not called by {path[step.depth - 1]}")
        path[step.depth :] = [called]
    return wrong


def test_a_definition_walks_as_shown(tmp_path, scripted):
    steps = draw().DEFINITION
    with noted(steps) as calls, workspace(tmp_path, scripted(Script())) as ws:
        # When the first one begins, no file is watched yet, and the next ones may wait for that.
        comes_true(lambda: ask(ws) == "1:5" and not wrong_steps(steps, calls))
    assert wrong_steps(steps, calls) == []


def test_a_check_walks_as_shown(tmp_path, scripted):
    steps = draw().CHECK
    by_push = Script(say=progress("load"))
    by_pull = Script(diagnostics=Diagnostics(how="pull"))
    with noted(steps) as calls:
        for script in (by_push, by_pull):
            with workspace(tmp_path, scripted(script), text=f"{SOURCE}ERROR\n") as ws:
                for _ in range(2):
                    assert ws.check("a.scr", timeout=60).verdict.dirty
    assert wrong_steps(steps, calls) == []


def test_a_server_ends_and_is_started_again_as_shown(tmp_path, scripted):
    steps = draw().END
    crash = Fault("textDocument/definition", "crash", code=1, run=1)
    with noted(steps) as calls, workspace(tmp_path, scripted(Script(faults=[crash]))) as ws:
        assert ws.document_symbols("a.scr")  # one that has answered may be started again at once
        with pytest.raises(lspkit.ServerBrokenError):
            ask(ws)
        assert ask(ws) == "1:5"
    assert wrong_steps(steps, calls) == []


@pytest.mark.parametrize(
    ("depth", "words"), [(1, "was not called by ('workspace"), (0, "was not called by a thread")]
)
def test_a_walk_that_is_wrong_is_found(depth: int, words: str) -> None:
    page = draw()
    steps = (
        page.Thread("the main thread"),
        page.Call(0, "Workspace.check", "workspace/workspace.py", ""),
        page.Call(depth, "settle", "diagnostics/freshness_decision.py", ""),
    )
    calls = Calls(set())
    calls.threads = {(("workspace/workspace.py", "Workspace.check"), "MainThread")}
    if depth:
        calls.threads.add((("diagnostics/freshness_decision.py", "settle"), "MainThread"))
    [wrong] = wrong_steps(steps, calls)
    assert words in wrong
