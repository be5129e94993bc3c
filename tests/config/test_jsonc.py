"""JSON with comments and last commas, and on which line something stands."""

from __future__ import annotations

import json

import pytest

from lspkit.config.file_syntax import NotJson, blank_comments, decode, positions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a": 1} // end', {"a": 1}),
        ('// start\n{"a": 1}', {"a": 1}),
        ('{/* in */"a"/* be */:/* tween */1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2, ]", [1, 2]),
        ("[1, // one\n 2, /* two */ ]", [1, 2]),
        ('{"a": [1,], "b": {"c": 2,},}', {"a": [1], "b": {"c": 2}}),
        ('"no // comment"', "no // comment"),
        ('"no /* comment */"', "no /* comment */"),
        (r'"a \" // b"', 'a " // b'),
        ('{"a,}": ",]"}', {"a,}": ",]"}),
        ("/* a // b */ 1", 1),
        ("// a /* b\n1", 1),
        ("1 /***/", 1),
    ],
)
def test_what_people_add_to_json_is_passed_over(text, value):
    assert decode(text) == (value, False)


NO_JSON = [
    *("", "//", "[,]", "{,}", "[1,,]", '{"a":,}', "[1 2]", "{} {}", "{} x", "/* x", "/*/", "1 /"),
    *("'a'", '"a', "NaN", "Infinity", "-Infinity", "{a: 1}", "[1]\0", '"\n"', "nul", "1" * 5000),
]


@pytest.mark.parametrize("text", NO_JSON)
def test_the_rest_is_as_strict_as_json(text):
    with pytest.raises(NotJson):
        decode(text)


def test_every_character_keeps_its_place():
    text = '{ // é\r\n "a": /* x\n y */ [1,],\n}'
    made = blank_comments(text)
    assert len(made) == len(text)
    assert [at for at, one in enumerate(made) if one == "\n"] == [
        at for at, one in enumerate(text) if one == "\n"
    ]
    assert json.loads(made) == {"a": [1]}


def test_a_complaint_names_the_line_also_behind_comments():
    with pytest.raises(NotJson, match="column 3") as caught:
        decode("{ /* one\n two */\n\n  oops }")
    assert caught.value.line == 4


@pytest.mark.parametrize("depth", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_text_that_is_nested_too_deeply_is_refused(depth):
    with pytest.raises(NotJson, match="nested too deeply"):
        decode("[" * depth * 10 + "]" * depth * 10)


def test_keys_and_items_have_lines():
    text = """{
      "a": 1, "b":
        [10,
         {"c": [ ]},
         // nothing
         30],
      "d": {}
    }"""
    lines, doubles = positions(text)
    assert lines == {
        (): 1,
        ("a",): 2,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
        ("b", 2): 6,
        ("d",): 7,
    }
    assert doubles == []


def test_a_key_that_is_there_twice_is_told_and_the_last_one_counts():
    text = '{"a": 1,\n "b": {"x": 1, "x": 2},\n "a": 3}'
    assert decode(text) == ({"a": 3, "b": {"x": 2}}, True)
    lines, doubles = positions(text)
    assert doubles == [("b", "x"), ("a",)]
    assert lines["a",] == 3


def test_a_key_of_the_same_name_elsewhere_is_no_double():
    text = '{"a": {"a": 1}, "b": {"a": [{"a": 1}, {"a": 2}]}}'
    assert decode(text)[1] is False
    assert positions(text)[1] == []


def test_a_text_that_is_larger_than_any_configuration_has_no_lines():
    assert positions("[" + "1," * 30_000 + "1]") == ({}, [])
