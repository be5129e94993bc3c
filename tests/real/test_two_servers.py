"""Several servers on one file: what they say is put together, each thing once, in order.

And what one of them says still comes when the other cannot start, or dies.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lspkit
from tests import real_servers
from tests.real.projects import WIDE
from tests.real.raw_client import RawClient
from tests.real.reading import Reader, plain_diagnostics, plain_locations
from tests.real.running import raw_client, workspace_with

pytestmark = pytest.mark.server

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0

PYTHON = {
    # As it comes, it warns about nearly every line.
    "pyproject.toml": '[tool.basedpyright]\ntypeCheckingMode = "standard"\n',
    "shapes.py": f'"{WIDE}"; size = 3\n',
    "main.py": f"""\
import os
from shapes import size

"{WIDE}"; wrong: int = "{WIDE}"; size; OrderedDict()
""",
    # Both servers read it with the same parser, and so find the same.
    "broken.py": f'"{WIDE}"; value = 1 +\n',
}
#: Line and column of the use of `size` in the main file, and of the name that is missing.
USE = (4, PYTHON["main.py"].split("\n")[3].index("size") + 1)
MISSING = (4, PYTHON["main.py"].split("\n")[3].index("OrderedDict") + 1)

SCRIPT = {
    "package.json": '{"type": "module"}\n',
    "jsconfig.json": """\
{"compilerOptions": {"checkJs": true, "strict": true, "lib": ["es2020"], "types": []}}
""",
    "eslint.config.js": 'export default [{ rules: { "no-unused-vars": "error" } }];\n',
    "main.js": f"""\
/* {WIDE} */ const unused = 1;
/** @type {{number}} */
export const wrong = "{WIDE}";
""",
}


def written(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Team:
    """A workspace with several servers, and each of them alone."""

    folder: Path
    ws: lspkit.Workspace
    alone: dict[str, RawClient]

    @property
    def reader(self) -> Reader:
        return Reader("utf-16")

    def findings(self, name: str) -> list[tuple[Any, ...]]:
        """What each of the servers finds, put together."""
        path = self.folder / name
        found: set[tuple[Any, ...]] = set()
        for raw in self.alone.values():
            found.update(self.reader.diagnostics(path, raw.pulled(path)))
        return sorted(found)

    def locations(self, method: str, servers: list[str], **more: Any) -> list[tuple[Any, ...]]:
        path = self.folder / "main.py"
        wire = self.reader.wire(path, *USE)
        found: set[tuple[Any, ...]] = set()
        for server in servers:
            found.update(
                self.reader.locations(self.alone[server].ask_at(method, path, *wire, **more))
            )
        return sorted(found)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """Two type checkers and a linter, on Python."""
    servers = ("basedpyright", "ty", "ruff")
    for server in servers:
        real_servers.require(server)
    folder = written(PYTHON, tmp_path_factory.mktemp("team"))
    names = ("main.py", "broken.py", "shapes.py")
    with workspace_with(folder, {one: real_servers.command(one) for one in servers}) as ws:
        for name in names:
            ws.check(name, timeout=TIMEOUT)
        alone = {}
        try:
            for server in servers:
                alone[server] = raw_client(folder, server, "utf-16", real_servers.command(server))
                alone[server].initialize()
                for name in names:
                    alone[server].open(folder / name, "python")
                    alone[server].pulled(folder / name)
            yield Team(folder, ws, alone)
        finally:
            for raw in alone.values():
                raw.__exit__()


def test_a_place_that_two_servers_name_is_there_once(team: Team) -> None:
    both = ["basedpyright", "ty"]
    method = "textDocument/definition"
    expected = team.locations(method, both)
    assert team.locations(method, both[:1]) == team.locations(method, both[1:]) == expected

    found = team.ws.definition("main.py", *USE, timeout=TIMEOUT)

    assert plain_locations(found) == expected


def test_references_of_two_servers_are_in_order_and_each_there_once(team: Team) -> None:
    context = {"includeDeclaration": True}
    expected = team.locations("textDocument/references", ["basedpyright", "ty"], context=context)
    assert len(expected) >= 3

    found = team.ws.references("main.py", *USE, timeout=TIMEOUT)

    assert plain_locations(found) == expected


def test_hover_has_what_each_of_the_servers_tells(team: Team) -> None:
    path = team.folder / "main.py"
    told = []
    for server in ("basedpyright", "ty"):
        raw = team.alone[server].ask_at("textDocument/hover", path, *team.reader.wire(path, *USE))
        told += team.reader.hover(path, raw)[0]

    found = team.ws.hover("main.py", *USE, timeout=TIMEOUT)

    assert found is not None
    assert sorted(found.contents) == sorted(set(told))


def test_a_check_has_the_findings_of_all(team: Team) -> None:
    expected = team.findings("main.py")
    codes = {code for _, _, _, code in expected}
    assert {"reportAssignmentType", "invalid-assignment", "F401"} <= codes

    report = team.ws.check("main.py", timeout=TIMEOUT)

    assert plain_diagnostics(report.diagnostics) == expected
    assert {one.server for one in report.servers} == set(team.alone)
    assert all(one.how == "pull" for one in report.servers)
    assert report.verdict.dirty


def test_a_finding_that_two_servers_share_is_there_once_and_names_both(team: Team) -> None:
    message = "Expected an expression"
    assert "Expected expression" in str(team.findings("broken.py"))  # the third one's own words

    report = team.ws.check("broken.py", timeout=TIMEOUT)

    (shared,) = (one for one in report.diagnostics if one.message == message)
    assert set(shared.servers) == {"ty", "ruff"}


def test_offers_of_all_servers_come_together(team: Team) -> None:
    offers = team.ws.code_actions("main.py", *MISSING, timeout=TIMEOUT)

    assert {one.server for one in offers} == {"basedpyright", "ty", "ruff"}
    assert [not one.preferred for one in offers] == sorted(not one.preferred for one in offers)


def test_symbols_are_those_of_the_servers_that_know_symbols(team: Team) -> None:
    found = team.ws.workspace_symbols("size", timeout=TIMEOUT)
    of_file = team.ws.workspace_symbols("size", "main.py", timeout=TIMEOUT)

    assert "size" in [one.name for one in found]
    assert of_file == found
    assert found == sorted(found, key=lambda one: (str(one.path), one.selection))


@pytest.fixture
def python(tmp_path: Path) -> Path:
    real_servers.require("ty")
    real_servers.require("ruff")
    folder = tmp_path / "project"
    folder.mkdir()
    return written(PYTHON, folder)


def commands(**other: list[str]) -> dict[str, list[str]]:
    return {one: real_servers.command(one) for one in ("ty", "ruff")} | other


def test_what_a_linter_lacks_is_asked_of_the_type_checker_alone(python: Path) -> None:
    with workspace_with(python, commands()) as ws:
        (place,) = ws.definition("main.py", *USE, timeout=TIMEOUT)
    assert place.path == python / "shapes.py"


def test_what_no_server_of_the_file_knows_is_unsupported(python: Path) -> None:
    with (
        workspace_with(python, {"ruff": real_servers.command("ruff")}) as ws,
        pytest.raises(lspkit.UnsupportedError) as refused,
    ):
        ws.definition("main.py", *USE, timeout=TIMEOUT)
    assert refused.value.servers == ("ruff",)


@pytest.mark.parametrize(
    "argv", [["false"], ["no-such-program"], ["cat"]], ids=["ends", "is not there", "is no server"]
)
def test_one_server_answers_although_the_other_cannot_start(python: Path, argv: list[str]) -> None:
    with workspace_with(python, commands(ruff=argv)) as ws:
        (place,) = ws.definition("main.py", *USE, timeout=TIMEOUT)
        report = ws.check("main.py", timeout=TIMEOUT)

    assert place.path == python / "shapes.py"
    assert "invalid-assignment" in [one.code for one in report.diagnostics]
    assert report.verdict.dirty
    silent = [one for one in report.servers if not one.proven]
    assert [one.server for one in silent] == ["ruff"]
    assert silent[0].reason


def test_a_clean_file_is_not_called_clean_while_a_server_cannot_start(python: Path) -> None:
    with workspace_with(python, commands(ruff=["false"])) as ws:
        report = ws.check("shapes.py", timeout=TIMEOUT)

    assert report.verdict.unknown
    assert "ruff" in report.why


@pytest.mark.parametrize("victim", ["ruff", "ty"])
def test_one_server_answers_although_the_other_has_died(python: Path, victim: str) -> None:
    with workspace_with(python, commands()) as ws:
        before = ws.check("main.py", timeout=TIMEOUT)
        (row,) = (one for one in ws.status().rows if one.server == victim)
        (root,) = row.roots
        assert root.pid is not None
        os.kill(root.pid, signal.SIGKILL)
        after = ws.check("main.py", timeout=TIMEOUT)

    other = {"ruff": "ty", "ty": "ruff"}[victim]
    own = [one for one in before.diagnostics if other in one.servers]
    assert own
    assert [one for one in after.diagnostics if other in one.servers] == own
    (proof,) = (one for one in after.servers if one.server == other)
    assert proof.proven


def test_a_script_has_the_findings_of_compiler_and_linter(tmp_path: Path) -> None:
    servers = ("typescript", "eslint")
    for server in servers:
        real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    written(SCRIPT, folder)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "eslint").symlink_to(real_servers.NODE_MODULES / "eslint")
    with workspace_with(folder, {one: real_servers.command(one) for one in servers}) as ws:
        report = ws.check("main.js", timeout=TIMEOUT)
        symbols = ws.document_symbols("main.js", timeout=TIMEOUT)

    lines = [(one.range.start.line, one.servers) for one in report.counted]
    assert lines == [(1, ("eslint",)), (3, ("typescript",))]
    assert report.counted[0].range.start.column == SCRIPT["main.js"].index("unused") + 1
    assert [one.name for one in symbols] == ["unused", "wrong"]


def test_two_workspaces_share_no_background_process(tmp_path):
    """The proxy of biome takes the first process that it finds, and that may be another's."""
    real_servers.require("biome")
    command, folders = real_servers.command("biome"), [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "biome.json").write_text("{}\n")
        (folder / "a.js").write_text("debugger;\n")
    with workspace_with(folders[1], {"biome": command}) as second:
        with workspace_with(folders[0], {"biome": command}) as first:
            assert first.check("a.js", timeout=TIMEOUT).verdict.dirty
            assert second.check("a.js", timeout=TIMEOUT).verdict.dirty
        assert second.check("a.js", text="debugger; 1;\n", timeout=TIMEOUT).verdict.dirty
        [row] = [row for row in second.status().rows if row.server == "biome"]
        assert row.roots[0].requests.starts == 1
