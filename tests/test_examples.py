"""The example agents run, and the page about hooks shows what the first of them really says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "hooks.md"
#: Programs, and the package that each needs.
AGENTS = {
    "function_calling.py": "lspkit",
    "with_smolagents.py": "smolagents",
    "with_langchain.py": "langchain",
}
#: What `make demo` runs.
DEMO = "demo.py"

pytestmark = [pytest.mark.slow, pytest.mark.server]


def transcript(program: str) -> str:
    """What the program says; it has to end well."""
    for needed in (AGENTS.get(program, "lspkit"), "ty"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", f"examples/{program}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", AGENTS)
def test_the_model_makes_a_mistake_and_mends_it_in_its_next_turn(program):
    turns = re.split(r"^(?=\w+:$)", transcript(program), flags=re.M)[1:]
    told = [number for number, turn in enumerate(turns) if "<diagnostics" in turn]
    assert len(told) == 1
    said, mended, answer, end = turns[told[0] :]
    assert said.startswith("tool:\n    Wrote 5 lines to receipt.py.\n\n    The edit was applied. ")
    assert re.search(r"^    ERROR \[5:\d+\] .*float", said, re.M)
    assert mended.startswith("model:\n    edit_file(")
    assert answer == "tool:\n    Edited receipt.py.\n"
    assert end == "model:\n    receipt.py is there, and no errors are left.\n"


def test_the_page_about_hooks_shows_the_transcript():
    shown = re.search(r"^```text\n(user:\n.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert shown is not None
    # The words of a server change with its versions; the place does not.
    words = re.compile(r"(ERROR \[\d+:)\d+\] .*")
    said = transcript("function_calling.py")
    assert words.sub(r"\1", shown[1]) == words.sub(r"\1", said)


def test_the_demo_finds_the_mistakes_and_ends_with_none():
    said = transcript(DEMO)
    assert "prices.py:6:5" in said
    assert said.count("ERROR [21:18]") == 2
    assert said.rstrip().rpartition("\n── ")[2].splitlines()[1].strip() == "shop.py: no errors"
