"""What the documentation shows is true: its code runs, its pictures are drawn from the code."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lspkit.cli import build_parser
from tests import test_layers
from tests.service.conftest import site as site

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(match[1], id=f"{page.name}-{number}")
    for page in PAGES
    for number, match in enumerate(
        re.finditer(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S), 1
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS)
def test_every_block_of_python_runs(site, code):
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", code],
        cwd=ROOT,
        # With a place of its own for a service, which ends with the test.
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": site.environ["XDG_RUNTIME_DIR"],
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr


JSON_BLOCKS = [
    pytest.param(match[1], id=f"{page.name}-{number}")
    for page in PAGES
    for number, match in enumerate(
        re.finditer(r"^```json\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S), 1
    )
]


@pytest.mark.parametrize("text", JSON_BLOCKS)
def test_every_block_of_json_is_valid(text):
    assert json.loads(text)


def mcp_commands() -> Iterator[Any]:
    """The commands in the settings of MCP clients."""
    for block in JSON_BLOCKS:
        (text,) = block.values
        plain = json.loads(text)
        servers = plain.get("mcpServers") or plain.get("servers") or {}
        for number, server in enumerate(servers.values()):
            yield pytest.param(server["command"], server["args"], id=f"{block.id}-{number}")


@pytest.mark.parametrize(("command", "arguments"), list(mcp_commands()))
def test_every_command_of_an_mcp_client_is_one_of_lspkit(command, arguments):
    assert Path(command).name == "lspkit"
    assert build_parser().parse_args(arguments).command == "mcp"


def test_there_are_settings_for_mcp_clients():
    assert len(list(mcp_commands())) >= 5


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
