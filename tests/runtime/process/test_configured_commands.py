"""Servers whose command the user gives, or lets every project give, run without trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.testing import Log, Script
from tests.scripted import config_for


class User:
    """With a home, a project that nobody trusts, and a command that only one of them names."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir()
        (self.project / "a.scr").write_text("def greet\n")

    def say(self, values: dict[str, Any]) -> None:
        self._write(self.home / ".config" / "lspkit" / "lsp.json", values)

    def project_says(self, values: dict[str, Any]) -> None:
        self._write(self.project / ".lspkit" / "lsp.json", values)

    def _write(self, file: Path, values: dict[str, Any]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def warnings(self, ws: lspkit.Workspace) -> str:
        return "\n".join(ws.status().warnings)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    made = User(tmp_path)
    for name in ("LSPKIT_TRUST", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "LSPKIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made.home))
    return made


@pytest.mark.parametrize("id", ["scripted", "rust-analyzer"])
def test_policy_always_runs_what_a_project_names_known_or_not_and_warns(user, scripted, id):
    argv = scripted(Script())
    user.say({"security": {"projectConfigPolicy": "always"}})
    user.project_says({"lsp": {id: config_for(argv)["lsp"]["scripted"]}})
    with lspkit.Workspace(user.project) as ws:
        assert ws.document_symbols("a.scr")[0].name == "greet"
        assert f"lsp.{id}.command: it is applied: projectConfigPolicy is" in user.warnings(ws)
    assert len(Log.of(argv).pids()) == 1


def test_without_that_policy_it_is_held_back_and_both_ways_to_allow_it_are_named(user, scripted):
    argv = scripted(Script())
    user.project_says(config_for(argv))
    held = pytest.raises(lspkit.ServerUnavailableError)
    with lspkit.Workspace(user.project) as ws:
        with held as caught:
            ws.document_symbols("a.scr")
        told = user.warnings(ws)
    ways = f"lspkit trust add {user.project} (in a terminal), or Workspace(..., trusted=True)"
    assert ways in caught.value.message
    assert ways in told
    assert Log.of(argv).pids() == []


def test_what_the_user_has_configured_runs_in_every_project(user, scripted):
    argv = scripted(Script())
    user.say(config_for(argv))
    with lspkit.Workspace(user.project) as ws:
        assert ws.document_symbols("a.scr")[0].name == "greet"
        [row] = [one for one in ws.status().rows if one.server == "scripted"]
    assert row.trust == "configured"


@pytest.mark.parametrize("trusted", [None, False])
def test_so_does_what_the_program_has_configured(user, scripted, trusted):
    argv = scripted(Script())
    with lspkit.Workspace(user.project, config=config_for(argv), trusted=trusted) as ws:
        assert ws.document_symbols("a.scr")[0].name == "greet"


def test_what_a_trusted_project_has_configured_does_not_run_in_a_clone_in_it(user, scripted):
    argv = scripted(Script())
    user.say({"security": {"trustedProjectRoots": [str(user.project)]}})
    user.project_says(config_for(argv))
    (user.project / ".git").mkdir()
    clone = user.project / "clone"
    (clone / ".git").mkdir(parents=True)
    (clone / "a.scr").write_text("def evil\n")
    with lspkit.Workspace(user.project) as ws:
        assert ws.document_symbols("a.scr")[0].name == "greet"
        with pytest.raises(lspkit.ServerUnavailableError, match="held back"):
            ws.document_symbols("clone/a.scr")
    assert len(Log.of(argv).pids()) == 1
