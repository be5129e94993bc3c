"""`lspkit serve --http`: what it prints, what it opens, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from lspkit.web import parse_address
from tests import real_servers
from tests.runtime.process_trees import ends
from tests.scripted import comes_true
from tests.service.site import PATIENCE, Site


class Served:
    """A service in the foreground, with HTTP."""

    def __init__(self, site: Site, *words: str) -> None:
        self.process = site.start(
            *("serve", str(site.project), "--http", "127.0.0.1:0", "--json", *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.url, self.token_file = told["url"], Path(told["tokenFile"])
        self.token = self.token_file.read_text(encoding="ascii")

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The body of a response; raises an `HTTPError` for a problem."""
        request = urllib.request.Request(
            self.url + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)


def test_a_conversation_survives_the_service(site: Site) -> None:
    with Served(site) as served:
        assert site.service_pid() == served.process.pid
        served.ask("PUT", "/conversations/a/cwd", {"cwd": str(site.project)})
        assert served.ask("POST", "/conversations/a/check", {"path": "a.scr"})["verdict"] == "clean"
        # Clients of the socket and of HTTP share the servers.
        with site.connect() as ws:
            assert ws.check("a.scr").verdict.clean
        assert served.ask("GET", "/conversations/a/lsp")["connected"] is True
        (server,) = site.log.pids()
    assert served.process.returncode == 0
    assert ends(server)
    assert not served.token_file.exists()
    with Served(site) as served:
        assert served.ask("GET", "/conversations/a/cwd")["cwd"] == str(site.project)


def test_a_service_that_is_killed_leaves_nothing_in_the_way(site: Site) -> None:
    with Served(site) as served:
        first = served.token
        os.kill(served.process.pid, signal.SIGKILL)
    with Served(site) as served:
        assert served.token != first
        assert served.ask("GET", "/status")["service"]["pid"] == served.process.pid


def test_requests_keep_the_service_alive_and_it_ends_without_them(site: Site) -> None:
    with Served(site, "--idle", "1") as served:
        pid = served.process.pid
        assert served.ask("GET", "/status")["service"]["pid"] == pid
        assert served.process.wait(PATIENCE) == 0


def test_paths_that_are_printed_are_words(site: Site) -> None:
    """A double click or a script selects them without the punctuation around them."""
    process = site.start(
        *("serve", str(site.project), "--http", "127.0.0.1:0"), stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    with process, process.stderr:
        try:
            told = process.stderr.readline() + process.stderr.readline()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
    assert {site.place.socket, site.place.token} <= set(told.decode().split())


def test_the_page_is_opened_with_a_code_that_is_valid_once(site: Site) -> None:
    opened = site.base / "opened"
    program = site.base / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}.new\nmv {opened}.new {opened}\n')
    program.chmod(0o755)
    site.environ["BROWSER"] = f"{program} %s"
    with Served(site, "--open") as served:
        assert comes_true(opened.exists)
        address = opened.read_text(encoding="utf-8").strip()
        assert address.startswith(f"{served.url}/?code=")
        assert served.token not in address
        jar = urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(jar)
        with opener.open(address, timeout=PATIENCE) as page:
            assert page.url == f"{served.url}/"
            assert b"<title>lspkit</title>" in page.read()
        (cookie,) = jar.cookiejar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "Strict"
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(address, timeout=PATIENCE)
        assert caught.value.code == 401
        caught.value.close()


@pytest.mark.parametrize(
    "words",
    [
        ("--http", "0.0.0.0:0"),
        ("--open",),
        ("--http", "127.0.0.1:0", "--stdio"),
    ],
)
def test_what_others_could_reach_is_a_mistake_in_the_call(site: Site, words: Any) -> None:
    done = site.run("serve", *words)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert site.sockets() == []


def test_a_port_that_is_taken_is_an_error_in_one_line(site: Site) -> None:
    with Served(site) as served:
        other = site.base / "other"
        other.mkdir()
        port = served.url.rpartition(":")[2]
        done = site.run("serve", str(other), "--http", f"127.0.0.1:{port}")
        assert done.returncode == 3, done.stderr
        assert "port 0 takes a free one" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("word", "url"),
    [
        ("127.0.0.1:80", "http://127.0.0.1:80"),
        ("localhost:0", "http://127.0.0.1:0"),
        ("127.1.2.3:1", "http://127.1.2.3:1"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_of_this_machine(word: str, url: str) -> None:
    assert parse_address(word).url == url


@pytest.mark.parametrize(
    "word",
    [
        *("0.0.0.0:0", "192.0.2.1:0", "[::]:0", "example.com:0", "127.0.0.1", "127.0.0.1:99999"),
        *(":80", "localhost", "[::1]", "::1:80", "127.1:80", "0177.0.0.1:80", "127.0.0.1:8\u0660"),
    ],
)
def test_an_address_that_others_could_reach_or_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:PORT"):
        parse_address(word)


@pytest.mark.server
def test_ty_is_connected_for_a_python_project(site: Site) -> None:
    real_servers.require("ty")
    (site.project / "shop.py").write_text("total: int = 'x'\n", encoding="utf-8")
    argv = real_servers.command("ty")
    site.configure({"lsp": {"ty": {"command": argv}, "ruff": {"disabled": True}}})
    with Served(site) as served:
        served.ask("PUT", "/conversations/a/cwd", {"cwd": str(site.project)})
        found = served.ask("POST", "/conversations/a/check", {"path": "shop.py"})
        assert found["verdict"] == "dirty"
        assert "ty" in found["diagnostics"][0]["servers"]
        lsp = served.ask("GET", "/conversations/a/lsp")
        assert lsp["connected"] is True
        assert lsp["servers"][0]["id"] == "ty"
        assert lsp["servers"][0]["diagnostics"]["error"] == 1


def test_the_http_server_is_imported_only_where_it_is_used() -> None:
    program = "import sys, lspkit.cli.machine.serve_command, lspkit.service.service_process as s; "
    program += "print([n for n in sys.modules if n.startswith(('lspkit.web', 'sqlite3'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n"
