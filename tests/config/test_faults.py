"""What is wrong with a configuration is told all at once, each fault where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lspkit
from lspkit.config.normalize import Style, normalize
from lspkit.config.problems import Problems, place_of


def one_form(value: Any, **style: Any) -> dict[str, Any]:
    """What is said, in the one form; nothing may be wrong with it."""
    findings = Problems()
    made = normalize(value, findings, Style(**style))
    assert findings.faults == []
    return made


def faults(value: Any, **style: Any) -> list[str]:
    findings = Problems()
    normalize(value, findings, Style(**style))
    return [fault.place for fault in findings.faults]


def test_all_faults_are_told_at_once_with_their_places():
    given = {
        "lsp": {
            "a": {"command": [], "extensions": [".ok", "py", 1], "timing": {"requestTimeoutMs": 0}},
            "b": 5,
            "c.d": {"env": {"A=B": "x", "C": "\0", "D": 1}, "languageIds": {".x": 1}},
            "timeout": -1,
        },
        "security": {"exclude": "x", "projectConfigPolicy": "sometimes"},
        "diagnostics": [],
        "restart": {"jitter": 2, "factor": 0.5},
        "permissions": {"lsp_rename": "maybe"},
        "navigationTools": 1,
    }
    assert sorted(faults(given)) == sorted(
        [
            "lsp.a.command",
            "lsp.a.extensions[1]",
            "lsp.a.extensions[2]",
            "lsp.a.timing.requestTimeoutMs",
            "lsp.b",
            'lsp["c.d"].env["A=B"]',
            'lsp["c.d"].env.C',
            'lsp["c.d"].env.D',
            'lsp["c.d"].languageIds[".x"]',
            "lsp.timeout",
            "security.exclude",
            "security.projectConfigPolicy",
            "diagnostics",
            "restart.jitter",
            "restart.factor",
            "permissions.lsp_rename",
            "navigationTools",
        ]
    )


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"lsp": {"servers": {"x": {"fileExtensions": ["a"]}}}}, "lsp.servers.x.fileExtensions[0]"),
        ({"lspServers": {"x": {"extensionToLanguage": {"a": "b"}}}}, "extensionToLanguage.a"),
        ({"lsp": {"x": {"command": "x", "args": ["a", ""]}}}, "lsp.x.args[1]"),
        ({"lsp": {"x": {"command": ""}}}, "lsp.x.command"),
        ({"lsp": {"firstTouchTimeout": 0}}, "lsp.firstTouchTimeout"),
        ({"timing": {"debounceMs": "x"}}, "timing.debounceMs"),
        ({"lsp": {"x": {"enabled": 1}}}, "lsp.x.enabled"),
        ({"lsp": {"x": {"watch": [["a"], []]}}}, "lsp.x.watch[1]"),
    ],
)
def test_a_fault_is_named_as_it_was_written(said, place):
    [found] = faults(said)
    assert found.endswith(place)


@pytest.mark.parametrize(
    "name", ["initializeTimeoutMs", "requestTimeoutMs", "diagnosticsWaitTimeoutMs"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, 1.0, True, "5", None, 2**31, 10**30])
def test_a_timeout_is_a_positive_whole_number(name, value):
    assert faults({"timing": {name: value}}) == [f"timing.{name}"]


@pytest.mark.parametrize("name", ["maxPerFile", "maxOtherFiles", "maxDependents", "maxBytes"])
def test_a_cap_is_a_whole_number_and_may_be_zero(name):
    assert one_form({"diagnostics": {name: 0}}) == {"diagnostics": {name: 0}}
    for value in (-1, 0.5, "1", None, False):
        assert faults({"diagnostics": {name: value}}) == [f"diagnostics.{name}"]


@pytest.mark.parametrize("command", [[], [""], ["x", ""], ["x\0y"], [1], {}, 5, [["x"]]])
def test_a_command_is_words_none_of_them_empty(command):
    assert faults({"lsp": {"x": {"command": command}}})
    assert faults({"lsp": {"x": {"watch": [command]}}})


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: 2}, {"a": object()}, [b"x"], {"a": {"b": {1, 2}}}, "\ud800"],
    ids=["nan", "infinity", "key", "object", "bytes", "set", "surrogate"],
)
def test_a_value_that_json_does_not_have_is_refused(value):
    assert faults({"lsp": {"x": {"settings": {"s": value}}}}, own=True)


def test_an_object_that_holds_itself_is_refused():
    given: dict[str, Any] = {}
    given["lsp"] = {"x": {"settings": given}}
    assert faults(given, own=True)


def test_what_a_program_passes_may_hold_paths(tmp_path):
    name = "b\udcff"
    given = {"lsp": {"x": {"command": (tmp_path / "x", f"/{name}"), "env": {"A": name}}}}
    assert one_form(given, own=True)["lsp"]["x"]["command"] == [str(tmp_path / "x"), f"/{name}"]
    assert faults(given)


@pytest.mark.parametrize("name", ["timing.debounceMs", "restart.factor", "restart.policy"])
def test_a_path_in_the_place_of_something_else_is_refused(name):
    section, key = name.split(".")
    assert faults({section: {key: "b\udcff"}}, own=True) == [name]


def test_the_value_itself_is_not_told():
    findings = Problems()
    normalize({"lsp": {"x": {"env": {"TOKEN": 12345}}}}, findings, Style())
    assert "12345" not in findings.faults[0].message
    assert findings.faults[0].found == "a number"


def test_no_two_places_look_alike():
    paths = [("a", "b"), ("a.b",), ("a", 0), ("a", "0"), ("a[0]",), ('a"]',), ("",), ("a", "")]
    assert len({place_of(path) for path in paths}) == len(paths)
    assert place_of(("lsp", "x", "command", 0)) == "lsp.x.command[0]"
    assert place_of(("lsp", "a.b", "c\n")) == 'lsp["a.b"]["c\\n"]'


# As an error


def test_an_error_has_a_line_for_each_fault(scene):
    file = scene.project('{\n "timing": {"debounceMs": "x"},\n "lsp": {"y": {"command": []}}\n}')
    with pytest.raises(lspkit.ConfigError) as caught:
        lspkit.config.read_config(file)
    problem = caught.value
    one = "lsp.y.command: expected a list of words, none of them empty, found an empty list"
    other = "timing.debounceMs: expected a whole number of milliseconds, 0 or more, found a text"
    assert sorted(str(problem).splitlines()) == [f"{file}:2: {other}", f"{file}:3: {one}"]
    assert len(problem.faults) == 2
    assert {(one["line"], one["place"]) for one in problem.faults} == {
        (3, "lsp.y.command"),
        (2, "timing.debounceMs"),
    }
    assert (problem.line, problem.place) == (
        problem.faults[0]["line"],
        problem.faults[0]["place"],
    )
    assert json.loads(json.dumps(problem.to_dict()))["faults"][0] == problem.faults[0]


def test_a_place_in_a_toml_file_has_a_line(scene):
    text = (
        '[project]\nname = "x"\n\n[tool.lspkit]\nnavigationTools = 1\n'
        '[tool.lspkit.lsp."a.b"]\ncommand = []\n[tool.lspkit.lsp]\nc.extensions = ["d"]\n'
    )
    scene.project(text, "pyproject.toml")
    loaded = scene.load()
    assert loaded.ignored
    assert {(one.line, one.place) for one in loaded.warnings if one.place} == {
        (5, "tool.lspkit.navigationTools"),
        (7, 'tool.lspkit.lsp["a.b"].command'),
        (9, "tool.lspkit.lsp.c.extensions[0]"),
    }


@pytest.mark.parametrize("value", ["1979-05-27T07:32:00Z", "07:32:00", "nan", "inf"])
def test_what_toml_has_and_json_has_not_is_refused(scene, value):
    scene.project(f"[tool.lspkit.lsp.x.settings]\na = {value}\n", "pyproject.toml")
    loaded = scene.load()
    assert loaded.ignored
    assert loaded.warnings[-1].place == "tool.lspkit.lsp.x.settings.a"
