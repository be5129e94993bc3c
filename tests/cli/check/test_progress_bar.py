"""The progress bar of `lspkit check`, on a real terminal and in a pipe; and the deadline."""

from __future__ import annotations

import os
from pathlib import Path

import pyte
import pytest

from lspkit.cli.check.progress_bar import progress_line
from lspkit.testing import Diagnostics, Fault, Script
from tests.cli.running import CommandLine, on_terminal
from tests.cli.shop import configured

slow = pytest.mark.slow

FILES = 200
LINES, COLUMNS = 24, 60


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for number in range(FILES):
        file = folder / f"part{number % 10}" / f"module{number}.scr"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("def greet\n", encoding="utf-8")
    return folder


def variables(bare: CommandLine, project: Path, script: Script, scripted) -> dict[str, str]:
    own = configured(
        project, "scripted", command=scripted(script), extensions=[".scr"], proof="pull"
    )
    return {**bare.environment, "TMPDIR": os.environ["TMPDIR"], "TERM": "xterm-256color", **own}


def screens(seen: str) -> list[list[str]]:
    """The screen after each drawing of the bar, and at the end, without empty lines."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    found = []
    for part in seen.split("\r\x1b[K"):
        stream.feed("\r\x1b[K" + part if found else part)
        found.append([line.rstrip() for line in screen.display if line.strip()])
    return found


@slow
def test_a_check_of_200_files_shows_its_progress_and_leaves_only_the_result(
    bare, project, scripted
):
    environment = variables(bare, project, Script(diagnostics=Diagnostics(how="pull")), scripted)
    status, seen = on_terminal(
        bare.command("check", "."), project, environment, size=(LINES, COLUMNS)
    )
    drawn = screens(seen)
    bars = [lines[0] for lines in drawn if lines and lines[0].startswith("checking ")]
    assert status == 0
    assert f"  0/{FILES}" in bars[0]
    assert len(bars) > 1
    assert all(len(lines) <= 1 for lines in drawn[:-1])
    assert drawn[-1] == [f"{FILES} files: {FILES} clean"]


@slow
def test_without_colour_there_is_none(bare, project, scripted):
    environment = variables(bare, project, Script(diagnostics=Diagnostics(how="pull")), scripted)
    _, seen = on_terminal(
        bare.command("check", "."), project, {**environment, "NO_COLOR": "1"}, size=(LINES, COLUMNS)
    )
    assert "checking" in seen
    assert "\x1b[" not in seen.replace("\x1b[K", "")


@slow
def test_in_a_pipe_there_is_no_progress(bare, project, scripted):
    environment = variables(bare, project, Script(diagnostics=Diagnostics(how="pull")), scripted)
    done = bare("check", ".", cwd=project, **environment)
    assert (done.returncode, done.stdout) == (0, f"{FILES} files: {FILES} clean\n")
    assert done.stderr == ""


@slow
def test_files_that_are_not_checked_in_time_are_unknown_and_listed(bare, project, scripted):
    for number in range(2000 - FILES):
        (project / f"more{number}.scr").write_text("def greet\n", encoding="utf-8")
    hang = Fault("textDocument/diagnostic", "hang")
    script = Script(diagnostics=Diagnostics(how="pull"), faults=[hang])
    done = bare(
        "check", "--timeout", "6", ".", cwd=project, **variables(bare, project, script, scripted)
    )
    assert done.returncode == 3
    *reasons, summary = done.stdout.splitlines()
    assert summary == "2000 files: 2000 unknown"
    assert all(one.startswith("unknown ") for one in reasons)
    assert any("the timeout expired before this file was checked" in one for one in reasons)


@pytest.mark.parametrize("width", [1, 5, 10, 20, 40, 80, 200])
@pytest.mark.parametrize("path", ["", "/else/src/app.py", "/else/" + "世界" * 60 + ".py"])
@pytest.mark.parametrize("done", [0, 1, 199, 200])
def test_the_line_is_narrower_than_the_terminal(width, path, done):
    for unicode in (True, False):
        line = progress_line(
            "checking", done, FILES, path, width=width, unicode=unicode, colour=False
        )
        screen = pyte.Screen(width, 3)
        pyte.Stream(screen).feed(line)
        assert [one for one in screen.display[1:] if one.strip()] == []
        assert unicode or line.isascii()


def test_the_bar_is_full_at_the_end():
    line = progress_line("checking", 4, 4, "", width=80, unicode=False, colour=False)
    assert line == "checking ############################## 4/4"
