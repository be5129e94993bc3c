"""Failures of requests as problem documents (RFC 9457)."""

from __future__ import annotations

import http
import json
from typing import Any

#: The media type.
CONTENT_TYPE = "application/problem+json"

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
