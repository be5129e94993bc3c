"""Reads a script file and decides which of its orders are due.

A script that says something unknown is refused at once, with status 64: a misspelt fault that
is quietly passed over makes a test that cannot fail.
"""

from __future__ import annotations

import json
import os
import signal

from lspkit.testing.serving.faults import CODES, FAULTS, MOMENTS
from lspkit.testing.serving.offspring import KINDS

TYPE_CHECKING = False  # `typing` itself takes longer to import than the rest of the server.
if TYPE_CHECKING:
    from typing import Any

_WHICH = ("nth", "times", "run")
_KEYS: dict[str, Any] = {
    "encoding": "utf-16",
    "capabilities": {},
    "answers": {},
    "faults": [],
    "say": [],
    "diagnostics": {},
    "ignore": [],
    "grandchildren": [],
    "log": None,
}
_ENCODINGS = ("utf-8", "utf-16", "utf-32")
_IGNORABLE = ("shutdown", "exit", "eof", "SIGTERM")
_DIAGNOSTICS: dict[str, Any] = {"how": "push", "version": True, "on": ["open", "change"]}
_HOWS = ("push", "pull", "both", "none")
_OCCASIONS = ("open", "change", "save")


class BadScript(Exception):
    """The script is not what the documentation says."""


def load(path: str) -> dict[str, Any]:
    """The script with every default filled in."""
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except (OSError, ValueError) as error:
        raise BadScript(f"{path}: {error}") from error
    _known("script", given, tuple(_KEYS))
    script: dict[str, Any] = {**_KEYS, **given}
    _one_of("encoding", script["encoding"], _ENCODINGS)
    for name in script["ignore"]:
        _one_of("ignore", name, _IGNORABLE)
    for fault in script["faults"]:
        _check_fault(fault)
    for order in script["say"]:
        _check_say(order)
    script["diagnostics"] = _diagnostics(script["diagnostics"])
    script["grandchildren"] = [_grandchild(item) for item in script["grandchildren"]]
    return script


def _known(what: str, given: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise BadScript(f"{what} must be an object, not {given!r}")
    for key in given:
        _one_of(what, key, keys)


def _one_of(what: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise BadScript(f"{what}: {value!r} is none of {', '.join(choices)}")


def _check_fault(fault: Any) -> None:
    name: Any = fault.get("do") if isinstance(fault, dict) else None
    _one_of("do", name, tuple(FAULTS))
    _known(f"fault {name}", fault, ("on", "do", *_WHICH, *FAULTS[name][1]))
    if "on" not in fault:
        raise BadScript(f"fault {name} lacks 'on', the method at which it happens")
    if name in MOMENTS:
        _one_of("at", fault.get("at", "before"), MOMENTS[name])
    if name == "crash" and fault.get("signal") is not None:
        _one_of("signal", fault["signal"], [each.name for each in signal.Signals])
    if name == "error" and isinstance(fault.get("code"), str):
        _one_of("code", fault["code"], tuple(CODES))


def _check_say(order: Any) -> None:
    _known("say", order, ("when", *_WHICH, "seconds", "request", "notification", "wait"))
    if "when" not in order or ("request" in order) == ("notification" in order):
        raise BadScript(f"say needs 'when', and 'request' or 'notification': {order!r}")
    _known("request", order.get("request", {}), ("id", "method", "params"))
    _known("notification", order.get("notification", {}), ("method", "params"))


def _diagnostics(given: Any) -> dict[str, Any]:
    _known("diagnostics", given, tuple(_DIAGNOSTICS))
    chosen = {**_DIAGNOSTICS, **given}
    _one_of("diagnostics.how", chosen["how"], _HOWS)
    for occasion in chosen["on"]:
        _one_of("diagnostics.on", occasion, _OCCASIONS)
    return chosen


def _grandchild(given: Any) -> dict[str, Any]:
    order = {"kind": given} if isinstance(given, str) else given
    _known("grandchild", order, ("kind", "when", "inherit", *_WHICH))
    _one_of("grandchild", order.get("kind"), KINDS)
    return {"when": "start", "nth": 1, "inherit": False, **order}


def due(order: dict[str, Any], names: tuple[str, ...], counts: dict[str, int], run: int) -> bool:
    """Is this order for the present occurrence of a message?

    `names` are the message's method and, for a request of the client, "*". `counts` says how often
    each name was seen, the present time included.
    """
    wanted = order["on"] if "on" in order else order["when"]
    if wanted not in names or order.get("run", run) != run:
        return False
    first: int = order.get("nth", 1)
    times: int = order.get("times", 1 if "nth" in order else 0)
    count = counts.get(wanted, 0)
    return count >= first and (times == 0 or count < first + times)


def count_run(path: str) -> int:
    """Which start of this script is this one? Counted in a file beside it, safe in parallel."""
    descriptor = os.open(path + ".runs", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, b".")
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    finally:
        os.close(descriptor)
