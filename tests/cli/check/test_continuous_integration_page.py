"""The page about continuous integration: its blocks are valid, and its commands are understood."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lspkit.cli import build_parser

PAGE = Path(__file__).resolve().parents[3] / "docs" / "continuous-integration.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(one) for one in re.findall(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S)]


def values(block: Any) -> Iterator[str]:
    if isinstance(block, dict):
        for value in block.values():
            yield from values(value)
    elif isinstance(block, list):
        for value in block:
            yield from values(value)
    elif isinstance(block, str):
        yield block


def commands() -> list[str]:
    in_blocks = [one for block in BLOCKS for one in values(block)]
    lines = [*in_blocks, *re.findall(r"^    (lspkit .*)$", TEXT, re.M)]
    return [line.partition(" > ")[0] for line in lines if line.startswith("lspkit check ")]


def test_there_are_two_workflows_and_a_hook():
    assert [set(block) & {"jobs", "repos"} for block in BLOCKS] == [{"jobs"}, {"jobs"}, {"repos"}]


@pytest.mark.parametrize("block", BLOCKS[:2], ids=["annotations", "sarif"])
def test_a_workflow_has_what_the_runner_needs(block):
    # YAML 1.1 reads the key `on` as a bool.
    assert {"name", True, "permissions", "jobs"} == set(block)
    for job in block["jobs"].values():
        assert set(job) == {"runs-on", "steps"}
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert set(step) <= {"uses", "run", "with", "id", "if", "continue-on-error"}


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_is_understood(command):
    words = shlex.split(command)[1:]
    if "." not in words:
        words.append("a.py")  # as pre-commit does
    arguments = build_parser().parse_args(words)
    assert arguments.command == "check"


def test_all_kinds_of_commands_are_shown():
    assert len(commands()) == 4
    assert {"github", "sarif"} <= set(re.findall(r"--format (\w+)", " ".join(commands())))
