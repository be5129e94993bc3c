"""What a project without trust says about limits and waits can only tighten them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lspkit.config.model import Config, DiagnosticsConfig, RestartConfig, TimingConfig
from lspkit.config.parse import BUILT_IN_VALUES
from lspkit.config.project_file import LIMITS, keep_tighter
from tests.config.scene import Scene


def numbers() -> list[tuple[str, str]]:
    return [
        (section, name)
        for section in ("timing", "diagnostics")
        for name in LIMITS[section]
        if name not in ("debounceMs", "idleShutdownMs", "severity")
    ]


def test_every_limit_of_the_configuration_is_a_limit() -> None:
    for section, model in (
        ("timing", TimingConfig),
        ("diagnostics", DiagnosticsConfig),
        ("restart", RestartConfig),
    ):
        fields = msgspec.structs.fields(model)
        assert {one.encode_name for one in fields} - {"newOnly"} == set(LIMITS[section])


@pytest.mark.parametrize(("section", "name"), numbers())
@pytest.mark.parametrize("trusted", [False, True])
def test_more_counts_only_with_trust_and_less_in_any_case(
    scene: Scene, section: str, name: str, trusted: bool
) -> None:
    usual = BUILT_IN_VALUES[section][name]
    scene.project({section: {name: usual + 1}})
    found = scene.load(trusted=trusted)
    assert found.values[section][name] == (usual + 1 if trusted else usual)
    told = [str(one) for one in found.warnings]
    assert (
        any(f"{section}.{name}: it is left out, since it would loosen" in one for one in told)
        != trusted
    )
    scene.project({section: {name: usual - 1}})
    assert scene.load(trusted=trusted).values[section][name] == usual - 1


@pytest.mark.parametrize(("section", "name"), numbers())
def test_what_the_user_has_said_is_the_measure(scene: Scene, section: str, name: str) -> None:
    usual = BUILT_IN_VALUES[section][name]
    scene.say({section: {name: usual + 10}})
    scene.project({section: {name: usual + 5}})
    assert scene.load(trusted=False).values[section][name] == usual + 5
    scene.say({section: {name: usual - 2}})
    scene.project({section: {name: usual - 1}})
    assert scene.load(trusted=False).values[section][name] == usual - 2


def test_what_the_user_counts_stays_counted(scene: Scene) -> None:
    scene.say({"diagnostics": {"severity": "warning"}})
    scene.project({"diagnostics": {"severity": "error"}})
    found = scene.load(trusted=False)
    assert found.config.diagnostics.severity == "warning"
    assert any("diagnostics.severity" in str(each) for each in found.warnings)
    assert scene.load(trusted=True).config.diagnostics.severity == "error"
    scene.project({"diagnostics": {"severity": "hint"}})
    assert scene.load(trusted=False).config.diagnostics.severity == "hint"


@pytest.mark.parametrize(
    ("user", "project", "holds"), [(0, 0, 0), (0, 5, 5), (5, 0, 5), (5, 4, 4), (5, 6, 5)]
)
def test_a_server_may_be_stopped_sooner_and_never_later(
    scene: Scene, user: int, project: int, holds: int
) -> None:
    scene.say({"timing": {"idleShutdownMs": user}})
    scene.project({"timing": {"idleShutdownMs": project}})
    assert scene.load(trusted=False).config.timing.idle_shutdown_ms == holds


@pytest.mark.parametrize(
    "said",
    [
        {"timing": {"debounceMs": 0}},
        {"timing": {"debounceMs": 10_000}},
        {"restart": {"policy": "never"}},
        {"restart": {"baseMs": 0, "factor": 1, "maxMs": 0, "jitter": 0}},
        {"lsp": {"timeout": 60_000, "maxDiagnosticsPerFile": 10_000}},
    ],
)
def test_what_has_no_tighter_side_is_the_user_s(scene: Scene, said: dict[str, Any]) -> None:
    scene.project(said)
    config = scene.load(trusted=False).config
    assert (config.timing, config.restart, config.diagnostics) == (
        Config().timing,
        Config().restart,
        Config().diagnostics,
    )


def test_the_times_of_a_single_server_are_held_to_the_same(scene: Scene) -> None:
    scene.say({"lsp": {"ty": {"timing": {"requestTimeoutMs": 20_000}}}})
    long = {"timing": {"requestTimeoutMs": 2**31 - 1, "initializeTimeoutMs": 14_000}}
    scene.project({"lsp": {"ty": long, "ruff": long}})
    config = scene.load(trusted=False).config
    assert config.server("ty").timing.request_timeout_ms == 20_000
    assert config.server("ruff").timing.request_timeout_ms is None
    assert config.server("ruff").timing.initialize_timeout_ms == 14_000


def test_tools_that_the_user_has_switched_off_stay_off(scene: Scene) -> None:
    scene.say({"navigationTools": False})
    scene.project({"navigationTools": True})
    assert scene.load(trusted=False).config.navigation_tools is False
    assert scene.load(trusted=True).config.navigation_tools is True


def test_what_is_given_is_left_alone() -> None:
    theirs = {"timing": {"requestTimeoutMs": 1, "debounceMs": 1}}
    kept, loose = keep_tighter(theirs, BUILT_IN_VALUES)
    assert (kept, loose) == ({"timing": {"requestTimeoutMs": 1}}, ["timing.debounceMs"])
    assert theirs == {"timing": {"requestTimeoutMs": 1, "debounceMs": 1}}
