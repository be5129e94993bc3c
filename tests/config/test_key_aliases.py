"""Every spelling of a thing means the same."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import lspkit
from lspkit.config.file_syntax import decode
from lspkit.config.model import Config
from lspkit.config.normalize import Style, normalize
from lspkit.config.problems import Problems
from tests.config.scene import DATA


def one_form(value: Any, **style: Any) -> dict[str, Any]:
    """What is said, in the one form; nothing may be wrong with it."""
    findings = Problems()
    made = normalize(value, findings, Style(**style))
    assert findings.faults == []
    assert findings.warnings == []
    return made


def warnings(value: Any, **style: Any) -> list[tuple[str, str]]:
    findings = Problems()
    normalize(value, findings, Style(**style))
    assert findings.faults == []
    return [(one.place, one.message) for one in findings.warnings]


# The whole shape


def test_everything_that_can_be_set_is_read(scene):
    scene.sample("whole.jsonc", "whole.jsonc")
    config = lspkit.config.read_config(scene.root / "whole.jsonc")
    pyright = config.server("pyright")
    assert pyright.command == ["pyright-langserver", "--stdio"]
    assert pyright.extensions == [".py", ".pyi"]
    assert pyright.roots == ["pyproject.toml", "setup.cfg"]
    assert pyright.env == {"NODE_OPTIONS": "--max-old-space-size=4096"}
    assert pyright.initialization == {"a": 1}
    assert pyright.settings == {"python": {"analysis": {"typeCheckingMode": "strict"}}}
    assert pyright.language_ids == {".pyi": "python"}
    assert (pyright.position_encodings, pyright.proof) == (("utf-16",), "pull")
    assert pyright.watch[0][:2] == ("rojo", "sourcemap")
    assert (pyright.timing.initialize_timeout_ms, pyright.disabled) == (45_000, False)
    assert config.navigation_tools is False
    assert config.permissions == {"lsp_rename": "deny", "lsp_hover": "allow"}
    assert config.security.project_config_policy == "never"
    assert config.security.trusted_project_roots == ("~/Code/work/**",)
    assert config.security.allow_external_paths is True
    assert config.security.exclude == ("**/secret/**",)
    assert config.edits.boundary == "worktree"
    assert msgspec.structs.astuple(config.timing) == (1, 2, 3, 4, 5, 0, 6)
    assert msgspec.structs.astuple(config.diagnostics) == (
        "warning",
        0,
        1,
        4,
        2,
        3,
        True,
    )
    assert msgspec.structs.astuple(config.restart) == ("never", 1, 1.5, 2, 0.0)


def test_the_sample_leaves_nothing_out():
    said = one_form(json_of("whole.jsonc"))
    for name, value in msgspec.to_builtins(Config()).items():
        assert name in said
        if isinstance(value, dict) and value:
            assert set(said[name]) == set(value)
    fields = msgspec.structs.fields(lspkit.config.ServerConfig)
    assert set(said["lsp"]["pyright"]) == {field.encode_name for field in fields}


def json_of(sample: str) -> Any:
    return decode((DATA / sample).read_text(encoding="utf-8"))[0]


def test_the_one_form_stays_as_it_is():
    said = one_form(json_of("whole.jsonc"))
    assert one_form(said) == said


def test_snake_case_is_as_good_as_camel_case():
    said = {
        "navigation_tools": False,
        "lsp": {"x": {"language_ids": {".x": "y"}, "position_encodings": ["utf-8"]}},
        "timing": {"request_timeout_ms": 5, "idle_shutdown_ms": 0},
        "diagnostics": {"max_per_file": 1, "new_only": True},
        "security": {"project_config_policy": "never", "trusted_project_roots": ["/a"]},
    }
    assert one_form(said) == {
        "navigationTools": False,
        "lsp": {"x": {"languageIds": {".x": "y"}, "positionEncodings": ["utf-8"]}},
        "timing": {"requestTimeoutMs": 5, "idleShutdownMs": 0},
        "diagnostics": {"maxPerFile": 1, "newOnly": True},
        "security": {"projectConfigPolicy": "never", "trustedProjectRoots": ["/a"]},
    }


def test_names_that_are_not_ours_keep_their_case():
    said = {"lsp": {"a_b": {"settings": {"some_key": {"some_more": 1}}, "env": {"A_B": "c"}}}}
    assert one_form(said) == said


# `lsp`


@pytest.mark.parametrize(
    ("lsp", "form"),
    [
        (True, {}),
        ({}, {}),
        (False, {"lsp": False}),
        ({"enabled": True}, {}),
        ({"enabled": False}, {"lsp": False}),
        ({"enabled": False, "x": {"command": ["x"]}}, {"lsp": False}),
        ({"enabled": False, "servers": {"x": {}}}, {"lsp": False}),
    ],
)
def test_only_false_switches_everything_off(lsp, form):
    assert one_form({"lsp": lsp}) == form
    assert lspkit.config.read_config({"lsp": lsp}).enabled is ("lsp" not in form)


def test_what_stands_inside_lsp_belongs_elsewhere():
    inside = {
        "timeout": 1,
        "diagnosticTimeout": 2,
        "firstTouchTimeout": 3,
        "maxDiagnosticsPerFile": 4,
        "maxProjectDiagnosticsFiles": 5,
        "navigationTools": False,
    }
    outside = {
        "timing": {
            "requestTimeoutMs": 1,
            "diagnosticsWaitTimeoutMs": 2,
            "firstTouchTimeoutMs": 3,
        },
        "diagnostics": {
            "maxPerFile": 4,
            "maxOtherFiles": 5,
        },
        "navigationTools": False,
    }
    assert one_form({"lsp": inside}) == outside


def test_its_own_place_counts_more_than_another_one():
    said = {"lsp": {"timeout": 1}, "timing": {"requestTimeoutMs": 2}}
    assert one_form(said) == {"timing": {"requestTimeoutMs": 2}}


@pytest.mark.parametrize(
    "said",
    [
        {"lsp": {"x": {"disabled": True}}},
        {"lsp": {"servers": {"x": {"disabled": True}}}},
        {"servers": {"x": {"disabled": True}}},
        {"lspServers": {"x": {"disabled": True}}},
        {"lsp": {"servers": {"x": {"disabled": True}}, "x": {}}},
        {"lspServers": {"x": {}}, "lsp": {"x": {"disabled": True}}},
    ],
)
def test_servers_may_stand_at_several_places(said):
    assert one_form(said) == {"lsp": {"x": {"disabled": True}}}


@pytest.mark.parametrize("name", ["timeout", "enabled", "servers", "firstTouchTimeout"])
def test_a_reserved_name_is_no_server_anywhere(name):
    for said in ({"servers": {name: {}}}, {"lsp": {"servers": {name: {}}}}):
        [(place, message)] = warnings(said)
        assert place.endswith(f"servers.{name}")
        assert "no server can have this name" in message


# A server


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ({"command": "x"}, {"command": ["x"]}),
        ({"command": "x", "args": ["-a", "b"]}, {"command": ["x", "-a", "b"]}),
        ({"command": ["x", "-a"], "args": ["b"]}, {"command": ["x", "-a", "b"]}),
        ({"command": "a program", "args": []}, {"command": ["a program"]}),
        ({"command": None}, {}),
        ({"enabled": False}, {"disabled": True}),
        ({"enabled": True}, {"disabled": False}),
        ({"enabled": True, "disabled": True}, {"disabled": True}),
        ({"enabled": False, "disabled": False}, {"disabled": True}),
        ({"initializationOptions": {"a": 1}}, {"initialization": {"a": 1}}),
        ({"rootPatterns": ["a"]}, {"roots": ["a"]}),
        ({"workspaceRootMarkers": ["a"]}, {"roots": ["a"]}),
        ({"rootMarkers": ["a"]}, {"roots": ["a"]}),
        ({"rootPatterns": ["a"], "roots": ["b"]}, {"roots": ["b"]}),
        ({"fileExtensions": [".a"]}, {"extensions": [".a"]}),
        ({"fileExtensions": [".a"], "extensions": [".b"]}, {"extensions": [".b"]}),
        (
            {"fileExtensions": {".a": "x"}},
            {"extensions": [".a"], "languageIds": {".a": "x"}},
        ),
        (
            {"extensionToLanguage": {".b": "y", ".a": "x"}},
            {"extensions": [".a", ".b"], "languageIds": {".a": "x", ".b": "y"}},
        ),
        (
            {"extensionToLanguage": {".a": "x"}, "languageIds": {".a": "z"}, "extensions": [".c"]},
            {"extensions": [".c"], "languageIds": {".a": "z"}},
        ),
        (
            {"extensions": [".a"], "languageId": "x"},
            {"extensions": [".a"], "languageIds": {".a": "x"}},
        ),
        ({"startupTimeout": 5}, {"timing": {"initializeTimeoutMs": 5}}),
        ({"requestTimeoutMs": 5}, {"timing": {"requestTimeoutMs": 5}}),
        (
            {"startupTimeout": 5, "timing": {"initializeTimeoutMs": 6}},
            {"timing": {"initializeTimeoutMs": 6}},
        ),
        ({"transport": "stdio"}, {}),
        ({"settings": {"a": None, "b": [{}]}}, {"settings": {"a": None, "b": [{}]}}),
    ],
)
def test_every_spelling_of_a_server_has_one_form(said, form):
    assert one_form({"lsp": {"x": said}}) == {"lsp": {"x": form}}


def test_arguments_without_a_command_are_told():
    [(place, message)] = warnings({"lsp": {"x": {"args": ["-a"]}}})
    assert (place, "no command" in message) == ("lsp.x.args", True)


def test_a_server_that_cannot_be_spoken_to_is_told():
    [(place, _)] = warnings({"lsp": {"x": {"command": "x", "transport": "socket"}}})
    assert place == "lsp.x.transport"


def test_keys_of_other_tools_are_told_only_in_our_own_files():
    said = {"lsp": {"x": {"restartOnCrash": True, "rootUri": "."}}}
    assert [place for place, _ in warnings(said)] == ["lsp.x.restartOnCrash", "lsp.x.rootUri"]
    assert [place for place, _ in warnings(said, foreign=True)] == ["lsp.x.rootUri"]


def test_in_a_bare_file_keys_are_servers():
    said = {"x": {"command": "x"}, "timing": {"debounceMs": 1}, "lsp_y": {}}
    assert one_form(said, bare=True) == {
        "lsp": {"x": {"command": ["x"]}, "lsp_y": {}},
        "timing": {"debounceMs": 1},
    }


@pytest.mark.parametrize("table", ["lsp", "lspServers", "servers"])
def test_a_bare_file_may_be_written_like_the_others(table):
    said = {table: {"x": {}}, "y": {}}
    assert [place for place, _ in warnings(said, bare=True)] == ["y"]


# Keys that nobody knows


@pytest.mark.parametrize(
    ("said", "place", "near"),
    [
        ({"timng": {}}, "timng", "timing"),
        ({"timing": {"requestTimoutMs": 1}}, "timing.requestTimoutMs", "requestTimeoutMs"),
        ({"lsp": {"x": {"comand": ["x"]}}}, "lsp.x.comand", "command"),
        ({"diagnostics": {"maxPerFiles": 1}}, "diagnostics.maxPerFiles", "maxPerFile"),
        (
            {"lsp": {"x": {"timing": {"requestMs": 1}}}},
            "lsp.x.timing.requestMs",
            "requestTimeoutMs",
        ),
        ({"colour": "red"}, "colour", ""),
        ({"a" * 100_000: 1}, f'["{"a" * 60}\\u2026"]', ""),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_known_one(said, place, near):
    [(where, message)] = warnings(said)
    assert where == place
    assert (f"did you mean {near}?" in message) if near else ("did you mean" not in message)


def test_a_schema_may_be_named():
    assert one_form({"$schema": "https://example.org/schema.json"}) == {}
