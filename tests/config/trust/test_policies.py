"""Every policy in every situation for every field that could run something."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lspkit.config.model import SecurityConfig
from lspkit.config.trust.decision import TrustDecision, trust_of
from lspkit.config.trust.key_gate import EXECUTION_KEYS, digest, remove_blocked
from lspkit.config.trust.trust_store import add

POLICIES = ("trusted-only", "always", "never")

#: A name for each, and what a project says of a server to have its way.
FIELDS: dict[str, dict[str, Any]] = {
    "command": {"command": ["./evil"]},
    "args": {"args": ["--evil"]},
    "env": {"env": {"NODE_OPTIONS": "--require=./evil.js", "LD_PRELOAD": "./evil.so"}},
    "watch": {"watch": [["./evil"]]},
    "settings": {"settings": {"python": {"pythonPath": "./evil"}}},
    "settings, dotted": {"settings": {"python.pythonPath": "./evil"}},
    "initialization": {"initialization": {"python": {"venvPath": "./evil"}}},
}
HARMLESS = {"extensions": [".py"]}


class Place(NamedTuple):
    root: Path
    state: Path


def trusted_by_the_user(place: Place, content: str) -> tuple[str, list[Path]]:
    return "trusted", [place.root]


def trusted_by_the_list(place: Place, content: str) -> tuple[str, list[Path]]:
    add(str(place.state), str(place.root), content)
    return "trusted", []


def untrusted(place: Place, content: str) -> tuple[str, list[Path]]:
    return "untrusted", []


def stale(place: Place, content: str) -> tuple[str, list[Path]]:
    add(str(place.state), str(place.root), digest({}, {}))
    return "stale", []


def symlinked(place: Place, content: str) -> tuple[str, list[Path]]:
    """The root is a link in a trusted folder, and leads out of it."""
    elsewhere = place.root.parent.parent / "elsewhere"
    place.root.rename(elsewhere)
    place.root.symlink_to(elsewhere)
    return "untrusted", [place.root.parent]


def nested(place: Place, content: str) -> tuple[str, list[Path]]:
    for folder in (place.root.parent, place.root):
        (folder / ".git").mkdir()
    return "untrusted", [place.root.parent]


def shared(place: Place, content: str) -> tuple[str, list[Path]]:
    place.root.chmod(0o777)
    return "untrusted", [place.root]


def shared_and_trusted_so(place: Place, content: str) -> tuple[str, list[Path]]:
    place.root.chmod(0o777)
    add(str(place.state), str(place.root), content, shared=True)
    return "trusted", []


Situation = Callable[[Place, str], tuple[str, list[Path]]]
SITUATIONS: tuple[Situation, ...] = (
    trusted_by_the_user,
    trusted_by_the_list,
    untrusted,
    stale,
    symlinked,
    nested,
    *((shared, shared_and_trusted_so) if os.name == "posix" else ()),
)


def standing(
    home: Path, situation: Situation, project: dict[str, Any], policy: Any
) -> tuple[TrustDecision, str]:
    place = Place(home / "trusted" / "project", home / "state")
    place.root.mkdir(parents=True)
    expected, roots = situation(place, digest(project, EXECUTION_KEYS))
    security = SecurityConfig(policy, tuple(map(str, roots)))
    environ = {"HOME": str(home), "LSPKIT_STATE": str(place.state)}
    return trust_of(None, str(place.root), project, security, environ, None), expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.__name__)
def test_a_field_counts_exactly_when_policy_and_trust_allow_it(
    tmp_path: Path, policy: str, situation: Situation
) -> None:
    for number, (field, said) in enumerate(FIELDS.items()):
        project = {"lsp": {"pyright": {**said, **HARMLESS}}}
        found, expected = standing(tmp_path.resolve() / str(number), situation, project, policy)
        assert found.state == expected, field
        trusted = expected == "trusted"
        assert found.allows_fields == {"always": True, "trusted-only": trusted}.get(policy, False)
        assert found.allows_programs == (policy != "never" and trusted), field


@pytest.mark.parametrize("field", FIELDS)
def test_the_gate_takes_away_the_whole_field_and_nothing_else(field: str) -> None:
    left, blocked = remove_blocked(
        {"lsp": {"pyright": {**FIELDS[field], **HARMLESS}}}, EXECUTION_KEYS
    )
    assert left == {"lsp": {"pyright": HARMLESS}}
    assert len(blocked) == 1
