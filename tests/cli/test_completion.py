"""Completion scripts: bash really completes; zsh and fish read their scripts where they exist."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lspkit.cli import build_parser
from lspkit.cli.completion_command import SCRIPTS, read_parser
from tests.cli.running import TIMEOUT
from tests.cli.test_json_output import commands

pytestmark = pytest.mark.slow

#: Completes the last of the words, as bash does when the tab key is pressed.
PRESS_TAB = """
eval "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_lspkit
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script() -> str:
    return script_for("bash")


def script_for(shell: str) -> str:
    return SCRIPTS[shell](*read_parser(build_parser()))


@pytest.fixture
def complete(script, tmp_path):
    """What bash offers for the last word, in a folder with files."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    for name in ("shop.py", "shop two.py", "sh*.py"):
        (tmp_path / name).touch()
    (tmp_path / "src").mkdir()

    def offered(*words: str) -> list[str]:
        done = subprocess.run(
            [bash, "--norc", "-c", PRESS_TAB, "bash", script, "lspkit", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
        assert done.stderr == ""
        return sorted(done.stdout.splitlines())

    return offered


def test_every_command_is_offered(complete):
    assert set(complete("")) >= {*commands(), "--version", "--debug"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["def"], ["definition"]),
        (["--debug", "re"], ["references", "rename"]),
        (["--ver"], ["--version"]),
        (["references", "--no-d"], ["--no-declaration"]),
        (["calls", "shop.py:1:1", "--o"], ["--out"]),
        (["tools", "--style", ""], ["anthropic", "json-schema", "mcp", "openai"]),
        (["tools", "--style", "=", "an"], ["anthropic"]),
        (["tools", "--style", "="], ["anthropic", "json-schema", "mcp", "openai"]),
        (["check", "--format", "j"], ["json"]),
        (["config", "s"], ["schema", "show"]),
        (["completion", ""], ["--debug", "--help", "--json", "-h", "bash", "fish", "zsh"]),
        (["hover", "sho"], ["shop two.py", "shop.py"]),
        (["hover", "sh"], ["sh*.py", "shop two.py", "shop.py"]),
        (["status", "--root", "s"], ["src"]),
        (["hover", "shop.py", "--symbol", ""], [""]),
        (["unheard", ""], [""]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bash_completes(complete, words, offered):
    assert complete(*words) == offered


def test_bash_knows_whom_to_ask(script):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    done = subprocess.run(
        [bash, "--norc", "-c", 'eval "$1"; complete -p lspkit', "bash", script],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    assert done.stdout == "complete -F _lspkit lspkit\n"


def test_the_script_is_what_the_command_prints(bare, script):
    done = bare("completion", "bash")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{script}\n", "")


def test_every_script_has_every_command_and_option():
    for shell in SCRIPTS:
        text = script_for(shell)
        assert all(name in text for name in commands())
        assert "no-declaration" in text
        assert "per-operation" in text


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_script(tmp_path: Path, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / f"lspkit.{shell}"
    file.write_text(script_for(shell), encoding="utf-8")
    subprocess.run([program, "-n", str(file)], timeout=TIMEOUT, check=True)


def test_fish_completes(tmp_path: Path):
    program = shutil.which("fish")
    if program is None:
        pytest.skip("fish is not installed")
    file = tmp_path / "lspkit.fish"
    file.write_text(script_for("fish"), encoding="utf-8")
    done = subprocess.run(
        [program, "-N", "-c", f"source {file}; complete -C 'lspkit tools --style '"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert offered == {"openai", "anthropic", "mcp", "json-schema"}
