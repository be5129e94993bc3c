"""A new name that the language does not allow is refused before anything is sent."""

from __future__ import annotations

import pytest

from lspkit.errors import PositionError
from lspkit.operations import RenameRequest

ALLOWED = [
    *(("a.py", name) for name in ("run", "_run", "größe", "match", "type", "__init__")),
    *(("a.ts", name) for name in ("$run", "#secret", "of", "größe")),
    *(("a.rs", name) for name in ("run", "r#type", "'life")),
    *(("a.cpp", name) for name in ("run", "~Run", "restrict")),
    *(("a.go", name) for name in ("Run", "string")),
    *(("a.java", name) for name in ("run", "$run", "record")),
    # Languages that are not in the table.
    *(("a.css", name) for name in ("--main-color", "a b")),
    ("Makefile", "all-tests"),
]
REFUSED = [
    *(("a.py", name) for name in ("class", "None", "a b", "1st", "a-b", "a.b", "$run", "x\n")),
    *(("a.ts", name) for name in ("class", "two words", "1st", "a-b", "a.b", "#")),
    *(("a.rs", name) for name in ("fn", "two words", "r#")),
    *(("a.c", name) for name in ("int", "a::b")),
    *(("a.cpp", name) for name in ("virtual", "operator")),
    *(("a.go", name) for name in ("func", "a-b")),
    *(("a.java", name) for name in ("class", "_")),
    *(("A.PY", name) for name in ("class",)),
]


@pytest.mark.parametrize(("path", "name"), ALLOWED)
def test_an_identifier_is_allowed(path: str, name: str) -> None:
    assert RenameRequest(path=path, line=1, column=1, new_name=name).new_name == name


@pytest.mark.parametrize(("path", "name"), REFUSED)
def test_what_is_no_identifier_is_refused(path: str, name: str) -> None:
    with pytest.raises(PositionError) as refused:
        RenameRequest(path=path, line=1, column=1, new_name=name)
    assert "allows" in refused.value.bounds
