"""Requests, responses and problem documents (RFC 9457) as values. Nothing is read or written here.

A connection serves one request.
"""

from __future__ import annotations

import http
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec

#: The media type of a problem.
PROBLEM_TYPE = "application/problem+json"

#: The status of each code.
CODES = {
    "bad-request": 400,
    "bad-json": 400,
    "bad-folder": 400,
    "bad-file": 400,
    "no-token": 401,
    "wrong-host": 403,
    "wrong-origin": 403,
    "read-only": 403,
    "unknown-path": 404,
    "unknown-conversation": 404,
    "folder-is-gone": 404,
    "wrong-method": 405,
    "too-slow": 408,
    "too-large": 413,
    "wrong-content-type": 415,
    "too-many-streams": 429,
    "failed": 500,
    "too-many-connections": 503,
    "too-many-workspaces": 503,
    "unusable": 503,
}
#: Bytes of a body.
LARGEST_BODY = 64 * 1024
#: Headers that would be ambiguous if they came twice.
ONCE = ("host", "origin", "authorization", "content-length", "content-type", "cookie")

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


class ProblemError(Exception):
    """A request that is not fulfilled. The code is a key of `CODES`."""

    def __init__(self, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code, self.detail, self.status = code, detail, CODES[code]
        #: Further headers of the response.
        self.headers = headers

    def document(self) -> dict[str, Any]:
        """The problem document. Its type is `about:blank`; `code` says more."""
        return {
            "type": "about:blank",
            "title": http.HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }

    def body(self) -> bytes:
        """The document as JSON."""
        return json.dumps(self.document()).encode()


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
    return Response(problem.status, PROBLEM_TYPE, problem.body(), problem.headers)


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


def parse_target(target: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The parts of the path of a request, and its query."""
    path, _, query = target.partition("?")
    try:
        if not path.startswith("/"):
            raise ValueError("a path is expected")
        segments = () if path == "/" else path[1:].split("/")
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
        decoded = tuple(unquote(segment, errors="strict") for segment in segments)
    except ValueError:  # also if it is not UTF-8
        raise ProblemError("bad-request", "the address is not valid") from None
    if len(dict(pairs)) != len(pairs):
        raise ProblemError("bad-request", "a parameter comes twice")
    return decoded, dict(pairs)
