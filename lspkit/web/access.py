"""Who may make a request.

The port is open to every process of the machine and, through a browser, to every web page. Only a
request with the token is answered. `Host` must name this server, since a page may have its own name
lead here (DNS rebinding); `Origin` must be this server, since a page may send requests to others.

A browser gets a session instead of the token: for a code that is valid once, it gets a cookie that
no script and no other site can use. A session only reads.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from lspkit.web.http_message import ProblemError, RequestHead

#: Seconds for which a code is valid.
CODE_SECONDS = 300.0
#: Codes and sessions that are kept; the oldest are dropped.
MOST_SESSIONS = 16
#: What `Sec-Fetch-Site` says of requests that no other site has caused.
OWN_SITES = ("same-origin", "none")


class Access:
    """The token, the codes and the sessions of one server."""

    def __init__(
        self, hosts: Iterable[str], token: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`hosts` are the valid values of `Host`, with the port."""
        self._hosts, self._token, self._clock = frozenset(hosts), token, clock
        port = next(iter(self._hosts)).rpartition(":")[2]
        #: Cookies are shared by all ports of a host.
        self._cookie = f"lspkit-{port}"
        #: With the times at which they end. There is no lock: each change of these two is atomic.
        self._codes: dict[str, float] = {}
        #: In the order in which they were opened.
        self._sessions: dict[str, None] = {}

    def check_sender(self, head: RequestHead) -> None:
        """Raise a `ProblemError` for a request that a page of another origin may have sent."""
        host, origin = head.headers.get("host", "").lower(), head.headers.get("origin")
        if host not in self._hosts:
            raise ProblemError("wrong-host", "the header Host does not name this server")
        site = head.headers.get("sec-fetch-site", "none")
        if (origin is not None and origin != f"http://{host}") or site not in OWN_SITES:
            raise ProblemError("wrong-origin", "pages of other origins are not answered")

    def check_token(self, head: RequestHead, *, sessions: bool) -> None:
        """Raise a `ProblemError` for a request without the token, or the cookie of a session."""
        scheme, _, given = head.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(given.strip(), self._token):
            return
        if not self._has_session(head):
            how = "give the token: Authorization: Bearer TOKEN"
            raise ProblemError("no-token", how, **{"WWW-Authenticate": 'Bearer realm="lspkit"'})
        if not sessions:
            raise ProblemError("read-only", "the page only reads: use the token")

    def _has_session(self, head: RequestHead) -> bool:
        pairs = [pair.strip().partition("=") for pair in head.headers.get("cookie", "").split(";")]
        given = [value for name, _, value in pairs if name == self._cookie]
        return any(_same(word, known) for word in given for known in list(self._sessions))

    def new_code(self) -> str:
        """A code that opens one session."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self._clock() + CODE_SECONDS
        _drop_oldest(self._codes)
        return code

    def open_session(self, code: str) -> str:
        """The value of `Set-Cookie` for a code, which is not valid afterwards."""
        session = secrets.token_urlsafe(32)
        valid = next((known for known in list(self._codes) if _same(known, code)), "")
        # Only one of two threads gets it.
        if self._codes.pop(valid, 0.0) <= self._clock():
            raise ProblemError("no-token", "the code was used, or is too old")
        self._sessions[session] = None
        _drop_oldest(self._sessions)
        return f"{self._cookie}={session}; Path=/; HttpOnly; SameSite=Strict"


def _drop_oldest(secrets_so_far: dict[str, Any]) -> None:
    for secret in list(secrets_so_far)[:-MOST_SESSIONS]:
        secrets_so_far.pop(secret, None)


def _same(secret: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(secret.encode(), other.encode())
