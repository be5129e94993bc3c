"""A tool's answer that may be incomplete is `partial`, and says why in one line."""

from __future__ import annotations

from pathlib import Path

from lspkit.agent.tools.envelope import TextBudget, ToolOutcome, caveats_of, make_envelope
from lspkit.agent.tools.result_data import ResultContext, shape_result
from lspkit.answer import Answer
from lspkit.edit_types import WorkspaceEdit
from lspkit.types import Caveat, Location, Position, Range

PLACE = Location(Path("/p/a.c"), Range(Position(1, 2), Position(1, 3)), "file:///p/a.c")
LOADING = Caveat("index loading", "clangd still\nreads the project", "clangd")


def test_a_caveat_makes_an_answer_partial() -> None:
    answer = Answer([PLACE], [LOADING])
    shaped = shape_result(answer, list[Location], ResultContext(root="/p"))
    outcome = ToolOutcome(operation="findReferences", shaped=shaped, caveats=caveats_of(answer))
    meta = make_envelope(outcome, 1, TextBudget())["meta"]
    assert meta["partial"] is True
    assert meta["warnings"] == ["perhaps not all: index loading: clangd still reads the project"]


def test_an_edit_has_caveats_as_well() -> None:
    assert caveats_of(WorkspaceEdit(caveats=(LOADING,)))


def test_a_complete_answer_is_not_partial() -> None:
    answer = Answer([PLACE])
    shaped = shape_result(answer, list[Location], ResultContext(root="/p"))
    outcome = ToolOutcome(operation="findReferences", shaped=shaped, caveats=caveats_of(answer))
    meta = make_envelope(outcome, 1, TextBudget())["meta"]
    assert (meta["partial"], meta["warnings"]) == (False, [])
