"""Results are plain values: frozen, comparable, picklable, one line as text, JSON as a dict."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lspkit import types
from lspkit.diagnostics.report import Change, Report
from lspkit.edit_types import CodeAction, FileEdit, TextEdit, WorkspaceEdit
from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import (
    Call,
    CallItem,
    Caveat,
    Diagnostic,
    HierarchyItem,
    Hover,
    Interpreter,
    Location,
    NamedSymbol,
    Parameter,
    Position,
    Range,
    RelatedLocation,
    Severity,
    Signature,
    SignatureHelp,
    Symbol,
    TypeItem,
    Value,
    Verdict,
    display_path,
)

RANGE = Range(Position(12, 8), Position(12, 11))
FILE = Path("/project/src/app.py")
URI = "file:///project/src/app.py"
LOCATION = Location(FILE, RANGE, URI)
RELATED = RelatedLocation(LOCATION, "declared\nhere")
CHILD = Symbol("run", "method", FILE, RANGE, RANGE, URI, container="App")
ITEM = (FILE, RANGE, RANGE, URI)
CALLER = CallItem("f", "function", *ITEM, server="s", via="app.py", raw='{"data":1}')
ROW = (ServerState.BROKEN, (), (), (), "built-in", (), "")
SIGNATURE = Signature("f(x: int)", "Does it.\nWell.", (Parameter("x: int"),))

#: One of each, with the line that it prints as; None where no line is promised but that it is one.
VALUES: list[tuple[Value, str | None]] = [
    (Position(12, 8), "12:8"),
    (RANGE, "12:8-12:11"),
    (LOCATION, "/project/src/app.py:12:8"),
    (Location(None, RANGE, "jdt://x"), "jdt://x:12:8"),
    (
        Hover(["```python\nx: int\n```", "Some\n\nwords"], RANGE),
        "```python\nx: int\n```\n\nSome\n\nwords",
    ),
    (Hover([]), ""),
    (
        Interpreter("/bin/python3", "it is in the project", "activate another"),
        "/bin/python3, because it is in the project",
    ),
    (
        Symbol("App", "class", FILE, RANGE, RANGE, URI, "detail", children=(CHILD,)),
        "class App /project/src/app.py:12:8",
    ),
    (RELATED, None),
    (Caveat("index loading", "it\nreads", "s", (LOCATION,)), "index loading: it reads"),
    (HierarchyItem("f", "function", *ITEM), "function f /project/src/app.py:12:8"),
    (CALLER, "function f /project/src/app.py:12:8"),
    (TypeItem("T", "class", *ITEM, raw="{}"), "class T /project/src/app.py:12:8"),
    (Call(CALLER), "function f /project/src/app.py:12:8"),
    (Call(CALLER, (RANGE,)), "function f /project/src/app.py:12:8 (calls at 12:8)"),
    (Parameter("x: int", "How many.\nOr none."), "x: int"),
    (SIGNATURE, "f(x: int)"),
    (SignatureHelp((SIGNATURE,), 0, 0), "f(x: int)"),
    (SignatureHelp(()), ""),
    (
        Diagnostic(
            *(FILE, RANGE, Severity.ERROR, "first\n  second", URI, "E1", "tool", ("s",)),
            tags=("deprecated",),
            related=(RELATED,),
            href="https://example.invalid",
        ),
        "/project/src/app.py:12:8 error first second (E1)",
    ),
    (
        Diagnostic(None, RANGE, Severity.HINT, "m", "untitled:1"),
        "untitled:1:12:8 hint m",
    ),
]

values = pytest.mark.parametrize(("value", "line"), VALUES, ids=lambda one: type(one).__name__)


def other(value: Value) -> Value:
    """An equal value that shares no part with `value`."""
    twin: Value = copy.deepcopy(value)
    return twin


def test_every_type_of_result_is_in_the_table() -> None:
    own = {kind for kind in vars(types).values() if isinstance(kind, type)}
    results = {kind for kind in own if issubclass(kind, Value)} - {Value, NamedSymbol}
    assert {type(value) for value, _ in VALUES} == results


@values
def test_a_value_is_frozen(value: Value, line: object) -> None:
    for name in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, name, None)


@values
def test_equal_values_are_equal_and_others_are_not(value: Value, line: object) -> None:
    assert value == other(value)
    assert [one for one, _ in VALUES if one == value] == [value]


@values
def test_a_value_survives_pickling(value: Value, line: object) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert (back, type(back)) == (value, type(value))


@values
def test_a_value_prints_as_one_line(value: Value, line: str | None) -> None:
    # A hover is a text of the server, whose lines are kept.
    assert len(str(value).splitlines()) <= 1 or isinstance(value, Hover)
    if line is not None:
        assert str(value) == line


@values
def test_a_value_is_plain_json_as_a_dict(value: Value, line: object) -> None:
    plain = value.to_dict()
    assert json.loads(json.dumps(plain)) == _lists(plain)
    assert set(plain) == set(value.__struct_fields__)


@values
def test_a_value_comes_back_from_its_json(value: Value, line: object) -> None:
    def path(kind: type, raw: Any) -> Any:
        return kind(raw)

    sent = json.dumps(value.to_dict()).encode()
    assert msgspec.json.decode(sent, type=type(value), dec_hook=path) == value


def _lists(plain: Any) -> Any:
    """Tuples as lists, which is all that JSON has."""
    if isinstance(plain, dict):
        return {key: _lists(value) for key, value in plain.items()}
    return [_lists(value) for value in plain] if isinstance(plain, list | tuple) else plain


@pytest.mark.parametrize(
    "value",
    [
        Symbol("a\nb", "string", FILE, RANGE, RANGE, URI),
        Location(Path("/project/a\nb.py"), RANGE, "file:///project/a%0Ab.py"),
        Diagnostic(FILE, RANGE, Severity.ERROR, "m", URI, code="a\nb"),
        CallItem("a\nb", "function", *ITEM),
        Signature("f(\n  x: int,\n)"),
        Parameter("x:\nint"),
        CodeAction("two\nlines", "quick\nfix"),
        ServerStatus("s", ServerState.IDLE, (), (), (), "", (), "", reason="two\nlines"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_line_break_in_a_name_still_gives_one_line(value: Value) -> None:
    assert len(str(value).splitlines()) == 1


@pytest.mark.parametrize(
    "value",
    [
        Symbol("a\x1b[2J", "string", FILE, RANGE, RANGE, URI),
        Diagnostic(FILE, RANGE, Severity.ERROR, "boo\x1b[2J\x9b31m\u202e\u2028\n", URI),
        Hover(["boo\x1b[2J\x9b31m\u202e"]),
        CodeAction("boo\x1b[2J\n\x9b31m\u202e", "quickfix\x1b[2J"),
        ServerStatus("s\x1b[2J", *ROW, reason="boo\n\x1b[2J"),
        ServerStatus("s", *ROW, roots=(RootStatus("/a\n\x1b[2J", ServerState.BROKEN),)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_nothing_in_a_line_moves_the_cursor_or_hides(value: Value) -> None:
    assert str(value).isprintable()


LONG = "word " * 20_000
FILE_EDIT = FileEdit(FILE, URI, (TextEdit(RANGE, LONG),) * 500, LONG, LONG)
#: As large as real ones, or larger.
LARGE: list[Value] = [
    Location(Path("/" + "x" * 4000), RANGE, "file:///" + "x" * 4000),
    Hover([LONG] * 10),
    Symbol(LONG, "class", FILE, RANGE, RANGE, URI, LONG, children=(CHILD,) * 1000),
    Call(CALLER, (RANGE,) * 5000),
    CallItem(LONG, "function", *ITEM, raw=LONG),
    Signature(LONG, LONG, (Parameter(LONG),) * 50),
    Diagnostic(FILE, RANGE, Severity.ERROR, LONG, URI, LONG, related=(RELATED,) * 500),
    Caveat(LONG, LONG, "s", (LOCATION,) * 500),
    TextEdit(RANGE, LONG),
    FILE_EDIT,
    WorkspaceEdit((FILE_EDIT,) * 50, "s", (Caveat("index loading", LONG),) * 20),
    Change(WorkspaceEdit((FILE_EDIT,) * 50)),
    CodeAction(LONG, LONG, edit=WorkspaceEdit((FILE_EDIT,)), raw=LONG),
    RootStatus("/r", ServerState.ACTIVE, stderr=LONG),
    WorkspaceStatus(0.0, (ServerStatus("s" * 500, *ROW),) * 60, {"configured": 60}),
    Report(FILE, Verdict.DIRTY, [Diagnostic(FILE, RANGE, Severity.ERROR, LONG, URI)] * 90, [], 0.0),
]


@pytest.mark.parametrize("value", LARGE, ids=lambda one: type(one).__name__)
def test_a_large_value_is_shown_on_one_short_line(value: Value) -> None:
    assert len(repr(value)) <= 200
    assert repr(value).isprintable()
    assert type(value).__name__ in repr(value)


@pytest.mark.parametrize("value", LARGE, ids=lambda one: type(one).__name__)
def test_the_text_of_a_large_value_is_bounded(value: Value) -> None:
    assert len(str(value)) <= 20_000 if isinstance(value, Report) else len(str(value)) <= 5_000


@pytest.mark.parametrize("value", [one for one, _ in VALUES], ids=lambda one: type(one).__name__)
def test_a_value_is_shown_on_one_line(value: Value) -> None:
    assert len(repr(value)) <= 200
    assert len(repr(value).splitlines()) == 1


def test_a_place_has_a_line_and_a_column() -> None:
    finding = Diagnostic(FILE, RANGE, Severity.ERROR, "m", URI)
    for place in (LOCATION, CHILD, CALLER, finding):
        assert (place.line, place.column) == (12, 8)


def test_positions_and_ranges_have_an_order() -> None:
    places = [Position(2, 1), Position(1, 9), Position(1, 2)]
    assert sorted(places) == [Position(1, 2), Position(1, 9), Position(2, 1)]
    assert Range(places[2], places[1]) < Range(places[1], places[0])


def test_a_hover_prints_with_its_lines() -> None:
    text = str(Hover(["```python\ndef f(\n\tx: int,\n)\n```\n", "\nWhat it does.\x1b[2J"]))
    assert text == "```python\ndef f(\n\tx: int,\n)\n```\n\nWhat it does.\\x1b[2J"


def test_a_long_hover_prints_as_its_beginning() -> None:
    text = str(Hover(["word " * 1000, "never seen"]))
    assert len(text) == 4000
    assert text.endswith("…")


def test_a_diagnostic_has_a_plain_severity_and_path() -> None:
    plain = Diagnostic(FILE, RANGE, Severity.WARNING, "m", URI).to_dict()
    assert (type(plain["severity"]), plain["severity"]) == (str, "warning")
    assert plain["path"] == str(FILE)
    assert plain["range"] == {"start": {"line": 12, "column": 8}, "end": {"line": 12, "column": 11}}


def test_a_path_is_shown_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path.cwd()
    assert display_path(here / "a" / "b.py") == str(Path("a", "b.py"))
    assert display_path(here.with_name(here.name + "-next") / "b.py").startswith(str(here.parent))
    assert display_path(None, "untitled:1") == "untitled:1"
    strange = here / "a\nb"
    strange.mkdir()
    monkeypatch.chdir(strange)
    assert display_path(strange / "c\n.py") == "c\\n.py"
    strange.rmdir()
    assert str(LOCATION) == "/project/src/app.py:12:8"


def test_severities_are_ranked_from_the_worst() -> None:
    assert sorted(Severity, key=lambda one: one.rank) == [
        *(Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.HINT),
    ]


class TestVerdict:
    @pytest.mark.parametrize("verdict", [*Verdict])
    def test_a_verdict_is_no_bool(self, verdict: Verdict) -> None:
        with pytest.raises(TypeError, match=r"\.clean"):
            bool(verdict)
        with pytest.raises(TypeError):
            _ = not verdict
        with pytest.raises(TypeError):
            _ = verdict and True

    @pytest.mark.parametrize("verdict", [*Verdict])
    def test_each_verdict_is_exactly_one_of_three(self, verdict: Verdict) -> None:
        flags = {"clean": verdict.clean, "dirty": verdict.dirty, "unknown": verdict.unknown}
        assert [name for name, flag in flags.items() if flag] == [verdict.value]

    @pytest.mark.parametrize("verdict", [*Verdict])
    def test_a_verdict_survives_pickling_and_json(self, verdict: Verdict) -> None:
        assert pickle.loads(pickle.dumps(verdict)) is verdict
        assert Verdict(json.loads(json.dumps(verdict))) is verdict
        assert str(verdict) == verdict.value
