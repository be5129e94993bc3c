"""Cases of a test that mostly wait, run at the same time.

Each case keeps its own test, which raises what was wrong in it. The cases of a group are run when
the test of the first one asks, and all their threads have ended before it goes on: what they leave
behind is found by the leak check of that test.

With several workers the tests of a module have to be in one of them, as `make test` has it; else
each worker runs the whole group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest


def selected(request: pytest.FixtureRequest, argument: str) -> list[Any]:
    """The values of an argument in the tests of this module that are to be run, in their order."""
    here = [item for item in request.session.items if item.path == request.path]
    run = [item for item in here if item.get_closest_marker("skip") is None]
    given = [item.callspec.params for item in run if hasattr(item, "callspec")]
    return [params[argument] for params in given if argument in params]


class SideBySide:
    """The results of cases, by name."""

    def __init__(self, folder: Path, at_once: int) -> None:
        self._folder = folder
        self._at_once = at_once
        self._results: dict[str, Future[Any]] = {}

    def result(self, name: str, group: Mapping[str, Callable[[Path], Any]]) -> Any:
        """What the case gave or raised. All of the group are run, if this one was not yet.

        A case gets the path of a folder that is its own, and is still to be made.
        """
        if name not in self._results:
            with ThreadPoolExecutor(self._at_once) as pool:
                for one, run in group.items():
                    place = self._folder / str(len(self._results))
                    self._results[one] = pool.submit(run, place)
        return self._results[name].result()
