"""The version of a program, which is asked for it."""

from __future__ import annotations

from pathlib import Path

from lspkit.install.program_version import version_of
from lspkit.servers.built_in import BUILT_IN
from tests.runtime.process_trees import ends

[GOPLS] = [one for one in BUILT_IN if one.id == "gopls"]


def make_program(folder: Path, script: str) -> str:
    program = folder / "gopls"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_a_program_that_is_too_slow_leaves_no_process(tmp_path: Path) -> None:
    # The shell waits for a process of its own.
    slow = f"sh -c 'echo $$ > {tmp_path}/pid; exec sleep 321'"
    program = make_program(tmp_path, f"{slow}; echo 1.2.3")
    fault = "it does not print its version within 2 s"
    assert version_of(GOPLS, program, {}, timeout=2.0) == ("", fault)
    assert ends(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_the_version_is_that_in_the_output(tmp_path: Path) -> None:
    program = make_program(tmp_path, 'echo "$1 of gopls is v1.2.3-rc"')
    assert version_of(GOPLS, program, {}) == ("1.2.3-rc", "")
