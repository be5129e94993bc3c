"""Configuration from anywhere: merging is lawful, and no file is a surprise."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

import lspkit
from lspkit.config import Config, read_config
from lspkit.config.config_files import PROJECT_FILES
from lspkit.config.file_syntax import NotJson, blank_comments, decode, positions
from lspkit.config.load import load
from lspkit.config.merge import Layer, Origin, leaves, merge_layers, merge_values, origins_of
from lspkit.config.model import ServerConfig
from lspkit.config.normalize import (
    EXTENSIONS,
    INSIDE_LSP,
    INSIDE_SERVER,
    SERVER_TABLES,
    TIMES,
    Style,
    normalize,
)
from lspkit.config.object_reader import REFUSED, check_value
from lspkit.config.parse import BUILT_IN_VALUES
from lspkit.config.problems import Path as Place
from lspkit.config.problems import Problems, place_of
from property_tests.configurations import JSON, LAYERS, NAMES, OBJECTS, SCALARS, SWITCHES, shuffled

# Merging


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_is_associative(one: Any, two: Any, three: Any) -> None:
    assert merge_values(merge_values(one, two), three) == merge_values(
        one, merge_values(two, three)
    )


@given(LAYERS | SWITCHES, LAYERS | SWITCHES, LAYERS | SWITCHES)
def test_merging_layers_is_associative(one: Any, two: Any, three: Any) -> None:
    left = merge_layers(merge_layers(one, two), three)
    assert left == merge_layers(one, merge_layers(two, three))


@given(OBJECTS, OBJECTS)
def test_merging_leaves_its_inputs_alone_and_gives_the_same_again(one: Any, other: Any) -> None:
    before = copy.deepcopy((one, other))
    first = merge_values(one, other)
    assert merge_values(one, other) == first
    _spoil(first)
    assert (one, other) == before


def _spoil(value: Any) -> None:
    """Changes everything that can be changed."""
    for one in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        _spoil(one)
    if isinstance(value, dict):
        value["spoilt"] = True
    elif isinstance(value, list):
        value.append("spoilt")


@given(LAYERS, LAYERS, st.data())
def test_merging_does_not_depend_on_the_order_of_keys(one: Any, other: Any, data: Any) -> None:
    again = merge_layers(shuffled(one, data.draw), shuffled(other, data.draw))
    assert again == merge_layers(one, other)
    assert read_config(again) == read_config(merge_layers(one, other))
    if isinstance(read_config(again).lsp, dict):
        assert list(read_config(again).lsp) == sorted(read_config(again).lsp)


@given(OBJECTS, OBJECTS)
def test_arrays_and_scalars_of_the_later_one_replace(one: Any, other: Any) -> None:
    made = merge_values(one, other)
    for path, value in leaves(other):
        if path and value != {}:
            assert _at(made, path) == value


@given(OBJECTS)
def test_nothing_is_neutral_and_twice_is_once(one: Any) -> None:
    assert merge_values({}, one) == merge_values(one, {}) == merge_values(one, one) == one


def _at(value: Any, path: Place) -> Any:
    for step in path:
        value = value[step]
    return value


@given(st.lists(SWITCHES | LAYERS, min_size=2, max_size=4))
def test_what_switches_off_wins_wherever_it_stands(layers: list[Any]) -> None:
    made = layers[0]
    for one in layers[1:]:
        made = merge_layers(made, one)
    off = any(one.get("lsp") is False for one in layers)
    assert (made.get("lsp") is False) == off
    if off:
        return
    for one in layers:
        for id, said in (one.get("lsp") or {}).items():
            if said.get("disabled"):
                assert made["lsp"][id]["disabled"] is True


@given(st.lists(LAYERS, min_size=1, max_size=3))
def test_every_value_of_the_result_is_said_by_its_origin(given_layers: list[Any]) -> None:
    names = ("global", "project", "given")
    layers = [
        Layer(Origin("built-in"), BUILT_IN_VALUES),
        *(Layer(Origin(name), one) for name, one in zip(names, given_layers, strict=False)),
    ]
    made = layers[0].values
    for layer in layers[1:]:
        made = merge_layers(made, layer.values)
    origins = origins_of(layers, made)
    by_origin = {layer.origin: layer.values for layer in layers}
    found = dict(leaves(made))
    assert set(origins) == {place_of(path) for path in found}
    for path, value in found.items():
        assert _at(by_origin[origins[place_of(path)]], path) == value


@given(LAYERS, LAYERS)
def test_two_valid_layers_make_a_valid_configuration(one: Any, other: Any) -> None:
    made = merge_layers(merge_layers(BUILT_IN_VALUES, one), other)
    assert msgspec.convert(made, Config) == read_config(made)


# The one form


@given(LAYERS)
def test_the_one_form_is_accepted_and_stays(values: Any) -> None:
    findings = Problems()
    made = normalize(values, findings, Style())
    assert findings.faults == [] and findings.warnings == []
    expected = {**values}
    if expected.get("lsp") == {}:
        del expected["lsp"]
    assert made == expected


@given(LAYERS)
def test_a_configuration_says_what_it_was_made_of(values: Any) -> None:
    config = read_config(values)
    loaded = load("none", config, environ={"HOME": "/none"}, trusted=True)
    assert loaded.config is config
    assert read_config(loaded.values) == config


#: All names that mean something somewhere, so that the strange values meet them.
KNOWN = sorted(
    {
        *("lsp", "enabled", "command", "args", "languageId", "transport", "$schema", "security"),
        *(path[-1] for path, _ in leaves(BUILT_IN_VALUES)),
        *BUILT_IN_VALUES,
        *(field.encode_name for field in msgspec.structs.fields(ServerConfig)),
        *EXTENSIONS,
        *INSIDE_LSP,
        *SERVER_TABLES,
        *TIMES,
        *(name for name, _ in INSIDE_SERVER),
    }
)
KEYS = st.sampled_from(KNOWN) | NAMES | st.text(max_size=3)
STRANGE = st.recursive(
    SCALARS | st.sampled_from(["error", "stdio", "allow", ".x", "", "\0", "\ud800", 10**30, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(STRANGE, st.booleans(), st.booleans())
def test_strange_values_are_refused_or_understood(value: Any, bare: bool, foreign: bool) -> None:
    findings = Problems()
    made = normalize(value, findings, Style(bare=bare, foreign=foreign))
    if not findings.faults:
        assert read_config(made) == msgspec.convert(made, Config)
        again = Problems()
        assert normalize(made, again, Style()) == made
        assert again.faults == [] and again.warnings == []


@given(STRANGE, st.booleans(), st.data())
def test_what_is_said_does_not_depend_on_the_order_of_keys(
    value: Any, bare: bool, data: Any
) -> None:
    one, other = Problems(), Problems()
    first = normalize(value, one, Style(bare=bare))
    second = normalize(shuffled(value, data.draw), other, Style(bare=bare))
    assert sorted(map(str, one.faults)) == sorted(map(str, other.faults))
    if not one.faults:
        assert first == second
        assert list(first) == list(second)


@given(st.dictionaries(st.sampled_from(["request", "debounce", "idle"]), st.integers(-3, 3)))
def test_all_faults_of_a_file_are_told_at_once(values: dict[str, int]) -> None:
    names = {"request": "requestTimeoutMs", "debounce": "debounceMs", "idle": "idleShutdownMs"}
    timing = {names[name]: value for name, value in values.items()}
    servers = {f"s{value}": {"command": [""] * value} for value in values.values() if value > 0}
    wrong = {f"timing.{name}" for name, value in timing.items() if value < 0}
    wrong |= {"timing.requestTimeoutMs"} if timing.get("requestTimeoutMs") == 0 else set()
    wrong |= {
        f"lsp.s{n}.command[{at}]" for n in range(1, 4) if f"s{n}" in servers for at in range(n)
    }
    findings = Problems()
    normalize({"timing": timing, "lsp": servers}, findings, Style())
    assert {fault.place for fault in findings.faults} == wrong


# Texts and files


@given(st.text('{}[],:"\\/* \n1a', max_size=30))
def test_blanking_keeps_the_length_and_the_lines(text: str) -> None:
    made = blank_comments(text)
    assert len(made) == len(text)
    assert [at for at, one in enumerate(made) if one == "\n"] == [
        at for at, one in enumerate(text) if one == "\n"
    ]


@given(JSON, st.sampled_from([None, 0, 1]), st.data())
def test_what_people_add_to_json_changes_no_value(
    value: Any, indent: int | None, data: Any
) -> None:
    text = json.dumps(value, indent=indent)
    made = ""
    inside = escaped = False
    for at, one in enumerate(text):
        if not inside and one in "]}" and text[:at].rstrip()[-1:] not in ("[", "{"):
            made += data.draw(st.sampled_from(["", ","]))
        if not inside and one in "[]{},:":
            made += data.draw(st.sampled_from(["", " ", "/* , */", "// ]\n"]))
        made += one
        inside = inside != (one == '"' and not escaped)
        escaped = inside and one == "\\" and not escaped
    assert decode(made) == (value, False)


@given(JSON)
def test_every_key_and_item_has_its_line(value: Any) -> None:
    text = json.dumps(value, indent=1)
    lines, doubles = positions(text)
    assert doubles == []
    written = text.split("\n")
    for path, _ in _all(value):
        assert path in lines
        if path and isinstance(path[-1], str):
            assert json.dumps(path[-1]) in written[lines[path] - 1]


def _all(value: Any, path: Place = ()) -> list[tuple[Place, Any]]:
    members: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    return [(path, value), *(pair for key, one in members for pair in _all(one, (*path, key)))]


@given(st.text('{}[],:"\\/* \n1a', max_size=40))
def test_any_text_is_decoded_or_refused(text: str) -> None:
    try:
        value, _ = decode(text)
    except NotJson:
        return
    lines, _ = positions(text)
    assert all(path in lines for path, _ in _all(value))


CONTENTS = (
    STRANGE.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
    | st.text('{}[],:"\\/* \n1alsp=.', max_size=60).map(str.encode)
    | LAYERS.map(lambda value: json.dumps(value).encode())
)


@given(CONTENTS, st.sampled_from([kind.name for kind in PROJECT_FILES]))
def test_any_file_is_read_or_refused(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, *name.split("/"))
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        problem = None
        try:
            read_config(file)
        except lspkit.ConfigError as raised:
            problem = raised
        assert problem is None or (problem.file == str(file) and problem.faults)
        loaded = load(folder, environ={"HOME": folder}, trusted=True)
        assert loaded.ignored == (problem is not None and loaded.used is not None)
        assert bool(loaded.warnings) or not loaded.ignored
        # Whatever a project says, it does not decide about security.
        assert loaded.config.security == lspkit.config.SecurityConfig()
        for place, origin in loaded.origins.items():
            assert not place.startswith("security") or origin == Origin("built-in")


@given(LAYERS, LAYERS)
def test_a_projects_security_never_counts(mine: Any, theirs: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        own, root = Path(folder, "own.json"), Path(folder, "project")
        project = root / ".lspkit" / "lsp.json"
        project.parent.mkdir(parents=True)
        own.write_text(json.dumps(mine), encoding="utf-8")
        project.write_text(json.dumps(theirs), encoding="utf-8")
        environ = {"HOME": folder, "LSPKIT_CONFIG": str(own)}
        loaded = load(str(root), environ=environ, trusted=True)
        assert loaded.config.security == read_config(mine).security
        told = any(one.place == "security" for one in loaded.warnings)
        assert told == ("security" in theirs)


@given(STRANGE)
def test_a_check_returns_only_what_fits(value: Any) -> None:
    for kind in (list[str], dict[str, int], bool, int, float, str, tuple[str, ...]):
        findings = Problems()
        made = check_value(value, kind, (), findings)
        assert (made is REFUSED) <= bool(findings.faults)
        if made is not REFUSED and not findings.faults:
            assert msgspec.convert(value, kind) == msgspec.convert(made, kind)
