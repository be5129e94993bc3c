"""The project's own files decide which of several type checkers runs. Nothing is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lspkit.config import read_config
from lspkit.servers.restriction.trust_profile import ALL, Permit
from lspkit.servers.selection.choose import Choice, choose, unfit_programs
from lspkit.servers.selection.project_tools import major_of

UNTRUSTED = Permit(False, "untrusted", "lspkit trust add")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs outside of the project."""
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def write(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def add_programs(folder: Path, *names: str) -> None:
    for name in names:
        write(folder / name).chmod(0o755)


def npm_program(folder: Path, name: str, package: str, version: str) -> None:
    """A program of an npm package, as npm installs it."""
    installed = folder / "node_modules" / package
    write(installed / "package.json", json.dumps({"name": package, "version": version}))
    script = write(installed / "bin" / name)
    script.chmod(0o755)
    (folder / name).symlink_to(script)


def chosen(project: Path, name: str, programs: Path, permit: Permit = ALL) -> Choice:
    """The one server for a file of a project."""
    [choice] = choose(
        str(project / name),
        str(project),
        read_config({}),
        [str(programs)],
        permits=lambda _: permit,
    )
    return choice


# TypeScript: the compiler of the project


@pytest.mark.parametrize(
    ("version", "server"),
    [("7.0.2", "typescript-7"), ("5.9.3", "typescript"), ("8.0.0-dev.1", "typescript-7")],
)
def test_the_installed_compiler_decides_whatever_package_json_says(
    project, programs, version, server
):
    add_programs(programs, "typescript-language-server", "tsgo")
    write(project / "package.json", '{"devDependencies": {"typescript": "^6.0.0"}}')
    installed = project / "node_modules" / "typescript" / "package.json"
    write(installed, json.dumps({"name": "typescript", "version": version}))
    choice = chosen(project, "packages/a/src/b.ts", programs)
    assert choice.id == server
    assert choice.why == f"the project has typescript {version} in node_modules"


@pytest.mark.parametrize(
    ("wanted", "server"),
    [
        ("^7.0.0", "typescript-7"),
        (">=7", "typescript-7"),
        ("^5.0.0 || ^7.0.0", "typescript-7"),
        ("7 || 5", "typescript-7"),
        (">=5 <=7", "typescript-7"),
        (">=5", "typescript"),  # it may be any: the first
        ("npm:@typescript/native-preview@7.0.0-dev.1", "typescript-7"),
        ("~5.9.3", "typescript"),
        ("latest", "typescript"),
        ("workspace:*", "typescript"),
    ],
)
def test_without_node_modules_the_range_decides(project, programs, wanted, server):
    add_programs(programs, "typescript-language-server", "tsgo")
    write(project / "package.json", json.dumps({"devDependencies": {"typescript": wanted}}))
    assert chosen(project, "a.ts", programs).id == server


def test_no_other_server_stands_in_for_the_one_of_the_compiler(project, programs):
    add_programs(programs, "typescript-language-server", "vtsls")
    write(project / "package.json", '{"devDependencies": {"typescript": "^7.0.0"}}')
    choice = chosen(project, "a.ts", programs)
    assert (choice.id, choice.argv, choice.by_compiler) == ("typescript-7", (), True)


def test_of_a_project_that_says_nothing_the_first_server_runs(project, programs):
    write(project / "package.json", "[")
    add_programs(programs, "tsgo")
    assert chosen(project, "a.ts", programs).id == "typescript-7"
    add_programs(programs, "vtsls")
    assert chosen(project, "a.ts", programs).id == "vtsls"


def test_a_tsc_counts_only_in_a_version_that_is_a_server(project, programs):
    npm_program(programs, "tsc", "typescript", "5.9.3")
    assert chosen(project, "a.ts", programs).argv == ()
    npm_program(project / "node_modules" / ".bin", "tsc", "typescript", "7.0.2")
    choice = chosen(project, "a.ts", programs)
    assert choice.id == "typescript-7"
    assert choice.argv[0] == str(project / "node_modules" / ".bin" / "tsc")
    # It is the project's own.
    assert chosen(project, "a.ts", programs, UNTRUSTED).argv == ()


@pytest.mark.parametrize(
    ("wanted", "major"),
    [
        *[("7.0.2", 7), ("v5", 5), ("^10.1", 10), ("*", None), ("", None), ("9" * 5000, 999999)],
        *[("7 || 5", 7), ("5 || *", None), (">=5", None), (">=7", 7), (">=5 || 7", None)],
        *[(">=4.8.4 <6.0.0", 5), (">=5 <7.1.0", 7), (">=5 <=7.0.0", 7), ("<7", 6)],
    ],
)
def test_the_highest_major_version_of_a_range(wanted, major):
    assert major_of(wanted, newest=7) == major


def test_a_version_of_a_stranger_is_cut_and_shown_on_one_line(project, programs):
    add_programs(programs, "typescript-language-server", "tsgo")
    wanted = "^7.0.0\n\x1b[31mall is well " + "x" * 1000
    write(project / "package.json", json.dumps({"devDependencies": {"typescript": wanted}}))
    choice = chosen(project, "a.ts", programs)
    assert choice.why.startswith("the project requires typescript ^7.0.0\\n\\x1b[31mall is well x")
    assert len(choice.why) < 120
    npm_program(programs, "tsc", "typescript", "5\n" + "x" * 1000)
    [why] = unfit_programs(choice.definition, [str(programs)])
    assert "typescript 5\\nx" in why
    assert len(why) < len(str(programs)) + 120


# Python: the checker that the project configures

CHECKERS = ("ty", "pyright-langserver", "basedpyright-langserver", "pyrefly", "zuban")
_KEY = ".".join("a" * 60)
#: Tables that are nested more deeply than calls may be.
DEEP = "z = " + ("{" + _KEY + " = ") * 20 + "1" + "}" * 20 + "\n"


@pytest.mark.parametrize(
    ("files", "server", "why"),
    [
        ({"pyrightconfig.json": "{}"}, "pyright", "has pyrightconfig.json"),
        ({"ty.toml": ""}, "ty", "has ty.toml"),
        ({"pyrefly.toml": ""}, "pyrefly", "has pyrefly.toml"),
        ({"pyproject.toml": "[tool.pyright]\nstrict = []"}, "pyright", "has [tool.pyright] in"),
        ({"pyproject.toml": "[tool.basedpyright]"}, "basedpyright", "has [tool.basedpyright] in"),
        ({"pyproject.toml": "[tool.pyrefly.errors]"}, "pyrefly", "has [tool.pyrefly] in"),
        ({"pyproject.toml": "[tool.zuban]"}, "zuban", "has [tool.zuban] in"),
        (
            {"pyproject.toml": '[dependency-groups]\ndev = ["ruff", "BasedPyright>=1.30"]'},
            "basedpyright",
            "requires basedpyright in pyproject.toml",
        ),
        (
            {"pyproject.toml": '[project.optional-dependencies]\ndev = ["pyrefly==1"]'},
            "pyrefly",
            "requires pyrefly in pyproject.toml",
        ),
        (
            {"pyproject.toml": '[tool.poetry.group.dev.dependencies]\npyright = "^1.1"'},
            "pyright",
            "requires pyright in pyproject.toml",
        ),
        (
            {"requirements-dev.txt": "pytest\npyright[nodejs]==1.1 # pinned\n"},
            "pyright",
            "requires pyright in requirements-dev.txt",
        ),
        (
            {"pyproject.toml": DEEP + '[dependency-groups]\ndev = ["pyrefly"]'},
            "pyrefly",
            "requires pyrefly in pyproject.toml",
        ),
        ({".venv/bin/pyrefly": ""}, "pyrefly", "has .venv/bin/pyrefly"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("permit", [ALL, UNTRUSTED], ids=["trusted", "untrusted"])
def test_the_checker_that_the_project_uses_runs(project, programs, files, server, why, permit):
    add_programs(programs, *CHECKERS)
    for name, text in files.items():
        write(project / name, text)
    choice = chosen(project, "src/package/a.py", programs, permit)
    if permit is UNTRUSTED and server in ("pyrefly", "zuban"):  # not tried with planted programs
        assert (choice.id, choice.instead_of) == ("ty", server)
        assert choice.why.endswith(f"but {server} cannot run")
    else:
        assert choice.id == server
        assert choice.why.startswith(f"the project {why}")


def test_a_configuration_is_a_stronger_sign_than_a_requirement_and_that_than_a_program(
    project, programs
):
    add_programs(programs, *CHECKERS)
    write(project / ".venv" / "bin" / "ty")
    assert chosen(project, "a.py", programs).id == "ty"
    write(project / "requirements.txt", "pyrefly\n")
    assert chosen(project, "a.py", programs).id == "pyrefly"
    write(project / "pyproject.toml", "[tool.pyright]")
    assert chosen(project, "a.py", programs).id == "pyright"


def test_of_two_folders_with_a_configuration_the_nearer_one_decides(project, programs):
    add_programs(programs, *CHECKERS)
    write(project / "pyproject.toml", "[tool.pyright]")
    write(project / "packages" / "a" / "pyproject.toml", "[tool.pyrefly]")
    assert chosen(project, "packages/a/x.py", programs).id == "pyrefly"
    assert chosen(project, "packages/b/x.py", programs).id == "pyright"


def test_another_checker_stands_in_for_one_that_is_not_installed(project, programs):
    write(project / "pyproject.toml", "[tool.pyright]")
    choice = chosen(project, "a.py", programs)
    assert (choice.id, choice.argv) == ("pyright", ())
    add_programs(programs, "ty", "basedpyright-langserver")
    choice = chosen(project, "a.py", programs)
    assert (choice.id, choice.instead_of) == ("ty", "pyright")
    assert choice.why.endswith("in pyproject.toml, but pyright is not installed")


@pytest.mark.parametrize(
    "text", ["[tool.pyright", "[tool]\npyright = 1", 'tool = "pyright"', "x = " + "[" * 5000, "\0"]
)
def test_a_project_file_that_is_not_as_expected_does_no_harm(project, programs, text):
    add_programs(programs, "ty", "pyright-langserver")
    write(project / "pyproject.toml", text)
    assert chosen(project, "a.py", programs).id in ("ty", "pyright")


def test_of_a_project_that_configures_none_the_first_runs(project, programs):
    write(project / "pyproject.toml", "[project]\ndependencies = []\n[tool.mypy]\nstrict = true")
    order = ("ty", "pyright", "basedpyright", "pyrefly", "zuban")
    for server, program in reversed(list(zip(order, CHECKERS, strict=True))):
        add_programs(programs, program)
        assert chosen(project, "a.py", programs).id == server
    why = "the project configures none, and it is the first of ty, pyright, basedpyright"
    assert chosen(project, "a.py", programs).why.startswith(why)
