"""What `lspkit --version` and the parser load: nothing that only a command needs."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pytest

from lspkit.cli import build_parser

#: Prints what the command line loads in addition to `import lspkit`.
PROGRAM = """if True:
    import contextlib, io, json, sys, lspkit
    before = set(sys.modules)
    from lspkit.cli import main
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(sys.argv[1:])
    print(json.dumps(sorted(set(sys.modules) - before)))
"""
#: What commands need when they run.
HEAVY = {"workspace", "runtime", "operations", "servers", "config", "service", "edits"}
LATE = {
    "lspkit.cli.query_command",
    "lspkit.cli.check",
    "lspkit.cli.open_workspace",
    "subprocess",
    "msgspec",
}


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["hover", "--help"], []], ids=str)
def test_only_the_parser_is_loaded(words):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(json.loads(done.stdout))
    assert "lspkit.cli.command_table" in loaded
    parts = {name.split(".")[1] for name in loaded if name.startswith("lspkit.")}
    assert parts & HEAVY == set()
    assert loaded & LATE == set()


def helps(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The help of each command that a parser knows."""
    [found] = [one for one in parser._actions if isinstance(one.choices, dict)]
    return {name: command.format_help() for name, command in found.choices.items()}


def test_the_parser_of_one_command_is_the_same_as_among_all():
    every = helps(build_parser())
    assert {"check", "config", "trust"} < set(every)
    for name in every:
        assert helps(build_parser(name)) == {name: every[name]}


@pytest.mark.parametrize("word", ["chek", "--help", ""])
def test_a_word_that_is_no_command_gets_the_parser_of_all(word):
    assert helps(build_parser(word)) == helps(build_parser())


def test_the_help_is_as_wide_as_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    narrow = helps(build_parser("check"))["check"]
    monkeypatch.setenv("COLUMNS", "120")
    wide = helps(build_parser("check"))["check"]
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.split() == wide.split()
    assert len(narrow.splitlines()) > len(wide.splitlines())
