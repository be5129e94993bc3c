"""What the endpoints say, on a real service with the scripted server."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.testing import Script
from lspkit.web import endpoints, workspace_registry
from tests.scripted import comes_true, config_for
from tests.service.contract_services import client_of
from tests.service.site import Site
from tests.web.web_site import PATIENCE, Answer, WebSite

NO_COUNTS = {"error": 0, "warning": 0, "info": 0, "hint": 0, "total": 0}


def problem(answer: Answer) -> tuple[int, str]:
    """The status and the code of a problem document."""
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json["status"] == answer.status
    assert answer.json["type"] == "about:blank"
    assert answer.json["detail"]
    return answer.status, answer.json["code"]


def folder(site: Site, name: str, text: str = "def greet\n") -> Path:
    """Another project with a file."""
    made = site.base / name
    made.mkdir()
    (made / "a.scr").write_text(text, encoding="utf-8")
    return made


# Conversations


def test_the_folder_of_a_conversation_is_set_and_kept_over_a_restart(web: WebSite) -> None:
    link = web.site.base / "link"
    link.symlink_to(web.site.project)
    assert problem(web.ask("GET", "/conversations/tab-1/cwd")) == (404, "unknown-conversation")
    expected = {"conversationId": "tab-1", "cwd": str(web.site.project)}
    put = web.ask("PUT", "/conversations/tab-1/cwd", {"cwd": str(link)})
    assert (put.status, put.json) == (200, expected)
    web.reopen()
    assert web.ask("GET", "/conversations/tab-1/cwd").json == expected


def test_the_store_is_the_one_of_the_library(web: WebSite, monkeypatch) -> None:
    for name in ("XDG_STATE_HOME",):
        monkeypatch.setenv(name, web.site.environ[name])
    monkeypatch.delenv("LSPKIT_STATE", raising=False)
    lspkit.conversations.set_cwd("from Python", web.site.project)
    found = web.ask("GET", "/conversations/from%20Python/cwd").json
    assert found == {"conversationId": "from Python", "cwd": str(web.site.project)}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"{", (400, "bad-json")),
        (b"", (400, "bad-json")),
        (b"[]", (400, "bad-json")),
        (b"\xff", (400, "bad-json")),
        (b'{"cwd": 1}', (400, "bad-json")),
        (b'{"cwd": "/", "more": 1}', (400, "bad-json")),
        (b"[" * 60_000, (400, "bad-json")),
        (b'{"cwd": "relative"}', (400, "bad-folder")),
        (b'{"cwd": ""}', (400, "bad-folder")),
        (b'{"cwd": "/does/not/exist"}', (400, "bad-folder")),
        (b'{"cwd": "/a\\u0000b"}', (400, "bad-folder")),
        (b'{"cwd": "/\\udc80"}', (400, "bad-folder")),
        (b'{"cwd": "/\\ud800"}', (400, "bad-folder")),
        (b'{"cwd": "' + b"x" * 65_536 + b'"}', (413, "too-large")),
    ],
)
def test_a_folder_that_cannot_be_used_is_a_problem(
    shared_web: WebSite, raw: bytes, expected: tuple[int, str]
) -> None:
    assert problem(shared_web.ask("PUT", "/conversations/bad/cwd", raw=raw)) == expected
    assert shared_web.ask("GET", "/conversations/bad/cwd").status == 404


@pytest.mark.parametrize("id", ["%00", "%0A", "", "x" * 201, "%80"])
def test_an_id_that_cannot_be_used_is_a_problem(shared_web: WebSite, id: str) -> None:
    body = {"cwd": str(shared_web.site.project)}
    for asked in (
        shared_web.ask("GET", f"/conversations/{id}/cwd"),
        shared_web.ask("PUT", f"/conversations/{id}/cwd", body),
        shared_web.ask("GET", f"/conversations/{id}/lsp"),
    ):
        assert problem(asked) == (400, "bad-request")


def test_a_folder_that_is_gone_is_a_problem(web: WebSite) -> None:
    gone = folder(web.site, "gone")
    web.set_cwd("a", gone)
    (gone / "a.scr").unlink()
    gone.rmdir()
    for path in ("cwd", "lsp"):
        assert problem(web.ask("GET", f"/conversations/a/{path}")) == (404, "folder-is-gone")


def test_a_path_that_is_not_utf_8_comes_back_as_it_was(web: WebSite) -> None:
    odd = os.fsdecode(os.fsencode(web.site.base) + b"/\xff")
    os.mkdir(odd)
    put = web.ask("PUT", "/conversations/a/cwd", {"cwd": odd})
    assert put.json["cwd"] == odd
    assert web.ask("GET", "/conversations/a/lsp").json["cwd"] == odd


def test_a_conversation_is_connected_when_a_server_runs(web: WebSite) -> None:
    root = str(web.site.project)
    web.set_cwd("a", web.site.project)
    expected = {"conversationId": "a", "cwd": root, "connected": False, "servers": []}
    assert web.ask("GET", "/conversations/a/lsp").json == expected
    (web.site.project / "a.scr").write_text("ERROR one\n", encoding="utf-8")
    found = web.check("a", "a.scr")
    assert (found["verdict"], found["path"]) == ("dirty", f"{root}/a.scr")
    assert [one["severity"] for one in found["diagnostics"]] == ["error"]
    counts = {**NO_COUNTS, "error": 1, "total": 1}
    server = {
        "id": "scripted",
        "root": root,
        "state": "active",
        "diagnostics": counts,
        "languages": ["scr"],
        "reason": "",
        "install": "",
    }
    assert web.ask("GET", "/conversations/a/lsp").json == {
        **expected,
        "connected": True,
        "servers": [server],
    }


@pytest.mark.parametrize(
    "path", ["missing.scr", "../outside.scr", "/etc/passwd", "a\0b", "", "x.none", "\ud800.scr"]
)
def test_a_file_that_cannot_be_checked_is_a_problem(shared_web: WebSite, path: str) -> None:
    (shared_web.site.base / "outside.scr").write_text("", encoding="utf-8")
    (shared_web.site.project / "x.none").write_text("", encoding="utf-8")
    shared_web.set_cwd("a", shared_web.site.project)
    answer = shared_web.ask("POST", "/conversations/a/check", {"path": path})
    assert problem(answer) == (400, "bad-file")


def test_the_folder_of_a_conversation_is_a_workspace_of_its_own(web: WebSite) -> None:
    inner = folder(web.site, "project/inner")
    first, second = (folder(web.site, name) for name in "bc")
    for id, cwd in {"own": web.site.project, "in": inner, "b": first, "c": second}.items():
        web.set_cwd(id, cwd)
    for id in ("own", "in", "b", "c"):
        assert web.check(id, "a.scr")["verdict"] == "clean"
    roots = {
        id: [one["root"] for one in web.ask("GET", f"/conversations/{id}/lsp").json["servers"]]
        for id in ("own", "in", "b", "c")
    }
    own = str(web.site.project)
    assert roots == {"own": [own], "in": [str(inner)], "b": [str(first)], "c": [str(second)]}
    assert len(web.site.log.pids()) == 4
    found = web.ask("GET", "/status").json["workspaces"]
    assert [one["root"] for one in found] == [own, str(first), str(second), str(inner)]
    outside = web.ask("POST", "/conversations/b/check", {"path": str(second / "a.scr")})
    assert problem(outside) == (400, "bad-file")


def test_a_folder_in_the_root_has_a_configuration_of_its_own(web: WebSite) -> None:
    inner = folder(web.site, "project/inner", "ERROR one\n")
    (inner / ".dispatch").mkdir()
    (inner / ".dispatch" / "lsp.json").write_text('{"lsp": {"scripted": {"disabled": true}}}')
    web.set_cwd("own", web.site.project)
    web.set_cwd("in", inner)
    assert web.check("own", "inner/a.scr")["verdict"] == "dirty"
    answer = web.ask("POST", "/conversations/in/check", {"path": "a.scr"})
    assert problem(answer) == (400, "bad-file")


def test_an_agent_and_the_endpoints_use_the_same_servers(web: WebSite) -> None:
    cwd = folder(web.site, "b", "ERROR one\n")
    web.set_cwd("b", cwd)
    with lspkit.connect(cwd, environ=web.site.environ, ready_timeout=PATIENCE) as agent:
        with web.events("?conversation=b") as following:
            assert web.ask("GET", "/conversations/b/lsp").json["connected"] is False
            assert agent.check("a.scr").verdict.dirty
            until(following, "state", state="active", root=str(cwd))
        found = web.ask("GET", "/conversations/b/lsp").json
        assert [(one["root"], one["diagnostics"]["error"]) for one in found["servers"]] == [
            (str(cwd), 1)
        ]
        assert web.check("b", "a.scr")["verdict"] == "dirty"
    assert len(web.site.log.pids()) == 1


def test_a_service_that_has_ended_is_started_by_the_next_request(web: WebSite) -> None:
    cwd = folder(web.site, "b")
    web.set_cwd("b", cwd)
    assert web.check("b", "a.scr")["verdict"] == "clean"
    registry = web.server._workspaces
    with registry.workspace_of(str(cwd)) as ws:
        client_of(ws).shutdown()
    assert comes_true(lambda: registry.all_roots() == [str(web.site.project)])
    assert len(web.ask("GET", "/status").json["workspaces"]) == 1
    assert web.check("b", "a.scr")["verdict"] == "clean"


def test_a_service_that_hangs_does_not_hide_the_others(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "STATE_TIMEOUT", 0.2)
    cwd = folder(web.site, "b")
    web.set_cwd("b", cwd)
    assert web.check("b", "a.scr")["verdict"] == "clean"
    with web.server._workspaces.workspace_of(str(cwd)) as ws:
        ready = client_of(ws).ready
    assert ready is not None
    os.kill(ready.pid, signal.SIGSTOP)
    try:
        own, other = web.ask("GET", "/status").json["workspaces"]
        assert (own["unavailable"], other["unavailable"]) == (
            "",
            "the service did not answer in time",
        )
        answer = web.ask("GET", "/conversations/b/lsp")
        assert problem(answer) == (503, "unusable")
    finally:
        os.kill(ready.pid, signal.SIGCONT)


def test_servers_that_are_missing_or_held_back_are_listed_with_their_state(site: Site) -> None:
    del site.environ["LSPKIT_TRUST"]
    site.configure({"lsp": {"lacking": {"command": ["no-such-program"], "extensions": [".lack"]}}})
    own = site.project / ".lspkit" / "lsp.json"
    own.parent.mkdir()
    own.write_text(json.dumps(config_for(Script().command(site.base / "of project"))))
    for name in ("a.lack", "b.nothing"):
        (site.project / name).touch()
    with WebSite(site) as web:
        web.set_cwd("a", site.project)
        found = web.ask("GET", "/conversations/a/lsp").json
    assert found["connected"] is False
    rows = {one["id"]: (one["root"], one["state"], one["reason"]) for one in found["servers"]}
    assert "ty" not in rows  # there is no file for it
    assert rows["lacking"] == (None, "unavailable", "its program was not found")
    assert rows["scripted"][:2] == (None, "unavailable")
    assert "not trusted" in rows["scripted"][2]


def test_conversations_are_listed_and_removed(web: WebSite) -> None:
    assert web.ask("GET", "/conversations").json == {"conversations": [], "omitted": 0}
    other = folder(web.site, "b")
    web.set_cwd("a", web.site.project)
    web.set_cwd("b%2Fc", other)
    a = {"conversationId": "a", "cwd": str(web.site.project)}
    b = {"conversationId": "b/c", "cwd": str(other)}
    assert web.ask("GET", "/conversations").json == {"conversations": [b, a], "omitted": 0}
    removed = web.ask("DELETE", "/conversations/b%2Fc")
    assert (removed.status, removed.json) == (200, b)
    assert web.ask("GET", "/conversations").json["conversations"] == [a]
    for method, path in (("DELETE", ""), ("GET", "/cwd")):
        answer = web.ask(method, f"/conversations/b%2Fc{path}")
        assert problem(answer) == (404, "unknown-conversation")


def test_trust_in_the_root_is_not_trust_in_another_folder(site: Site) -> None:
    del site.environ["LSPKIT_TRUST"]
    site.configure({})
    argv = Script().command(site.base / "of project")
    other = folder(site, "other")
    for root in (site.project, other):
        own = root / ".lspkit" / "lsp.json"
        own.parent.mkdir()
        own.write_text(json.dumps(config_for(argv)), encoding="utf-8")
    with WebSite(site, trusted=True) as web:
        web.set_cwd("own", site.project)
        web.set_cwd("other", other)
        assert web.check("own", "a.scr")["verdict"] == "clean"
        answer = web.ask("POST", "/conversations/other/check", {"path": "a.scr"})
        assert problem(answer) == (503, "unusable")
        assert "the project is not trusted" in answer.json["detail"]
        assert web.ask("GET", "/conversations/other/lsp").json["connected"] is False


def test_the_number_of_workspaces_is_bounded(web: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_registry, "MOST_WORKSPACES", 2)
    for name in "bcd":
        web.set_cwd(name, folder(web.site, name))
    assert web.check("b", "a.scr")["verdict"] == "clean"
    registry = web.server._workspaces
    roots = [str(web.site.base / name) for name in "bcd"]
    for name in "cd":
        assert web.ask("GET", f"/conversations/{name}/lsp").status == 200
    assert registry.all_roots()[1:] == roots[1:]
    with registry.workspace_of(roots[1]), registry.workspace_of(roots[2]):
        answer = web.ask("GET", "/conversations/b/lsp")
        assert problem(answer) == (503, "too-many-workspaces")
        assert answer.headers["Retry-After"] == "10"
    assert web.ask("GET", "/conversations/b/lsp").status == 200


def test_a_workspace_that_is_not_used_is_closed(
    web: WebSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = web.server._workspaces
    web.set_cwd("b", folder(web.site, "b"))
    assert web.check("b", "a.scr")["verdict"] == "clean"
    registry.close_unused()
    assert len(registry.all_roots()) == 2
    monkeypatch.setattr(workspace_registry, "IDLE_SECONDS", 0.0)
    with registry.look_at(str(web.site.base / "b")):
        registry.close_unused()
        assert len(registry.all_roots()) == 2
    registry.close_unused()
    assert len(registry.all_roots()) == 1
    assert web.check("b", "a.scr")["verdict"] == "clean"


# The service


def test_the_status_has_servers_and_diagnostics_by_file(web: WebSite) -> None:
    web.set_cwd("a", web.site.project)
    (web.site.project / "a.scr").write_text("WARN <b>x</b>\nERROR y\n", encoding="utf-8")
    web.check("a", "a.scr")
    status = web.ask("GET", "/status").json
    assert status["service"]["root"] == str(web.site.project)
    (workspace,) = status["workspaces"]
    assert workspace["totals"]["active"] == 1
    assert (workspace["omitted"], workspace["unavailable"]) == (0, "")
    (server,) = [one for one in workspace["servers"] if one["root"]]
    assert (server["id"], server["state"]) == ("scripted", "active")
    assert server["pid"] in web.site.log.pids()
    assert server["diagnostics"] == {**NO_COUNTS, "error": 1, "warning": 1, "total": 2}
    (file,) = workspace["files"]
    assert file["path"] == str(web.site.project / "a.scr")
    assert [(one["line"], one["severity"]) for one in file["diagnostics"]] == [
        (1, "warning"),
        (2, "error"),
    ]


def test_the_status_says_what_is_wrong_with_the_configuration(web: WebSite) -> None:
    assert web.ask("GET", "/status").status == 200
    web.site.config_file.write_text('{"lsp": ', encoding="utf-8")
    answer = web.ask("GET", "/status")
    assert problem(answer) == (503, "unusable")
    assert "lsp.json" in answer.json["detail"]
    web.site.configure(config_for(web.site.argv))
    assert web.ask("GET", "/status").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_a_method_that_an_address_does_not_take_is_a_problem(
    shared_web: WebSite, method: str
) -> None:
    answer = shared_web.ask(method, "/status")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    allowed = shared_web.ask("PATCH", "/conversations/a/cwd").headers["Allow"]
    assert allowed == "GET, PUT"


@pytest.mark.parametrize("path", ["/x", "/status/", "/conversations/a/b", "/../etc/passwd"])
def test_an_unknown_address_is_a_problem(shared_web: WebSite, path: str) -> None:
    assert problem(shared_web.ask("GET", path)) == (404, "unknown-path")


@pytest.mark.parametrize("path", ["/status?x=1", "/events?conversation=a&conversation=b"])
def test_an_unknown_parameter_is_a_problem(shared_web: WebSite, path: str) -> None:
    assert problem(shared_web.ask("GET", path)) == (400, "bad-request")


def test_a_body_of_another_type_is_a_problem(shared_web: WebSite) -> None:
    body = {"cwd": "/"}
    answer = shared_web.ask("PUT", "/conversations/a/cwd", body, Content_Type="text/plain")
    assert problem(answer) == (415, "wrong-content-type")
    assert problem(shared_web.ask("GET", "/status", body)) == (400, "bad-request")


# Events


def until(following: Any, kind: str, **fields: str) -> dict[str, Any]:
    """The next event with these fields."""
    while True:
        name, data = following()
        assert name == data["kind"]
        if name == kind and fields.items() <= data.items():
            found: dict[str, Any] = data
            return found


def test_states_and_diagnostics_are_told_as_they_change(web: WebSite) -> None:
    root = str(web.site.project)
    web.set_cwd("a", web.site.project)
    (web.site.project / "a.scr").write_text("ERROR one\n", encoding="utf-8")
    with web.events() as following:
        web.check("a", "a.scr")
        until(following, "state", state="starting", server="scripted", root=root, workspace=root)
        until(following, "state", state="active")
        until(following, "diagnostics", path=f"{root}/a.scr")


def test_events_of_workspaces_that_are_opened_later_are_told(web: WebSite) -> None:
    other = folder(web.site, "b")
    web.set_cwd("b", other)
    with web.events() as following:
        web.check("b", "a.scr")
        until(following, "state", state="active", workspace=str(other))


def test_only_the_events_of_a_conversation_are_told(web: WebSite) -> None:
    other = folder(web.site, "b")
    web.set_cwd("own", web.site.project)
    web.set_cwd("b", other)
    with web.events("?conversation=b") as following:
        web.check("own", "a.scr")
        web.check("b", "a.scr")
        assert following()[1]["workspace"] == str(other)
    assert problem(web.ask("GET", "/events?conversation=c")) == (404, "unknown-conversation")
