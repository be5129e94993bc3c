"""Clients that send half a request, nothing, too much or nonsense: the others are served."""

from __future__ import annotations

import contextlib
import socket

import pytest

from lspkit.testing import Fault, Script
from lspkit.web import endpoints, event_feed, http_server
from lspkit.web.http_server import LARGEST_HEAD
from tests.scripted import comes_true
from tests.service.site import Site
from tests.service.starved_accepting import no_descriptors
from tests.web.web_site import PATIENCE, WebSite, read_all


def head(web: WebSite, line: str = "GET /status HTTP/1.1", *more: str) -> bytes:
    """The head of a request with the token."""
    lines = [line, f"Host: 127.0.0.1:{web.port}", f"Authorization: Bearer {web.token}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def status_of(data: bytes) -> int:
    """The status of a response."""
    assert data.startswith(b"HTTP/1.1 "), data[:100]
    return int(data[9:12])


BAD_LINES = [
    "GET /status",
    "GET /status HTTP/2.0",
    "GET http://127.0.0.1/status HTTP/1.1",
    "GET * HTTP/1.1",
    "GET /sta\ttus HTTP/1.1",
    "GET /%ff HTTP/1.1",
    "\x16\x03\x01\x02",
    "",
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_request_line_that_is_not_valid_is_refused(shared_web: WebSite, line: str) -> None:
    assert status_of(shared_web.send(head(shared_web, line))) == 400
    assert shared_web.ask("GET", "/status").status == 200


BAD_HEADERS = [
    "no colon",
    "Host: evil.example",
    "Authorization: Bearer x",
    "Transfer-Encoding: chunked",
    "Content-Length: -1",
    "Content-Length: 0x10",
    "Content-Length: 1, 1",
    "Content-Length: \xb2",
]


@pytest.mark.parametrize("line", BAD_HEADERS)
def test_a_header_that_is_not_valid_is_refused(shared_web: WebSite, line: str) -> None:
    assert status_of(shared_web.send(head(shared_web, "GET /status HTTP/1.1", line))) == 400


@pytest.mark.parametrize("number", ["65537", "9" * 15, "9" * 5000])
def test_a_body_that_is_too_large_is_refused_before_it_is_sent(
    shared_web: WebSite, number: str
) -> None:
    line = "PUT /conversations/a/cwd HTTP/1.1"
    told = head(shared_web, line, "Content-Type: application/json", f"Content-Length: {number}")
    assert status_of(shared_web.send(told)) == 413


def test_the_response_to_a_body_that_is_too_large_arrives_although_it_is_sent(
    shared_web: WebSite,
) -> None:
    answer = shared_web.ask("PUT", "/conversations/a/cwd", raw=b"x" * 500_000)
    assert (answer.status, answer.json["code"]) == (413, "too-large")


def test_headers_are_bounded(shared_web: WebSite) -> None:
    many = [f"X-{number}: x" for number in range(101)]
    assert status_of(shared_web.send(head(shared_web, "GET /status HTTP/1.1", *many))) == 400
    long = f"X: {'x' * LARGEST_HEAD}"
    assert status_of(shared_web.send(head(shared_web, "GET /status HTTP/1.1", long))) == 400
    with shared_web.connect() as endless, contextlib.suppress(ConnectionError):
        for _ in range(1000):
            endless.sendall(b"x" * 1000)
        assert status_of(read_all(endless)) == 400


@pytest.mark.parametrize("sent", [0, 1, 20, -1])
def test_half_a_request_is_no_request(shared_web: WebSite, sent: int) -> None:
    with shared_web.connect() as made:
        made.sendall(head(shared_web)[:sent])
        made.shutdown(socket.SHUT_WR)
        assert read_all(made) == b""
    assert shared_web.ask("GET", "/status").status == 200


def test_a_request_may_come_byte_by_byte(shared_web: WebSite) -> None:
    with shared_web.connect() as made:
        for byte in head(shared_web):
            made.sendall(bytes([byte]))
        assert status_of(read_all(made)) == 200


def test_what_follows_a_request_is_no_second_one(shared_web: WebSite) -> None:
    found = shared_web.send(head(shared_web) * 2)
    assert found.count(b"HTTP/1.1 200") == 1


def test_a_client_that_is_too_slow_is_told_so(
    shared_web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "REQUEST_SECONDS", 0.1)
    for sent in (0, 20):
        with shared_web.connect() as slow:
            slow.sendall(head(shared_web)[:sent])
            assert status_of(read_all(slow)) == 408
    line = "PUT /conversations/a/cwd HTTP/1.1"
    with shared_web.connect() as slow:
        slow.sendall(head(shared_web, line, "Content-Length: 10") + b"{")
        assert status_of(read_all(slow)) == 408


def test_further_connections_are_refused_and_served_again_later(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 4)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(web.events())
        assert comes_true(lambda: len(web.threads()) == 5)
        with web.connect() as refused:
            data = read_all(refused)
        assert status_of(data) == 503
        assert b'"too-many-connections"' in data
        assert len(web.threads()) == 5
    assert comes_true(lambda: len(web.threads()) == 1)
    assert web.ask("GET", "/status").status == 200


def test_connections_without_the_token_keep_nobody_out(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 4)
    with contextlib.ExitStack() as stack:
        stack.enter_context(web.events())
        strangers = [stack.enter_context(web.connect()) for _ in range(3)]
        assert comes_true(lambda: len(web.threads()) == 5)
        for _ in range(5):
            assert web.ask("GET", "/status").status == 200
            # Else its connection may still be there, and another stranger has to go.
            assert comes_true(lambda: len(web.threads()) == 4)
        assert read_all(strangers[0]) == b""  # the oldest had to go, without a response
    assert web.ask("GET", "/status").status == 200


def test_a_connection_for_which_no_descriptor_is_left_is_served_later(web: WebSite) -> None:
    with socket.socket() as made:
        made.settimeout(PATIENCE)
        with no_descriptors() as warnings:
            made.connect(("127.0.0.1", web.port))
            assert warnings.first.wait(PATIENCE)
        made.sendall(head(web))
        assert status_of(read_all(made)) == 200
    assert len(warnings.messages) == 1


def test_streams_of_events_are_bounded(web: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST_STREAMS", 2)
    with web.events(), web.events():
        answer = web.ask("GET", "/events")
        assert (answer.status, answer.json["code"]) == (429, "too-many-streams")
        assert answer.headers["Retry-After"] == "10"
        assert web.ask("GET", "/status").status == 200
    assert comes_true(lambda: len(web.threads()) == 1)
    with web.events():
        pass


def test_a_reader_of_events_keeps_the_service_alive(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "HEARTBEAT_SECONDS", 0.01)
    with web.events():
        before = web.used
        assert comes_true(lambda: web.used > before + 3)


def test_a_request_that_is_refused_does_not_keep_the_service_alive(web: WebSite) -> None:
    assert web.ask("GET", "/status", Authorization=None).status == 401
    assert web.used == 0
    assert web.ask("GET", "/status").status == 200
    assert web.used == 1


def test_the_end_leaves_no_connection_and_no_thread(web: WebSite) -> None:
    with web.connect() as silent, web.connect() as half, web.events() as following:
        half.sendall(b"GET /")
        web.server.close()
        assert read_all(silent) == read_all(half) == b""
        with pytest.raises(AssertionError, match="the stream has ended"):
            following()
    assert web.threads() == []
    with pytest.raises(ConnectionRefusedError):
        web.connect()
    web.server.close()  # once more


def test_the_end_cancels_a_check_that_waits() -> None:
    script = Script(faults=[Fault("initialize", "hang")])
    with Site(script) as site, WebSite(site) as web, web.connect() as made:
        web.set_cwd("a", site.project)
        body = b'{"path": "a.scr"}'
        line = "POST /conversations/a/check HTTP/1.1"
        length, kind = f"Content-Length: {len(body)}", "Content-Type: application/json"
        made.sendall(head(web, line, length, kind) + body)
        assert comes_true(lambda: site.log.pids())
        web.server.close()
        assert web.threads() == []
