"""What a test gets that asks for a real server: the server, a skip with a reason, or a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import real_servers


@pytest.fixture(autouse=True)
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up folder of servers: one is there, one never to be skipped and one other is not."""
    table = {
        "there": {"command": ["/bin/there", "--stdio"], "env": {"KEY": "value"}, "version": "1.2"},
        "gopls": {"missing": "no apt-get"},
        "tombi": {"missing": "no wheel"},
        "typescript": {"command": ["/bin/there"], "env": {}, "version": "5"},
        "vue": {"missing": "no package"},
    }
    (tmp_path / "servers.json").write_text(json.dumps(table))
    monkeypatch.setattr(real_servers, "SERVERS", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("LSPKIT_REQUIRE_SERVERS", raising=False)
    return tmp_path


def test_a_server_that_is_there_is_handed_out() -> None:
    real_servers.require("there")
    assert real_servers.command("there") == ["/bin/there", "--stdio"]
    assert real_servers.environment("there") == {**os.environ, "KEY": "value"}
    assert real_servers.version("there") == "1.2"


def test_a_missing_server_skips_the_test_and_says_why() -> None:
    with pytest.raises(pytest.skip.Exception, match="no server gopls: no apt-get"):
        real_servers.require("gopls")


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("LSPKIT_REQUIRE_SERVERS", "1")])
def test_a_server_that_is_never_skipped_fails_the_test_where_servers_are_required(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(pytest.fail.Exception, match="no apt-get"):
        real_servers.require("gopls")


def test_another_missing_server_skips_the_test_also_where_servers_are_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception, match="no wheel"):
        real_servers.require("tombi")


def test_a_server_that_needs_the_package_of_another_is_skipped_without_that_one() -> None:
    with pytest.raises(pytest.skip.Exception, match="no server vue: no package"):
        real_servers.require("vue-typescript")


def test_a_program_that_is_missing_skips_the_test_and_says_why(servers: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="no program tool: "):
        real_servers.require_program("tool")
    table = {"tool": {"version": "1.2"}, "other": {"missing": "no wheel"}}
    (servers / "programs.json").write_text(json.dumps(table))
    real_servers._entries.cache_clear()
    real_servers.require_program("tool")
    with pytest.raises(pytest.skip.Exception, match="no program other: no wheel"):
        real_servers.require_program("other")


def test_a_program_that_is_never_skipped_fails_the_test_where_servers_are_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no program mcp-inspector, which must"):
        real_servers.require_program("mcp-inspector")


def test_without_set_up_the_reason_names_the_command_that_does_it(servers: Path) -> None:
    (servers / "servers.json").unlink()
    with pytest.raises(pytest.skip.Exception, match="make servers"):
        real_servers.require("gopls")


def test_a_name_that_no_server_has_is_an_error_and_no_skip() -> None:
    with pytest.raises(KeyError, match="no server 'rust'"):
        real_servers.require("rust")


@pytest.mark.server
@pytest.mark.parametrize("server", sorted(real_servers.NEVER_SKIP))
def test_a_server_that_is_never_skipped_answers_initialize(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    real_servers.require(server)
    tool = Path(__file__).resolve().parent.parent / "tools" / "smoke_servers.py"
    done = subprocess.run(
        [sys.executable, str(tool), server], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
