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
import threading
import time
from collections.abc import Callable, Iterable

from lspkit.web.http_message import RequestHead
from lspkit.web.problem_document import ProblemError

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
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: With the times at which they end.
        self._codes: dict[str, float] = {}
        self._sessions: list[str] = []

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
            told = "give the token: Authorization: Bearer TOKEN"
            raise ProblemError("no-token", told, **{"WWW-Authenticate": 'Bearer realm="lspkit"'})
        if not sessions:
            raise ProblemError("read-only", "the page only reads: use the token")

    def _has_session(self, head: RequestHead) -> bool:
        pairs = [one.strip().partition("=") for one in head.headers.get("cookie", "").split(";")]
        given = [value for name, _, value in pairs if name == self._cookie]
        with self._lock:
            known = list(self._sessions)
        return any(_same(one, other) for one in given for other in known)

    def new_code(self) -> str:
        """A code that opens one session."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[code] = self._clock() + CODE_SECONDS
            for old in list(self._codes)[:-MOST_SESSIONS]:
                del self._codes[old]
        return code

    def open_session(self, code: str) -> str:
        """The value of `Set-Cookie` for a code, which is not valid afterwards."""
        session = secrets.token_urlsafe(32)
        with self._lock:
            found = next((one for one in self._codes if _same(one, code)), None)
            ends = self._codes.pop(found) if found is not None else 0.0
            if found is None or ends <= self._clock():
                raise ProblemError("no-token", "the code was used, or is too old")
            self._sessions = [*self._sessions[1 - MOST_SESSIONS :], session]
        return f"{self._cookie}={session}; Path=/; HttpOnly; SameSite=Strict"


def _same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())
