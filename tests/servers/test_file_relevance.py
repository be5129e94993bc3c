"""Which files matter to a server: the rule, and what follows for the disk and for unsaved texts."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.registrations import (
    CHANGED,
    CREATED,
    DELETED,
    FileEvent,
    WatchRegistrations,
)
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import DiskReactions, DocumentSync, Roots
from lspkit.servers.project.file_relevance import (
    concerns,
    is_missed,
    may_read,
    relevance,
    unseen,
)
from lspkit.servers.project.project_files import PackageFolder

DEFINITIONS = {one.id: one for one in BUILT_IN}


def made(**fields: Any) -> Definition:
    languages = {".one": "one", "Onefile": "one"}
    return Definition(id="x", family="x", languages=languages, **fields)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.one", "source"),
        ("x.conf", "marker"),
        ("a.json", "named"),
        ("kept.log", "named"),
        ("README", "any"),
        ("other.log", ""),
    ],
)
def test_a_file_matters_by_its_language_as_a_marker_or_by_a_pattern(name: str, why: str) -> None:
    reads = ("*", "*.json", "kept.*")
    definition = made(roots=Roots(markers=("x.conf",)), disk=DiskReactions(reads=reads))
    assert relevance(definition, name) == why


# A change on disk


def missed(server: str, root: str, path: str, kind: int = CREATED) -> bool:
    event = FileEvent(path, kind)
    return is_missed(
        DEFINITIONS[server], root, WatchRegistrations(root), event, PackageFolder(path, root)
    )


@pytest.mark.parametrize("server", ["typescript", "vue-typescript"])
@pytest.mark.parametrize("kind", [CREATED, DELETED])
def test_tsserver_misses_modules_that_come_and_go_near_the_top(server: str, kind: int) -> None:
    for path in ("/app/m.ts", "/app/src/m.ts", "/srv/project/m.d.ts", "/srv/project/data.json"):
        assert missed(server, path.rpartition("/")[0], path, kind), path


@pytest.mark.parametrize("server", ["typescript", "vue-typescript"])
def test_and_nothing_else(server: str) -> None:
    assert not missed(server, "/app/src", "/app/src/m.ts", CHANGED)
    assert not missed(server, "/app/src", "/app/src/notes.txt")
    assert not missed(server, "/home/who/project", "/home/who/project/m.ts")
    assert not missed("vtsls", "/app/src", "/app/src/m.ts")


@pytest.mark.parametrize("name", ["table.log", "table.tmp", "table.bak", "table.orig", "table.db"])
def test_a_source_of_c_may_include_what_looks_like_a_by_product(name: str) -> None:
    assert may_read(DEFINITIONS["clangd"], f"/project/{name}")
    assert not may_read(DEFINITIONS["gopls"], f"/project/{name}")


def test_what_an_editor_leaves_is_read_by_nobody() -> None:
    for name in (".main.c.swp", "main.c~", "#main.c#", "4913"):
        assert not may_read(DEFINITIONS["clangd"], f"/project/{name}"), name


# A text that is not on disk


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
        roots=Roots(markers=("x.conf", "*.proj")), disk=DiskReactions(reads=("*.json",))
    )
    assert concerns(definition, name, is_inside=True) == inside
    assert concerns(definition, name, is_inside=False) == outside


def test_findings_about_one_file_depend_only_on_how_the_project_is_set_up() -> None:
    definition = made(
        roots=Roots(markers=("x.conf",)),
        disk=DiskReactions(reads=("*.json",)),
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


def test_some_see_a_new_file_only_in_a_folder_that_exists() -> None:
    for server, sees in (("typescript-7", False), ("deno", True), ("zuban", True), ("gopls", True)):
        why = unseen(DEFINITIONS[server], "new/b", is_shown=True, is_there=False, has_folder=False)
        assert (why == "") == sees, server
        assert unseen(DEFINITIONS[server], "b", is_shown=True, is_there=False) == ""


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("from .a import K\n", True),
        ("def f():\n    from .. import a\n", True),
        ("x = 1; from . import a\n", True),
        ("from \\\n    .a import K\n", True),
        ("from a import K\nimport b.c\n", False),
        ("from a.b import K\n", False),
        ("", False),
    ],
)
def test_ty_does_not_resolve_relative_imports_of_a_new_file(text: str, is_one: bool) -> None:
    why = adapter_of(DEFINITIONS["ty"]).misjudges_new("pkg/b.py", text)
    assert ("pkg/b.py" in why) is is_one
    assert adapter_of(DEFINITIONS["pyright"]).misjudges_new("pkg/b.py", text) == ""


@pytest.mark.parametrize("unsaved", ["never", "untried"])
def test_who_cannot_does_not(unsaved: Any) -> None:
    definition = made(documents=DocumentSync(unsaved=unsaved, unsaved_files=True))
    assert "b" in unseen(definition, "b", is_shown=True, is_there=True)
