"""Positions that real servers are sent, and how their results read.

What one call returns, the next takes as a position: also in libraries. What is sent depends on the
encoding, so it is looked at with the servers that have a choice; positions that a file does not
have are not sent. Some servers write the names of folders in URIs otherwise than lspkit does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit import PathError, PositionError
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.projects import ENCODINGS, PROJECTS
from tests.real.reading import Reader
from tests.real.recording import recorded, sent
from tests.real.running import TIMING, command, workspace, workspace_with
from tests.real.test_complete_answers import PYTHON, SCRIPTS, script_project, start, write
from tests.real_servers import require

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


CHOOSERS = [server for server, offered in ENCODINGS.items() if len(offered) > 1]


@pytest.fixture(params=CHOOSERS)
def server(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    real_servers.require(name)
    return name


@pytest.fixture
def folder(tmp_path: Path, server: str) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    PROJECTS[server].write(folder)
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "sent"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_position_is_sent_in_the_units_that_were_agreed(
    server: str, folder: Path, log: Path, encoding: str
) -> None:
    project = PROJECTS[server]
    place = project.place(project.far_use)
    argv = recorded(command(server), log)
    with workspace(folder, server, encoding=encoding, argv=argv) as ws:
        assert ws.definition(project.main, *place, timeout=TIMEOUT)

    messages = {message.get("method"): message.get("params") for message in sent(log)}
    general = messages["initialize"]["capabilities"]["general"]
    assert general["positionEncodings"] == [encoding]
    line, character = Reader(encoding).wire(folder / project.main, *place)
    position = messages["textDocument/definition"]["position"]
    assert position == {"line": line, "character": character}


@pytest.mark.parametrize(
    ("line", "column"), [(0, 1), (1, 0), (-1, 1), (1, 1.0), ("1", 1), (True, 1), (1, None)]
)
def test_what_can_be_no_position_is_refused_before_a_server_starts(
    server: str, folder: Path, log: Path, line: Any, column: Any
) -> None:
    argv = recorded(command(server), log)
    with (
        workspace(folder, server, argv=argv) as ws,
        pytest.raises(lspkit.PositionError) as refused,
    ):
        ws.definition(PROJECTS[server].main, line, column, timeout=TIMEOUT)

    assert refused.value.bounds
    assert not log.exists()


def test_a_position_beyond_the_end_is_refused_before_anything_about_the_file_is_sent(
    server: str, folder: Path, log: Path
) -> None:
    project = PROJECTS[server]
    lines = project.files[project.main].split("\n")
    line, column = project.place(project.far_use)
    beyond = [(len(lines) + 1, 1), (line, len(lines[line - 1]) + 2), (10**9, 1), (1, 10**9)]
    with workspace(folder, server, argv=recorded(command(server), log)) as ws:
        for place in beyond:
            with pytest.raises(lspkit.PositionError):
                ws.definition(project.main, *place, timeout=TIMEOUT)
        assert ws.definition(project.main, line, column, timeout=TIMEOUT)

    methods = [message.get("method", "") for message in sent(log)]
    about_files = [method for method in methods if method.startswith("textDocument/")]
    assert about_files == ["textDocument/didOpen", "textDocument/definition"]


#: By server: a file with one error that it finds.
BROKEN = {
    "gopls": ("main.go", "package main\n\nfunc main() { missing() }\n"),
    "pyrefly": ("main.py", "def main() -> None: missing()\n"),
    "clangd": ("main.cpp", "int main() { return missing(); }\n"),
}
#: What makes a folder a project of theirs.
MANIFESTS = {
    "go.mod": "module example.org/x\n\ngo 1.20\n",
    "pyrefly.toml": "",
    "compile_flags.txt": "",
}


@pytest.mark.parametrize("folder", ["c++", "@scope", "pkg@v2", "a+b@c!(d) é"])
@pytest.mark.parametrize("server", BROKEN)
def test_what_a_server_finds_is_found_in_a_folder_with_any_name(tmp_path, server, folder):
    real_servers.require(server)
    root = tmp_path / folder
    root.mkdir()
    name, text = BROKEN[server]
    for manifest, content in MANIFESTS.items():
        (root / manifest).write_text(content, encoding="utf-8")
    (root / name).write_text(text, encoding="utf-8")
    said = {"command": real_servers.command(server), "env": real_servers.environment(server)}
    config = {"lsp": {server: said, "ruff": {"disabled": True}}, "timing": TIMING}
    with lspkit.Workspace(root, config=config) as ws:
        report = ws.check(name, timeout=60.0)
        known = ws.diagnostics(name)
        found = ws.definition(name, symbol="main", timeout=60.0)
    assert report.verdict.dirty, str(report)
    assert list(known) == [root / name]
    assert {place.path for place in found} == {root / name}


#: Lines of each of the three files that use the name.
USES = "".join(f"value_{number} = price()\n" for number in range(300))


def is_short(value: object) -> bool:
    shown = repr(value)
    return len(shown) <= 200 and len(shown.splitlines()) == 1


def test_large_results_of_a_real_server_are_short_to_look_at(tmp_path: Path):
    require("ty")
    files = {"a.py": f"def price() -> int:\n    return 1\n\n{USES}"}
    files |= dict.fromkeys(("b.py", "c.py"), f"from a import price\n\n{USES}")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with lspkit.Workspace(tmp_path, trusted=True) as ws:
        edit = ws.rename("a.py", symbol="price", new_name="cost", timeout=60)
        assert len(edit.files) == 3
        assert is_short(edit)
        assert str(edit) == "903 edits in 3 files"
        symbols = ws.document_symbols("a.py", timeout=60)
        assert (symbols[0].line, symbols[0].column) == (1, 5)
        uses = ws.references("a.py", symbol="price", timeout=60)
        assert {(uses[0].line, uses[0].column)} <= {(1, 5), (1, 15)}
        for one in (symbols, uses):
            assert len(one) > 300
            assert is_short(one)
            assert len(str(one)) < 10_000
        status = ws.status()
        assert all(map(is_short, (status, *status.rows)))
        assert len(str(status)) < 200
        assert len(ws.status_text()) < 3_000
        applied = ws.apply(edit, timeout=60)
        assert is_short(applied)
        assert len(str(applied)) < 200
