"""In a project that nobody has vetted, nothing of it runs; in one that is trusted, it does.

The project of `planting.py` has a trap for everything that a server might run. The same traps are
stepped into where the project is trusted, so that they are known to work. Trust ends at the edge of
a repository, for every file of it, whatever the root of its server.
"""

from __future__ import annotations

import json
import os
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.errors import PositionError, ServerUnavailableError, UnsupportedError
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.status import ServerStatus
from tests import real_servers
from tests.real.planting import FILES, Planted

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0


@dataclass(frozen=True)
class Asked:
    """A server that runs restricted, a file for it, and part of what it has to find there."""

    server: str
    file: str
    finding: str
    #: More files, in which it may be led astray.
    others: tuple[str, ...] = ()


RESTRICTED = (
    # Also with what is installed in the project: the finding is about a type from there.
    Asked("pyright", "main.py", '"int" is not assignable to return type "str"', ("script.py",)),
    Asked("basedpyright", "main.py", '"int" is not assignable to return type "str"'),
    Asked("ty", "main.py", "expected `str`, found `int`", ("script.py",)),
    Asked("ruff", "main.py", "`os` imported but unused"),
    Asked("typescript", "main.ts", "not assignable", ("src/main.js",)),
    Asked("vtsls", "main.ts", "not assignable", ("src/main.js",)),
    Asked("typescript-7", "main.ts", "not assignable", ("src/main.js",)),
    # With the folders and macros of the database, or it would find other mistakes.
    Asked("clangd", "main.cpp", "undeclared identifier 'missing'", ("include/planted.h",)),
    Asked("gopls", "main.go", "cannot use"),
    Asked("bash", "main.sh", "Double quote"),
    Asked("json", "main.json", "Trailing comma"),
    Asked("css", "main.css", "colon expected"),
    Asked("html", "main.html", "colon expected"),
    Asked("yaml", "main.yaml", "Flow sequence"),
    Asked("dockerfile", "Dockerfile", "Unknown instruction"),
    Asked("tombi", "main.toml", "duplicate"),
    Asked("intelephense", "main.php", ""),
)

#: Servers that do not start in such a project, and a file for each.
HELD_BACK = {
    "rust-analyzer": "src/main.rs",
    "pyrefly": "main.py",
    "zuban": "main.py",
    "svelte": "main.svelte",
    "eslint": "src/main.js",
    "oxlint": "src/main.js",
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A user with an ordinary environment, and a project."""
    made = Planted(tmp_path)
    monkeypatch.delenv("LSPKIT_TRUST")
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
def careless(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A user whose environment leads into the project, and a project full of traps."""
    planted.plant()
    for name, value in planted.careless_environment().items():
        monkeypatch.setenv(name, value)
    return planted


def row_of(ws: lspkit.Workspace, server: str) -> ServerStatus:
    return next(row for row in ws.status().rows if row.server == server)


def found(ws: lspkit.Workspace, file: str) -> str:
    """All findings of a file, of every severity."""
    report = ws.check(file, severity="hint", timeout=TIMEOUT)
    return "\n".join(one.message for one in report.diagnostics)


def ask_everything(ws: lspkit.Workspace, file: str) -> None:
    """Ask what a server might run something for. Not every server knows every answer."""
    questions: list[Callable[[], Any]] = [
        lambda: ws.hover(file, symbol="area", timeout=TIMEOUT),
        lambda: ws.definition(file, symbol="area", timeout=TIMEOUT),
        lambda: ws.references(file, symbol="area", timeout=TIMEOUT),
        lambda: ws.document_symbols(file, timeout=TIMEOUT),
        lambda: ws.workspace_symbols("area", timeout=TIMEOUT),
    ]
    for question in questions:
        try:
            question()
        except (UnsupportedError, PositionError):
            continue


@pytest.mark.parametrize("asked", RESTRICTED, ids=lambda asked: asked.server)
def test_a_restricted_server_answers_and_runs_nothing_of_the_project(
    careless: Planted, asked: Asked
) -> None:
    real_servers.require(asked.server)
    careless.configure(asked.server)
    careless.install(asked.server)
    careless.only(asked.server)
    with lspkit.Workspace(careless.project) as ws:
        findings = found(ws, asked.file)
        for file in (asked.file, *asked.others):
            ask_everything(ws, file)
        row = row_of(ws, asked.server)
    assert careless.ran == []
    assert asked.finding in findings
    assert row.trust == "restricted"
    assert not row.command[0].startswith(str(careless.project))


#: How pyright from pip starts, where there is no Node: it installs one. The second time it does so
#: like a Python older than 3.11, which knows no `PYTHONSAFEPATH`.
FROM_PIP = """\
#!{python}
import os, subprocess, sys
subprocess.run([sys.executable, "-m", "nodeenv", "--version"], capture_output=True)
subprocess.run([sys.executable, "-E", "-m", "nodeenv", "--version"], capture_output=True)
os.execv("{real}", ["{real}", *sys.argv[1:]])
"""


@pytest.mark.parametrize("trusted", [False, True])
def test_what_a_launcher_imports_comes_from_the_project_only_if_it_is_trusted(
    planted: Planted, trusted: bool
) -> None:
    real_servers.require("pyright")
    planted.install("pyright")
    planted.only("pyright")
    launcher = planted.tools / "pyright-langserver"
    text = FROM_PIP.format(python=sys.executable, real=launcher.readlink())
    launcher.unlink()
    launcher.write_text(text, encoding="utf-8")
    launcher.chmod(0o755)
    planted.write("main.py", 'number: int = "x"\n')
    planted.write("nodeenv.py", planted.python("nodeenv.py"))
    with lspkit.Workspace(planted.project, trusted=trusted) as ws:
        assert "not assignable" in found(ws, "main.py")
    assert planted.ran == (["module nodeenv.py"] if trusted else [])


@pytest.mark.parametrize(
    "server",
    list(HELD_BACK),
)
def test_a_server_that_would_run_code_is_held_back(careless: Planted, server: str) -> None:
    real_servers.require(server)
    careless.write("main.svelte", "<p>")
    careless.write(".oxlintrc.json", "{}")
    careless.configure(server)
    careless.install(server)
    careless.only(server)
    with lspkit.Workspace(careless.project) as ws:
        with pytest.raises(ServerUnavailableError) as caught:
            ws.check(HELD_BACK[server], timeout=TIMEOUT)
        with pytest.raises(ServerUnavailableError):
            ws.document_symbols(HELD_BACK[server], timeout=TIMEOUT)
        row = row_of(ws, server)
    assert careless.ran == []
    assert caught.value.rule == "untrusted"
    assert f"lspkit trust add {careless.project}" in caught.value.message
    assert (row.state, row.trust) == ("unavailable", "untrusted")
    assert row.reason.startswith("held back")


def test_status_says_what_would_allow_a_server_that_is_held_back(planted: Planted) -> None:
    planted.install("rust-analyzer")
    with lspkit.Workspace(planted.project) as ws:
        assert f"lspkit trust add {planted.project}" in row_of(ws, "rust-analyzer").reason


def test_status_lists_every_field_that_is_held_back(careless: Planted) -> None:
    careless.configure("pyright")
    with lspkit.Workspace(careless.project) as ws:
        warnings = "\n".join(ws.status().warnings)
    for field in ("command", "env", "watch", "settings.python.pythonPath"):
        assert f"lsp.pyright.{field}" in warnings
    assert f"lspkit trust add {careless.project}" in warnings


def test_every_server_that_runs_restricted_was_tried() -> None:
    tried = {asked.server for asked in RESTRICTED}
    assert tried == {one.id for one in BUILT_IN if one.trust.untrusted is not None}
    assert tried.isdisjoint(HELD_BACK)


# Trusted: the same traps, and what is meant to run


@dataclass(frozen=True)
class Trap:
    """What a server runs where it may."""

    server: str
    file: str
    #: Part of the note that is left.
    note: str
    #: A program that the user has only by way of the project.
    program: str = ""


TRAPS = (
    Trap("basedpyright", "main.py", "/.venv/bin/python "),
    Trap("typescript", "main.ts", "script typescript/lib/tsserver.js"),
    Trap("clangd", "main.cpp", "/bin/offload-arch"),
    Trap("eslint", "src/main.js", "script eslint/lib/api.js"),
    Trap("gopls", "main.go", "/only/go ", program="go"),
    Trap("bash", "main.sh", "/only/shellcheck ", program="shellcheck"),
)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.server)
def test_in_a_trusted_project_the_traps_go_off(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, trap: Trap
) -> None:
    real_servers.require(trap.server)
    planted.plant()
    (planted.project / "pyrightconfig.json").unlink()  # it would be believed about the interpreter
    planted.install(trap.server)
    planted.only(trap.server)
    planted.without_servers()
    if trap.program:
        planted.program(f"only/{trap.program}")
        path = f"{planted.project}/only{os.pathsep}{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)
    with lspkit.Workspace(planted.project, trusted=True) as ws:
        ws.submit(ws.check, trap.file, timeout=TIMEOUT)
        planted.wait_for(trap.note, TIMEOUT)


#: Settings that are no program, and lead to one, or to a file that is written to.
WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "ruff": ("main.py", {"settings": {"logFile": "@VICTIM@/log", "logLevel": "debug"}}),
    "ty": ("main.py", {"logFile": "@VICTIM@/log", "logLevel": "debug"}),
    "intelephense": ("main.php", {"storagePath": "@VICTIM@"}),
    "typescript": (
        "main.ts",
        {
            "locale": "--allowLocalPluginLoads",
            "tsserver": {"logDirectory": "@VICTIM@", "logVerbosity": "verbose"},
        },
    ),
    "vtsls": ("main.ts", {"typescript": {"locale": "--allowLocalPluginLoads"}}),
}


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("server", WORDS)
def test_a_setting_leads_to_no_file_and_no_plugin_before_the_project_is_trusted(
    planted: Planted, server: str, trusted: bool
) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server)
    file, said = WORDS[server]
    victim = planted.folder / "victim"
    victim.mkdir()
    words = json.loads(json.dumps(said).replace("@VICTIM@", str(victim)))
    config = {"lsp": {server: {"settings": words, "initialization": words}}}
    planted.write(".lspkit/lsp.json", json.dumps(config))
    for name in (file, "node_modules/planted-plugin/package.json"):
        planted.write(name, FILES[name])
    planted.write("node_modules/planted-plugin/index.js", planted.javascript("plugin"))
    options = {"plugins": [{"name": "planted-plugin"}], "lib": ["es2020"], "types": []}
    planted.write("tsconfig.json", json.dumps({"compilerOptions": options}))
    with lspkit.Workspace(planted.project, trusted=trusted or None) as ws:
        ws.check(file, timeout=TIMEOUT)
        assert row_of(ws, server).state == "active"
    written = any(victim.iterdir())
    assert written == (trusted and server != "vtsls")
    assert ("script plugin" in planted.ran) == (trusted and file == "main.ts")


@pytest.mark.parametrize("trusted", [False, True])
def test_a_project_chooses_the_version_of_go_only_if_it_is_trusted(
    planted: Planted, trusted: bool
) -> None:
    real_servers.require("gopls")
    planted.install("gopls")
    planted.only("gopls")
    planted.program(str(planted.tools / "go1.21.99"))
    planted.write("go.mod", "module example.com/planted\n\ngo 1.21\n\ntoolchain go1.21.99\n")
    planted.write("main.go", "package main\n\nfunc main() {}\n")
    with lspkit.Workspace(planted.project, trusted=trusted) as ws:
        checked = ws.submit(ws.check, "main.go", timeout=TIMEOUT)
        if trusted:
            planted.wait_for("/go1.21.99 ", TIMEOUT)
        else:
            checked.result(TIMEOUT)
            assert planted.ran == []


@pytest.mark.parametrize(
    ("server", "place", "file"),
    [
        ("pyright", "node_modules/.bin/pyright-langserver", "main.py"),
        ("ty", ".venv/bin/ty", "main.py"),
        ("ruff", "venv/bin/ruff", "main.py"),
        ("typescript-7", "node_modules/.bin/tsc", "main.ts"),
    ],
)
def test_in_a_trusted_project_its_own_server_comes_first(
    planted: Planted, server: str, place: str, file: str
) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server)
    planted.write("main.py", 'import os\nnumber: int = "x"\n')
    planted.write("main.ts", 'export const number: number = "x";\n')
    real = planted.tools / Path(place).name
    own = planted.program(place, then=f'exec {real} "$@"')
    with lspkit.Workspace(planted.project, trusted=True) as ws:
        assert found(ws, file) != ""
        row = row_of(ws, server)
    assert (row.trust, row.command[0]) == ("trusted", str(own))
    assert any(f"/{place} " in note for note in planted.ran)


@pytest.mark.parametrize(
    "server",
    [
        "basedpyright",
        "pyright",
    ],
)
def test_in_a_trusted_project_its_own_interpreter_is_asked_for_packages(
    planted: Planted, server: str
) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server)
    venv.create(planted.project / ".venv", symlinks=True)
    [packages] = (planted.project / ".venv").glob("lib/python*/site-packages")
    (packages / "installed.py").write_text("answer: int = 42\n", encoding="utf-8")
    planted.write("main.py", "import installed\n\ntext: str = installed.answer\n")
    (planted.project / ".venv" / "bin" / "python").unlink()
    planted.program(".venv/bin/python", then='exec "${0}3" "$@"')
    with lspkit.Workspace(planted.project, trusted=True) as ws:
        assert '"int" is not assignable to declared type "str"' in found(ws, "main.py")
    assert any("/.venv/bin/python " in note for note in planted.ran)


def eslint_project(planted: Planted) -> None:
    """A project with an eslint of its own, whose configuration leaves a note."""
    real_servers.require("eslint")
    planted.install("eslint")
    planted.only("eslint")
    rules = '{ files: ["**/*.js"], rules: { "no-unused-vars": "error" } }'
    note = planted.javascript("eslint.config.cjs")
    planted.write("eslint.config.cjs", f"{note}module.exports = [{rules}];\n")
    planted.write("src/main.js", "const unused = 1;\n")
    modules = planted.project / "node_modules"
    modules.mkdir()
    (modules / "eslint").symlink_to(real_servers.NODE_MODULES / "eslint")


def test_in_a_trusted_project_eslint_runs_with_its_configuration(planted: Planted) -> None:
    eslint_project(planted)
    with lspkit.Workspace(planted.project, trusted=True) as ws:
        assert "never used" in found(ws, "src/main.js")
    assert planted.ran == ["script eslint.config.cjs"]


def test_a_project_that_was_trusted_on_the_command_line_may_run_its_code(planted: Planted) -> None:
    eslint_project(planted)
    planted.lspkit("trust", "add", planted.project, "--yes")
    assert planted.ran == []
    with lspkit.Workspace(planted.project) as ws:
        assert "never used" in found(ws, "src/main.js")
        assert row_of(ws, "eslint").trust == "trusted"
    assert planted.ran == ["script eslint.config.cjs"]
    planted.lspkit("trust", "remove", planted.project)
    with lspkit.Workspace(planted.project) as ws:
        assert row_of(ws, "eslint").trust == "untrusted"


@pytest.fixture
def nested(planted: Planted) -> Planted:
    """A user, a repository that is trusted, and somebody else's clone in it."""
    planted.write(".git/HEAD", "")
    planted.write("clone/.git/HEAD", "")
    return planted


def trust_repository(planted: Planted, server: str) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server, security={"trustedProjectRoots": [str(planted.project)]})


def database(planted: Planted, folder: Path) -> str:
    tool = planted.program(f"{folder.relative_to(planted.project)}/bin/offload-arch")
    arguments = ["clang++", "-DFROM_DATABASE", "-fopenmp", "--offload-arch=native"]
    arguments += [f"--offload-arch-tool={tool}", "-c", "main.cpp"]
    return json.dumps([{"directory": str(folder), "file": "main.cpp", "arguments": arguments}])


SOURCE = "#ifndef FROM_DATABASE\n#error no database\n#endif\nint area() { return missing; }\n"


def test_clangd_does_not_follow_the_database_of_a_clone_in_a_trusted_repository(
    nested: Planted,
) -> None:
    trust_repository(nested, "clangd")
    clone = nested.project / "clone"
    nested.write("compile_commands.json", "[]")
    nested.write("clone/build/compile_commands.json", database(nested, clone))
    nested.write("main.cpp", "int one;\n")
    nested.write("clone/src/main.cpp", SOURCE)
    with lspkit.Workspace(nested.project) as ws:
        assert ws.check("main.cpp", timeout=TIMEOUT).verdict == "clean"
        report = ws.check("clone/src/main.cpp", timeout=TIMEOUT)
        assert any("missing" in one.message for one in report.diagnostics)
        assert nested.ran == []
        roots = {one.root for row in ws.status().rows for one in row.roots}
    assert roots == {str(nested.project), str(clone)}


def test_svelte_does_not_run_the_configuration_of_a_clone_in_a_trusted_workspace(
    nested: Planted,
) -> None:
    trust_repository(nested, "svelte")
    nested.write("pnpm-workspace.yaml", "packages: []\n")
    nested.write("clone/svelte.config.js", nested.javascript("svelte.config.js"))
    nested.write("clone/package.json", "{}")
    nested.write("clone/main.svelte", "<p>hello</p>\n")
    with lspkit.Workspace(nested.project) as ws:
        with pytest.raises(ServerUnavailableError, match="held back") as caught:
            ws.document_symbols("clone/main.svelte", timeout=TIMEOUT)
        assert f"lspkit trust add {nested.project}/clone" in caught.value.message
    assert nested.ran == []
