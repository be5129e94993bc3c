"""A repository with three packages in two languages: each has a server of its own, at its root."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.projects import WIDE
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0

_PYTHON = f'from shapes import size\n\n"{WIDE}"; size\n'
_SCRIPT = f'import {{ size }} from "./shapes";\n\n/* {WIDE} */ size;\n'
FILES = {
    "services/api/pyproject.toml": "",
    "services/api/shapes.py": f'"{WIDE}"; size = 3\n',
    "services/api/main.py": _PYTHON,
    # The same names as in the other package: a server for both would mix them up.
    "services/jobs/pyproject.toml": "",
    "services/jobs/shapes.py": f'\n"{WIDE}"; size = 4\n',
    "services/jobs/deep/below/main.py": "value: int = 1\n",
    "services/jobs/main.py": _PYTHON,
    "web/package.json": "{}\n",
    "web/tsconfig.json": '{"compilerOptions": {"strict": true, "lib": ["es2020"], "types": []}}\n',
    "web/src/shapes.ts": f"/* {WIDE} */ export const size = 5;\n",
    "web/src/main.ts": _SCRIPT,
}
#: File that is asked about: the root of its server, and the line that defines `size`.
PACKAGES = {
    "services/api/main.py": ("services/api", "services/api/shapes.py", 1),
    "services/jobs/main.py": ("services/jobs", "services/jobs/shapes.py", 2),
    "web/src/main.ts": ("web", "web/src/shapes.ts", 1),
}
SERVERS = ("ty", "typescript-7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ws(folder: Path) -> Iterator[lspkit.Workspace]:
    for server in SERVERS:
        real_servers.require(server)
    with workspace_with(folder, {one: real_servers.command(one) for one in SERVERS}) as ws:
        yield ws


def running(ws: lspkit.Workspace) -> dict[tuple[str, str], int]:
    """The processes that there are: server and root, below the workspace's."""
    found: dict[tuple[str, str], int] = {}
    for row in ws.status().rows:
        for root in row.roots:
            assert root.state is lspkit.ServerState.ACTIVE, root
            assert root.pid is not None
            found[row.server, str(Path(root.root).relative_to(ws.root))] = root.pid
    return found


def test_each_package_has_one_process_at_its_own_root(ws: lspkit.Workspace) -> None:
    assert running(ws) == {}

    for main in [*PACKAGES, *PACKAGES, "services/jobs/deep/below/main.py"]:
        ws.document_symbols(main, timeout=TIMEOUT)

    processes = running(ws)
    assert set(processes) == {
        ("ty", "services/api"),
        ("ty", "services/jobs"),
        ("typescript-7", "web"),
    }
    assert len(set(processes.values())) == 3
    status = ws.status()
    assert status.totals["active"] == 2  # servers, of which one has two roots


@pytest.mark.parametrize("main", PACKAGES)
def test_only_the_package_that_is_asked_about_starts_anything(
    ws: lspkit.Workspace, main: str
) -> None:
    ws.hover(main, 3, symbol="size", timeout=TIMEOUT)

    assert [root for _, root in running(ws)] == [PACKAGES[main][0]]


@pytest.mark.parametrize("main", PACKAGES)
def test_a_name_is_found_in_its_own_package(ws: lspkit.Workspace, folder: Path, main: str) -> None:
    _, shapes, line = PACKAGES[main]

    (place,) = ws.definition(main, 3, symbol="size", timeout=TIMEOUT)

    text = FILES[shapes].split("\n")[line - 1]
    assert place.path == folder / shapes
    assert (place.range.start.line, place.range.start.column) == (line, text.index("size") + 1)


def test_references_stay_in_the_package(ws: lspkit.Workspace, folder: Path) -> None:
    for main in PACKAGES:
        ws.document_symbols(main, timeout=TIMEOUT)

    for main, (root, _, _) in PACKAGES.items():
        found = ws.references(main, 3, symbol="size", timeout=TIMEOUT)
        assert len({one.path for one in found}) == 2
        assert all(one.path and one.path.is_relative_to(folder / root) for one in found)


def test_questions_about_all_packages_at_once_start_each_server_once(ws: lspkit.Workspace) -> None:
    questions = [
        ws.submit(ws.definition, main, 3, symbol="size", timeout=TIMEOUT)
        for _ in range(4)
        for main in PACKAGES
    ]
    for question, main in zip(questions, [*PACKAGES] * 4, strict=True):
        (place,) = question.result(TIMEOUT)
        assert str(place.path).endswith(PACKAGES[main][1])

    starts = {root.root: root.requests.starts for row in ws.status().rows for root in row.roots}
    assert list(starts.values()) == [1, 1, 1]


def test_symbols_of_all_packages_are_found_in_order(ws: lspkit.Workspace, folder: Path) -> None:
    for main in PACKAGES:
        ws.document_symbols(main, timeout=TIMEOUT)

    found = ws.workspace_symbols("size", timeout=TIMEOUT)
    of_one = ws.workspace_symbols("size", "services/api/main.py", timeout=TIMEOUT)

    named = [str(one.path) for one in found if one.name == "size"]
    assert named == [str(folder / shapes) for _, shapes, _ in PACKAGES.values()]
    assert [str(one.path) for one in of_one if one.name == "size"] == named[:1]


def test_symbols_are_found_before_anything_was_asked(ws: lspkit.Workspace, folder: Path) -> None:
    found = ws.workspace_symbols("size", timeout=TIMEOUT)

    named = [str(one.path) for one in found if one.name == "size"]
    assert named == [str(folder / shapes) for _, shapes, _ in PACKAGES.values()]
    assert len(running(ws)) == 3


def test_status_can_be_asked_of_one_package(ws: lspkit.Workspace, folder: Path) -> None:
    for main in PACKAGES:
        ws.document_symbols(main, timeout=TIMEOUT)

    taken = ws.status(folder / "services" / "jobs")

    roots = [(row.server, root.root) for row in taken.rows for root in row.roots]
    assert roots == [("ty", str(folder / "services" / "jobs"))]
