"""A project's own configuration file, and which of its settings apply.

The file is untrusted. If it has a fault, the whole file is ignored. Its security settings never
apply, and settings that would run a program apply only if the project is trusted. `decision.py`
decides about trust, `key_gate.py` which settings would run a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

import msgspec

from lspkit.config.config_files import Source, find_project_files
from lspkit.config.model import SeverityName
from lspkit.config.parse import parse_source
from lspkit.config.problems import MOST, ConfigFault, ConfigWarning, Path, Problems, place_of
from lspkit.config.trust.decision import TrustDecision
from lspkit.config.trust.key_gate import EXECUTION_KEYS, remove_blocked
from lspkit.errors import ConfigError
from lspkit.visible_text import count, one_line

#: Sections that apply only in the user's own file.
USERS_OWN = frozenset({"security", "edits"})

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}")


class Project(msgspec.Struct, frozen=True):
    """The content of a project's file, independent of trust."""

    #: The file that is used.
    file: str | None = None
    #: The project's other configuration files, which are not used.
    passed_over: tuple[str, ...] = ()
    values: dict[str, Any] = {}
    warnings: tuple[ConfigWarning, ...] = ()
    #: None if the file could not be used.
    source: Source | None = None


def read_project(root: str) -> Project:
    """Read the first configuration file that exists."""
    there = list(find_project_files(root))
    sources = [(file, source) for file, source in there if source is not None]
    message = "it is ignored: it is a link to a file outside the project"
    outside = tuple(ConfigWarning(message, file) for file, source in there if source is None)
    if not sources:
        return Project(warnings=outside)
    file, source = sources[0]
    others = tuple(other for other, _ in sources[1:])
    try:
        if isinstance(source, ConfigError):
            raise source
        settings = parse_source(source)
    except ConfigError as problem:
        return Project(file, others, warnings=(*outside, *_ignored_warnings(file, problem)))
    findings = Problems(file, source.line_of)
    for section in sorted(USERS_OWN & settings.values.keys()):
        path = (*source.kind.style.top, section)
        findings.warn(path, "it is ignored: only the user's own file can set this")
    values = {name: value for name, value in settings.values.items() if name not in USERS_OWN}
    warnings = (*outside, *settings.warnings, *findings.warnings)
    return Project(file, others, values, warnings, source)


def _ignored_warnings(file: str, problem: ConfigError) -> tuple[ConfigWarning, ...]:
    """One warning for the file, and one for each of its faults."""
    faults = [ConfigFault(**fault) for fault in problem.faults]
    return (
        ConfigWarning("the whole file is ignored, because it has faults", file),
        *(ConfigWarning(fault.message, file, fault.line, fault.place) for fault in faults),
    )


def held_back(
    values: dict[str, Any], ours: dict[str, Any], file: str | None, standing: TrustDecision
) -> tuple[dict[str, Any], tuple[ConfigWarning, ...]]:
    """The settings that apply in an untrusted project, and a warning for each other one.

    `ours` is the configuration without the project's file.
    """
    left, blocked = remove_blocked(values, EXECUTION_KEYS)
    left, loose = keep_tighter(left, ours)
    rule = f"the project is {standing.state}, projectConfigPolicy is {standing.policy}"
    remedy = f"to allow it: {one_line(standing.remedy)}"
    message = f"it is left out ({rule}); {remedy}"
    looser = f"it is left out, since it would loosen a limit ({rule}); {remedy}"
    warnings = [
        ConfigWarning(message, file, place=blocked_setting.field)
        for blocked_setting in blocked[:MOST]
    ]
    if rest := len(blocked) - len(warnings):
        warnings.append(ConfigWarning(f"left out as well: {count(rest, 'more setting')}", file))
    return left, (*warnings, *(ConfigWarning(looser, file, place=place) for place in loose))


def expand_variables(
    values: dict[str, Any], source: Source | None, environ: Mapping[str, str]
) -> dict[str, Any]:
    """The values with `${NAME}` and `${NAME:-default}` in the `env` of servers replaced.

    Only in the kinds of files that may refer to variables.
    """
    servers = values.get("lsp")
    if source is None or not source.kind.expands or not isinstance(servers, dict):
        return values

    def value_of(match: re.Match[str]) -> str:
        otherwise = match[0] if match[2] is None else match[2]
        return environ.get(match[1]) or otherwise

    made = {
        id: {**entry, "env": {name: _VARIABLE.sub(value_of, text) for name, text in env.items()}}
        if (env := entry.get("env"))
        else entry
        for id, entry in servers.items()
    }
    return {**values, "lsp": made}


# Limits, timeouts and the severity that counts, which an untrusted project can only tighten. Pure.
#
# The user decides how much text a model gets, how long callers wait, and which findings count. An
# untrusted project may reduce the first two, and let milder findings count: or its errors could be
# clean. It cannot change settings without a stricter direction: how long silence must last to
# count as an answer, and how soon a failed server is restarted.


def _is_at_most(theirs: Any, ours: Any) -> bool:
    return bool(theirs <= ours)


def _counts_all(theirs: Any, ours: Any) -> bool:
    severities = get_args(SeverityName)  # the most severe first
    return theirs in severities and severities.index(theirs) >= severities.index(ours)


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
        "severity": _counts_all,
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
        values = theirs.get(section)
        if isinstance(values, Mapping):
            kept[section] = _keep_tighter_values(
                values, ours.get(section, {}), limits, (section,), loose
            )
    if kept.get("navigationTools") and not ours.get("navigationTools", True):
        del kept["navigationTools"]
        loose.append("navigationTools")
    servers = theirs.get("lsp")
    if isinstance(servers, Mapping):
        known = ours.get("lsp")
        kept["lsp"] = {
            id: _server(id, entry, known if isinstance(known, Mapping) else {}, ours, loose)
            for id, entry in servers.items()
        }
    return kept, loose


def _server(
    id: str, entry: Any, known: Mapping[str, Any], ours: Mapping[str, Any], loose: list[str]
) -> Any:
    """A server's timeouts are compared with the user's for this server, or for all."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("timing"), Mapping):
        return entry
    own = {**ours.get("timing", {}), **(known.get(id, {}).get("timing") or {})}
    return {
        **entry,
        "timing": _keep_tighter_values(entry["timing"], own, _WAITS, ("lsp", id, "timing"), loose),
    }


def _keep_tighter_values(
    theirs: Mapping[str, Any],
    ours: Mapping[str, Any],
    limits: Mapping[str, Callable[[Any, Any], bool]],
    place: Path,
    loose: list[str],
) -> dict[str, Any]:
    kept = dict[str, Any]()
    for name, value in theirs.items():
        fits = limits.get(name)
        if fits is None or value is None or value == ours.get(name) or fits(value, ours[name]):
            kept[name] = value
        else:
            loose.append(place_of((*place, name)))
    return kept
