"""Which names in the header of a class are those of base classes."""

from __future__ import annotations

import re

import pytest

from lspkit.operations.renaming.base_list import find_base_names

#: Header, and the base classes in it.
PYTHON = {
    "(Base): ...": ["Base"],
    ": x = Helper": [],
    "(Base): x = Helper(Other)": ["Base"],
    "(Base[User], Other): ...": ["Base", "Other"],
    "(json.JSONEncoder): ...": ["json", "JSONEncoder"],
    "[T: Bound](Base[T]): ...": ["Base"],
    "(Base, metaclass=Meta, total=False): ...": ["Base"],
    "(Base, metaclass=Meta(Other), **words): ...": ["Base", "words"],
    "(made(Meta, Base)): ...": ["made", "Meta", "Base"],
    "(made(field=Field, kind=(Kind, Other)), Base): ...": ["made", "Base"],
    "(\n    Base,  # like (Other\n    Second['Text)'],\n): ...": ["Base", "Second"],
    '(pair("One", "a )"), Base): ...': ["pair", "Base"],
    "()": [],
    "(": [],
    ")": [],
}
OTHERS = {
    " extends Base<User> implements Flow, Other<{ one: Third }> {": ["Base", "Flow", "Other"],
    "<T extends Bound> extends Base<() => User> {": ["Base"],
    " extends Clickable(Widget, { of: Kind }) { x = Helper }": ["Clickable", "Widget"],
    " : public Base<A<B>>, virtual other::Second\n{": ["Base", "other", "Second"],
    " :\n  public Base {": ["Base"],
    " final : Base {": ["Base"],
    " < Base": ["Base"],
    " < Base\n  x > Helper\n": ["Base"],
    "(val one: User) : Base(one), Flow {": ["Base", "one", "Flow"],
    "<T>(List<User> all) : Base where T : Bound {": ["Base"],
    "\n  : Base\n  where T : Bound\n{": ["Base"],
    " {\n  Helper": [],
    "": [],
    " > ] ) {": [],
}


@pytest.mark.parametrize("header", PYTHON)
def test_in_python(header: str) -> None:
    assert names(header, "a.pyi") == PYTHON[header]


@pytest.mark.parametrize("header", OTHERS)
def test_in_other_languages(header: str) -> None:
    assert names(header, "a.other") == OTHERS[header]


def names(header: str, path: str) -> list[str]:
    """The names at the places that were found."""
    found = [re.compile(r"\w+").match(header, at) for at in find_base_names(header, path)]
    return [one[0] for one in found if one is not None]
