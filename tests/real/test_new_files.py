"""Files that come and go while a server answers: it goes on answering.

ty blocks itself for good when it is told of a new file while it works on a request. What lspkit
does about that is in its adapter, `blocks_on_new_files`.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lspkit import Verdict
from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: How often a file comes or goes. Without what lspkit does about it, ty blocked itself in two of
#: three runs, after some 200 of them. When it still does, rarely, it is replaced after 5 s.
ROUNDS = 300
#: Seconds for one answer, on a busy machine.
TIMEOUT = 30.0


def test_ty_answers_while_files_come_and_go(tmp_path: Path) -> None:
    real_servers.require("ty")
    folder, over = tmp_path / "project", threading.Event()
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.py").write_text("x: int = 1\n")
    new = folder / "new.txt"

    def asked(name: str) -> None:
        while not over.is_set():
            assert ws.hover(name, 1, 1, timeout=TIMEOUT) is not None

    with workspace(folder, "ty") as ws, ThreadPoolExecutor() as threads:
        for name in "abcd":
            assert ws.check(f"{name}.py").verdict is Verdict.CLEAN
        callers = [threads.submit(asked, f"{name}.py") for name in "abc"]
        try:
            for number in range(ROUNDS):
                if number % 2:
                    new.unlink()
                else:
                    new.write_text("y\n")
                # It tells the server what has happened, and then waits for an answer.
                change = ws.write("d.py", f"x: int = {number}\n", timeout=TIMEOUT)
                assert change.verdict is Verdict.CLEAN, str(change.report)
        finally:
            over.set()
        for caller in callers:
            caller.result()
