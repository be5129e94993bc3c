"""The program and the variables that a server is started with."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

import psutil
import pytest

import lspkit
from lspkit.config import read_config
from lspkit.runtime.process.process_setup import environment_of
from lspkit.servers.adapters.systems_adapters import RustAnalyzer
from lspkit.servers.adapters.web_adapters import Biome
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import HARMLESS, TrustProfile, UntrustedRun
from lspkit.servers.restriction.trust_profile import Permit
from lspkit.servers.selection.choose import permitted
from lspkit.testing import Log, Script
from tests.runtime.server_log import define
from tests.scripted import config_for


@pytest.mark.parametrize("trusted", [True, False])
def test_a_relative_command_begins_at_the_workspace_if_that_is_trusted(
    tmp_path: Path, scripted, monkeypatch, trusted
):
    define(monkeypatch, trust=HARMLESS)
    (tmp_path / "a.scr").write_text("def greet\n")
    argv = scripted(Script())
    tool = tmp_path / "tools" / "server"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nexec {shlex.join(argv)}\n")
    tool.chmod(0o755)
    config = config_for(["./tools/server"])
    with lspkit.Workspace(tmp_path, config=config, trusted=trusted) as ws:
        if trusted:
            assert [one.name for one in ws.document_symbols("a.scr")] == ["greet"]
        else:
            with pytest.raises(
                lspkit.ServerUnavailableError, match=r"\./tools/server was not found"
            ):
                ws.document_symbols("a.scr")
    assert len(Log.of(argv).pids()) == trusted


@pytest.mark.parametrize("trusted", [True, False])
def test_in_an_untrusted_project_what_the_user_has_configured_leads_nowhere_into_it(
    tmp_path: Path, scripted, monkeypatch, trusted
):
    define(monkeypatch, trust=TrustProfile(untrusted=UntrustedRun(environment={"SAFE": "yes"})))
    (tmp_path / "a.scr").write_text("fine\n")
    planted = str(tmp_path / "bin")
    path = os.pathsep.join([planted, ".", os.environ["PATH"]])
    argv = scripted(Script())
    config = config_for(argv)
    config["lsp"]["scripted"]["env"] = {"PATH": path, "SAFE": "no", "MINE": "kept"}
    with lspkit.Workspace(tmp_path, config=config, trusted=trusted) as ws:
        ws.check("a.scr")
        [pid] = Log.of(argv).pids()
        environ = psutil.Process(pid).environ()
    assert environ["MINE"] == "kept"
    assert environ["SAFE"] == ("no" if trusted else "yes")
    folders = environ["PATH"].split(os.pathsep)
    assert {planted, "."} & set(folders) == ({planted, "."} if trusted else set())
    assert set(os.environ["PATH"].split(os.pathsep)) <= set(folders)


def test_a_restricted_server_gets_harmless_variables() -> None:
    own = {"PATH": ".:/bin", "PYTHONPATH": ".", "LANG": "C", "A": "1"}
    profile = UntrustedRun(environment={"A": "2", "B": "2"})
    row = Definition(id="x", family="x", languages={}, trust=TrustProfile(untrusted=profile))
    said = read_config({"lsp": {"x": {"command": ["x"], "env": {"B": "1"}}}}).server("x")
    choice = permitted(row, said, "/code", "/code", [], Permit(False, "untrusted"))
    variables = {"PATH": "/bin", "PYTHONPATH": "", "LANG": "C", "TMP": "/own", "A": "2", "B": "2"}
    variables["PYTHONSAFEPATH"] = "1"
    assert environment_of(choice, {"TMP": "/own"}, "/code", own) == variables


def test_a_restricted_server_keeps_its_temporary_folder_instead_of_one_in_the_project() -> None:
    row = Definition(id="x", family="x", languages={}, trust=HARMLESS)
    said = read_config({"lsp": {"x": {"command": ["x"], "env": {"TMP": "/code/t"}}}}).server("x")
    choice = permitted(row, said, "/code", "/code", [], Permit(False, "untrusted"))
    assert environment_of(choice, {"TMP": "/own"}, "/code", {})["TMP"] == "/own"


@pytest.mark.parametrize("trusted", [True, False])
def test_a_restricted_server_does_not_start_in_the_project(
    tmp_path: Path, scripted, monkeypatch, trusted
):
    define(monkeypatch, trust=HARMLESS)
    (tmp_path / "a.scr").write_text("fine\n")
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv), trusted=trusted) as ws:
        ws.check("a.scr")
        [pid] = Log.of(argv).pids()
        server = psutil.Process(pid)
        folder, variables = Path(server.cwd()), server.environ()
    assert (folder == tmp_path) == trusted
    assert trusted or not folder.is_relative_to(tmp_path)
    assert ("PYTHONSAFEPATH" in variables) == (not trusted)


def test_biome_gets_a_cache_folder_of_its_own(tmp_path: Path, scripted, monkeypatch) -> None:
    """Otherwise it finds the process of another client there, which ends with that client."""
    define(monkeypatch, adapter=Biome())
    (tmp_path / "a.scr").write_text("fine\n")
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.check("a.scr")
        [pid] = Log.of(argv).pids()
        variables = psutil.Process(pid).environ()
    assert variables["XDG_CACHE_HOME"] == variables["TMPDIR"] != os.environ.get("XDG_CACHE_HOME")


def test_rust_analyzer_is_told_that_its_state_is_understood(tmp_path: Path, scripted, monkeypatch):
    define(monkeypatch, adapter=RustAnalyzer())
    (tmp_path / "a.scr").write_text("fine\n")
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.document_symbols("a.scr")
    [message] = Log.of(argv).messages("initialize")
    capabilities = message["params"]["capabilities"]
    assert capabilities["experimental"] == {"serverStatusNotification": True}


def test_without_a_place_for_temporary_files_a_server_is_unavailable_at_once(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    (tmp_path / "a.scr").write_text("fine\n")
    config = config_for(scripted(Script()))
    refused = pytest.raises(lspkit.ServerUnavailableError, match="No such file")
    with lspkit.Workspace(tmp_path, config=config) as ws, refused:
        ws.definition("a.scr", 1, 1)
