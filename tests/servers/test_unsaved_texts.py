"""What a definition says about texts of other files that are not on disk."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.diagnostics.proof import ProofRule
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import DiskReactions, DocumentSync, Roots
from lspkit.servers.project.unsaved_texts import concerns, unseen


def made(**fields: Any) -> Definition:
    languages = {".one": "one", "Onefile": "one"}
    return Definition(id="x", family="x", languages=languages, **fields)


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("a.one", True, True),
        ("Onefile", True, True),
        ("x.conf", True, False),
        ("my.proj", True, False),
        ("a.json", True, False),
        ("a.txt", False, False),
    ],
)
def test_which_files_findings_may_depend_on(name: str, inside: bool, outside: bool) -> None:
    definition = made(
        roots=Roots(markers=("x.conf", "*.proj")), disk=DiskReactions(reads=(".json",))
    )
    assert concerns(definition, name, is_inside=True) == inside
    assert concerns(definition, name, is_inside=False) == outside


def test_findings_about_one_file_depend_only_on_how_the_project_is_set_up() -> None:
    definition = made(
        roots=Roots(markers=("x.conf",)),
        disk=DiskReactions(reads=(".json",)),
        proofs=(ProofRule(alone=True),),
    )
    names = ("a.one", "a.json", "x.conf")
    assert [name for name in names if concerns(definition, name, is_inside=True)] == ["x.conf"]


@pytest.mark.parametrize("unsaved", ["opened", "changed"])
@pytest.mark.parametrize("is_shown", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("files", [True, False])
def test_who_can_see_a_text_does_if_it_was_shown(
    unsaved: Any, is_shown: bool, is_there: bool, files: bool
) -> None:
    definition = made(documents=DocumentSync(unsaved=unsaved, unsaved_files=files))
    why = unseen(definition, "b", is_shown=is_shown, is_there=is_there)
    assert (why == "") == (is_shown and (is_there or files))


@pytest.mark.parametrize("unsaved", ["never", "untried"])
def test_who_cannot_does_not(unsaved: Any) -> None:
    definition = made(documents=DocumentSync(unsaved=unsaved, unsaved_files=True))
    assert "b" in unseen(definition, "b", is_shown=True, is_there=True)
