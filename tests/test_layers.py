"""Imports go one way only: from the faces down to the types, and the pure parts do no I/O.

The rules are tables; the checker reads the source of a module and returns the sentences that say
what is wrong with it. The last tests feed it wrong modules, to show that it can find something.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "lspkit"

FACES = ("cli", "panel", "notebook", "web", "mcp")

#: The parts of lspkit from top to bottom. A part imports from the rows below its own.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("panel", "notebook", "web", "mcp"),
    ("__init__",),
    ("service",),
    ("agent", "conversations", "batch"),
    ("workspace",),
    ("runtime",),
    ("install",),
    ("operations", "servers", "config", "edits", "diagnostics"),
    ("workspace_boundary",),
    ("protocol",),
    ("edit_types",),
    ("answer",),
    ("types", "errors", "version", "msgspec_types", "limits"),
    ("visible_text", "regular_files"),
)
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

#: These may import one another, as long as no circle arises.
SIBLINGS = frozenset({"operations", "servers", "config", "edits", "diagnostics"})

#: The floors inside of `runtime/`, from top to bottom. A folder imports only from those below it.
FLOORS = (
    ("engine",),
    ("engine_api",),
    ("host",),
    ("freshness",),
    ("exchange",),
    ("pool",),
    ("watch",),
    ("server",),
    ("files",),
    ("process",),
    ("concurrency",),
)
FLOOR = {part: rank for rank, parts in enumerate(FLOORS) for part in parts}

#: May import everything; nothing imports it.
TESTING = "testing"

#: Parts that may have threads, processes and sockets.
ACTIVE = frozenset({*FACES, "service", "runtime", "install", TESTING})
ACTIVITY = frozenset(
    {"asyncio", "multiprocessing", "select", "selectors", "socket", "subprocess", "threading"}
    | {"_thread"}
)

#: A module, and what of the above it imports although its part may not: the first waits for
#: nothing, the second has a lock, without which msgspec crashes.
EXCEPTIONS = frozenset(
    {("lspkit.edits.descriptor", "select"), ("lspkit.msgspec_types", "threading")}
)

#: Parts that are functions of their arguments: no thread, file, process or clock.
PURE = frozenset({"protocol", "diagnostics"})
IMPURE = ACTIVITY | frozenset(
    {
        "concurrent",
        "datetime",
        "fcntl",
        "glob",
        "logging",
        "mmap",
        "random",
        "shutil",
        "signal",
        "tempfile",
    }
    | {"time"}
)
#: What of `os` is a value or a function of its arguments.
PURE_OS = frozenset({"name", "path", "sep", "fspath", "PathLike", "fsencode", "fsdecode"})


def part_of(module: str) -> str:
    """`lspkit.protocol.wire.framing` belongs to `protocol`, and `lspkit` itself to `__init__`."""
    words = module.split(".")
    return words[1] if len(words) > 1 else "__init__"


def imported(tree: ast.AST, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Every module that the source imports, also inside functions, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - 1 if is_package else node.level
                words = module.split(".")
                base = ".".join([*words[: len(words) - up], *filter(None, [node.module])])
            for alias in node.names:
                # `from lspkit import errors` means the module, `from lspkit import open` a name.
                yield node.lineno, f"{base}.{alias.name}" if is_part(base, alias.name) else base


@functools.cache
def is_part(base: str, name: str) -> bool:
    if base == "lspkit":
        return name in RANK or name == TESTING
    return (PACKAGE.parent / base.replace(".", "/") / f"{name}.py").exists()


def may_import(part: str, other: str) -> bool:
    if part in (other, TESTING):
        return True
    if other == TESTING or part not in RANK or other not in RANK:
        return False
    if RANK[part] == RANK[other]:
        return part in SIBLINGS and other in SIBLINGS
    return RANK[part] < RANK[other]


def floor_of(module: str) -> str:
    """`lspkit.runtime.pool.slot` is on the floor `pool`; empty outside of `runtime/`."""
    words = module.split(".")
    return words[2] if words[:2] == ["lspkit", "runtime"] and len(words) > 2 else ""


def may_go_down(module: str, name: str) -> bool:
    """Whether an import inside of `runtime/` leads downward, or stays on its floor."""
    own, other = floor_of(module), floor_of(name)
    if not own or not other or own == other:
        return True
    return own in FLOOR and other in FLOOR and FLOOR[own] < FLOOR[other]


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def uses_of_os(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and is_name(node.value, "os"):
            yield node.lineno, node.attr


def calls_of_open(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_name(node.func, "open"):
            yield node.lineno


@functools.cache
def imports(source: str, module: str, *, is_package: bool) -> list[tuple[int, str]]:
    """The same of a source. It is kept, since several tests go over all modules; trees are not,
    since Python's garbage collector would go over them in all tests that follow."""
    return list(imported(ast.parse(source), module, is_package=is_package))


def faults(source: str, module: str, *, is_package: bool = False) -> Iterator[str]:
    """One sentence for everything in the module that breaks a rule."""
    part = part_of(module)
    if part not in RANK and part != TESTING:
        yield f"{module} belongs to {part}, which has no place in the layers"
    for line, name in imports(source, module, is_package=is_package):
        top = name.split(".")[0]
        if top == "lspkit" and not may_import(part, part_of(name)):
            yield f"{module}:{line} imports {name}, and {part} must not import {part_of(name)}"
        if not may_go_down(module, name):
            yield f"{module}:{line} imports {name}, which is not below {floor_of(module)}"
        if top in ACTIVITY and part not in ACTIVE and (module, top) not in EXCEPTIONS:
            yield f"{module}:{line} imports {name}, which is for {', '.join(sorted(ACTIVE))}"
        elif top in IMPURE and part in PURE:
            yield f"{module}:{line} imports {name}, and {part} is pure"
    if part in PURE:
        tree = ast.parse(source)
        for line, name in uses_of_os(tree):
            if name not in PURE_OS:
                yield f"{module}:{line} uses os.{name}, and {part} is pure"
        for line in calls_of_open(tree):
            yield f"{module}:{line} opens a file, and {part} is pure"


def circle(edges: Mapping[str, set[str]]) -> list[str] | None:
    """Parts that import each other in a circle, the first one named twice, or None."""
    finished: set[str] = set()

    def visit(part: str, path: list[str]) -> list[str] | None:
        if part in path:
            return [*path[path.index(part) :], part]
        if part in finished:
            return None
        for other in sorted(edges.get(part, ())):
            if found := visit(other, [*path, part]):
                return found
        finished.add(part)
        return None

    for part in sorted(edges):
        if found := visit(part, []):
            return found
    return None


def modules() -> Iterator[tuple[str, bool, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        words = path.relative_to(PACKAGE.parent).with_suffix("").parts
        is_package = words[-1] == "__init__"
        yield ".".join(words[:-1] if is_package else words), is_package, path.read_text()


def test_every_module_keeps_to_the_layers() -> None:
    found = [
        fault
        for module, is_package, source in modules()
        for fault in faults(source, module, is_package=is_package)
    ]
    assert not found, "\n".join(found)


def test_the_adapter_of_a_server_is_known_to_the_table_alone() -> None:
    """And adapters know nothing of how servers are chosen and run."""
    room = "lspkit.servers.adapters."
    shared = {f"{room}adapter", f"{room}adapter_table"}
    allowed = ("protocol", "diagnostics", "workspace_boundary", "servers.definition")
    allowed += ("servers.project", "servers.selection.npm_package", "servers.adapters.adapter")
    allowed += ("servers.selection.program_lookup",)
    for module, is_package, source in modules():
        names = {name for _, name in imports(source, module, is_package=is_package)}
        own = {name for name in names if name.startswith("lspkit.")}
        if module.startswith(room) and module not in shared:
            prefixes = tuple(f"lspkit.{name}" for name in allowed)
            assert [name for name in own if not name.startswith(prefixes)] == [], module
        elif module != f"{room}adapter_table":
            assert {name for name in own if name.startswith(room)} <= shared, module


def test_no_parts_import_each_other_in_a_circle() -> None:
    edges: dict[str, set[str]] = {part: set() for part in SIBLINGS}
    for module, is_package, source in modules():
        if (part := part_of(module)) in SIBLINGS:
            names = imports(source, module, is_package=is_package)
            others = {part_of(name) for _, name in names if name.split(".")[0] == "lspkit"}
            edges[part] |= others & SIBLINGS - {part}
    assert circle(edges) is None


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also not behind `TYPE_CHECKING`, nor inside of functions."""
    edges: dict[str, set[str]] = {}
    names = {module for module, _, _ in modules()}
    for module, is_package, source in modules():
        found = imports(source, module, is_package=is_package)
        edges[module] = {name for _, name in found if name in names} - {module}
    assert circle(edges) is None


def test_no_file_name_occurs_twice() -> None:
    names = [path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_folder_is_crowded() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    crowded = {str(one): len(list(one.glob("*.py"))) for one in folders}
    assert {name: number for name, number in crowded.items() if number > 15} == {}


def test_the_package_is_where_this_test_looks() -> None:
    assert {part_of(module) for module, _, _ in modules()} >= {"__init__", "errors", "protocol"}


@pytest.mark.parametrize(
    ("module", "source", "words"),
    [
        ("lspkit.protocol.x", "import lspkit.runtime.process.guardian", "must not import runtime"),
        ("lspkit.protocol.x", "from lspkit.runtime import engine", "must not import runtime"),
        ("lspkit.protocol.x", "from lspkit import workspace", "must not import workspace"),
        ("lspkit.protocol.x", "from ..config import y", "must not import config"),
        ("lspkit.runtime.x", "def f():\n    from lspkit.cli import y", "must not import cli"),
        ("lspkit.types", "from lspkit.errors import LspkitError", "must not import errors"),
        ("lspkit.agent.x", "import lspkit.service", "must not import service"),
        ("lspkit.workspace", "import lspkit.testing", "must not import testing"),
        ("lspkit.runtime.x", "import lspkit", "must not import __init__"),
        ("lspkit", "import lspkit.cli", "must not import cli"),
        ("lspkit.runtime.pool.x", "import lspkit.runtime.exchange.y", "is not below pool"),
        ("lspkit.runtime.files", "from lspkit.runtime.server.y import z", "is not below files"),
        ("lspkit.runtime.other.x", "import lspkit.runtime.files", "is not below other"),
        ("lspkit.config.x", "import threading", "which is for"),
        ("lspkit.operations.x", "from subprocess import run", "which is for"),
        ("lspkit.protocol.x", "import time", "protocol is pure"),
        ("lspkit.diagnostics.x", "from time import monotonic", "diagnostics is pure"),
        ("lspkit.protocol.x", "import os\nos.stat('x')", "uses os.stat"),
        ("lspkit.protocol.x", "from os import listdir", "uses os.listdir"),
        ("lspkit.protocol.x", "open('x')", "opens a file"),
        ("lspkit.helpers.x", "", "has no place in the layers"),
    ],
)
def test_the_checker_finds_a_wrong_import(module: str, source: str, words: str) -> None:
    found = list(faults(source, module))
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("lspkit.__main__", "from lspkit.cli import main"),
        ("lspkit.cli.main", "from lspkit import errors\nimport lspkit\nimport subprocess"),
        ("lspkit.runtime.x", "from lspkit.operations import y\nimport threading"),
        ("lspkit.runtime.engine", "import lspkit.runtime.freshness.x, lspkit.runtime.engine_api"),
        ("lspkit.config.x", "from lspkit.edits import plan\nimport os\nos.stat('x')"),
        ("lspkit.protocol.x", "from . import y\nimport os\nos.path.join(os.sep, os.name)"),
        ("lspkit.testing.x", "import lspkit.cli, lspkit.errors, socket, time"),
        ("lspkit", "from lspkit.workspace import Workspace\nfrom lspkit.agent import tools"),
    ],
)
def test_the_checker_lets_a_right_import_pass(module: str, source: str) -> None:
    assert not list(faults(source, module))


def test_the_checker_finds_a_circle_of_siblings() -> None:
    edges = {"config": {"edits"}, "edits": {"servers"}, "servers": {"config"}, "operations": set()}
    assert circle(edges) == ["config", "edits", "servers", "config"]


def test_the_checker_finds_no_circle_in_a_tree() -> None:
    assert circle({"servers": {"config"}, "config": {"edits"}, "operations": {"config"}}) is None
