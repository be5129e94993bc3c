"""What the clients of a service share is there once."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lspkit.agent import Toolbox
from lspkit.service import shared_workspace
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.shared_workspace import SharedWorkspace

#: Seconds that one who makes the object waits for another one who does.
MEETING = 0.2


def test_the_first_calls_at_once_get_the_same_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    both = threading.Barrier(2)

    class Met(Toolbox):
        def __init__(self, *given: Any) -> None:
            made.append(self)
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(MEETING)
            super().__init__(*given)

    monkeypatch.setattr(shared_workspace, "Toolbox", Met)
    shared = SharedWorkspace(bootstrap_of(tmp_path, None, None), lambda _: None, lambda: None)
    with ThreadPoolExecutor(2) as callers:
        got = list(callers.map(lambda _: shared.toolbox, range(2)))
    shared.close()
    assert len(made) == 1
    assert got == [made[0]] * 2
