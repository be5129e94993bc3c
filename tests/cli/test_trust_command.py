"""`lspkit trust`, as a process of its own, with and without a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lspkit.config.trust.trust_store import read_trust_list
from tests.cli.running import TIMEOUT, on_terminal

pytest.importorskip("pty")

pytestmark = pytest.mark.slow  # a process each


class User:
    """Somebody with a home folder, who types commands."""

    def __init__(self, folder: Path) -> None:
        self.home = folder.resolve()
        self.state = self.home / "state"
        self.project = self.home / "project"
        self.project.mkdir()
        self.environment = {
            "HOME": str(self.home),
            "LSPKIT_STATE": str(self.state),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "LC_ALL": "C.UTF-8",
        }

    def configure(self, **server: Any) -> None:
        file = self.project / ".lspkit" / "lsp.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"lsp": {"pyright": server}}))

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "lspkit", "trust", *map(str, words)]

    def types(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*words),
            cwd=self.project,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def answers(self, answer: bytes, *words: str | Path) -> tuple[int, str]:
        """The exit status and all that was seen on a terminal on which somebody answers."""
        return on_terminal(self.command(*words), self.project, self.environment, answer)

    @property
    def trusted(self) -> list[str]:
        return [entry.path for entry in read_trust_list(str(self.state)).entries]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


class TestAdd:
    def test_without_arguments_it_is_about_the_project_here(self, user: User) -> None:
        user.configure(command=["./server", "--stdio"])
        done = user.types("--yes")
        assert done.returncode == 0
        assert user.trusted == [str(user.project)]
        assert f"{user.project} is trusted." in done.stdout

    def test_what_the_project_would_run_is_shown(self, user: User) -> None:
        user.configure(
            command=["./server", "--stdio"],
            env={"LD_PRELOAD": "./evil.so"},
            watch=[["./watcher"]],
            settings={"python": {"pythonPath": "./python", "analysis": {"x": 1}}},
            roots=["a"],
        )
        for program in ("node_modules/.bin/eslint", "node_modules/.bin/tsc", ".venv/bin/ruff"):
            (user.project / program).parent.mkdir(parents=True, exist_ok=True)
            (user.project / program).write_text("")
        told = user.types("--yes").stdout
        assert 'lsp.pyright.command = ["./server", "--stdio"]' in told
        assert 'lsp.pyright.env.LD_PRELOAD = "./evil.so"' in told
        assert 'lsp.pyright.watch = [["./watcher"]]' in told
        assert 'lsp.pyright.settings.python.pythonPath = "./python"' in told
        assert "  node_modules/.bin/tsc" in told
        assert "  .venv/bin/ruff" in told
        assert "analysis" not in told
        assert "roots" not in told
        assert "bin/eslint" not in told  # no server of that name
        assert "later" in told

    def test_what_servers_would_run_of_it_is_shown_with_who_does(self, user: User) -> None:
        tools, files = user.home / "tools", (".venv/bin/python", "compile_commands.json")
        tools.mkdir()
        for program in (*(user.project / file for file in files), tools / "pyright-langserver"):
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        (tools / "clangd").symlink_to(tools / "pyright-langserver")
        user.configure(disabled=False)
        told = user.types("--yes", PATH=str(tools)).stdout
        assert "  .venv/bin/python (pyright)\n  compile_commands.json (clangd)\n" in told
        assert "names no program" not in told

    def test_nothing_can_hide_in_what_is_shown(self, user: User) -> None:
        user.configure(command=["./evil", "\r\x1b[2K\u202e harmless"], env={"A\x1b[1A": "x"})
        told = user.types("--yes").stdout
        assert "\x1b" not in told
        assert "\u202e" not in told
        assert r"\u001b[2K\u202e harmless" in told

    def test_a_project_without_anything_is_said_to_be_so(self, user: User) -> None:
        done = user.types("add", user.project, "--yes")
        assert "names no program" in done.stdout
        assert user.trusted == [str(user.project)]

    def test_a_link_is_stored_as_where_it_leads_to(self, user: User) -> None:
        (user.home / "link").symlink_to(user.project)
        user.types("add", user.home / "link", "--yes")
        assert user.trusted == [str(user.project)]

    def test_a_path_that_is_no_folder_is_a_mistake_in_the_call(self, user: User) -> None:
        done = user.types("add", "missing", "--yes")
        assert done.returncode == 2
        assert "missing is not a folder" in done.stderr
        assert user.trusted == []

    def test_what_others_can_change_needs_to_be_said_so(self, user: User) -> None:
        user.project.chmod(0o777)
        done = user.types("--yes")
        assert done.returncode == 2
        assert "--shared" in done.stdout
        assert user.trusted == []
        assert user.types("--yes", "--shared").returncode == 0
        assert read_trust_list(str(user.state)).entries[0].shared

    def test_what_keeps_it_from_having_an_effect_is_said(self, user: User) -> None:
        done = user.types("--yes", LSPKIT_TRUST="never")
        assert done.returncode == 0
        assert "not in force: LSPKIT_TRUST is never" in done.stdout

    def test_a_list_inside_of_the_project_has_no_effect_and_that_is_said(self, user: User) -> None:
        done = user.types("--yes", LSPKIT_STATE=str(user.project / "state"))
        assert "not in force" in done.stdout
        assert "LSPKIT_STATE names a folder of the project" in done.stdout
        done = user.types("list", LSPKIT_STATE="state")
        assert (done.returncode, done.stdout) == (2, "")
        assert "LSPKIT_STATE is state; expected an absolute path" in done.stderr


class TestAsking:
    def test_without_a_terminal_and_without_a_yes_nothing_is_trusted(self, user: User) -> None:
        done = user.types()
        assert done.returncode == 2
        assert "--yes" in done.stdout
        assert user.trusted == []

    @pytest.mark.parametrize("answer", [b"y\n", b"YES\n"])
    def test_on_a_terminal_a_yes_is_enough(self, user: User, answer: bytes) -> None:
        user.configure(command=["./server"])
        status, seen = user.answers(answer)
        assert status == 0
        assert seen.index("./server") < seen.index(f"Trust {user.project}? [y/N]")
        assert user.trusted == [str(user.project)]

    @pytest.mark.parametrize("answer", [b"\n", b"n\n", b"yup\n", b"\x04"])
    def test_everything_else_means_no(self, user: User, answer: bytes) -> None:
        status, seen = user.answers(answer)
        assert status == 1
        assert "It is not trusted." in seen
        assert user.trusted == []


class TestList:
    def test_it_says_how_each_project_stands(self, user: User) -> None:
        user.configure(command=["./server"])
        gone = user.home / "gone"
        gone.mkdir()
        for folder in (user.project, gone):
            user.types("add", folder, "--yes")
        gone.rmdir()
        assert f"{user.project}  (trusted, 2" in user.types("list").stdout
        user.configure(command=["./other"])
        told = user.types("list").stdout
        assert f"{user.project}  (stale, 2" in told
        assert f"{gone}  (missing, 2" in told

    def test_an_empty_one_is_said_to_be_so(self, user: User) -> None:
        done = user.types("list")
        assert done.returncode == 0
        assert "No project" in done.stdout

    def test_one_that_is_damaged_is_told(self, user: User) -> None:
        user.types("--yes")
        (user.state / "trust.json").write_text("{")
        done = user.types("list")
        assert "damaged" in done.stderr
        assert done.returncode == 0


class TestRemove:
    def test_what_was_removed_is_trusted_no_longer(self, user: User) -> None:
        user.types("--yes")
        done = user.types("remove")
        assert done.returncode == 0
        assert user.trusted == []

    def test_a_folder_that_is_gone_can_be_removed(self, user: User) -> None:
        gone = user.home / "gone"
        gone.mkdir()
        user.types("add", gone, "--yes")
        gone.rmdir()
        assert user.types("remove", gone).returncode == 0
        assert user.trusted == []

    def test_what_is_not_there_cannot_be_removed(self, user: User) -> None:
        done = user.types("remove", user.project)
        assert done.returncode == 2
        assert "not on the list" in done.stdout
