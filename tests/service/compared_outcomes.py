"""Runs the same calls on a workspace in this process and on the service, and compares them.

All calls are made on one engine first, on a fresh project, then on the other engine on the same
project, which is written anew. So both see the same history.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

import lspkit
from lspkit.answer import Answer
from lspkit.errors import LspkitError
from lspkit.operations import Request
from lspkit.runtime.engine_api import Engine, Limits
from tests.service.contract_services import own_services

#: What differs from run to run: times, process ids, epochs and marks, and the use of the machine.
VOLATILE = {
    "Report": ("duration",),
    # The version counts how often a text was sent: once more if a change on disk is noticed first.
    "Evidence": ("duration", "version"),
    "WorkspaceStatus": ("generated_at",),
    "RootStatus": ("pid", "busy_for", "last_seen", "memory_bytes", "cpu_seconds"),
    "SidecarStatus": ("pid",),
    "Requests": ("p50", "p95"),
    "Checks": ("p50", "p95"),
    "Broken": ("retry_in",),
    "ChangedFiles": ("mark",),
    "HookResult": ("duration",),
    "ServerBrokenError": ("retry_in",),
    "dict": ("durationMs",),
}
#: The same in texts.
_VOLATILE_TEXT = re.compile(
    r'(?<=pid )\d+|(?<="durationMs":)\d+|\d+(?:\.\d+)?(?= ?(?:s|ms|seconds?)\b)'
)


def comparable(value: Any) -> Any:
    """A value in a form that can be compared with that of another run: types and all fields."""
    kind = type(value).__name__
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return kind, _fields(kind, fields)
    if isinstance(value, LspkitError):
        message = _VOLATILE_TEXT.sub("…", value.message)
        return kind, value.code, message, _fields(kind, value.fields)
    if isinstance(value, BaseException):
        return kind, str(value)
    if isinstance(value, Mapping):
        return kind, [(comparable(key), one) for key, one in _fields("dict", value).items()]
    if isinstance(value, Answer):
        return kind, [comparable(one) for one in value], comparable(value.caveats)
    if isinstance(value, list | tuple):
        return kind, [comparable(one) for one in value]
    if isinstance(value, set | frozenset):
        return kind, sorted(map(repr, value))
    return kind, _VOLATILE_TEXT.sub("…", value) if isinstance(value, str) else value


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two values differ, in the form of `comparable`."""
    if not where:
        one, other = comparable(one), comparable(other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(key, one[key], other[key]) for key in one]
    elif isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        pairs = [(str(at), *pair) for at, pair in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [f"{where}: {one!r} is not {other!r}"]
    return [line for key, *pair in pairs for line in differences(*pair, f"{where}/{key}")]


def _fields(kind: str, fields: Mapping[Any, Any]) -> dict[Any, Any]:
    volatile = VOLATILE.get(kind, ())
    return {
        name: "…" if name in volatile and one is not None else comparable(one)
        for name, one in fields.items()
    }


@dataclass
class Scene:
    """A workspace, the folder that it is about, and what earlier calls have left for later ones."""

    ws: lspkit.Workspace
    root: Path
    kept: dict[str, Any] = field(default_factory=dict)
    #: The types of the requests that were carried out.
    requests: set[type[Request[Any]]] = field(default_factory=set)

    def keep(self, name: str, value: Any) -> Any:
        """Leave a value for later calls."""
        self.kept[name] = value
        return value


Case = Callable[[Scene], Any]


class RecordingEngine:
    """An engine that notes the requests of a scene."""

    def __init__(self, engine: Engine, seen: set[type[Request[Any]]]) -> None:
        self._engine, self._seen = engine, seen

    def run(self, request: Request[Any], limits: Limits) -> Any:
        self._seen.add(type(request))
        return self._engine.run(request, limits)

    def submit(self, request: Request[Any], limits: Limits) -> Any:
        self._seen.add(type(request))
        return self._engine.submit(request, limits)

    def close(self, *, at_once: bool = False) -> None:
        self._engine.close(at_once=at_once)


@dataclass
class Outcomes:
    """What each case has given on each engine: a value or an exception."""

    local: dict[str, Any] = field(default_factory=dict)
    remote: dict[str, Any] = field(default_factory=dict)
    requests: set[type[Request[Any]]] = field(default_factory=set)


def outcomes_of(
    cases: Mapping[str, Case],
    root: Path,
    write_project: Callable[[Path], None],
    config: Mapping[str, Any],
) -> Outcomes:
    """The outcomes of all cases, in their order, on both engines."""
    found = Outcomes()
    _write_anew(root, write_project)
    with lspkit.Workspace(root, config=config) as ws:
        scene = Scene(ws, root, requests=found.requests)
        ws._engine = RecordingEngine(ws._engine, scene.requests)
        found.local = {name: _outcome(case, scene) for name, case in cases.items()}
    _write_anew(root, write_project)
    with own_services() as services:
        scene = Scene(services.connect(root, config=config), root)
        found.remote = {name: _outcome(case, scene) for name, case in cases.items()}
    return found


def _write_anew(root: Path, write_project: Callable[[Path], None]) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    write_project(root)


def _outcome(case: Case, scene: Scene) -> Any:
    try:
        return case(scene)
    except Exception as problem:  # noqa: BLE001 (it is compared)
        return problem
