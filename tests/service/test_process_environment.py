"""The environment of the service: a fixed list of variables; a client that differs is told once."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import lspkit
from lspkit.service.election import service_environment
from tests.scripted import ask, config_for
from tests.service.site import Site

SECRET = {"SECRET_TOKEN": "hidden-value", "AWS_SECRET_ACCESS_KEY": "hidden-value"}


def environment_of(pid: int) -> str:
    """The variables that a process was started with."""
    return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")


def test_a_variable_outside_the_list_reaches_neither_the_service_nor_a_server(site: Site) -> None:
    site.environ |= {**SECRET, "LC_ALL": "C.UTF-8", "GOPATH": "/go-of-client"}
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        for pid in (site.service_pid(), *site.log.pids()):
            found = environment_of(pid)
            assert "hidden-value" not in found
            assert "GOPATH=/go-of-client" in found
            assert "LC_ALL=C.UTF-8" in found
        assert "LSP_BOOTSTRAP" not in environment_of(site.log.pids()[0])


def test_the_environment_of_a_later_client_reaches_no_server(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
    with site.connect(environ={**site.environ, "GOPATH": "/go-of-later"}) as ws:
        site.configure(config_for(site.argv, env={"ANOTHER": "process"}))
        assert ask(ws) == "1:5"
        _, second = site.log.pids()
        assert "ANOTHER=process" in environment_of(second)
        assert "/go-of-later" not in environment_of(second)


@pytest.mark.parametrize("name", ["PATH", "VIRTUAL_ENV"])
def test_a_client_whose_programs_differ_is_told_once(site: Site, name: str) -> None:
    with site.connect() as first:
        assert ask(first) == "1:5"
        other = {**site.environ, name: "/somewhere/else"}
        with pytest.warns(lspkit.ServiceEnvironmentWarning, match=name) as told:
            second = site.connect(environ=other)
        with second, warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ask(second) == "1:5"
            assert ask(first) == "1:5"
        assert len(told) == 1
        assert "lspkit stop" in str(told[0].message)


def test_a_client_with_the_same_programs_is_told_nothing(site: Site) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with site.connect(environ={**site.environ, **SECRET}):
                pass


def test_a_service_imports_nothing_from_its_project(site: Site) -> None:
    site.environ["PYTHONPATH"] += f":{site.project / 'src'}"
    imported = site.base / "imported"
    planted = site.project / "src" / "sitecustomize.py"
    planted.parent.mkdir()
    planted.write_text(f"open({str(imported)!r}, 'w')")
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        assert not imported.exists()
        # A server of a trusted project has what the user has set.
        assert f"PYTHONPATH={site.environ['PYTHONPATH']}" in environment_of(site.log.pids()[0])
        assert "LSPKIT_SERVERS_" not in environment_of(site.log.pids()[0])


def test_the_list_is_fixed() -> None:
    given = {"PATH": "/bin", "HTTPS_PROXY": "p", "LC_TIME": "C", "PYTHONSTARTUP": "x", **SECRET}
    assert service_environment(given, "/project") == {
        "PATH": "/bin",
        "HTTPS_PROXY": "p",
        "LC_TIME": "C",
    }
