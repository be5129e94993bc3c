"""The form of every answer, and its bounds: values only, no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lspkit.types as types
from lspkit.agent.tools.envelope import MOST_BYTES, TextBudget, ToolOutcome, make_envelope, to_json
from lspkit.agent.tools.result_data import ResultContext, shape_result
from lspkit.edit_types import FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.errors import NoServerError, RequestTimeoutError, UnsupportedError
from lspkit.types import Call, CallItem, Diagnostic, Location, Position, Range, Severity, Symbol
from tests.agent.tools.calling import check_form

ROOT = "/code"
LOCATIONS, SYMBOLS = list[Location], list[Symbol]
HOVER, CALLS = types.Hover | None, list[Call]
FINDINGS = dict[Path, list[Diagnostic]]


def at(line=1, column=1, length=1):
    return Range(Position(line, column), Position(line, column + length))


def location(path, line=1):
    return Location(Path(path), at(line), f"file://{path}")


def symbol(name, *children, path="/code/a.py", line=1):
    whole = at(line)
    return Symbol(name, "class", Path(path), whole, whole, f"file://{path}", children=children)


def finding(path, message="wrong", severity=Severity.ERROR, line=1):
    return Diagnostic(Path(path), at(line), severity, message, f"file://{path}")


def item(name="f", path="/code/a.py", raw='{"name":"f"}'):
    uri = f"file://{path}"
    return CallItem(name, "function", Path(path), at(), at(), uri, "", "s", "a.py", raw)


def of(result, kind, operation, *, room=None, asked="/code/src/a.py", **outcome):
    """The envelope of a result, checked for its form and its size."""
    pieces = shape_result(result, kind, ResultContext(ROOT, asked))
    room = room or TextBudget()
    made = make_envelope(ToolOutcome(operation=operation, shaped=pieces, **outcome), 12, room)
    check_form(json.loads(to_json(made)))
    assert len(to_json(made).encode()) <= room.bytes
    return made


def test_an_answer_has_exactly_these_members():
    made = of([location("/code/src/app.py", 10)], LOCATIONS, "goToDefinition", hits={"one"})
    start, end = {"line": 10, "character": 1}, {"line": 10, "character": 2}
    assert made == {
        "ok": True,
        "operation": "goToDefinition",
        "data": [{"filePath": "src/app.py", "range": {"start": start, "end": end}}],
        "errors": [],
        "meta": {
            "durationMs": 12,
            "serverHits": 1,
            "partial": False,
            "timedOut": False,
            "empty": False,
            "truncated": False,
            "warnings": [],
        },
    }


@pytest.mark.parametrize(
    ("result", "kind", "operation", "data"),
    [
        ([], LOCATIONS, "goToDefinition", []),
        (None, HOVER, "hover", None),
        ([], SYMBOLS, "documentSymbol", []),
        ([], CALLS, "incomingCalls", []),
        ({}, FINDINGS, "diagnostics", {}),
        (WorkspaceEdit(), WorkspaceEdit, "rename", {"applied": False, "changes": []}),
    ],
)
def test_no_result_is_ok_and_empty(result, kind, operation, data):
    made = of(result, kind, operation)
    assert made["ok"]
    assert made["meta"]["empty"]
    assert made["data"] == data


def test_a_failure_beside_an_answer_makes_it_partial():
    late = RequestTimeoutError("too late", server="two")
    made = of([location("/code/a.py")], LOCATIONS, "goToDefinition", hits={"one"}, errors=[late])
    assert made["ok"]
    assert (made["meta"]["partial"], made["meta"]["timedOut"]) == (True, True)
    assert made["errors"] == [{"serverId": "two", "message": "too late", "code": "ETIMEDOUT"}]


def test_a_failure_alone_is_no_answer():
    errors = [
        UnsupportedError("cannot", servers=("one", "two")),
        NoServerError("none", extension=".xyz"),
    ]
    made = make_envelope(ToolOutcome(operation="hover", errors=errors), 1, TextBudget())
    check_form(made)
    assert (made["ok"], made["data"]) == (False, None)
    assert (made["meta"]["partial"], made["meta"]["empty"]) == (False, False)
    assert [one["serverId"] for one in made["errors"]] == ["one", ""]
    assert made["errors"][1]["message"] == "No LSP server configured for .xyz files."


def test_the_same_error_is_told_once():
    errors = [RequestTimeoutError("too late", server="two")] * 3
    made = make_envelope(ToolOutcome(operation="hover", errors=errors), 1, TextBudget())
    assert len(made["errors"]) == 1


# Paths


def test_paths_are_relative_inside_of_the_workspace_and_whole_outside():
    library = location("/usr/lib/os.py")
    beside = location("/code2/a.py")
    unnamed = Location(None, at(), "untitled:1")
    data = of([beside, library, unnamed, location("/code/x/y.py")], LOCATIONS, "goToDefinition")[
        "data"
    ]
    assert [one.get("filePath", one.get("uri")) for one in data] == [
        "x/y.py",
        "/code2/a.py",
        "/usr/lib/os.py",
        "untitled:1",
    ]


def test_half_characters_are_replaced():
    made = of([location("/code/\udcff.py")], LOCATIONS, "goToDefinition")
    assert made["data"][0]["filePath"] == "�.py"
    to_json(made).encode()


# Bounds


def test_nearest_results_come_first_and_survive():
    far = [location(f"/code/z/{number}.py") for number in range(300)]
    near = [
        location("/code/src/b.py"),
        location("/code/src/a.py", 7),
        location("/code/src/deep/c.py"),
        location("/code/other/d.py"),
        location("/usr/lib/e.py"),
    ]
    made = of([*far, *near], LOCATIONS, "findReferences")
    assert [one["filePath"] for one in made["data"][:3]] == [
        "src/a.py",
        "src/b.py",
        "src/deep/c.py",
    ]
    assert len(made["data"]) == 200
    assert made["meta"]["truncated"]
    assert made["meta"]["total"] == 305
    assert "/usr/lib/e.py" not in {one["filePath"] for one in made["data"]}


def test_at_one_distance_the_order_stays():
    made = of([location("/code/src/a.py", line) for line in (3, 5, 9)], LOCATIONS, "goToDefinition")
    assert [one["range"]["start"]["line"] for one in made["data"]] == [3, 5, 9]


def test_the_host_sets_the_bounds():
    found = [location(f"/code/{number}.py") for number in range(50)]
    assert len(of(found, LOCATIONS, "goToDefinition", room=TextBudget(7, MOST_BYTES))["data"]) == 7
    assert 5 < len(of(found, LOCATIONS, "goToDefinition", room=TextBudget(200, 4096))["data"]) < 50


def test_an_outline_is_cut_from_the_inside():
    classes = [
        symbol(f"C{number}", *(symbol(f"m{method}") for method in range(10)))
        for number in range(100)
    ]
    made = of(classes, SYMBOLS, "documentSymbol")
    assert [one["name"] for one in made["data"]] == [f"C{number}" for number in range(100)]
    assert sum(len(one.get("children", [])) for one in made["data"]) <= 100
    assert made["meta"]["total"] == 1100


def test_a_symbol_says_where_it_is_and_its_children_only_where_that_is_elsewhere():
    tree = symbol("C", symbol("m", symbol("deep")), symbol("x", path="/code/b.py"))
    (made,) = of([tree], SYMBOLS, "documentSymbol")["data"]
    inside, outside = made["children"]
    assert (made["filePath"], outside["filePath"]) == ("a.py", "b.py")
    assert "filePath" not in inside
    assert inside["children"][0]["name"] == "deep"


def test_a_long_hover_is_cut_inside_of_its_text():
    hover = types.Hover(["short", "ü\n" * 50_000, "never seen"], at())
    made = of(hover, HOVER, "hover")
    assert made["data"]["contents"][0] == "short"
    assert made["data"]["contents"][1].endswith("…")
    assert len(made["data"]["contents"]) == 2
    assert made["meta"]["truncated"]
    assert "total" not in made["meta"]


def test_diagnostics_are_by_file_in_ascending_order():
    found = {
        Path(path): [finding(path), finding(path, "hint", Severity.HINT)]
        for path in ("/code/z.py", "/usr/x.py", "/code/a.py")
    }
    found[Path("/code/m.py")] = [finding("/code/m.py", "w", Severity.WARNING)]
    made = of(found, FINDINGS, "diagnostics")
    assert list(made["data"]) == ["/usr/x.py", "a.py", "z.py"]
    assert [len(one) for one in made["data"].values()] == [1, 1, 1]


def test_many_diagnostics_are_cut_and_counted():
    path = Path("/code/a.py")
    found = {path: [finding(str(path), line=line) for line in range(1, 400)]}
    made = of(found, FINDINGS, "diagnostics")
    assert made["meta"]["total"] == 399
    assert made["data"]["a.py"][0]["range"]["start"]["line"] == 1


def test_an_edit_is_cut_and_counted():
    edits = tuple(TextEdit(at(line), "new") for line in range(1, 200))
    changes = (
        FileEdit(Path("/code/a.py"), "file:///code/a.py", edits),
        FileOperation("rename", Path("/code/b.py"), "file:///b", Path("/code/c.py"), "file:///c"),
        FileEdit(Path("/code/d.py"), "file:///code/d.py", edits),
    )
    room = TextBudget(205, 1_000_000)
    made = of(WorkspaceEdit(changes), WorkspaceEdit, "rename", room=room)
    first, second, third = made["data"]["changes"]
    assert (len(first["edits"]), len(third["edits"])) == (199, 5)
    assert second == {"filePath": "b.py", "kind": "rename", "newPath": "c.py"}
    assert made["meta"]["total"] == 399


def test_an_item_too_large_to_be_handed_back_is_told_without_its_own_form():
    huge = item(raw=json.dumps({"name": "f", "data": "x" * 100_000}))
    made = of([huge, item("g")], list[CallItem], "prepareCallHierarchy")
    assert ["raw" in one for one in made["data"]] == [False, True]
    assert made["meta"]["truncated"]


def test_a_function_that_is_called_all_over_is_told_with_the_first_calls():
    made = of([Call(item(), tuple(at(line) for line in range(1, 99)))], CALLS, "incomingCalls")
    assert len(made["data"][0]["ranges"]) == 50
    assert made["meta"]["truncated"]


def test_errors_and_warnings_take_no_more_than_their_share():
    errors = [RequestTimeoutError("\0ü" * 50_000, server=f"{number}" * 90) for number in range(50)]
    warnings = [f"{number}" + "\n🙂" * 50_000 for number in range(50)]
    found = [location(f"/code/{number}.py") for number in range(100)]
    for room in (TextBudget(), TextBudget(200, 4096)):
        made = of(found, LOCATIONS, "goToDefinition", room=room, errors=errors, warnings=warnings)
        assert len(made["errors"]) == len(made["meta"]["warnings"]) == 10
        assert made["data"]
