"""Whatever arrives over HTTP, it is understood or refused, and nothing else is raised."""

from __future__ import annotations

import socket
from urllib.parse import quote, urlencode

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from lspkit.web.access import Access
from lspkit.web.http_message import (
    LARGEST_BODY,
    ProblemError,
    RequestHead,
    Response,
    parse_target,
)
from lspkit.web.http_server import RequestHandler, parse_address
from lspkit.web.routes import ROUTES, find_route

TOKEN = st.text("abcXYZ019!#$%&'*+.^_`|~-", min_size=1, max_size=12)
VALUE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LINES = st.sampled_from(
    [
        *("GET / HTTP/1.1", "PUT /conversations/%00/cwd HTTP/1.1", "GET /?a=%", "Host: x"),
        *("Host : x", "Content-Length: 1", f"Content-Length: {'9' * 20}"),
        "Transfer-Encoding: chunked",
    ]
)
HEADS = st.binary(max_size=200) | st.lists(LINES | st.text(max_size=20), max_size=6).map(
    lambda lines: "\r\n".join(lines).encode(errors="surrogateescape")
)


class Requests:
    """Stands for the server: keeps the heads that arrive, and admits those of an address."""

    def __init__(self) -> None:
        self.heads: list[RequestHead] = []
        self.endpoints = self

    def admit(self, head: RequestHead) -> bool:
        self.heads.append(head)
        Access(["127.0.0.1:80"], "secret").check_sender(head)
        find_route(head.method, head.segments)
        return False

    def answer(self, head: RequestHead, body: bytes) -> Response:
        assert len(body) == head.body_length <= LARGEST_BODY
        return Response(200, "text/plain")

    def keep_alive(self) -> None:
        pass


def serve(data: bytes) -> tuple[int, list[RequestHead]]:
    """The status of the response to these bytes, 0 if there is none, and the heads that arrived."""
    client, connection = socket.socketpair()
    requests = Requests()
    with client, connection:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        RequestHandler(connection, "", requests)  # type: ignore[arg-type]
        connection.close()
        answer = client.recv(1 << 16)
    return int(answer[9:12] or 0), requests.heads


@given(HEADS, st.sampled_from([b"", b"\r\n\r\n", b"\r\nHost: 127.0.0.1:80\r\n\r\n"]))
def test_any_bytes_are_a_request_or_a_problem(data: bytes, end: bytes) -> None:
    assert serve(data + end)[0] in (0, 200, 400, 403, 404, 405, 413)


@given(st.lists(WORDS, min_size=1, max_size=4), st.dictionaries(WORDS, WORDS, max_size=3))
def test_an_address_is_decoded_as_it_was_encoded(
    segments: list[str], query: dict[str, str]
) -> None:
    hypothesis.assume(segments != [""])
    path = "/".join(quote(one, safe="") for one in segments)
    # A pair without a name or a value is a pair as well.
    assert parse_target(f"/{path}?{urlencode(query, quote_via=quote)}") == (tuple(segments), query)


@given(st.dictionaries(TOKEN.map(str.lower), VALUE, max_size=8))
def test_headers_are_read_as_they_were_written(headers: dict[str, str]) -> None:
    lines = [f"{name.upper()}: {value}" for name, value in headers.items()]
    _, [head] = serve("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
    assert head.headers == {name: value.strip() for name, value in headers.items()}


@given(st.binary(max_size=200), st.dictionaries(TOKEN, VALUE, max_size=3))
def test_a_response_has_as_many_bytes_as_it_says(body: bytes, headers: dict[str, str]) -> None:
    data = Response(200, "text/plain", body, headers).encode()
    head, _, rest = data.partition(b"\r\n\r\n")
    assert rest == body
    assert f"Content-Length: {len(body)}".encode() in head.split(b"\r\n")


@given(st.sampled_from(ROUTES), WORDS)
def test_every_endpoint_is_found_by_its_path(route, id: str) -> None:
    segments = tuple(id if one == "{id}" else one for one in route.segments)
    found, parameters = find_route(route.method, segments)
    assert found is route
    assert parameters == ({"id": id} if "{id}" in route.segments else {})


GOOD = {"host": "127.0.0.1:80", "authorization": "Bearer secret"}


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "host": st.sampled_from(["127.0.0.1:80", "localhost:80"]) | VALUE,
            "origin": st.sampled_from(["http://127.0.0.1:80", "null"]) | VALUE,
            "authorization": st.sampled_from(["Bearer secret", "Bearer x"]) | VALUE,
            "cookie": VALUE,
            "sec-fetch-site": st.sampled_from(["none", "same-origin", "cross-site"]) | VALUE,
        },
    )
)
def test_only_the_token_from_no_other_site_is_admitted(headers: dict[str, str]) -> None:
    access = Access(["127.0.0.1:80", "localhost:80"], "secret")
    try:
        access.check_sender(RequestHead("GET", (), {}, headers))
        access.check_token(RequestHead("GET", (), {}, headers), sessions=True)
    except ProblemError:
        return
    assert headers["authorization"].split(None, 1)[1].strip() == "secret"
    assert headers["host"].lower() in ("127.0.0.1:80", "localhost:80")
    assert headers.get("origin", f"http://{headers['host'].lower()}").endswith(":80")
    assert headers.get("sec-fetch-site", "none") in ("none", "same-origin")


@given(st.text(max_size=30) | st.sampled_from(["127.0.0.1:1", "[::1]:0", "localhost:65535"]))
def test_an_address_to_listen_on_is_of_this_machine_or_refused(word: str) -> None:
    try:
        address = parse_address(word)
    except ValueError:
        return
    assert address.host == "::1" or address.host.startswith("127.")
    assert 0 <= address.port <= 65535
