"""A file of a project that nobody trusts cannot have a server fetch an address of its choice."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.planting import Planted
from tests.scripted import comes_true

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0

#: By server: a file, what is in it, and a finding that does not depend on a schema.
FILES = {
    "json": ("main.json", '{"$schema": "@URL@", "port": "high",}\n', "Trailing comma"),
    "yaml": ("main.yaml", "# yaml-language-server: $schema=@URL@\nport: [\n", "Flow sequence"),
    "tombi": ("main.toml", "#:schema @URL@\nport = 1\nport = 2\n", "duplicate"),
}
SCHEMA = {"type": "object", "properties": {"port": {"type": "integer"}}}


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """An address on this machine, and what was asked for there."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps(SCHEMA).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/schema.json", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    made = Planted(tmp_path)
    monkeypatch.delenv("LSPKIT_TRUST")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    # tombi itself fetches nothing from this machine without it.
    monkeypatch.setenv("TOMBI_SCHEMA_TRUSTED_HOSTS", "127.0.0.1")
    return made


@pytest.mark.parametrize("trusted", [None, True])
@pytest.mark.parametrize("server", FILES)
def test_a_schema_is_fetched_only_for_a_project_that_is_trusted(
    planted: Planted, server: str, trusted: bool | None
) -> None:
    real_servers.require(server)
    planted.install(server)
    planted.only(server)
    file, text, finding = FILES[server]
    with listening() as (url, asked):
        planted.write(file, text.replace("@URL@", url))
        # As a setting of the project would: what is harmless in it counts without trust.
        schemas = [{"fileMatch": ["*.json"], "url": f"{url}?setting"}]
        said = {"json": {"schemas": schemas}, "yaml": {"schemas": {f"{url}?setting": "*.yaml"}}}
        config = {"lsp": {server: {"settings": said}}} if server != "tombi" else {}
        planted.write(".lspkit/lsp.json", json.dumps(config))
        with lspkit.Workspace(planted.project, trusted=trusted) as ws:

            def is_found() -> bool:
                report = ws.check(file, severity="hint", timeout=TIMEOUT)
                return any(finding in one.message for one in report.diagnostics)

            assert comes_true(is_found)  # on a busy machine silence may seem to be the answer
            if trusted:
                assert comes_true(lambda: asked)
            else:
                ws.write(file, text.replace("@URL@", url) + "\n")
                ws.check(file, severity="hint", timeout=TIMEOUT)
                assert asked == []


def test_a_schema_that_is_not_fetched_makes_no_json_dirty(planted: Planted) -> None:
    real_servers.require("json")
    planted.install("json")
    planted.only("json")
    with listening() as (url, asked):
        planted.write("good.json", json.dumps({"$schema": url}))
        with lspkit.Workspace(planted.project) as ws:
            assert ws.check("good.json", timeout=TIMEOUT).verdict == "clean"
    assert asked == []


def test_a_schema_that_is_not_fetched_leaves_a_yaml_file_unknown(planted: Planted) -> None:
    real_servers.require("yaml")
    planted.install("yaml")
    planted.only("yaml")
    with listening() as (url, asked):
        planted.write("good.yaml", f"# yaml-language-server: $schema={url}\nport: 1\n")
        with lspkit.Workspace(planted.project) as ws:
            report = ws.check("good.yaml", timeout=TIMEOUT)
    assert report.verdict == "unknown"
    assert "Unable to load schema" in report.why
    assert asked == []
