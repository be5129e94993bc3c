"""What the documentation shows is true: its code runs, its pictures are drawn from the code."""

from __future__ import annotations

import doctest
import functools
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lspkit.cli import build_parser
from lspkit.servers.built_in import BUILT_IN
from tests import test_layers
from tests.doc_blocks import (
    ELSEWHERE,
    HELD,
    PAGES,
    PARSED,
    ROOT,
    RUN,
    SHELL,
    all_blocks,
    commands_of,
)
from tests.doc_blocks import main as blocks_main
from tests.real.tiny_projects import TINY
from tests.service.conftest import site as site

BLOCKS = all_blocks()


def params(*languages: str) -> list[Any]:
    """The blocks in these languages that are run here."""
    here = [one for one in BLOCKS if one.language in languages and one.run_by() == RUN]
    return [pytest.param(one, id=one.name) for one in here]


def test_every_block_of_code_is_run_by_a_test(capsys):
    blocks_main()
    assert capsys.readouterr().out.endswith("pages, 0 not run by a test\n")
    for (page, _), test in HELD.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    for test in ELSEWHERE.values():
        assert (ROOT / test).exists()


@pytest.mark.slow
@pytest.mark.parametrize("block", params("python"))
def test_every_block_of_python_runs(site, block):
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", block.text],
        cwd=ROOT,
        # With a place of its own for a service, which ends with the test.
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": site.environ["XDG_RUNTIME_DIR"],
            "XDG_STATE_HOME": site.environ["XDG_STATE_HOME"],
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr


#: Commands that print nothing: the input of a server has ended, a file has no new error.
SILENT = ("lspkit mcp", "echo ")


def status_of(command: str) -> int:
    """The exit status of a command in the broken project."""
    words = command.partition("#")[0]
    return int(words.startswith("lspkit check") and "--new-since" not in words)


#: The project is a repository whose branch is known on its host.
GIT = (
    "init --quiet",
    "add .",
    "-c user.name=x -c user.email=x@x commit --quiet --message x",
    "update-ref refs/remotes/origin/main HEAD",
)


@pytest.mark.slow
@pytest.mark.parametrize("block", params(*SHELL))
def test_every_command_runs(site, tmp_path, block):
    """In a copy of the broken project: a check has findings, and any other command succeeds."""
    project, home = tmp_path / "broken_project", tmp_path / "home"
    shutil.copytree(ROOT / "examples" / "broken_project", project)
    (home / "code" / "site").mkdir(parents=True)
    for words in GIT:
        subprocess.run(["git", *words.split()], cwd=project, check=True, timeout=30)
    environ = {
        **{name: value for name, value in site.environ.items() if name != "LSPKIT_CONFIG"},
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for command in commands_of(block):
        if not command.startswith(tuple(ELSEWHERE)):
            # There is no terminal on which it could ask.
            command = command.replace("lspkit trust ", "lspkit trust --yes ")
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=project,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=100,
                check=False,
            )
            assert done.returncode == status_of(command), f"{command}: {done.stderr}"
            assert done.stdout or done.stderr or command.startswith(SILENT), command
            assert "Traceback" not in done.stderr


PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("block", params(*PARSED))
def test_every_block_of_data_is_valid(block):
    assert PARSERS[block.language](block.text)


def mcp_commands() -> Iterator[Any]:
    """The commands in the settings of MCP clients."""
    for block in BLOCKS:
        plain = json.loads(block.text) if block.language == "json" else {}
        if not isinstance(plain, dict):
            continue
        servers = plain.get("mcpServers") or plain.get("servers") or {}
        if not isinstance(servers, dict):
            continue
        for number, server in enumerate(servers.values()):
            yield pytest.param(server["command"], server["args"], id=f"{block.name}-{number}")


@pytest.mark.parametrize(("command", "arguments"), list(mcp_commands()))
def test_every_command_of_an_mcp_client_is_one_of_lspkit(command, arguments):
    assert Path(command).name == "lspkit"
    assert build_parser().parse_args(arguments).command == "mcp"


def test_there_are_settings_for_mcp_clients():
    assert len(list(mcp_commands())) >= 5


@functools.cache
def sources() -> dict[Path, str]:
    """The text of each module."""
    return {path: path.read_text(encoding="utf-8") for path in (ROOT / "lspkit").rglob("*.py")}


@functools.cache
def draw() -> Any:
    """The tool that draws the pictures, with its tables."""
    spec = importlib.util.spec_from_file_location("draw", ROOT / "tools" / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pictures_show_what_the_code_does():
    for name, picture in draw().PICTURES.items():
        drawn = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert drawn == picture(), f"run: python tools/draw.py ({name} is out of date)"


def test_the_walks_are_on_the_page_as_they_are_tested():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for heading, steps in draw().WALKS.items():
        section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        assert f"```text\n{draw().walk(steps)}```" in section, "run: python tools/draw.py"


@pytest.mark.slow
def test_the_picture_of_an_answer_shows_what_the_commands_print(tmp_path):
    tool = ROOT / "tools" / "draw_terminal.py"
    subprocess.run([sys.executable, tool, tmp_path], cwd=ROOT, check=True, timeout=100)
    drawn, committed = (
        re.findall(r"<text [^>]*>([^<]*)<", (folder / "answer.svg").read_text(encoding="utf-8"))
        for folder in (tmp_path, ROOT / "docs")
    )
    assert drawn == committed, f"run: python {tool}"


def test_the_layers_are_drawn_as_they_are_held():
    drawn = [names for names, _ in draw().LAYERS]
    ranks = [test_layers.RANK[name] for names in drawn for name in names]
    assert ranks == sorted(ranks)
    folders = {path.parent.name for path in (ROOT / "lspkit").glob("*/__init__.py")}
    assert folders - {name for names in drawn for name in names} == {test_layers.TESTING}
    assert tuple((name,) for name, _ in draw().FLOORS) == test_layers.FLOORS


#: What is written like a path of the checkout, in words and in commands.
PATH_WORDS = re.compile(r"(?<![\w/.-])((?:lspkit|tests|property_tests|tools|docs)/(?:[\w./-]*\w)?)")


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(page):
    named = PATH_WORDS.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_what_to_start_with_is_where_the_page_says():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("\n## Where to start\n")[2].partition("\n## ")[0]
    places = re.findall(r"((?:`\w+`(?:, | and )?)+) (?:in|of) `(lspkit/[^`]+)`", section)
    assert len(places) >= 10
    for names, file in places:
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(?:def |^){name}\b", text, re.M), f"{name} is not in {file}"


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_reference_is_written_from_the_code(tmp_path):
    """With a new interpreter, whose parser does not know the width of this terminal."""
    tool = ROOT / "tools" / "write_reference.py"
    subprocess.run([sys.executable, tool, tmp_path], cwd=ROOT, check=True, timeout=100)
    for page in tmp_path.iterdir():
        committed = (ROOT / "docs" / page.name).read_text(encoding="utf-8")
        assert committed == page.read_text(encoding="utf-8"), f"run: python {tool}"


def test_the_number_of_servers_is_right():
    numbers = (
        f"[{len(BUILT_IN) - 1} other servers](docs/servers.md)",
        f"our tests run {len(TINY)} of these servers",
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert [words for words in numbers if words not in readme] == []
    assert f"- {len(BUILT_IN)} servers as data" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_glossary_is_short_and_its_words_are_those_of_the_code():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*(\w+)\* \|", page, re.M)
    assert 10 < len(words) <= 25
    assert len(set(words)) == len(words)
    names = set(re.split(r"[\W_]+", "\n".join(sources().values())))
    assert [word for word in words if word not in names] == []


def test_the_examples_of_docstrings_are_true():
    shown = [path.relative_to(ROOT) for path, text in sources().items() if ">>> " in text]
    assert shown
    for path in shown:
        module = importlib.import_module(".".join(path.with_suffix("").parts))
        done = doctest.testmod(module, raise_on_error=True)
        assert done.attempted, f"no example of {path} was run"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    done = subprocess.run(
        # Without `--quiet`, which hides warnings from `--strict`.
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    assert (tmp_path / "index.html").exists()
