"""What one call returns, the next takes as a position: also in libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit import PathError, PositionError
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace_with
from tests.real.test_complete_answers import PYTHON, SCRIPTS, script_project, start, write

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: A name before which there are a decorator, a keyword and another keyword.
FILES = {
    "pyproject.toml": "",
    "lib.py": (
        "import functools\n\n\n@functools.cache\ndef measure() -> int:\n    return 1\n\n\n"
        "class Scale:\n    @property\n    def weight(self) -> int:\n        return 1\n\n"
        "    @weight.setter\n    def weight(self, value: int) -> None: ...\n\n"
        "    async def weigh(self) -> int:\n        return self.weight\n"
    ),
    "use.py": "from lib import Scale, measure\n\nmeasure()\nScale().weigh()\n",
}


@pytest.mark.parametrize("server", PYTHON)
@pytest.mark.parametrize("name", ["measure", "Scale"])
def test_a_symbol_of_the_workspace_is_a_position(server: str, name: str, tmp_path: Path) -> None:
    with start(write(tmp_path, FILES), server) as ws:
        symbol = ws.workspace_symbols(name, timeout=TIMEOUT)[0]
        assert ws.references(symbol, timeout=TIMEOUT) == ws.references(
            "lib.py", symbol=name, timeout=TIMEOUT
        )
        assert len(ws.references(symbol, timeout=TIMEOUT)) >= 3
        assert ws.hover(symbol, timeout=TIMEOUT)


@pytest.mark.parametrize("server", SCRIPTS)
def test_a_symbol_of_the_workspace_is_a_position_in_scripts(server: str, tmp_path: Path) -> None:
    with start(script_project(tmp_path), server) as ws:
        symbol = ws.workspace_symbols("operate", timeout=TIMEOUT)[0]
        assert (symbol.line, symbol.column) == (1, 17)
        assert len(ws.references(symbol, timeout=TIMEOUT)) == 3
        definition = ws.definition("src/use.ts", 2, 1, timeout=TIMEOUT)[0]
        assert len(ws.references(definition, timeout=TIMEOUT)) == 3


@pytest.mark.parametrize("server", PYTHON)
def test_a_qualified_name_is_found_in_the_workspace(server: str, tmp_path: Path) -> None:
    with start(write(tmp_path, FILES), server) as ws:
        [symbol] = ws.workspace_symbols("Scale.weigh", timeout=TIMEOUT)
        assert (symbol.name, symbol.line, symbol.column) == ("weigh", 17, 15)


def test_a_getter_and_its_setter_are_found_by_name(tmp_path: Path) -> None:
    with start(write(tmp_path, FILES), "ty") as ws:
        names = ["Scale.weight", "Scale.weight[0]", "Scale.weight[1]"]
        found = [ws.hover("lib.py", symbol=name, timeout=TIMEOUT) for name in names]
        with pytest.raises(PositionError, match=r"Scale\.weight\[0\] to Scale\.weight\[1\]"):
            ws.hover("lib.py", symbol="Scale.weight[2]", timeout=TIMEOUT)
    assert [one.range.start.line for one in found if one and one.range] == [11, 11, 15]


@pytest.mark.parametrize("server", ["pyright", "basedpyright"])
def test_a_property_that_the_server_lists_once_is_found_by_name(
    server: str, tmp_path: Path
) -> None:
    with start(write(tmp_path, FILES), server) as ws:
        assert ws.hover("lib.py", symbol="Scale.weight", timeout=TIMEOUT)


@pytest.mark.parametrize("server", PYTHON)
def test_a_definition_in_the_standard_library_can_be_followed(server: str, tmp_path: Path) -> None:
    text = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.parse_args()\n"
    with start(write(tmp_path, {"pyproject.toml": "", "a.py": text}), server) as ws:
        place = ws.definition("a.py", 4, symbol="parse_args", timeout=TIMEOUT)[0]
        assert place.path and not place.path.is_relative_to(tmp_path)
        assert ws.hover(place, timeout=TIMEOUT)
        assert ws.document_symbols(place.path, timeout=TIMEOUT)
        used = ws.references(place, timeout=TIMEOUT)
        assert place in used or tmp_path / "a.py" in [one.path for one in used]
        with pytest.raises(PathError) as outside:
            ws.write(place.path, "")
        assert outside.value.code == "EOUTSIDE"
        for ask in (ws.check, lambda path: ws.rename(path, 1, 1, "x")):
            with pytest.raises(PathError):
                ask(place.path)
        with pytest.raises(PathError):
            ws.hover(place.path.with_name("colorsys.py"), 1, 1)
        assert ws.diagnostics(None).keys() <= {tmp_path / "a.py"}


@pytest.mark.parametrize("server", SCRIPTS)
def test_a_definition_in_a_package_can_be_followed(server: str, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "tsconfig.json": "{}",
            "node_modules/crane/package.json": '{"name": "crane", "types": "index.d.ts"}',
            "node_modules/crane/index.d.ts": "export declare function lift(): Array<number>;\n",
            "main.ts": 'import { lift } from "crane";\nlift();\n',
        },
    )
    with start(tmp_path, server) as ws:
        places = ws.definition("main.ts", 2, 1, timeout=TIMEOUT)
        place = next(one for one in places if one.path and one.path.name == "index.d.ts")
        assert ws.hover(place, timeout=TIMEOUT)
        further = ws.definition(place.path, 1, symbol="Array", timeout=TIMEOUT)
        assert further[0].path and further[0].path.name.startswith("lib.")
        assert ws.hover(further[0], timeout=TIMEOUT)


def test_actions_of_a_whole_file_need_no_position(tmp_path: Path) -> None:
    files = {"pyproject.toml": "", "a.py": "import sys\nimport os\n\nprint(os, sys)\n"}
    kind = "source.organizeImports"
    write(tmp_path, files)
    real_servers.require("ruff")
    with workspace_with(tmp_path, {"ruff": real_servers.command("ruff")}) as ws:
        found = ws.code_actions("a.py", only=[kind], timeout=TIMEOUT)
        assert found
        assert all(one.kind.startswith(kind) for one in found)
        assert not ws.code_actions("a.py", 1, 1, only=["refactor.move"], timeout=TIMEOUT)
