"""Several layers made one, and who has said what."""

from __future__ import annotations

import copy
import itertools

import pytest

from lspkit.config import read_config
from lspkit.config.merge import Layer, Origin, merge_layers, merge_values, origins_of, sort_servers
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.selection.choose import definitions


@pytest.mark.parametrize(
    ("earlier", "later", "result"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 3}}}, {"a": {"b": {"c": 3, "d": 2}}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [{"b": 1}]}, {"a": [{"c": 2}]}, {"a": [{"c": 2}]}),
        ({"a": [1]}, {"a": []}, {"a": []}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {"a": 5}, {"a": 5}),
        ({"a": 5}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        (None, {"a": 1}, {"a": 1}),
        ({"a": 1}, [1], [1]),
    ],
)
def test_objects_merge_and_all_else_replaces(earlier, later, result):
    before = copy.deepcopy((earlier, later))
    assert merge_values(earlier, later) == result
    assert (earlier, later) == before


def test_an_object_that_replaces_a_number_replaces_what_was_before_it():
    one, two, three = {"a": {"b": 1}}, {"a": 5}, {"a": {"c": 2}}
    assert merge_values(merge_values(one, two), three) == {"a": {"c": 2}}
    assert merge_values(one, merge_values(two, three)) == {"a": {"c": 2}}


def test_merging_is_associative_whatever_meets_what():
    values = [{}, *({"a": value} for value in (0, [1], None, {}, {"x": 1}, {"y": {"z": 1}}))]
    for one, two, three in itertools.product(values, repeat=3):
        assert merge_values(merge_values(one, two), three) == merge_values(
            one, merge_values(two, three)
        )


def test_what_switches_off_wins_in_every_order():
    servers = [{}, {"disabled": True}, {"disabled": False}]
    values = [{}, {"lsp": False}, *({"lsp": {"x": said}} for said in servers)]
    for layers in itertools.product(values, repeat=3):
        one, two, three = layers
        made = merge_layers(merge_layers(one, two), three)
        assert made == merge_layers(one, merge_layers(two, three))
        if {"lsp": False} in layers:
            assert made["lsp"] is False
        elif {"lsp": {"x": {"disabled": True}}} in layers:
            assert made["lsp"]["x"]["disabled"] is True


def test_nothing_of_the_result_is_shared():
    one, other = {"a": {"x": [1]}}, {"b": {"y": [{"z": 1}]}}
    result = merge_values(one, other)
    result["a"]["x"].append(2)
    result["b"]["y"][0]["z"] = 2
    assert (one, other) == ({"a": {"x": [1]}}, {"b": {"y": [{"z": 1}]}})


@pytest.mark.parametrize("values", [{"lsp": {"x": {}}}, {"lsp": {}}, {}, {"timing": {}}])
def test_false_cannot_be_taken_back(values):
    off = {"lsp": False}
    assert merge_layers(off, values)["lsp"] is False
    assert merge_layers(values, off)["lsp"] is False


@pytest.mark.parametrize("said", [{"disabled": False}, {"command": ["x"]}, {}])
def test_a_disabled_server_stays_disabled(said):
    off, other = {"lsp": {"x": {"disabled": True}}}, {"lsp": {"x": said, "y": {}}}
    for made in (merge_layers(off, other), merge_layers(other, off)):
        assert made["lsp"]["x"]["disabled"] is True
        assert made["lsp"]["y"] == {}


def test_a_server_that_is_on_stays_on():
    made = merge_layers({"lsp": {"x": {"disabled": False}}}, {"lsp": {"x": {"roots": ["a"]}}})
    assert made["lsp"]["x"] == {"disabled": False, "roots": ["a"]}


def test_a_setting_called_disabled_is_a_setting():
    one, other = ({"lsp": {"x": {"settings": {"disabled": value}}}} for value in (True, False))
    assert merge_layers(one, other)["lsp"]["x"]["settings"] == {"disabled": False}


def test_servers_are_in_the_order_of_their_names():
    assert list(sort_servers({"lsp": {"b": {}, "a": {}}})["lsp"]) == ["a", "b"]
    assert list(read_config({"lsp": {"b": {}, "a": {}}}).lsp) == ["a", "b"]


# Who has said what

MINE, THEIRS = Origin("global", "/mine"), Origin("project", "/theirs")


def origins(mine, theirs):
    values = merge_layers(mine, theirs)
    return origins_of([Layer(MINE, mine), Layer(THEIRS, theirs)], values)


def test_every_value_knows_who_said_it():
    mine = {"timing": {"debounceMs": 1, "requestTimeoutMs": 1}, "lsp": {"x": {"command": ["a"]}}}
    theirs = {
        "timing": {"debounceMs": 2},
        "lsp": {"x": {"settings": {"a": {"b": 1}}}, "y.z": {"env": {}}},
    }
    assert origins(mine, theirs) == {
        "timing.debounceMs": THEIRS,
        "timing.requestTimeoutMs": MINE,
        "lsp.x.command": MINE,
        "lsp.x.settings.a.b": THEIRS,
        'lsp["y.z"].env': THEIRS,
    }


def test_what_cannot_be_taken_back_is_known_by_who_said_it():
    off, on = {"lsp": {"x": {"disabled": True}}}, {"lsp": {"x": {"disabled": False}}}
    assert origins(off, on) == {"lsp.x.disabled": MINE}
    assert origins(on, off) == {"lsp.x.disabled": THEIRS}
    assert origins({"lsp": False}, on) == {"lsp": MINE}
    assert origins(on, {"lsp": False}) == {"lsp": THEIRS}


def test_an_object_where_a_number_was_is_from_the_later_one():
    assert origins({"a": 1}, {"a": {"b": 1}}) == {"a.b": THEIRS}
    assert origins({"a": {"b": 1}}, {"a": {}}) == {"a.b": MINE}


# With what is built in


def test_settings_are_added_to_the_built_in_ones():
    built_in = {one.id: one for one in BUILT_IN}["basedpyright"]
    usual = built_in.launch.settings["basedpyright"]["analysis"]
    said = {"settings": {"basedpyright": {"analysis": {"diagnosticMode": "workspace"}}}}
    config = read_config({"lsp": {"basedpyright": said}})
    [definition] = [one for one in definitions(config) if one.id == "basedpyright"]
    analysis = definition.launch.settings["basedpyright"]["analysis"]
    assert analysis == {**usual, "diagnosticMode": "workspace"}
    assert built_in.launch.settings["basedpyright"]["analysis"] == usual


def test_initialization_is_added_to_the_built_in_one():
    built_in = {one.id: one for one in BUILT_IN}["deno"]
    config = read_config({"lsp": {"deno": {"initialization": {"lint": False, "unstable": ["x"]}}}})
    [definition] = [one for one in definitions(config) if one.id == "deno"]
    expected = {**built_in.launch.initialization, "lint": False, "unstable": ["x"]}
    assert definition.launch.initialization == expected


def test_initialization_that_is_no_object_replaces():
    config = read_config({"lsp": {"deno": {"initialization": [1]}}})
    [definition] = [one for one in definitions(config) if one.id == "deno"]
    assert definition.launch.initialization == [1]
