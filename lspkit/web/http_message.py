"""Requests and responses of HTTP/1.1 as values. Nothing is read or written here.

A connection serves one request. The syntax that is accepted is the strict one of RFC 9112: nothing
that two programs could read in two ways.
"""

from __future__ import annotations

import http
import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

import msgspec

from lspkit.web.problem_document import CONTENT_TYPE, ProblemError

#: Bytes of the request line and the headers, with the empty line at the end.
LARGEST_HEAD = 16 * 1024
#: Bytes of a body.
LARGEST_BODY = 64 * 1024
MOST_HEADERS = 64

END_OF_HEAD = b"\r\n\r\n"
_REQUEST_LINE = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.[01]")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\t\x80-\xff]*)")
_PERCENT = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
#: Headers that would be ambiguous if they came twice.
_ONCE = frozenset({"host", "origin", "authorization", "content-length", "content-type", "cookie"})

#: Headers of every response.
COMMON_HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class RequestHead(msgspec.Struct, frozen=True):
    """The request line and the headers."""

    method: str
    #: The parts of the path between the slashes, decoded.
    segments: tuple[str, ...]
    query: dict[str, str]
    #: By lower-case name.
    headers: dict[str, str]

    @property
    def body_length(self) -> int:
        """Bytes of the body. Raises a `ProblemError` if it is not accepted."""
        if "transfer-encoding" in self.headers:
            raise ProblemError("bad-request", "send a Content-Length, not a Transfer-Encoding")
        text = self.headers.get("content-length", "0")
        if not (text.isascii() and text.isdigit()):
            raise ProblemError("bad-request", "the Content-Length is no number")
        if len(text) > 15 or int(text) > LARGEST_BODY:
            raise ProblemError("too-large", f"a body may have {LARGEST_BODY} bytes")
        return int(text)


class Response(msgspec.Struct, frozen=True):
    """A whole response."""

    status: int
    content_type: str
    body: bytes = b""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return encode_head(self.status, self.content_type, len(self.body), self.headers) + self.body


def problem_response(problem: ProblemError) -> Response:
    """The response to a request that is not fulfilled."""
    return Response(problem.status, CONTENT_TYPE, problem.body(), problem.headers)


def encode_head(
    status: int, content_type: str, length: int | None, more: Mapping[str, str]
) -> bytes:
    """The status line and the headers. Without a length, the body ends with the connection."""
    headers = {"Content-Type": content_type, **COMMON_HEADERS, **more}
    if length is not None:
        headers["Content-Length"] = str(length)
    lines = [f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse_head(data: bytes) -> RequestHead:
    """The head of a request, without the empty line at its end."""
    first, *lines = data.decode("latin-1").split("\r\n")
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise ProblemError("bad-request", "the request line is not valid")
    if len(lines) > MOST_HEADERS:
        raise ProblemError("bad-request", f"a request may have {MOST_HEADERS} headers")
    headers: dict[str, str] = {}
    for line in lines:
        pair = _HEADER.fullmatch(line)
        if pair is None:
            raise ProblemError("bad-request", "a header is not valid")
        name, value = pair[1].lower(), pair[2].strip(" \t")
        if name in headers and name in _ONCE:
            raise ProblemError("bad-request", f"the header {name} comes twice")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, _, query = found[2].partition("?")
    segments = () if path == "/" else tuple(map(_decode, path[1:].split("/")))
    return RequestHead(found[1], segments, _parse_query(query), headers)


def _parse_query(text: str) -> dict[str, str]:
    pairs = [one.partition("=") for one in text.split("&") if one]
    found = {_decode(name): _decode(value.replace("+", " ")) for name, _, value in pairs}
    if len(found) != len(pairs):
        raise ProblemError("bad-request", "a parameter comes twice")
    return found


def _decode(text: str) -> str:
    """A part of the address without percent signs."""
    try:
        if _PERCENT.fullmatch(text) is None:
            raise ValueError("a percent sign begins no byte")
        return unquote_to_bytes(text).decode()
    except ValueError:  # also if it is not UTF-8
        raise ProblemError("bad-request", "the address is not valid") from None
