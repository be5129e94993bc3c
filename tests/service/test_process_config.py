"""A changed configuration is used by the next call, without a new service."""

from __future__ import annotations

import json
import warnings

import pytest

import lspkit
from lspkit.testing import Script
from tests.runtime.process_trees import ends
from tests.scripted import ask, config_for
from tests.service.site import Site

#: A server that gives another answer.
OTHER = Script(answers={"textDocument/definition": []})


def test_the_next_call_uses_a_changed_file_of_the_user(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        service, (server,) = site.service_pid(), site.log.pids()
        site.configure(config_for(OTHER.command(site.base / "other")))
        assert ask(ws) == ""
        assert site.service_pid() == service
        assert ends(server)
        site.configure(config_for(site.argv))
        assert ask(ws) == "1:5"
        assert len(site.log.pids()) == 2


def test_a_change_that_concerns_no_server_restarts_none(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        site.configure({**config_for(site.argv), "timing": {}})
        assert ask(ws) == "1:5"
        assert len(site.log.pids()) == 1


def test_an_invalid_file_of_the_user_is_an_error_on_each_call_until_it_is_mended(
    site: Site,
) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        service = site.service_pid()
        site.config_file.write_text('{"lsp": ', encoding="utf-8")
        for _ in range(2):
            with pytest.raises(lspkit.ConfigError):
                ask(ws)
            with pytest.raises(lspkit.ConfigError):
                ws.check("a.scr")
        with site.connect() as other, pytest.raises(lspkit.ConfigError):
            ask(other)
        site.configure(config_for(site.argv))
        assert ask(ws) == "1:5"
        assert site.service_pid() == service
        assert len(site.log.pids()) == 1


def test_a_misspelt_key_of_a_program_is_a_warning_with_the_nearest_key(site: Site) -> None:
    config = {**config_for(site.argv), "timming": {}}
    for _ in range(2):  # also if the service runs already
        with pytest.warns(lspkit.UnusedSettingWarning, match="did you mean timing") as caught:
            lspkit.connect(site.project, config=config, environ=site.environ).close()
        [warning] = caught
        assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(lspkit.UnusedSettingWarning):
            site.connect(config=config)
        site.connect(config=config_for(site.argv)).close()


def test_a_service_that_starts_with_an_invalid_file_says_what_is_wrong(site: Site) -> None:
    site.config_file.write_text('{"lsp": ', encoding="utf-8")
    with pytest.raises(lspkit.ConfigError, match=r"lsp\.json"):
        site.connect()
    site.configure(config_for(site.argv))
    with site.connect() as ws:
        assert ask(ws) == "1:5"


def test_the_next_call_uses_a_changed_file_of_the_project(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        service = site.service_pid()
        own = site.project / ".lspkit" / "lsp.json"
        own.parent.mkdir()
        own.write_text(json.dumps({"lsp": {"scripted": {"disabled": True}}}), encoding="utf-8")
        with pytest.raises(lspkit.LspkitError):
            ask(ws)
        own.unlink()
        assert ask(ws) == "1:5"
        assert site.service_pid() == service


def test_the_next_call_uses_a_changed_trust_list(site: Site) -> None:
    del site.environ["LSPKIT_TRUST"]
    site.configure({})
    argv = Script().command(site.base / "of project")
    own = site.project / ".lspkit" / "lsp.json"
    own.parent.mkdir()
    own.write_text(json.dumps(config_for(argv)), encoding="utf-8")
    with site.connect() as ws:
        with pytest.raises(lspkit.LspkitError):
            ask(ws)
        service = site.service_pid()
        done = site.run("trust", "--yes", "add", str(site.project))
        assert done.returncode == 0, done.stderr
        assert ask(ws) == "1:5"
        done = site.run("trust", "remove", str(site.project))
        assert done.returncode == 0, done.stderr
        with pytest.raises(lspkit.LspkitError):
            ask(ws)
        assert site.service_pid() == service


def test_a_client_with_another_file_of_the_user_has_a_service_of_its_own(site: Site) -> None:
    other = site.base / "other.json"
    other.write_text(json.dumps(config_for(OTHER.command(site.base / "other"))), encoding="utf-8")
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        with site.connect(environ={**site.environ, "LSPKIT_CONFIG": str(other)}) as own:
            assert ask(own) == ""
            assert len(site.sockets()) == 2
        assert ask(ws) == "1:5"


def test_a_service_with_an_invalid_file_can_be_shut_down(site: Site) -> None:
    with site.connect() as ws:
        service = site.service_pid()
        site.config_file.write_text('{"lsp": ', encoding="utf-8")
        ws._engine.client.shutdown()
        assert ends(service)
