"""`help()` and `inspect` show the options that methods have in common."""

from __future__ import annotations

import inspect
import pydoc
from typing import get_type_hints

import pytest

import lspkit
from lspkit.workspace import call_options

POSITION = ("symbol", "text", "timeout", "cancel")
OPTIONS = {
    **dict.fromkeys(("definition", "declaration", "type_definition", "implementation"), POSITION),
    **dict.fromkeys(("references", "hover", "signature_help", "rename", "code_actions"), POSITION),
    **dict.fromkeys(("prepare_call_hierarchy", "incoming_calls", "outgoing_calls"), POSITION),
    **dict.fromkeys(("supertypes", "subtypes"), POSITION),
    "document_symbols": ("text", "timeout", "cancel"),
    "workspace_symbols": ("timeout", "cancel"),
    "request": ("timeout", "cancel"),
    "check": ("text", "timeout", "cancel"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_are_listed(name, tmp_path):
    with lspkit.Workspace(tmp_path) as ws:
        bound = inspect.signature(getattr(ws, name))
    listed = [one for one in bound.parameters if one in POSITION]
    assert tuple(listed) == OPTIONS[name]
    assert "self" not in bound.parameters
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in bound.parameters.values()}


def test_no_method_hides_its_options():
    methods = [one for one in vars(lspkit.Workspace) if not one.startswith("_")]
    inherited = [one for base in lspkit.Workspace.__mro__ for one in vars(base) if one[0] != "_"]
    found = [getattr(lspkit.Workspace, one) for one in {*methods, *inherited} - {"submit"}]
    for method in filter(inspect.isfunction, found):
        kinds = {one.kind for one in inspect.signature(method).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, method


def test_all_options_have_a_place_in_the_order():
    assert set(get_type_hints(call_options.PositionCallOptions)) == set(POSITION)


@pytest.mark.parametrize("name", ["hover", "references"])
def test_help_shows_them(name, tmp_path):
    with lspkit.Workspace(tmp_path) as ws:
        bound, plain = getattr(ws, name), getattr(lspkit.Workspace, name)
        for method in (bound, plain):
            shown = pydoc.plain(pydoc.render_doc(method))
            assert all(f"{option}: '" in shown for option in POSITION)
            assert "**more" not in shown


def test_a_misspelled_option_is_still_refused(tmp_path):
    (tmp_path / "a.py").write_text("", encoding="utf-8")
    with lspkit.Workspace(tmp_path) as ws, pytest.raises(TypeError, match="timeuot"):
        ws.hover("a.py", 1, 1, timeuot=3)
