"""What `lspkit --version` and the parser load: nothing that only a command needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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
    "lspkit.cli.query",
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
