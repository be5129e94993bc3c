"""Any interleaving of what both sides say resolves each request exactly once.

The driver of a session is played here: it asks, gives up, and counts which tags came back. The
server answers in any order, refuses, repeats itself, sends garbage and asks questions of its own,
some under ids that we use, too.
"""

from __future__ import annotations

import collections
import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from lspkit.protocol import events
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.session import Session, State
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.protocol.wire.messages import parse

METHODS = st.sampled_from(["textDocument/hover", "textDocument/definition", "x/y"])
QUESTIONS = st.sampled_from(
    [
        "workspace/configuration",
        "client/registerCapability",
        "client/unregisterCapability",
        "window/workDoneProgress/create",
        "workspace/diagnostic/refresh",
        "workspace/workspaceFolders",
        "workspace/applyEdit",
        "window/showMessageRequest",
        "window/showDocument",
        "x/unknown",
    ]
)
PARAMS: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, [], {}, {"items": [{"section": "a.b"}, {}]}, {"token": 1}, {"items": 3}),
        {"registrations": [{"id": "1", "method": "textDocument/hover"}]},
        *({"registrations": [{}]}, {"unregisterations": [{"id": "1"}, {"id": "2"}]}),
    ]
)
IDS = st.integers(0, 12) | st.sampled_from(["1", "2", "a", 1.0, 2.5, None])
# No id of ours is in these, nor does any of them ask something that can be made out.
GARBAGE = st.sampled_from(
    [
        *(b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b'{"id":}'),
        *(b'{"method":"a","params":[}', b'{"result":{"id":1},]', b'{"id":{"id":1},"result":[}'),
        b'{"method":"textDocument/publishDiagnostics","params":{}}',
    ]
)
NOTES = st.sampled_from(
    [
        {"method": "window/logMessage", "params": {"type": 3, "message": "hi"}},
        {"method": "$/progress", "params": {"token": 1, "value": {"kind": "begin", "title": "t"}}},
        {"method": "$/progress", "params": None},
        {"method": "textDocument/publishDiagnostics", "params": {"uri": "file:///a"}},
        {"method": "x/y"},
    ]
)
SPELLINGS = st.sampled_from([lambda id: id, str, float])


class Conversation(RuleBasedStateMachine):
    """Both ends of one session."""

    requests = Bundle("requests")

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """A new session, running. Ids of the last one may still turn up: nobody waits for them."""
        self.session = Session(InitializeOptions("file:///top", "root", settings={"a": {"b": 1}}))
        self.reader = FrameReader()
        #: How often each tag came back, and how often it should have.
        self.resolved: collections.Counter[int] = collections.Counter()
        self.expected: collections.Counter[int] = collections.Counter()
        #: Requests by id that the server may still answer.
        self.open: dict[int, int] = {}
        self.unwanted = 0
        self.garbage = 0
        self.session.initialize(0)
        self.say({"id": 1, "result": {"capabilities": {}}})
        self.expected[0] += 1
        self.tags = 0

    def say(self, message: dict[str, Any] | bytes) -> tuple[events.Event | None, list[Any]]:
        """The server says something: the event, and what was written back."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        event, written = None, b""
        for received in self.reader.feed(frame(body)):
            event, reply = self.session.receive(parse(received))
            written += reply or b""
        if isinstance(event, events.Answered | events.Failed | events.Initialized):
            self.resolved[event.tag] += 1
        return event, [json.loads(one) for one in FrameReader().feed(written)]

    def settle(self, id: int) -> None:
        """The server has said something that answers `id`."""
        tag = self.open.pop(id, None)
        if tag is None:
            self.unwanted += 1
        else:
            self.expected[tag] += 1

    @rule(target=requests, method=METHODS)
    def ask(self, method: str) -> int:
        self.tags += 1
        id, data = self.session.request(method, {"n": self.tags}, self.tags)
        [body] = FrameReader().feed(data)
        assert json.loads(body)["id"] == id
        assert id not in self.open
        self.open[id] = self.tags
        return id

    @rule(id=requests, spelling=SPELLINGS, result=st.sampled_from([None, [], {"id": 1}, "x"]))
    def answer(self, id: int, spelling: Any, result: object) -> None:
        _, written = self.say({"id": spelling(id), "result": result})
        assert written == []
        self.settle(id)

    @rule(id=requests, code=st.sampled_from([-32801, -32603, 0]))
    def refuse(self, id: int, code: int) -> None:
        _, written = self.say({"id": id, "error": {"code": code, "message": "no"}})
        assert written == []
        self.settle(id)

    @rule(id=requests, tail=st.sampled_from([b"{", b'"\xff"}', b"1,]", b'{"id":99']))
    def answer_badly(self, id: int, tail: bytes) -> None:
        _, written = self.say(b'{"id":%d,"result":%s' % (id, tail))
        assert written == []
        self.garbage += 1
        tag = self.open.pop(id, None)
        if tag is not None:
            self.expected[tag] += 1

    @rule(id=st.integers(100, 999) | st.sampled_from(["x", None]))
    def answer_what_was_never_asked(self, id: object) -> None:
        assert self.say({"id": id, "result": 1}) == (None, [])
        self.unwanted += 1

    @rule(id=requests)
    def give_up(self, id: int) -> None:
        told = self.session.cancel(id)
        assert (told is not None) == (id in self.open)
        self.open.pop(id, None)

    @rule(id=IDS, method=QUESTIONS, params=PARAMS)
    def question(self, id: object, method: str, params: object) -> None:
        _, written = self.say({"id": id, "method": method, "params": params})
        [reply] = written
        assert reply["id"] == id
        assert type(reply["id"]) is type(id)
        assert ("result" in reply) != ("error" in reply)

    @rule(id=st.integers(0, 12), tail=st.sampled_from([b"[}", b'"\xff"}', b"{"]))
    def question_badly(self, id: int, tail: bytes) -> None:
        event, written = self.say(b'{"id":%d,"method":"x/y","params":%s' % (id, tail))
        [reply] = written
        assert (reply["id"], "error" in reply) == (id, True)
        assert isinstance(event, events.BadMessage)
        self.garbage += 1

    @rule(body=GARBAGE)
    def garble(self, body: bytes) -> None:
        event, written = self.say(body)
        assert isinstance(event, events.BadMessage)
        assert written == []
        self.garbage += 1

    @rule(message=NOTES)
    def note(self, message: dict[str, Any]) -> None:
        assert self.say(message)[1] == []

    @rule()
    def lose_and_start_over(self) -> None:
        orphans = self.session.lost()
        assert sorted(one.tag for one in orphans) == sorted(self.open.values())
        assert self.session.state is State.FAILED
        self.begin()

    @invariant()
    def each_request_is_resolved_exactly_once(self) -> None:
        assert self.resolved == self.expected
        assert max(self.resolved.values()) == 1
        assert sorted(self.session.pending) == sorted(self.open)

    @invariant()
    def nothing_is_counted_twice(self) -> None:
        assert self.session.counts["answers nobody waits for"] == self.unwanted
        assert self.session.counts["bad messages"] == self.garbage
        assert self.session.state is State.RUNNING


TestConversation = Conversation.TestCase
