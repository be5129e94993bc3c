"""From what a caller passes to a checked configuration."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import lspkit
from lspkit.config import Config, read_config


def test_nothing_gives_the_defaults():
    config = read_config(None)
    assert config.enabled
    assert config.timing.debounce_ms == 150
    assert config.diagnostics.severity == "error"
    assert config.security.exclude == ("**/node_modules/**", "**/.git/**")


def test_a_config_is_taken_as_it_is():
    config = Config(lsp=False)
    assert read_config(config) is config


def test_a_mapping_is_checked_and_left_alone():
    given = {"lsp": {"x": {"command": ["x"]}}, "timing": {"requestTimeoutMs": 5}}
    before = json.dumps(given)
    config = read_config(given)
    assert config.server("x").command == ["x"]
    assert config.timing.request_timeout_ms == 5
    assert config.timing.initialize_timeout_ms == 15_000
    assert json.dumps(given) == before


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_path_names_a_json_file(tmp_path, kind):
    file = tmp_path / "lsp.json"
    file.write_text('{"lsp": {"ty": {"disabled": true}}}', encoding="utf-8")
    assert read_config(kind(file)).server("ty").disabled is True


@pytest.mark.parametrize(
    ("lsp", "enabled"), [(False, False), (True, True), ({}, True)], ids=["false", "true", "empty"]
)
def test_only_false_switches_everything_off(lsp, enabled):
    assert read_config({"lsp": lsp}).enabled is enabled


def test_a_server_about_which_nothing_is_said_has_no_settings():
    for config in (read_config(None), read_config({"lsp": False})):
        assert config.server("ty").command is None
        assert not config.server("ty").selects


@pytest.mark.parametrize(
    ("said", "selects"),
    [
        ({"command": ["x"]}, True),
        ({"disabled": False}, True),
        ({"command": ["x"], "disabled": True}, False),
        ({"disabled": True}, False),
        ({"settings": {"a": 1}}, False),
        ({}, False),
    ],
)
def test_a_command_or_an_explicit_no_to_disabled_selects(said, selects):
    assert read_config({"lsp": {"x": said}}).server("x").selects is selects


def refused(given: Any) -> lspkit.ConfigError:
    with pytest.raises(lspkit.ConfigError) as caught:
        read_config(given)
    assert caught.value.code == "ECONFIG"
    return caught.value


@pytest.mark.parametrize("command", [[], [""], ["x", ""], ["x\0y"]])
def test_a_command_is_words_none_of_them_empty(command):
    problem = refused({"lsp": {"x": {"command": command}}})
    assert problem.place.startswith("lsp.x.command")
    assert "word" in problem.expected


def test_an_extension_begins_with_a_dot():
    problem = refused({"lsp": {"x": {"extensions": [".ok", "py"]}}})
    assert problem.place == "lsp.x.extensions[1]"
    assert problem.file is None


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"timing": {"debounceMs": "soon"}}, "timing.debounceMs"),
        ({"diagnostics": {"maxPerFile": None}}, "diagnostics.maxPerFile"),
        ({"security": []}, "security"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_place(given, place):
    problem = refused(given)
    assert problem.place == place
    assert place in str(problem)
    assert problem.expected


def test_a_place_below_a_server_names_the_server():
    assert refused({"lsp": {"pyright": {"command": [1]}}}).place == "lsp.pyright.command[0]"


@pytest.mark.parametrize("value", [0, -1])
def test_a_timeout_is_positive(value):
    problem = refused({"timing": {"requestTimeoutMs": value}})
    assert problem.place == "timing.requestTimeoutMs"


def test_zero_switches_the_idle_shutdown_off():
    assert read_config({"timing": {"idleShutdownMs": 0}}).timing.idle_shutdown_ms == 0


def test_an_unknown_severity_is_refused():
    problem = refused({"diagnostics": {"severity": "errors"}})
    assert problem.place == "diagnostics.severity"
    assert '"hint"' in str(problem)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[]", "object"),
        (b"[" * 100_000, "not valid JSON"),
    ],
    ids=["torn", "not-utf-8", "no-object", "deep"],
)
def test_a_file_that_makes_no_sense_is_named(tmp_path, content, told):
    file = tmp_path / "lsp.json"
    file.write_bytes(content)
    problem = refused(file)
    assert problem.file == str(file)
    assert str(file) in str(problem)
    assert told in str(problem)


def test_a_named_file_that_is_missing_is_an_error(tmp_path):
    problem = refused(tmp_path / "lsp.json")
    assert "lsp.json cannot be read" in str(problem)


def test_a_workspace_refuses_a_bad_configuration_at_once(tmp_path):
    with pytest.raises(lspkit.ConfigError):
        lspkit.Workspace(tmp_path, config={"lsp": {"x": {"command": []}}})


def test_a_misspelt_key_of_a_program_is_a_warning_with_the_nearest_key(tmp_path):
    config = {"timing": {"requestTimeoutMss": 3}}
    with (
        pytest.warns(lspkit.UnusedSettingWarning, match="did you mean requestTimeoutMs") as caught,
        lspkit.Workspace(tmp_path, config=config),
    ):
        pass
    [warning] = caught
    assert warning.filename == __file__


def test_a_right_configuration_is_no_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lspkit.Workspace(tmp_path, config={"timing": {"requestTimeoutMs": 3}}).close()


def test_where_warnings_are_errors_no_workspace_is_left_open(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(lspkit.UnusedSettingWarning):
            lspkit.Workspace(tmp_path, config={"lps": {}})
