"""The page about the command line: its examples print what it shows, and no command is left out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.test_json_output import commands

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")

#: Stands for any text in an output; alone on a line, for any lines.
ANYTHING = "…"


def examples() -> list[tuple[str, str]]:
    """Each command of the page with the output below it."""
    found: list[tuple[str, str]] = []
    for line in PAGE.split("\n"):
        if line.startswith("    $ lspkit "):
            found.append((line.removeprefix("    $ lspkit "), ""))
        elif found and line.startswith("    ") and "$(" not in line:
            words, output = found[-1]
            found[-1] = (words, f"{output}{line[4:]}\n")
        elif line.startswith(("#", "```")):  # another section, or a block of its own
            found.append(("", ""))
    return [one for one in found if one[0]]


def pattern(output: str) -> str:
    parts = []
    for line in output.splitlines():
        any_text = re.escape(line).replace(re.escape(ANYTHING), ".*")
        parts.append("(?:.*\n)*" if line == ANYTHING else f"{any_text}\n")
    return "".join(parts)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize(("words", "output"), examples(), ids=[words for words, _ in examples()])
def test_an_example_prints_what_the_page_shows(with_ty, tmp_path, words, output):
    folder = tmp_path / "broken_project"
    shutil.copytree(ROOT / "examples" / "broken_project", folder)
    done = with_ty(*words.split(), cwd=folder, LSPKIT_STATE=str(tmp_path / "state"))
    printed = done.stdout or done.stderr
    assert re.fullmatch(pattern(output), printed), printed


def test_every_command_has_an_example():
    shown = {words.split()[0] for words, _ in examples()}
    assert shown == set(commands()) - {"completion", "serve", "hook", "mcp"}
    assert all(words in PAGE for words in ("lspkit completion bash", "lspkit serve", "lspkit hook"))
