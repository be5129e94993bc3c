"""Requests and notifications of the server: each request is answered, exactly once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lspkit.protocol import events
from lspkit.protocol.capabilities import DocumentKey, InitializeOptions, Registration
from lspkit.protocol.session import Session
from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import (
    Malformed,
    NotificationMessage,
    RequestMessage,
    ResponseMessage,
    parse,
)

SETTINGS = {"python": {"analysis": {"mode": "strict", "off": False}}, "dotted.key": 3, "none": None}


def running() -> Session:
    session = Session(InitializeOptions("file:///top", "root", settings=SETTINGS))
    session.initialize("start")
    session.receive(ResponseMessage(1, b'{"capabilities":{}}'))
    return session


def unframed(data: bytes | None) -> dict[str, Any]:
    assert data is not None
    [body] = FrameReader().feed(data)
    message: dict[str, Any] = json.loads(body)
    return message


def ask(
    method: str, params: object = None, session: Session | None = None
) -> tuple[events.Event | None, dict[str, Any]]:
    raw = None if params is None else json.dumps(params).encode()
    event, reply = (session or running()).receive(RequestMessage(b'"q"', method, raw))
    message = unframed(reply)
    assert message["id"] == "q"
    assert ("result" in message) != ("error" in message)
    return event, message


def registration(method: str, id: str = "r1", **options: object) -> dict[str, object]:
    return {"id": id, "method": method, "registerOptions": options}


class TestReplies:
    @pytest.mark.parametrize(
        ("method", "params", "result"),
        [
            ("window/workDoneProgress/create", {"token": 1}, None),
            ("window/showMessageRequest", {"type": 1, "message": "?", "actions": []}, None),
            ("window/showDocument", {"uri": "file:///a"}, {"success": False}),
            ("workspace/workspaceFolders", None, [{"uri": "file:///top", "name": "root"}]),
            ("workspace/configuration", {"items": []}, []),
            ("client/registerCapability", {"registrations": []}, None),
            ("client/unregisterCapability", {"unregisterations": []}, None),
        ],
    )
    def test_a_known_request_has_its_answer(
        self, method: str, params: object, result: object
    ) -> None:
        _, message = ask(method, params)
        assert message == {"jsonrpc": "2.0", "id": "q", "result": result}

    @pytest.mark.parametrize(
        "kind", ["diagnostic", "semanticTokens", "codeLens", "inlayHint", "inlineValue", "new"]
    )
    def test_a_refresh_is_answered_with_null_and_acted_on(self, kind: str) -> None:
        event, message = ask(f"workspace/{kind}/refresh")
        assert message["result"] is None
        assert event == events.RefreshAsked(f"workspace/{kind}/refresh")

    def test_a_refresh_outside_of_the_workspace_methods_is_answered_as_well(self) -> None:
        event, message = ask("experimental/things/refresh")
        assert message.get("result", "refused") is None
        assert event == events.RefreshAsked("experimental/things/refresh")

    def test_an_edit_that_nobody_asked_for_is_declined_with_a_reason(self) -> None:
        _, message = ask("workspace/applyEdit", {"edit": {"changes": {}}})
        assert message["result"]["applied"] is False
        assert message["result"]["failureReason"]

    @pytest.mark.parametrize("method", ["a/b", "", "refresh", "$/unknown", "textDocument/hover"])
    def test_anything_else_is_refused_as_unknown_and_counted(self, method: str) -> None:
        session = running()
        event, message = ask(method, None, session)
        assert message["error"]["code"] == -32601
        assert method in message["error"]["message"]
        assert event is None
        assert session.counts["server requests refused"] == 1

    @pytest.mark.parametrize("raw", [b"7", b'"7"', b"1.0", b"null", '"é"'.encode()])
    def test_the_id_is_echoed_as_it_came(self, raw: bytes) -> None:
        for method in ("window/showDocument", "a/b"):
            _, reply = running().receive(parse(b'{"id":%s,"method":"%s"}' % (raw, method.encode())))
            assert reply is not None
            assert b'"id":%s,' % raw in reply

    def test_a_server_may_ask_before_it_has_answered_initialize(self) -> None:
        session = Session(InitializeOptions("file:///top", "root"))
        session.initialize("start")
        _, message = ask("window/workDoneProgress/create", {"token": 1}, session)
        assert message["result"] is None

    def test_a_server_may_ask_while_it_stops(self) -> None:
        session = running()
        session.shutdown("end")
        _, message = ask("workspace/workspaceFolders", None, session)
        assert message["result"] == [{"uri": "file:///top", "name": "root"}]


class TestConfiguration:
    @pytest.mark.parametrize(
        ("section", "value"),
        [
            ("python.analysis.mode", "strict"),
            ("python.analysis", {"mode": "strict", "off": False}),
            ("python.analysis.off", False),
            ("dotted.key", 3),
            ("none", None),
            ("missing", None),
            ("python.missing.mode", None),
            ("python.analysis.mode.deeper", None),
            ("", SETTINGS),
            (None, SETTINGS),
        ],
    )
    def test_a_section_is_looked_up_by_its_dots(self, section: str | None, value: object) -> None:
        items = [{"section": section, "scopeUri": "file:///top/a.py"}]
        assert ask("workspace/configuration", {"items": items})[1]["result"] == [value]

    def test_each_item_has_its_value_in_order(self) -> None:
        items = [{"section": "dotted.key"}, {"section": "missing"}, {}, "no item"]
        _, message = ask("workspace/configuration", {"items": items})
        assert message["result"] == [3, None, SETTINGS, SETTINGS]

    def test_without_any_settings_the_whole_is_null(self) -> None:
        session = Session(InitializeOptions("file:///top", "root"))
        session.initialize("start")
        _, message = ask("workspace/configuration", {"items": [{}]}, session)
        assert message["result"] == [None]

    @pytest.mark.parametrize("params", [None, [], {}, {"items": None}, {"items": {}}, 3])
    def test_items_that_are_no_list_are_invalid_params(self, params: object) -> None:
        _, message = ask("workspace/configuration", params)
        assert message["error"]["code"] == -32602


class TestRegistrations:
    def test_a_registration_of_any_method_is_recorded(self) -> None:
        session = running()
        entries = [registration("textDocument/hover"), registration("x/unheard-of", "r2", a=1)]
        event, message = ask("client/registerCapability", {"registrations": entries}, session)
        assert message["result"] is None
        assert event == events.Registered(
            (
                Registration("r1", "textDocument/hover", {}),
                Registration("r2", "x/unheard-of", {"a": 1}),
            )
        )
        assert session.supports("textDocument/hover")
        assert session.supports("x/unheard-of")

    @pytest.mark.parametrize("key", ["unregisterations", "unregistrations"])
    def test_a_registration_is_taken_back_under_either_spelling(self, key: str) -> None:
        session = running()
        entry = registration("textDocument/hover")
        ask("client/registerCapability", {"registrations": [entry]}, session)
        event, message = ask("client/unregisterCapability", {key: [entry]}, session)
        assert message["result"] is None
        assert event == events.Unregistered((Registration("r1", "textDocument/hover", {}),))
        assert not session.supports("textDocument/hover")

    def test_taking_back_what_was_never_registered_is_fine(self) -> None:
        event, message = ask("client/unregisterCapability", {"unregisterations": [{"id": "x"}, 3]})
        assert message["result"] is None
        assert event == events.Unregistered(())

    @pytest.mark.parametrize("entry", [None, 3, [], {}, {"id": "a"}, {"method": "a"}])
    def test_a_registration_without_id_or_method_is_invalid_params(self, entry: object) -> None:
        _, message = ask("client/registerCapability", {"registrations": [entry]})
        assert message["error"]["code"] == -32602

    @pytest.mark.parametrize(
        "entries",
        [
            5,
            True,
            *({"id": "a"}, "abc"),
        ],
    )
    @pytest.mark.parametrize("verb", ["registerCapability", "unregisterCapability"])
    def test_registrations_that_are_no_list_are_refused(self, verb: str, entries: object) -> None:
        key = "registrations" if verb == "registerCapability" else "unregisterations"
        event, message = ask(f"client/{verb}", {key: entries})
        assert event is None
        assert message["error"] == {"code": -32602, "message": f"{key}: a list was expected"}

    @pytest.mark.parametrize("options", ["text", [1], 5, True])
    def test_options_that_are_no_object_do_no_harm_later(self, options: object) -> None:
        session = running()
        entry = {"id": "r", "method": "textDocument/hover", "registerOptions": options}
        _, message = ask("client/registerCapability", {"registrations": [entry]}, session)
        assert message["result"] is None
        document = DocumentKey("file:///top/a.py", "python")
        assert session.supports("textDocument/hover", document)
        assert session.capabilities.options("textDocument/hover", document) == [{}]


class TestMalformedRequests:
    @pytest.mark.parametrize("code", [-32700, -32600, -32602])
    def test_a_broken_request_is_refused_with_its_code(self, code: int) -> None:
        session = running()
        event, reply = session.receive(Malformed("why", b"sample", code, asked=b'"q"'))
        assert event == events.BadMessage("why", b"sample")
        message = unframed(reply)
        assert (message["id"], message["error"]["code"]) == ("q", code)
        assert session.counts["bad messages"] == 1

    def test_a_broken_notification_is_not_answered(self) -> None:
        event, reply = running().receive(Malformed("why", b"sample"))
        assert (event, reply) == (events.BadMessage("why", b"sample"), None)

    def test_neighbours_of_a_broken_message_are_unharmed(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        bodies = [b"{", b'{"id":%d,"result":1}' % id, b"\xff", b'{"id":2,"method":"x"}']
        got = [session.receive(parse(body)) for body in bodies]
        assert got[1][0] == events.Answered("tag", "a/b", b"1")
        assert unframed(got[3][1])["error"]["code"] == -32601
        assert session.counts["bad messages"] == 2

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ('{"id":"é","method":"x","params":"\udcff"}', -32700),
            ('{"id":"é","method":"x","params":[1,}', -32700),
            ('{"id":"é","method":3}', -32600),
        ],
        ids=["no UTF-8", "no JSON", "no method"],
    )
    def test_a_refusal_of_a_broken_request_is_itself_good_json(self, body: str, code: int) -> None:
        _, reply = running().receive(parse(body.encode("utf-8", "surrogateescape")))
        message = unframed(reply)
        assert (message["id"], message["error"]["code"]) == ("é", code)

    def test_a_broken_request_whose_id_cannot_be_read_is_not_answered(self) -> None:
        session = running()
        event, reply = session.receive(parse(b'{"id":"\xff","method":"x"}'))
        assert isinstance(event, events.BadMessage)
        assert reply is None
        assert session.counts["bad messages"] == 1

    def test_params_nested_to_the_limit_of_reading_are_answered(self) -> None:
        def request(depth: int) -> bytes:
            nested = b'{"a":' * depth + b"1" + b"}" * depth
            return b'{"id":1,"method":"window/showDocument","params":%s}' % nested

        low, high = 1, 100_000
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high)
                if isinstance(parse(request(middle)), RequestMessage)
                else (low, middle)
            )
        for depth in range(low - 20, low + 20):
            _, reply = running().receive(parse(request(depth)))
            assert reply is not None


class TestNotifications:
    def test_diagnostics_are_an_event_with_raw_items(self) -> None:
        raw = b'{"method":"textDocument/publishDiagnostics","params":{"uri":"u","diagnostics":%s}}'
        for items, expected in ((b"[{}]", b"[{}]"), (b"null", b"[]")):
            event, reply = running().receive(parse(raw % items))
            assert (event, reply) == (events.DiagnosticsPublished("u", None, expected), None)

    @pytest.mark.parametrize("method", ["window/logMessage", "window/showMessage"])
    def test_words_for_people_are_an_event(self, method: str) -> None:
        event, _ = running().receive(NotificationMessage(method, b'{"type":2,"message":"x"}'))
        assert event == events.MessageShown(2, "x")

    @pytest.mark.parametrize("params", [None, b"null", b"[]", b'{"type":"x"}', b"{"])
    def test_words_without_sense_are_a_log_line(self, params: bytes | None) -> None:
        event, _ = running().receive(NotificationMessage("window/logMessage", params))
        assert event == events.MessageShown(4, "")

    def test_progress_is_tracked_by_the_session(self) -> None:
        session = running()
        value = b'{"token":"t","value":{"kind":"begin","title":"Indexing"}}'
        assert session.receive(NotificationMessage("$/progress", value))[0] == events.ProgressBegan(
            "t", "Indexing"
        )
        assert session.progress.busy_with() == (("Indexing", 0.0),)

    def test_any_other_notification_is_passed_on(self) -> None:
        event, reply = running().receive(NotificationMessage("x/y", b"[1]"))
        assert (event, reply) == (events.Notified("x/y", b"[1]"), None)
