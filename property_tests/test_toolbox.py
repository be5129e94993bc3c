"""Random input for the tools: whatever it is, an envelope as declared comes back, and no exception;
and as text no more than is allowed.

The first test goes through very many inputs, made by chance from what models write and what they
should not, spread evenly over the operations; each needed field is missing, mistyped or out of
range in turn. The others let hypothesis look for what chance does not find.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lspkit
from lspkit.agent import TABLE, Toolbox, envelope_schema
from lspkit.agent.tools.arguments import BadInput, read_arguments
from lspkit.agent.tools.envelope import MOST_BYTES
from lspkit.agent.tools.tool_table import FIELDS, SINGLE, ToolSpec, spec_of
from tests.agent.tools.calling import able, served

#: Inputs of the first test.
INPUTS = 10_000

FORM = {row.operation: jsonschema.Draft202012Validator(envelope_schema(row)) for row in TABLE} | {
    "": jsonschema.Draft202012Validator(envelope_schema())
}

#: What is right for a field, and what is of the right type but out of range.
RIGHT: dict[str, list[Any]] = {
    "path": ["a.xyz", "@a.xyz", "./a.xyz", "b/../a.xyz"],
    "line": [1, 2, 3, 2.0],
    "column": [1, 4, 9],
    "symbol": ["greet", "Host.greet", "ü"],
    "include_declaration": [True, False],
    "query": ["greet", "", "g r"],
    "new_name": ["meet", "ü"],
    "apply": [False, True],
    "force": [False, True],
    "item": [
        {"uri": "file:///a.xyz", "name": "greet", "kind": 12},
        {"raw": {"serverId": "x", "via": "a.xyz", "item": {"uri": "file:///a", "name": "x"}}},
    ],
}
BEYOND: dict[str, list[Any]] = {
    "path": ["", "missing.xyz", "../a.xyz", "/etc/passwd", "a\0b", "~", ".", "x" * 5000, "\ud800"],
    "line": [0, -1, 10**9, 2**31, 10**400, 1.5, float("nan"), float("inf"), -0.0],
    "column": [0, -5, 10**9, 2**63, 1e300, float("-inf")],
    "symbol": ["", " ", "\n", "a" * 9999, "\udfff", "()"],
    "include_declaration": [],
    "query": ["\0", "x" * 100_000, "\ud800"],
    "new_name": ["", " ", "\n"],
    "apply": [],
    "force": [],
    "item": [{}, {"raw": {}}, {"raw": None}, {"uri": "x:y"}, "{}", "{", {"uri": "file:///\ud800"}],
}


def anything(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON value, and some that are none."""
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: chance.choice([True, False]),
        lambda: chance.choice([0, 1, -1, 7, 2**70, -(10**50), chance.randint(-99, 99)]),
        lambda: chance.choice([0.5, -1e308, float("nan"), float("inf")]),
        lambda: chance.choice(
            ["", "a.xyz", "greet", "\0", "\ud800", "ü🙂", "{", "hover", "x" * 300]
        ),
        lambda: b"bytes",
        lambda: object(),
        lambda: {1: 2},
    ]
    if depth < 4:
        kinds += [
            lambda: [anything(chance, depth + 1) for _ in range(chance.randint(0, 4))],
            lambda: {
                chance.choice(["operation", "filePath", "raw", "x", ""]): anything(
                    chance, depth + 1
                )
                for _ in range(chance.randint(0, 4))
            },
        ]
    return chance.choice(kinds)()


def call_of(row: ToolSpec, chance: random.Random, spoilt: str) -> dict[str, Any]:
    """The input of an operation with one of its fields spoilt, or none."""
    made: dict[str, Any] = {"operation": row.operation}
    fields = row.fields
    names = [name for name in fields if name in row.required or chance.random() < 0.6]
    if spoilt and spoilt not in names:
        names.append(spoilt)
    for name in names:
        spelling = chance.choice([fields[name].name, *fields[name].aliases])
        if name != spoilt:
            made[spelling] = chance.choice(RIGHT[name])
            continue
        how = chance.choice(["missing", "mistyped", "beyond"])
        if how == "mistyped":
            made[spelling] = anything(chance)
        elif how == "beyond" and BEYOND[name]:
            made[spelling] = chance.choice(BEYOND[name])
    if chance.random() < 0.2:
        made[chance.choice(["foo", "column", "path", "query", ""])] = anything(chance)
    return made


def inputs(chance: random.Random) -> Iterator[Any]:
    """What a model may write, without end."""
    while True:
        for row in TABLE:
            for spoilt in ("", *row.fields):
                yield call_of(row, chance, spoilt)
        yield anything(chance)
        yield {"operation": anything(chance), **call_of(chance.choice(TABLE), chance, "")}


def as_text(value: Any) -> str:
    """As JSON, where that can be; else as some text."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)


def json_of(text: str) -> Any:
    """What `as_text` was made of, or the text where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def faults(envelope: dict[str, Any]) -> list[str]:
    """What is wrong with the form of an answer."""
    form = FORM.get(envelope["operation"], FORM[""])
    return [one.message for one in form.iter_errors(envelope)]


def in_bounds(text: str) -> bool:
    """Whether a text for a model is one that can be sent, and no longer than it may be."""
    return 0 < len(text.encode()) <= MOST_BYTES


def as_tool(value: Any) -> tuple[str, Any]:
    """The same input for the tool that its operation has."""
    row = spec_of(value.get("operation")) if isinstance(value, dict) else None
    if row is None:
        return TABLE[0].tool, value
    return row.tool, {name: one for name, one in value.items() if name != "operation"}


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[Toolbox]:
    """Without a server for anything that is asked about."""
    # On its second line stands a word that is too long for any answer.
    text = "def greet\n" + "x" * 2 * MOST_BYTES
    (tmp_path / "a.xyz").write_text(text, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": {}}) as ws:
        yield Toolbox(ws)


@pytest.mark.slow
def test_ten_thousand_inputs_are_answered_in_the_declared_form(lonely: Toolbox) -> None:
    seed = int(os.environ.get("LSPKIT_SEED", "1"))
    chance = random.Random(seed)
    codes: Counter[tuple[str, str]] = Counter()
    for number, value in zip(range(INPUTS), inputs(chance), strict=False):
        envelope = lonely.call(value)
        assert not faults(envelope), (seed, number, value)
        assert in_bounds(json.dumps(envelope, ensure_ascii=False, allow_nan=False))
        assert in_bounds(lonely.execute(*as_tool(value))), (seed, number, value)
        codes[envelope["operation"], (envelope["errors"] or [{"code": ""}])[0]["code"]] += 1
    # Every operation got as far as looking for a server, and was refused for its input.
    for row in TABLE:
        assert codes[row.operation, "EINVAL"] > 50, row.operation
        assert sum(codes[row.operation, code] for code in ("ENOSERVER", "EOUTSIDE", "")) > 50
    # Nothing fails inside: whatever is wrong has a name.
    assert not {key for key in codes if key[1] == "ELSPKIT"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)
NAMES = st.sampled_from(
    [name for one in FIELDS.values() for name in (one.name, *one.aliases)] + ["operation", "x"]
)
CALLS = st.dictionaries(NAMES, VALUES, max_size=6)
OPERATIONS = st.sampled_from([row.operation for row in TABLE])
INPUT = VALUES | CALLS | st.builds(lambda one, more: {**more, "operation": one}, OPERATIONS, CALLS)


def test_whatever_hypothesis_finds_is_answered_in_the_declared_form(tmp_path: Path) -> None:
    with lspkit.Workspace(tmp_path, config={"lsp": {}}) as ws:
        toolbox = Toolbox(ws)

        @given(INPUT)
        def run(value: Any) -> None:
            assert not faults(toolbox.call(value))
            assert not faults(json.loads(toolbox.execute("lsp", as_text(value))))
            for row in TABLE[:3]:
                assert in_bounds(toolbox.execute(row.tool, value))

        run()


@given(st.sampled_from(TABLE), CALLS, st.booleans())
def test_a_call_is_a_request_or_says_what_is_wrong(
    row: ToolSpec, arguments: dict[str, Any], single: bool
) -> None:
    problem = None
    try:
        asked = read_arguments(row, arguments, SINGLE if single else row.tool)
    except (BadInput, lspkit.PositionError) as caught:
        problem = caught
    if problem is None:
        assert isinstance(asked.request, row.request | (row.in_file or row.request))
    else:
        # The position is wrong only of a new name that is nothing but spaces.
        assert getattr(problem, "faults", ()) or "name" in problem.message


@pytest.mark.slow
def test_a_working_server_changes_nothing_about_the_form(
    tmp_path: Path, scripted: Callable[..., list[str]]
) -> None:
    chance = random.Random(2)
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        answered = 0
        for _, value in zip(range(1000), inputs(chance), strict=False):
            text = as_text(value).replace("a.xyz", "a.scr")
            envelope = json.loads(toolbox.execute("lsp", text, timeout=20))
            assert not faults(envelope), text
            answered += envelope["ok"]
            assert in_bounds(toolbox.execute(*as_tool(json_of(text)), timeout=20)), text
    assert answered > 100
