"""Arguments of the wrong kind: told at once, in words, and before anything is started."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import lspkit
from tests.scripted import workspace

WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "timeout": (lambda ws: ws.check("a.py", timeout="5"), "timeout is '5': a number of seconds"),
    "timeout that is no number": (
        lambda ws: ws.check("a.py", timeout=float("nan")),
        "timeout is nan: a number of seconds",
    ),
    "cancel": (lambda ws: ws.hover("a.py", 1, 1, cancel=5), "cancel is 5: a threading.Event"),
    "symbol": (lambda ws: ws.definition("a.py", symbol=5), "symbol is 5: a str is needed"),
    "text": (lambda ws: ws.check("a.py", text=b"x"), "text is bytes, to be decoded first"),
    "text of a question": (lambda ws: ws.hover("a.py", 1, 1, text=5), "text is 5: a str"),
    "written text": (lambda ws: ws.write("a.py", b"x"), "text is bytes, to be decoded first"),
    "written None": (lambda ws: ws.write("a.py", None), "text is None: a str is needed"),
    "new name": (lambda ws: ws.rename("a.py", 1, 1, 5), "new_name is 5: a str is needed"),
    "query": (lambda ws: ws.workspace_symbols(None), "query is None: a str is needed"),
    "epoch": (lambda ws: ws.wait_for_change("1"), "after is '1': a whole number is needed"),
    "mark": (lambda ws: ws.changed_files("1"), "after is '1': a whole number is needed"),
    "edit": (lambda ws: ws.apply("x"), "edit is 'x': WorkspaceEdit is needed"),
    "applied edit": (lambda ws: ws.undo(None), "change is None: Change is needed"),
    "one path for many": (lambda ws: ws.check_all("a.py"), "paths is 'a.py': a list of paths"),
    "one kind for many": (
        lambda ws: ws.code_actions("a.py", 1, 1, only="quickfix"),
        "only is 'quickfix': a list of kinds",
    ),
    "overlay without texts": (
        lambda ws: ws.overlay(["a.py"]).__enter__(),
        "texts is ['a.py']: a mapping of paths to texts",
    ),
    "overlay": (
        lambda ws: ws.overlay({"a.py": b"x"}).__enter__(),
        "the text of a.py is bytes, to be decoded first",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told_by_name(what, tmp_path):
    call, words = WRONG[what]
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path) as ws:
        with pytest.raises(TypeError) as told:
            call(ws)
        assert not [root for row in ws.status().rows for root in row.roots if root.pid]
    assert words in str(told.value)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 1\n"


def test_whatever_is_a_text_or_a_number_will_do(tmp_path, scripted):
    class Name(str):
        __slots__ = ()

    with workspace(tmp_path, scripted()) as ws:
        assert ws.check(Name("a.scr"), Name("fine\n"), timeout=30).verdict.clean
        for timeout in (Fraction(30), 10**400, float("inf")):
            assert ws.check("a.scr", "ERROR\n", timeout=timeout).verdict.dirty


def test_an_empty_path_is_named(tmp_path):
    with lspkit.Workspace(tmp_path) as ws, pytest.raises(lspkit.PathError, match="an empty path"):
        ws.check("")
