"""Symbols of a workspace as the very first question: no server runs, and no file is open.

Many servers know nothing of a project before one of its files is opened, and say so with an empty
answer, or with an error. That is no answer to a user who asks about the folder.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.abilities import ABILITIES
from tests.real.both import TIMEOUT
from tests.real.running import command, workspace
from tests.real.samples import SAMPLES

pytestmark = pytest.mark.server


#: A server, and whether the question names a file.
CASES = list(itertools.product(ABILITIES, (True, False)))


@pytest.mark.parametrize(("server", "named"), CASES)
def test_a_symbol_is_found_although_nothing_was_opened_before(
    server: str, named: bool, tmp_path: Path
) -> None:
    real_servers.require(server)
    sample = SAMPLES[server]
    folder = tmp_path / "project"
    folder.mkdir()
    sample.write(folder)
    with workspace(folder, server, argv=command(server, sample.arguments)) as ws:
        path = sample.main if named else None
        found = ws.workspace_symbols(sample.query, path, timeout=TIMEOUT)

    places = [one.path for one in found if one.name == sample.query]
    assert places
    assert all(place and place.parent == (folder / sample.library).parent for place in places)


def test_what_a_file_includes_is_found_as_well(tmp_path: Path) -> None:
    """clangd puts it into its index later than the file itself."""
    real_servers.require("clangd")
    (tmp_path / "compile_flags.txt").write_text("-std=c++20\n", encoding="utf-8")
    header = "#pragma once\n#include <map>\n#include <regex>\nstruct Zebra { int stripes; };\n"
    (tmp_path / "zebra.h").write_text(header, encoding="utf-8")
    source = '#include "zebra.h"\nint main() { return Zebra{1}.stripes; }\n'
    (tmp_path / "main.cpp").write_text(source, encoding="utf-8")
    with workspace(tmp_path, "clangd") as ws:
        found = ws.workspace_symbols("Zebra", "main.cpp", timeout=TIMEOUT)
        assert [one.path for one in found if one.name == "Zebra"] == [tmp_path / "zebra.h"]
        assert ws.workspace_symbols("Giraffe", "main.cpp", timeout=TIMEOUT) == []
