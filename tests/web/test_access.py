"""Who is answered: only who has the token, and no page of another site."""

from __future__ import annotations

import os
import stat

import pytest

from lspkit.web.access import CODE_SECONDS, MOST_SESSIONS, Access
from lspkit.web.http_message import CODES, ProblemError, RequestHead
from tests.web.web_site import WebSite

HOSTS = ["127.0.0.1:80", "localhost:80"]


def head(method: str = "GET", **headers: str) -> RequestHead:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestHead(method, (), {}, given)


def code_of(access: Access, given: RequestHead, *, sessions: bool = True) -> str:
    try:
        access.check_sender(given)
        access.check_token(given, sessions=sessions)
    except ProblemError as problem:
        return problem.code
    return ""


GOOD = {"host": "127.0.0.1:80", "authorization": "Bearer secret"}


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, ""),
        ({"host": "localhost:80"}, ""),
        ({"host": "LOCALHOST:80"}, ""),
        ({"origin": "http://127.0.0.1:80"}, ""),
        ({"sec-fetch-site": "same-origin"}, ""),
        ({"sec-fetch-site": "none"}, ""),
        ({"host": "evil.example:80"}, "wrong-host"),
        ({"host": "127.0.0.1"}, "wrong-host"),
        ({"host": "127.0.0.1:81"}, "wrong-host"),
        ({"host": "127.0.0.1.evil.example:80"}, "wrong-host"),
        ({"host": ""}, "wrong-host"),
        ({"origin": "http://evil.example"}, "wrong-origin"),
        ({"origin": "null"}, "wrong-origin"),
        ({"origin": ""}, "wrong-origin"),
        ({"origin": "https://127.0.0.1:80"}, "wrong-origin"),
        ({"origin": "http://127.0.0.1:81"}, "wrong-origin"),
        ({"origin": "http://localhost:80"}, "wrong-origin"),
        ({"sec-fetch-site": "cross-site"}, "wrong-origin"),
        ({"sec-fetch-site": "same-site"}, "wrong-origin"),
        ({"authorization": ""}, "no-token"),
        ({"authorization": "Bearer"}, "no-token"),
        ({"authorization": "Bearer secre"}, "no-token"),
        ({"authorization": "Bearer secrets"}, "no-token"),
        ({"authorization": "Basic secret"}, "no-token"),
        ({"authorization": "bearer secret"}, ""),
        ({"authorization": "Bearer \xff"}, "no-token"),
        ({"authorization": "", "cookie": "lspkit-80=secret"}, "no-token"),
    ],
)
def test_a_request_is_answered_or_refused(headers: dict[str, str], code: str) -> None:
    given = RequestHead("GET", (), {}, {**GOOD, **headers})
    assert code_of(Access(HOSTS, "secret"), given) == code


def test_a_code_opens_one_session_which_only_reads() -> None:
    access = Access(HOSTS, "secret")
    code = access.new_code()
    cookie = access.open_session(code)
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    reader = head(host="127.0.0.1:80", cookie=f"a=b; {cookie.partition(';')[0]}; c=d")
    assert code_of(access, reader) == ""
    assert code_of(access, reader, sessions=False) == "read-only"
    with pytest.raises(ProblemError, match="was used"):
        access.open_session(code)
    assert code_of(Access(HOSTS, "secret"), reader) == "no-token"


def test_a_code_is_valid_for_some_minutes() -> None:
    now = [0.0]
    access = Access(HOSTS, "secret", lambda: now[0])
    code = access.new_code()
    now[0] = CODE_SECONDS
    with pytest.raises(ProblemError, match="too old"):
        access.open_session(code)


def test_codes_and_sessions_are_bounded() -> None:
    access = Access(HOSTS, "secret")
    first = access.new_code()
    cookies = [access.open_session(access.new_code()) for _ in range(MOST_SESSIONS + 1)]
    codes = [access.new_code() for _ in range(MOST_SESSIONS)]
    with pytest.raises(ProblemError):
        access.open_session(first)
    assert access.open_session(codes[-1])
    oldest = head(host="127.0.0.1:80", cookie=cookies[0].partition(";")[0])
    assert code_of(access, oldest) == "no-token"


# On a real server

ADDRESSES = ["/", "/status", "/events", "/openapi.json", "/status.js", "/status.css", "/nothing"]


@pytest.mark.parametrize("path", [*ADDRESSES, "/conversations/a/cwd", "/conversations/a/lsp"])
@pytest.mark.parametrize(
    ("code", "headers"),
    [
        ("no-token", {"Authorization": None}),
        ("no-token", {"Authorization": "Bearer wrong"}),
        ("wrong-host", {"Host": "evil.example"}),
        ("wrong-origin", {"Origin": "http://evil.example"}),
    ],
)
def test_every_address_is_closed_to_others(
    shared_web: WebSite, path: str, code: str, headers: dict[str, str | None]
) -> None:
    answer = shared_web.ask("GET", path, **headers)
    assert (answer.status, answer.json["code"]) == (CODES[code], code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert ("WWW-Authenticate" in answer.headers) == (code == "no-token")


def test_a_page_of_another_site_learns_nothing_and_changes_nothing(shared_web: WebSite) -> None:
    origin = {"Origin": "http://evil.example"}
    preflight = {"Access-Control-Request-Method": "PUT", **origin}
    asked = [
        shared_web.ask("OPTIONS", "/conversations/x/cwd", **preflight),
        shared_web.ask("PUT", "/conversations/x/cwd", {"cwd": "/"}, **origin),
        shared_web.ask("GET", "/status"),
    ]
    assert [answer.status for answer in asked] == [403, 403, 200]
    for answer in asked:
        assert not [name for name in answer.headers if name.startswith("Access-Control")]
    assert shared_web.ask("GET", "/conversations/x/cwd").status == 404


def test_the_token_is_in_a_file_that_only_the_user_can_read(web: WebSite) -> None:
    file = web.server.token_file
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert len(web.token) >= 40
    first = web.token
    web.reopen()
    assert web.token != first
    web.server.close()
    assert not os.path.exists(file)


def test_a_token_file_that_was_left_is_replaced_and_a_link_is_not_followed(web: WebSite) -> None:
    web.server.close()
    target = web.site.base / "target"
    target.write_text("as before", encoding="utf-8")
    os.symlink(target, web.server.token_file)
    web.reopen()
    assert target.read_text(encoding="utf-8") == "as before"
    assert stat.S_ISREG(os.lstat(web.server.token_file).st_mode)


def test_a_browser_gets_a_cookie_for_a_code_and_only_reads_with_it(web: WebSite) -> None:
    address = web.server.page_url().partition(str(web.port))[2]
    first = web.ask("GET", address, Authorization=None)
    assert (first.status, first.headers["Location"]) == (303, "/")
    assert "code" not in first.headers["Location"]
    cookie = first.headers["Set-Cookie"].partition(";")[0]
    assert web.token not in cookie
    for path in ("/", "/status", "/status.js", "/status.css"):
        assert web.ask("GET", path, Authorization=None, Cookie=cookie).status == 200
    body = {"cwd": str(web.site.project)}
    put = web.ask("PUT", "/conversations/a/cwd", body, Authorization=None, Cookie=cookie)
    assert (put.status, put.json["code"]) == (403, "read-only")
    assert web.ask("GET", address, Authorization=None).status == 401


@pytest.mark.parametrize("path", ["/", "/status", "/nothing"])
def test_every_response_has_strict_headers(shared_web: WebSite, path: str) -> None:
    headers = shared_web.ask("GET", path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
