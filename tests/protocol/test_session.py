"""The conversation: which moves are allowed, what is said first, and what answers mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lspkit.errors import ProtocolError
from lspkit.protocol import events
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.session import TRANSITIONS, Pending, Session, State
from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import (
    ErrorResponse,
    Malformed,
    RequestMessage,
    ResponseMessage,
    parse,
)

OPENING = InitializeOptions("file:///top", "root", process_id=7, client_version="1.2")
WELCOME = ResponseMessage(1, b'{"capabilities":{}}')

#: state: action: the state after it. The whole diagram; what is not here is forbidden.
LEGAL: dict[str, dict[str, str]] = {
    "new": {"initialize": "initializing", "lost": "failed"},
    "initializing": {
        "initialize answered": "running",
        "initialize refused": "failed",
        "exit": "stopped",
        "lost": "failed",
    },
    "running": {
        "request": "running",
        "notify": "running",
        "shutdown": "stopping",
        "exit": "stopped",
        "lost": "failed",
    },
    "stopping": {"exit": "stopped", "lost": "stopped"},
    "stopped": {"lost": "stopped"},
    "failed": {"exit": "stopped", "lost": "failed"},
}

#: What the driver does.
CALLS = {
    "initialize": lambda session: session.initialize("tag"),
    "request": lambda session: session.request("a/b", {}, "tag"),
    "notify": lambda session: session.notify("a/b", {}),
    "shutdown": lambda session: session.shutdown("tag"),
    "exit": lambda session: session.exit(),
    "lost": lambda session: session.lost(),
}
#: What the server does.
WORDS: dict[str, messages.Message] = {
    "initialize answered": WELCOME,
    "initialize refused": ErrorResponse(1, -32603, "no"),
}


def unframed(*frames: bytes | None) -> list[dict[str, Any]]:
    reader = FrameReader()
    return [json.loads(body) for data in frames if data for body in reader.feed(data)]


def running(capabilities: object = (), **opening: Any) -> Session:
    session = Session(InitializeOptions("file:///top", "root", **opening))
    session.initialize("start")
    session.receive(parse(answer(1, {"capabilities": dict(capabilities)})))  # type: ignore[call-overload]
    return session


def answer(id: object, result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()


def in_state(name: str) -> Session:
    if name in ("running", "stopping", "stopped"):
        session = running()
        if name != "running":
            session.shutdown("tag")
        if name == "stopped":
            session.exit()
    else:
        session = Session(OPENING)
        if name != "new":
            session.initialize("tag")
        if name == "failed":
            session.receive(WORDS["initialize refused"])
    assert session.state.value == name
    return session


class TestMoves:
    def test_the_table_is_the_diagram(self) -> None:
        drawn = {
            (State(before), action): State(after)
            for before, moves in LEGAL.items()
            for action, after in moves.items()
        }
        assert drawn == TRANSITIONS

    @pytest.mark.parametrize("action", [*CALLS])
    @pytest.mark.parametrize("before", [*LEGAL])
    def test_a_call_moves_on_or_is_forbidden_and_changes_nothing(
        self, before: str, action: str
    ) -> None:
        session = in_state(before)
        pending = dict(session.pending)
        after = LEGAL[before].get(action)
        if after is None:
            with pytest.raises(ProtocolError, match=f"{action} is not possible .* {before}"):
                CALLS[action](session)
            assert (session.state.value, session.pending) == (before, pending)
        else:
            CALLS[action](session)
            assert session.state.value == after

    @pytest.mark.parametrize("action", [*WORDS])
    @pytest.mark.parametrize("before", [*LEGAL])
    def test_words_of_the_server_move_on_or_are_dropped_and_counted(
        self, before: str, action: str
    ) -> None:
        session = in_state(before)
        dropped = session.counts["answers nobody waits for"]
        event, reply = session.receive(WORDS[action])
        assert reply is None
        if action in LEGAL[before]:
            assert event is not None
            assert session.state.value == LEGAL[before][action]
        else:
            assert event is None
            assert session.state.value == before
            assert session.counts["answers nobody waits for"] == dropped + 1

    @pytest.mark.parametrize("action", [*WORDS])
    def test_an_answer_to_initialize_that_comes_after_exit_does_not_raise(
        self, action: str
    ) -> None:
        session = in_state("initializing")
        session.exit()
        session.receive(WORDS[action])
        assert session.state is State.STOPPED

    def test_the_whole_way_of_a_session(self) -> None:
        session = running()
        session.initialized()
        session.shutdown("end")
        event, _ = session.receive(ResponseMessage(2, b"null"))
        assert event == events.Answered("end", "shutdown", b"null")
        assert unframed(session.exit()) == [{"jsonrpc": "2.0", "method": "exit"}]
        assert repr(session) == "<Session stopped pending=0>"


class TestOpening:
    def test_initialize_says_who_and_where(self) -> None:
        session = Session(OPENING)
        [message] = unframed(session.initialize("tag"))
        params = message["params"]
        assert (message["id"], message["method"]) == (1, "initialize")
        assert params["processId"] == 7
        assert params["clientInfo"] == {"name": "lspkit", "version": "1.2"}
        assert params["rootUri"] == "file:///top"
        assert params["workspaceFolders"] == [{"uri": "file:///top", "name": "root"}]
        assert "initializationOptions" not in params

    def test_initialization_options_are_passed_on(self) -> None:
        session = Session(InitializeOptions("file:///r", "r", initialization={"a": [1]}))
        [message] = unframed(session.initialize("tag"))
        assert message["params"]["initializationOptions"] == {"a": [1]}

    @pytest.mark.parametrize(
        ("place", "expected"),
        [
            ("general.positionEncodings", ["utf-32", "utf-8", "utf-16"]),
            ("window.workDoneProgress", True),
            ("workspace.configuration", True),
            ("workspace.didChangeConfiguration.dynamicRegistration", True),
            ("workspace.didChangeWatchedFiles.dynamicRegistration", True),
            ("workspace.didChangeWatchedFiles.relativePatternSupport", True),
            ("workspace.workspaceFolders", True),
            ("workspace.applyEdit", True),
            ("workspace.workspaceEdit.documentChanges", True),
            ("workspace.workspaceEdit.resourceOperations", ["create", "rename", "delete"]),
            ("workspace.diagnostics.refreshSupport", True),
            ("textDocument.publishDiagnostics.versionSupport", True),
            ("textDocument.publishDiagnostics.relatedInformation", True),
            ("textDocument.publishDiagnostics.tagSupport.valueSet", [1, 2]),
            ("textDocument.publishDiagnostics.codeDescriptionSupport", True),
            ("textDocument.publishDiagnostics.dataSupport", True),
            ("textDocument.diagnostic.relatedInformation", True),
            ("textDocument.diagnostic.tagSupport.valueSet", [1, 2]),
            ("textDocument.diagnostic.codeDescriptionSupport", True),
            ("textDocument.diagnostic.dataSupport", True),
            ("textDocument.diagnostic.dynamicRegistration", True),
            ("textDocument.diagnostic.relatedDocumentSupport", True),
            ("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport", True),
            ("textDocument.definition.linkSupport", True),
            ("textDocument.implementation.linkSupport", True),
            ("textDocument.rename.prepareSupport", True),
            ("textDocument.callHierarchy.dynamicRegistration", True),
            ("textDocument.typeHierarchy", {}),
        ],
    )
    def test_a_required_capability_is_declared(self, place: str, expected: object) -> None:
        [message] = unframed(Session(OPENING).initialize("tag"))
        found: Any = message["params"]["capabilities"]
        for key in place.split("."):
            found = found[key]
        assert found == expected

    def test_the_units_on_offer_can_be_chosen(self) -> None:
        session = Session(InitializeOptions("file:///r", "r", encodings=("utf-16",)))
        [message] = unframed(session.initialize("tag"))
        assert message["params"]["capabilities"]["general"]["positionEncodings"] == ["utf-16"]

    def test_settings_follow_initialized(self) -> None:
        session = running(settings={"a": {"b": 1}})
        sent = unframed(*session.initialized())
        assert [(one["method"], one["params"]) for one in sent] == [
            ("initialized", {}),
            ("workspace/didChangeConfiguration", {"settings": {"a": {"b": 1}}}),
        ]

    def test_initialized_is_not_said_before_the_server_has_answered(self) -> None:
        with pytest.raises(ProtocolError):
            in_state("initializing").initialized()

    def test_the_answer_brings_capabilities_encoding_and_name(self) -> None:
        session = Session(OPENING)
        session.initialize("tag")
        result = {
            "capabilities": {"hoverProvider": True, "positionEncoding": "utf-8"},
            "serverInfo": {"name": "srv", "version": "3"},
        }
        assert session.encoding == "utf-16"
        event, _ = session.receive(parse(answer(1, result)))
        assert event == events.Initialized("tag")
        assert (session.encoding, session.server_name) == ("utf-8", "srv 3")
        assert session.supports("textDocument/hover")

    def test_an_early_question_does_not_spoil_the_later_answer(self) -> None:
        session = Session(OPENING)
        session.initialize("tag")
        assert not session.supports("textDocument/hover")
        session.receive(parse(answer(1, {"capabilities": {"hoverProvider": True}})))
        assert session.supports("textDocument/hover")

    @pytest.mark.parametrize("info", [None, "srv", {"name": None}, {}])
    def test_a_server_may_have_no_name(self, info: object) -> None:
        session = Session(OPENING)
        session.initialize("tag")
        session.receive(parse(answer(1, {"capabilities": {}, "serverInfo": info})))
        assert (session.state, session.server_name) == (State.RUNNING, "")

    @pytest.mark.parametrize(
        "result",
        [
            *(None, [], "yes", 3, {"capabilities": [1]}),
            {"capabilities": {"positionEncoding": "utf-7"}},
            {"capabilities": {"positionEncoding": 8}},
            {"capabilities": {"positionEncoding": ["utf-8"]}},
        ],
    )
    def test_an_answer_that_makes_no_sense_fails_the_session(self, result: object) -> None:
        session = Session(OPENING)
        session.initialize("tag")
        event, _ = session.receive(parse(answer(1, result)))
        assert isinstance(event, events.Failed)
        assert (event.tag, event.method) == ("tag", "initialize")
        assert session.state is State.FAILED


class TestAnswers:
    def test_an_answer_carries_the_tag_of_its_request(self) -> None:
        session = running()
        first, data = session.request("a/b", {"c": 1}, "first")
        second, _ = session.request("a/b", None, "second")
        assert unframed(data)[0] == {
            "jsonrpc": "2.0",
            "id": first,
            "method": "a/b",
            "params": {"c": 1},
        }
        assert session.receive(ResponseMessage(second, b"2"))[0] == events.Answered(
            "second", "a/b", b"2"
        )
        assert session.receive(ResponseMessage(first, b"1"))[0] == events.Answered(
            "first", "a/b", b"1"
        )
        assert session.pending == {}

    def test_a_refusal_fails_its_request(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        event, _ = session.receive(ErrorResponse(id, -32801, "changed"))
        assert event == events.Failed("tag", "a/b", -32801, "changed")

    def test_a_second_answer_is_dropped_and_counted(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        session.receive(ResponseMessage(id, b"1"))
        assert session.receive(ResponseMessage(id, b"1")) == (None, None)
        assert session.counts["answers nobody waits for"] == 1

    @pytest.mark.parametrize(
        "late", [ResponseMessage(99, b"1"), ErrorResponse(99, 1, ""), ResponseMessage(None, b"1")]
    )
    def test_an_answer_to_an_unknown_id_is_dropped_and_counted(
        self, late: messages.Message
    ) -> None:
        session = running()
        assert session.receive(late) == (None, None)
        assert session.counts["answers nobody waits for"] == 1

    def test_a_request_given_up_is_cancelled_and_its_answer_dropped(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        [sent] = unframed(session.cancel(id))
        assert (sent["method"], sent["params"]) == ("$/cancelRequest", {"id": id})
        assert session.receive(ResponseMessage(id, b"1")) == (None, None)
        assert session.counts["answers nobody waits for"] == 1

    def test_a_request_that_is_answered_is_not_cancelled(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        session.receive(ResponseMessage(id, b"1"))
        assert session.cancel(id) is None

    def test_a_lost_connection_names_what_will_never_be_answered(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        session.receive(
            parse(b'{"method":"$/progress","params":{"token":1,"value":{"kind":"begin"}}}')
        )
        assert session.lost() == [Pending("a/b", "tag")]
        assert session.progress.descriptions() == ()
        assert session.receive(ResponseMessage(id, b"1")) == (None, None)

    def test_params_that_cannot_be_sent_leave_nothing_pending(self) -> None:
        session = running()
        with pytest.raises(TypeError):
            session.request("a/b", {"c": object()}, "tag")
        assert session.pending == {}

    def test_a_broken_answer_fails_its_request_at_once(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        event, reply = session.receive(Malformed("bad UTF-8", b"...", answers=id))
        assert isinstance(event, events.Failed)
        assert (event.tag, reply, session.pending) == ("tag", None, {})
        assert "bad UTF-8" in event.message
        assert session.counts["bad messages"] == 1

    def test_a_broken_answer_to_initialize_fails_the_session(self) -> None:
        session = in_state("initializing")
        event, _ = session.receive(Malformed("bad", b"", answers=1))
        assert isinstance(event, events.Failed)
        assert session.state is State.FAILED

    def test_a_broken_answer_to_nothing_harms_no_request(self) -> None:
        session = running()
        session.request("a/b", None, "tag")
        event, reply = session.receive(Malformed("bad", b"sample", answers=99))
        assert (event, reply) == (events.BadMessage("bad", b"sample"), None)
        assert len(session.pending) == 1

    def test_a_request_with_an_id_of_ours_is_still_a_request(self) -> None:
        session = running()
        id, _ = session.request("a/b", None, "tag")
        _, reply = session.receive(
            RequestMessage(str(id).encode(), "workspace/workspaceFolders", None)
        )
        assert unframed(reply)[0]["id"] == id
        assert session.receive(ResponseMessage(id, b"1"))[0] == events.Answered("tag", "a/b", b"1")
