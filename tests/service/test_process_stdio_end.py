"""`lspkit serve --stdio`: the bootstrap variable, and the ends."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import lspkit
from lspkit.service.runtime_folder import read_bootstrap
from tests.scripted import config_for
from tests.service.site import Site, descendants, nothing_runs
from tests.service.stdio_service import StdioService


@pytest.fixture
def service(site: Site) -> Iterator[StdioService]:
    """A service for a test that ends it."""
    with StdioService(site) as made:
        yield made


def bootstrap(root: object, **more: Any) -> dict[str, str]:
    """The environment variable."""
    return {"LSP_BOOTSTRAP": json.dumps({"workspaceRoot": str(root), **more})}


def test_shutdown_is_answered_and_ends_it(service: StdioService, site: Site) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    assert service.result("lsp/shutdown") is None
    assert service.receive() is None
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()
    assert site.log.messages("shutdown")


def test_the_end_of_its_input_ends_it_with_its_servers(service: StdioService, site: Site) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()
    assert site.log.messages("shutdown")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_its_servers(
    service: StdioService, site: Site, number: signal.Signals
) -> None:
    service.result("lsp/checkFile", {"path": "a.scr"})
    os.kill(service.process.pid, number)
    assert service.receive() is None
    assert service.end() == (0, "")
    assert nothing_runs(), descendants()


def test_it_takes_its_root_and_configuration_from_the_variable(site: Site) -> None:
    other = site.base / "other project"
    other.mkdir()
    (other / "b.own").write_text("def one\n", encoding="utf-8")
    config = config_for(site.argv)
    config["lsp"]["scripted"]["extensions"] = [".own"]
    with StdioService(site, **bootstrap(other, config=config)) as service:
        ready = service.receive()
        assert ready is not None and ready["params"]["root"] == str(other)
        assert service.result("lsp/checkFile", {"path": "b.own"})["verdict"] == "clean"
        assert service.end() == (0, "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('{"workspaceRoot": ', "LSP_BOOTSTRAP cannot be used"),
        ('{"workspaceRoot": "/missing/folder"}', "/missing/folder"),
        ('{"workspaceRoot": "/tmp", "other": 1}', "other"),
        ('{"workspaceRoot": "/tmp", "config": {"lsp": 7}}', "lsp"),
    ],
)
def test_a_bad_variable_ends_it_with_one_line(site: Site, value: str, words: str) -> None:
    done = site.run("serve", "--stdio", LSP_BOOTSTRAP=value)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "value",
    [
        "",
        "[]",
        '{"config": {}}',
        '{"workspaceRoot": "relative"}',
        '{"workspaceRoot": "/dev/null"}',
        '{"workspaceRoot": 7}',
        '{"workspaceRoot": "/tmp", "config": 7}',
        '{"workspaceRoot": "/tmp", "trusted": "yes"}',
        '{"workspaceRoot": ' + "[" * 100_000,
    ],
)
def test_the_variable_is_checked(value: str) -> None:
    with pytest.raises(lspkit.ConfigError, match="LSP_BOOTSTRAP cannot be used"):
        read_bootstrap(value)
