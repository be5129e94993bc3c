"""Limits, timeouts and severities, which an untrusted project can only tighten. Pure.

The user decides how much text a model gets, how long callers wait, and which findings count. An
untrusted project may reduce the first two, and add severities: with fewer, its errors would be
clean. It cannot change settings without a stricter direction: how long silence must last to
count as an answer, and how soon a failed server is restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lspkit.config.problems import Path, place_of


def _is_at_most(theirs: Any, ours: Any) -> bool:
    return bool(theirs <= ours)


def _counts_all(theirs: Any, ours: Any) -> bool:
    return set(theirs) >= set(ours)


def _is_sooner(theirs: Any, ours: Any) -> bool:
    """For a time where 0 means never."""
    return bool(theirs == ours or (theirs and (not ours or theirs <= ours)))


def _never(_: Any, __: Any) -> bool:
    return False


_WAITS: dict[str, Callable[[Any, Any], bool]] = {
    "initializeTimeoutMs": _is_at_most,
    "requestTimeoutMs": _is_at_most,
    "diagnosticsWaitTimeoutMs": _is_at_most,
    "firstTouchTimeoutMs": _is_at_most,
    "dependentsTimeoutMs": _is_at_most,
    "debounceMs": _never,
    "idleShutdownMs": _is_sooner,
}
#: By section and name: whether the first value is at least as strict as the second.
LIMITS: dict[str, dict[str, Callable[[Any, Any], bool]]] = {
    "timing": _WAITS,
    "diagnostics": {
        "includeSeverities": _counts_all,
        **dict.fromkeys(
            ("maxPerFile", "maxOtherFiles", "maxDependents", "maxTotalLines", "maxBytes"),
            _is_at_most,
        ),
    },
    "restart": dict.fromkeys(("policy", "baseMs", "factor", "maxMs", "jitter"), _never),
}


def keep_tighter(
    theirs: Mapping[str, Any], ours: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """A project's layer without the values that would loosen a limit, and their places.

    >>> keep_tighter({"timing": {"requestTimeoutMs": 9}}, {"timing": {"requestTimeoutMs": 5}})
    ({'timing': {}}, ['timing.requestTimeoutMs'])
    """
    kept, loose = dict(theirs), list[str]()
    for section, limits in LIMITS.items():
        said = theirs.get(section)
        if isinstance(said, Mapping):
            kept[section] = _keep_tighter_values(
                said, ours.get(section, {}), limits, (section,), loose
            )
    if kept.get("navigationTools") and not ours.get("navigationTools", True):
        del kept["navigationTools"]
        loose.append("navigationTools")
    servers = theirs.get("lsp")
    if isinstance(servers, Mapping):
        known = ours.get("lsp")
        kept["lsp"] = {
            id: _server(id, said, known if isinstance(known, Mapping) else {}, ours, loose)
            for id, said in servers.items()
        }
    return kept, loose


def _server(
    id: str, said: Any, known: Mapping[str, Any], ours: Mapping[str, Any], loose: list[str]
) -> Any:
    """A server's timeouts are compared with the user's for this server, or for all."""
    if not isinstance(said, Mapping) or not isinstance(said.get("timing"), Mapping):
        return said
    own = {**ours.get("timing", {}), **(known.get(id, {}).get("timing") or {})}
    return {
        **said,
        "timing": _keep_tighter_values(said["timing"], own, _WAITS, ("lsp", id, "timing"), loose),
    }


def _keep_tighter_values(
    said: Mapping[str, Any],
    ours: Mapping[str, Any],
    limits: Mapping[str, Callable[[Any, Any], bool]],
    place: Path,
    loose: list[str],
) -> dict[str, Any]:
    kept = dict[str, Any]()
    for name, value in said.items():
        fits = limits.get(name)
        if fits is None or value is None or value == ours.get(name) or fits(value, ours[name]):
            kept[name] = value
        else:
            loose.append(place_of((*place, name)))
    return kept
