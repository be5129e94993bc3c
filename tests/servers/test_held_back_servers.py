"""What is held back from a project that is not trusted, and the line that says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.config.load import Loaded, load
from lspkit.config.trust.decision import TrustDecision
from lspkit.servers.restriction.held_back_servers import NAMED, held_back, notice, worded
from lspkit.servers.selection.choose import aliases


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that nobody has trusted, of a user without servers of their own."""
    home, folder = tmp_path.resolve() / "home", tmp_path.resolve() / "project"
    home.mkdir()
    folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LSPKIT_STATE", str(home / "state"))
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.delenv("LSPKIT_TRUST")
    return folder


@pytest.fixture
def bare_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where also the running interpreter brings no servers along."""
    monkeypatch.setattr(sys, "executable", str(project.parent / "home" / "python"))
    return project


def loaded(folder: Path, given: Any = None, *, trusted: bool | None = None) -> Loaded:
    return load(str(folder), given, trusted=trusted, aliases=aliases())


def program(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def configure(folder: Path, values: Any) -> None:
    file = folder / ".lspkit" / "lsp.json"
    file.parent.mkdir()
    file.write_text(json.dumps(values), encoding="utf-8")


def standing(candidate: str = "/p") -> TrustDecision:
    return TrustDecision("untrusted", "no entry trusts it", candidate, "trusted-only")


def test_the_line_says_what_is_held_back_and_what_allows_it() -> None:
    said = worded(standing("/my code"), ["lsp.x.command", ".venv/bin/ty"])
    assert said == (
        "/my code is not trusted; held back: lsp.x.command, .venv/bin/ty. "
        "To allow it: lspkit trust add '/my code' (in a terminal), or Workspace(..., trusted=True)"
    )


def test_the_line_counts_what_it_does_not_name() -> None:
    names = [f"s{number}" for number in range(NAMED + 2)]
    assert "held back: s0, s1, s2, s3, s4 and 2 more. To" in worded(standing(), names)
    assert "held back: s0, s1, s2, s3, s4. To" in worded(standing(), names[:NAMED])


def test_where_nothing_is_held_back_there_is_no_line() -> None:
    assert worded(standing(), []) == ""


def test_nothing_in_the_line_can_break_it_or_move_the_cursor() -> None:
    said = worded(standing("/p\n/q"), [".venv/bin/\x1b[2Jx"])
    assert said.isprintable()
    assert r"/p\n/q is not trusted; held back: .venv/bin/\x1b[2Jx." in said


def test_programs_of_the_project_are_held_back(project: Path) -> None:
    program(project / ".venv" / "bin" / "ty")
    assert held_back(loaded(project)) == [".venv/bin/ty"]


@pytest.mark.parametrize(
    ("server", "files"),
    [
        ("basedpyright-langserver", [".venv/bin/python"]),
        ("pyright-langserver", ["venv/bin/python"]),
        ("typescript-language-server", ["node_modules/typescript/lib/tsserver.js"]),
        ("typescript-language-server", [".yarn/sdks/typescript/lib/tsserver.js"]),
        ("clangd", [".clangd", "compile_commands.json"]),
        ("clangd", ["build/compile_commands.json"]),
        ("clangd", ["compile_flags.txt"]),
    ],
)
def test_what_a_restricted_server_would_run_or_obey_is_held_back(
    bare_project: Path, server: str, files: list[str]
) -> None:
    for file in files:
        program(bare_project / file)
    assert held_back(loaded(bare_project)) == []  # nobody would use it
    program(bare_project.parent / "home" / server)
    assert held_back(loaded(bare_project)) == files
    said = notice(loaded(bare_project))
    assert f"is not trusted; held back: {', '.join(files)}. To allow it: lspkit trust add" in said


def test_an_interpreter_is_named_only_if_the_server_that_runs_it_does(bare_project: Path) -> None:
    program(bare_project / ".venv" / "bin" / "python")
    program(bare_project.parent / "home" / "ty")
    assert held_back(loaded(bare_project)) == []
    program(bare_project.parent / "home" / "pyright-langserver")
    assert held_back(loaded(bare_project)) == []
    (bare_project / "pyrightconfig.json").write_text("{}", encoding="utf-8")
    assert held_back(loaded(bare_project)) == [".venv/bin/python"]
    configure(bare_project, {"lsp": {"ty": {"disabled": False}}})
    assert held_back(loaded(bare_project)) == []


def test_an_interpreter_is_named_for_a_server_that_is_held_back_itself(bare_project: Path) -> None:
    program(bare_project / ".venv" / "bin" / "python")
    program(bare_project / "server")
    configure(bare_project, {"lsp": {"pyright": {"command": ["./server"]}}})
    assert held_back(loaded(bare_project)) == ["lsp.pyright.command", ".venv/bin/python"]


def test_the_running_interpreter_itself_is_not_held_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = program(project / ".venv" / "bin" / "python")
    program(project.parent / "home" / "pyright-langserver")
    monkeypatch.setattr(sys, "executable", str(own))
    assert notice(loaded(project)) == ""


def test_the_folder_of_the_running_interpreter_is_not(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook that runs in the project's own environment: that server does run."""
    program(project / ".venv" / "bin" / "ty")
    link = project.with_name("link")
    link.symlink_to(project)
    monkeypatch.setattr(sys, "executable", str(link / ".venv" / "bin" / "python"))
    program(project / "node_modules" / ".bin" / "vtsls")
    assert held_back(loaded(project)) == ["node_modules/.bin/vtsls"]


def test_a_server_that_a_program_has_chosen_is_named_without_a_sign_of_the_project(
    project: Path,
) -> None:
    program(project.parent / "home" / "rust-analyzer")
    given = {"lsp": {"rust-analyzer": {"disabled": False}}}
    assert held_back(loaded(project, given)) == ["rust-analyzer"]


def test_one_whose_command_the_program_or_the_user_gives_is_not_held_back(project: Path) -> None:
    mine = program(project.with_name("tools") / "mine")
    server = {"command": [str(mine)], "extensions": [".my"], "roots": ["my.toml"]}
    (project / "my.toml").touch()
    assert held_back(loaded(project, {"lsp": {"mine": server}})) == []
    file = Path(os.environ["HOME"], ".config", "lspkit", "lsp.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"lsp": {"mine": server}}), encoding="utf-8")
    assert held_back(loaded(project)) == []


def test_a_project_of_another_language_with_the_same_markers_is_not_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin = project.parent / "home"
    program(bin / "typescript-language-server")
    (project / "package.json").write_text("{}", encoding="utf-8")
    (project / "a.ts").write_text("", encoding="utf-8")
    assert notice(loaded(project)) == ""
    package = bin / "node_modules" / "@vue" / "language-server"
    plugin = package.parent / "typescript-plugin"
    plugin.mkdir(parents=True)
    (plugin / "package.json").write_text("{}", encoding="utf-8")
    program(package / "vue-language-server")
    (package / "package.json").write_text('{"name": "@vue/language-server"}', encoding="utf-8")
    (bin / "vue-language-server").symlink_to(package / "vue-language-server")
    assert notice(loaded(project)) == ""
    (project / "src").mkdir()
    (project / "src" / "a.vue").write_text("", encoding="utf-8")
    assert held_back(loaded(project)) == ["vue", "vue-typescript"]
    (bin / "vue-language-server").unlink()
    assert notice(loaded(project)) == ""


def test_where_everything_is_turned_off_nothing_is_held_back(project: Path) -> None:
    program(project / ".venv" / "bin" / "ty")
    configure(project, {"lsp": False})
    assert held_back(loaded(project)) == []


@pytest.mark.parametrize(("trusted", "said"), [(None, True), (True, False), (False, False)])
def test_the_line_is_for_projects_about_which_nobody_has_decided(
    project: Path, trusted: bool | None, said: bool
) -> None:
    program(project / ".venv" / "bin" / "ty")
    assert bool(notice(loaded(project, trusted=trusted))) is said


def test_the_status_of_a_workspace_has_the_line(project: Path) -> None:
    program(project / ".venv" / "bin" / "ty")
    with lspkit.Workspace(project) as ws:
        [warning] = ws.status().warnings
        told = ws.status_text()
    assert warning == notice(loaded(project))
    assert told.endswith(warning)


def test_the_line_comes_before_whatever_the_project_says_wrong(project: Path) -> None:
    """Where warnings are cut, a project cannot push it out."""
    configure(project, {"lsp": {f"s{number}": {"command": ["x"]} for number in range(20)}})
    with lspkit.Workspace(project) as ws:
        first, *others = ws.status().warnings
    assert first == notice(loaded(project))
    assert len(others) >= 20


@pytest.mark.parametrize("trusted", [True, False])
def test_the_status_has_no_line_where_somebody_has_decided(project: Path, trusted: bool) -> None:
    program(project / ".venv" / "bin" / "ty")
    with lspkit.Workspace(project, trusted=trusted) as ws:
        assert ws.status().warnings == ()


def test_what_is_left_out_is_logged_once_for_each_load(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configure(project, {"lsp": {"x\x1b": {"command": ["x"], "extensions": [".x"]}}, "tming": {}})
    with lspkit.Workspace(project) as ws:
        told = ws.status().warnings[1:]
        ws.status()
        logged = [one for one in caplog.records if one.name == "lspkit.config"]
        assert [one.getMessage() for one in logged] == list(told)
        assert {one.levelname for one in logged} == {"WARNING"}
        assert any("it is left out" in one for one in told)
        assert all(one.getMessage().isprintable() for one in logged)
        ws.reload()
        assert len([one for one in caplog.records if one.name == "lspkit.config"]) == 2 * len(told)


def test_where_nobody_has_set_up_logging_nothing_is_printed(project: Path) -> None:
    configure(project, {"lsp": {"x": {"command": ["x"]}}})
    script = "import lspkit\nwith lspkit.Workspace() as ws:\n    print(len(ws.status().warnings))"
    path = os.pathsep.join(one for one in sys.path if one)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (int(done.stdout) > 1, done.stderr) == (True, "")
