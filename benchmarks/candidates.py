"""The Python servers that could be the embedded default, and how each is started.

One row per server and setting. `settings` is what a client may answer to
`workspace/configuration` without any file in the project; an empty one is what a user gets
who configures nothing.
"""

from __future__ import annotations

import copy
import importlib.metadata
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from environments import environment
from raw import CAPABILITIES, Message, RawServer

#: Seconds that one file may take until it is heard of.
PATIENCE = 10.0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One server under one set of settings."""

    name: str
    requirement: str
    program: str
    arguments: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def command(self) -> list[str]:
        return [str(environment(self.requirement) / "bin" / self.program), *self.arguments]


_BASEDPYRIGHT = Candidate(
    name="basedpyright",
    requirement="basedpyright==1.40.2",
    program="basedpyright-langserver",
    arguments=("--stdio",),
)
_TY = Candidate(name="ty", requirement="ty==0.0.100", program="ty", arguments=("server",))
_PYREFLY = Candidate(
    name="pyrefly", requirement="pyrefly==1.4.0", program="pyrefly", arguments=("lsp",)
)

#: Servers as they come.
PLAIN = [_BASEDPYRIGHT, _TY, _PYREFLY]
#: The same with the one client setting that helps most: quieter, more rules, or on at all.
TUNED = [
    replace(
        _BASEDPYRIGHT,
        name="basedpyright standard",
        settings={"basedpyright": {"analysis": {"typeCheckingMode": "standard"}}},
    ),
    replace(
        _TY,
        name="ty with unbound",
        settings={"ty": {"configuration": {"rules": {"possibly-unresolved-reference": "warn"}}}},
    ),
    replace(
        _PYREFLY,
        name="pyrefly default",
        settings={"python": {"pyrefly": {"typeCheckingMode": "default"}}},
    ),
]


class Running:
    """A candidate at work on one folder, and the diagnostics that it pushed."""

    def __init__(
        self, candidate: Candidate, folder: Path, *, pull: bool = False, virtual: str | None = None
    ) -> None:
        self.folder = folder
        self.pushed: dict[str, list[Message]] = {}
        self.last_push = time.monotonic()
        surroundings = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
        if virtual is not None:
            surroundings["VIRTUAL_ENV"] = virtual
            surroundings["PATH"] = f"{virtual}/bin{os.pathsep}{surroundings['PATH']}"
        self.started = time.perf_counter()
        self.server = RawServer(candidate.command(), folder, surroundings, candidate.settings)
        self.server.on_notification = self._notified
        capabilities = copy.deepcopy(CAPABILITIES)
        if pull:
            capabilities["textDocument"]["diagnostic"] = {"dynamicRegistration": True}
        self.answer = self.server.initialize(folder, capabilities, timeout=30)
        self.initialized = time.perf_counter()

    def _notified(self, message: Message) -> None:
        if message["method"] == "textDocument/publishDiagnostics":
            self.pushed.setdefault(message["params"]["uri"], []).append(message["params"])
            self.last_push = time.monotonic()

    def diagnose(self, paths: list[Path], quiet: float = 1.5, limit: float = 120) -> list[Message]:
        """Open one after the other, then wait for silence; the last push of each.

        One after the other, because a loop with one thread that only writes would block as
        soon as the server does the same. Silence, because a server may push a first answer
        and then a better one.
        """
        uris = [path.as_uri() for path in paths]
        end = time.monotonic() + limit
        for path, uri in zip(paths, uris, strict=True):
            self.server.open(path)
            left = max(0.0, end - time.monotonic())
            self.server.wait_until(lambda u=uri: u in self.pushed, min(left, PATIENCE))
        while time.monotonic() < min(end, self.last_push + quiet):
            self.server.wait_until(lambda: False, 0.1)
        return [(self.pushed.get(uri) or [{}])[-1] for uri in uris]

    def close(self) -> None:
        self.server.close()


def installed(requirement: str) -> dict[str, Any]:
    """Packages in the candidate's environment, and their size on disk."""
    library = next((environment(requirement) / "lib").glob("python*/site-packages"))
    packages = {
        package.name: sum(
            path.stat().st_size
            for path in (Path(file.locate()) for file in package.files or [])
            if path.is_file()
        )
        for package in importlib.metadata.distributions(path=[str(library)])
        if package.name not in ("pip", "setuptools")
    }
    return {"packages": sorted(packages), "megabytes": round(sum(packages.values()) / 1e6, 1)}
