"""What a server does not notice by itself, though it is told."""

from __future__ import annotations

import pytest

from lspkit.protocol.watch_registrations import (
    CHANGED,
    CREATED,
    DELETED,
    FileEvent,
    WatchRegistrations,
)
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.project.file_relevance import is_missed, may_read
from lspkit.servers.project.package_folders import PackageFolder

DEFINITIONS = {one.id: one for one in BUILT_IN}


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
