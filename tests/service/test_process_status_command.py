"""`lspkit status` and `lspkit panel` without a terminal: they start no service to say that nothing
runs."""

from __future__ import annotations

import json

import pytest

from tests.scripted import ask
from tests.service.site import Site, descendants, nothing_runs


@pytest.mark.parametrize("command", ["status", "panel"])
def test_without_a_service_it_says_so_and_what_would_run(site: Site, command: str) -> None:
    done = site.run(command, LSPKIT_NO_SERVICE="")
    first, second, *_ = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert first == f"LSP servers: none is running (no service is running for {site.project})"
    assert second == "  available for the files here: scripted"
    assert site.sockets() == []
    assert nothing_runs(), descendants()


@pytest.mark.parametrize("command", ["status", "panel"])
def test_as_json_it_starts_no_service_either(site: Site, command: str) -> None:
    done = site.run(command, "--json", LSPKIT_NO_SERVICE="")
    found = json.loads(done.stdout)
    assert found["totals"]["configured"] == len(found["rows"])
    assert site.sockets() == []


def test_where_no_file_has_a_server_it_says_so(site: Site) -> None:
    (site.project / "a.scr").unlink()
    done = site.run("status", LSPKIT_NO_SERVICE="")
    assert done.stdout.splitlines()[1] == "  no file here has a server"


def test_without_the_service_there_is_no_word_about_it(site: Site) -> None:
    done = site.run("status", "--no-service")
    assert done.stdout.splitlines()[0] == "LSP servers: none is running"


@pytest.mark.parametrize("command", ["status", "panel"])
def test_with_a_service_it_shows_what_runs_there(site: Site, command: str) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        pid = site.service_pid()
        done = site.run(command, LSPKIT_NO_SERVICE="")
        assert "  scripted: active" in done.stdout.splitlines()
        assert site.service_pid() == pid
