"""What lspkit imports late is never the project's, also where Python looks there first."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lspkit
from lspkit.late_imports import safe_imports, safe_path
from lspkit.testing import Script
from tests.scripted import SOURCE

PACKAGE = Path(lspkit.__file__).parent


@functools.cache
def loaded(module: str = "lspkit") -> frozenset[str]:
    """The modules that are there when a module of lspkit was imported."""
    program = (
        f"import sys, {module}; names = sorted(sys.modules); import json; print(json.dumps(names))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return frozenset(json.loads(done.stdout)) | frozenset(sys.builtin_module_names)


def source_of(module: str) -> ast.Module:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def modules() -> dict[str, None]:
    """Those of lspkit that run in a user's program, in order."""
    found = [path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")]
    names = [".".join(path.parts).removesuffix(".__init__") for path in found]
    return {one: None for one in names if not one.startswith(("lspkit.testing", "lspkit.cli"))}


def names_in(node: ast.AST) -> list[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or node.module is None:
        return []
    if not node.module.startswith("lspkit"):
        return [node.module]
    inner = [f"{node.module}.{alias.name}" for alias in node.names]
    return [node.module, *(one for one in inner if one in modules())]


def is_safe(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and "safe_imports()" in ast.unparse(node.items[0])


def late(node: ast.AST, *, inside: bool = False, safe: bool = False) -> Iterator[tuple[str, bool]]:
    """The modules that are imported inside of functions, and whether safely."""
    for child in ast.iter_child_nodes(node):
        if inside:
            for name in names_in(child):
                yield name, safe
        function = isinstance(child, ast.FunctionDef)
        yield from late(child, inside=inside or function, safe=safe or is_safe(child))


def behind(module: str, seen: set[str]) -> set[str]:
    """The foreign modules that come with a module of lspkit."""
    if module in seen:
        return set()
    seen.add(module)
    found = set[str]()
    for name in early_and_late(module)[0]:
        found |= behind(name, seen) if name.startswith("lspkit") else {name}
    return found


@functools.cache
def early_and_late(module: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """What a module imports when it is imported itself, and what inside of functions.

    The tree is not kept: the garbage collector would go over it in all tests that follow.
    """
    tree = source_of(module)
    return [name for node in tree.body for name in names_in(node)], list(late(tree))


@functools.cache
def all_late() -> list[tuple[str, str, bool]]:
    """Module, foreign module that it imports late, and whether safely."""
    return [
        (module, foreign, safe)
        for module in modules()
        for name, safe in early_and_late(module)[1]
        for foreign in (behind(name, set()) if name.startswith("lspkit") else {name})
    ]


def test_there_are_late_imports_and_they_are_found() -> None:
    foreign = {name for _, name, _ in all_late()}
    assert {"psutil", "tomllib", "filelock", "difflib", "concurrent.futures"} <= foreign


def in_use(module: str) -> str:
    """What has been imported before a function of the module runs: itself, or the engine."""
    return "lspkit.runtime.engine" if module.startswith("lspkit.runtime.") else module


def test_every_late_import_of_something_foreign_is_a_safe_one() -> None:
    careless = {
        f"{module}: {foreign}"
        for module, foreign, safe in all_late()
        if not safe and foreign not in loaded() and foreign not in loaded(in_use(module))
    }
    assert careless == set()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """In which every module is planted that is not loaded with lspkit."""
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    installed = importlib.metadata.packages_distributions()
    names = {*sys.stdlib_module_names, *installed, *(name for _, name, _ in all_late())}
    tops = {name.partition(".")[0] for name in names} - loaded() - {"lspkit"}
    assert {"psutil", "tomllib", "filelock", "difflib", "concurrent", "subprocess"} <= tops
    for name in tops:
        note = f"import posix; posix.write(2, b'planted {name}\\n'); raise ImportError('{name}')\n"
        (tmp_path / f"{name}.py").write_text(note, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.lspkit.lps]\nx = 1\n", encoding="utf-8")
    return tmp_path


#: Goes into the project as a notebook does, and uses all that imports something late.
PROGRAM = """if True:
    import os, sys, lspkit
    from lspkit.config.trust.trust_store import add
    assert sys.path[0] == ''
    os.chdir(sys.argv[1])
    server = {"command": sys.argv[2:], "extensions": [".scr"]}
    with lspkit.Workspace(".") as ws:
        ws.status_text()
    with lspkit.Workspace(".", config={"lsp": {"scripted": server}}, trusted=True) as ws:
        assert ws.check("a.scr").verdict.value == "clean"
        assert ws.submit(ws.definition, "a.scr", 2, 4).result(20)
        assert ws.submit(ws.definition, "a.scr", 99, 4).exception(20)
        edit = ws.rename("a.scr", 1, 5, new_name="hello")
        assert edit.diff()
        ws.undo(ws.apply(edit))
        ws.write("a.scr", "def greet\\n")
        ws.reload()
        assert ws.check("a.scr").verdict.value == "clean"
        assert ws.status().rows and ws.status_text()
    try:
        lspkit.Workspace(".", config={"timming": {"requestTimeoutMs": 0}})
    except lspkit.ConfigError:
        pass
    add(os.environ["LSPKIT_STATE"], os.getcwd(), "0")
    print("done")
"""


def test_a_program_in_the_project_s_folder_runs_none_of_its_modules(
    project: Path, tmp_path_factory: pytest.TempPathFactory, scripted
) -> None:
    argv = scripted(Script())
    state = tmp_path_factory.mktemp("state")
    state.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project), *argv],
        env={**os.environ, "LSPKIT_STATE": str(state)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert [line for line in done.stderr.splitlines() if line.startswith("planted")] == []
    assert done.stdout == "done\n", done.stderr


def test_a_module_that_is_nowhere_else_is_not_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_planted.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    with pytest.raises(ModuleNotFoundError), safe_imports():
        import only_planted
    import only_planted  # noqa: F401  as before, and after

    del sys.modules["only_planted"]


def test_a_planted_msgspec_is_not_loaded_where_the_program_starts(tmp_path: Path) -> None:
    """`import lspkit` itself does not need it."""
    (tmp_path / "msgspec.py").write_text("raise SystemExit('planted')\n", encoding="utf-8")
    program = "import sys, lspkit; lspkit.Workspace; print(sys.modules['msgspec'].__file__)"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent.name == "msgspec"


def test_what_is_installed_comes_before_all_other_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    installed = str(tmp_path / ".venv" / "lib" / "site-packages")
    given = ["", "lib", "/opt/more", str(tmp_path), str(tmp_path / "x"), installed]
    assert safe_path(given) == [installed, "/opt/more"]
