"""What `import lspkit` costs and brings, and that optimisation changes nothing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import lspkit
from lspkit.testing import Script
from tests.scripted import SOURCE

PACKAGE = Path(lspkit.__file__).parent
#: What only one face needs, or what would be too heavy for everybody.
UNWANTED = [
    "pydantic",
    "asyncio",
    "textual",
    "mcp",
    "rich",
    "psutil",
    "subprocess",
    "http",
    "IPython",
    # What all need, but only from the first call on: it takes most of the time.
    "msgspec",
    "typing_extensions",
    "inspect",
    "json",
    "pathlib",
    "threading",
]

#: What a client of the service does not need.
ONLY_WITH_SERVERS = [
    "lspkit.runtime.engine",
    "lspkit.runtime.process.guardian",
    "lspkit.servers.selection.choose",
]


def _run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_importing_brings_nothing_that_only_one_face_needs():
    # Without the modules of the environment, which `site` may load for itself.
    program = "import sys; old = {*sys.modules}; import lspkit; print(*({*sys.modules} - old))"
    loaded = set(_run("-c", program).split())
    assert "lspkit.version" in loaded
    assert [name for name in UNWANTED if name in loaded] == []


def test_importing_brings_no_runtime():
    program = "import sys, lspkit, lspkit.agent; print(*sys.modules)"
    loaded = [name.split(".")[1] for name in _run("-c", program).split() if "lspkit." in name]
    assert {"workspace", "runtime", "servers", "operations", "config"}.isdisjoint(loaded)


@pytest.mark.parametrize("package", ["lspkit", "lspkit.agent", "lspkit.operations"])
def test_every_public_name_is_there(package):
    program = f"""if True:
        import {package} as package
        listed = dir(package)
        there = [getattr(package, name) is not None for name in package.__all__]
        print(all(there), set(package.__all__) <= set(listed), len(there) > 10)
    """
    assert _run("-c", program).split() == ["True"] * 3


def test_a_command_that_asks_the_service_brings_nothing_that_only_servers_need():
    program = "import sys, lspkit.cli.query_command; print(*sys.modules)"
    loaded = set(_run("-c", program).split())
    assert "lspkit.service.remote_workspace" in loaded
    assert [name for name in ONLY_WITH_SERVERS if name in loaded] == []


def test_subpackages_can_be_used_as_attributes():
    names = ["agent", "batch", "config", "operations", "testing", "types", "workspace"]
    program = f"import lspkit; print(*(getattr(lspkit, name).__name__ for name in {names}))"
    assert _run("-c", program).split() == [f"lspkit.{name}" for name in names]


def test_importing_starts_no_thread_and_opens_nothing():
    program = (
        "import os, threading\n"
        "before = set(os.listdir('/proc/self/fd'))\n"
        "import lspkit\n"
        "print(threading.active_count(), len(set(os.listdir('/proc/self/fd')) - before))"
    )
    assert _run("-c", program).split() == ["1", "0"]


def test_no_assert_guards_behaviour():
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    asserts = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, text in texts.items()
        if "assert" in text  # reading the grammar of all files takes long
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert)
    ]
    assert asserts == []


def test_optimisation_changes_nothing(tmp_path, scripted):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    program = """if True:
        import json, sys, lspkit
        server = {"command": sys.argv[2:], "extensions": [".scr"]}
        told = []
        with lspkit.Workspace(sys.argv[1], config={"lsp": {"scripted": server}}) as ws:
            told.append([one.to_dict() for one in ws.definition("a.scr", 2, 4)])
            told.append([one.to_dict() for one in ws.references("a.scr", symbol="greet")])
            told.append(ws.hover("a.scr", 2, symbol="greet").to_dict())
            told.append(ws.check("a.scr").verdict.value)
            for bad in ((0, 1), (9, 1), (1, 99), ("1", 1)):
                try:
                    ws.definition("a.scr", *bad)
                except lspkit.PositionError as problem:
                    told.append(str(problem))
        try:
            ws.hover("a.scr", 1, 1)
        except lspkit.WorkspaceClosedError as problem:
            told.append(problem.code)
        print(json.dumps(told))
    """
    argv = scripted(Script())
    plain = _run("-c", program, str(tmp_path), *argv)
    optimised = _run("-O", "-c", program, str(tmp_path), *argv)
    assert plain == optimised
    assert len(json.loads(plain)) == 9


def test_a_name_that_never_was_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        lspkit.Nothing  # noqa: B018
