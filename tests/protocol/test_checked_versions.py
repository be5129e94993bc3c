"""Which version a push without a version is about, against a model of a server that asks first."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lspkit.protocol import checked_versions
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.protocol.checked_versions import CheckedVersions
from lspkit.protocol.events import DiagnosticsPublished
from lspkit.protocol.session import Session, State
from lspkit.protocol.wire import messages

URI = "file:///a.yaml"
OPEN, CHANGE, CLOSE = (f"textDocument/did{what}" for what in ("Open", "Change", "Close"))


def text(version: int, uri: str = URI) -> dict[str, Any]:
    return {"textDocument": {"uri": uri, "version": version}}


def settings_of(*uris: str) -> dict[str, Any]:
    return {"items": [{"section": "[yaml]", "scopeUri": uri} for uri in uris]}


def checked(version: int = 1) -> CheckedVersions:
    """An open document that the server has checked."""
    found = CheckedVersions()
    found.sent(OPEN, text(version))
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == version
    return found


def test_a_check_that_began_after_the_text_is_about_it():
    found = checked()
    found.sent(CHANGE, text(2))
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == 2


def test_a_push_before_a_check_begins_says_nothing():
    found = checked()
    found.sent(CHANGE, text(2))
    assert found.pushed(URI) is None
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == 2


def test_a_push_without_a_check_ends_none():
    found = checked()
    assert found.pushed(URI) is None
    found.settings_requested(settings_of(URI))
    found.sent(CHANGE, text(2))
    found.settings_requested(settings_of(URI))
    assert [found.pushed(URI), found.pushed(URI)] == [None, None]


def test_a_check_that_was_under_way_may_have_read_either_text():
    found = checked()
    found.settings_requested(settings_of(URI))
    found.sent(CHANGE, text(2))
    assert found.pushed(URI) is None
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == 2


def test_of_two_checks_nobody_knows_which_is_published_last():
    found = checked()
    found.sent(CHANGE, text(2))
    found.settings_requested(settings_of(URI))
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) is None
    assert found.pushed(URI) is None
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == 2


def test_a_document_that_was_closed_is_never_sure_again():
    """That it is closed is published as well, at any time after the notification was sent."""
    found = checked()
    found.sent(CLOSE, {"textDocument": {"uri": URI}})
    found.sent(OPEN, text(2))
    for version in (3, 4):
        found.settings_requested(settings_of(URI))
        assert found.pushed(URI) is None
        found.sent(CHANGE, text(version))


def test_findings_are_due_until_the_check_that_began_after_the_text_has_spoken():
    found = checked()
    assert not found.is_due(URI)
    found.settings_requested(settings_of(URI))
    found.sent(CHANGE, text(2))
    assert found.is_due(URI)
    assert found.pushed(URI) is None  # by the check from before
    assert found.is_due(URI)
    found.settings_requested(settings_of(URI))
    assert found.is_due(URI)
    assert found.pushed(URI) == 2
    assert not found.is_due(URI)


def test_a_check_that_publishes_nothing_is_not_awaited_for_ever():
    found = checked()
    for version in (2, 3):
        found.sent(CHANGE, text(version))
        found.settings_requested(settings_of(URI))
    assert found.is_due(URI)
    assert found.pushed(URI) is None  # by either of the two
    assert not found.is_due(URI)


def test_nothing_is_due_from_a_server_that_does_not_ask():
    found = CheckedVersions()
    found.sent(OPEN, text(1))
    assert not found.is_due(URI)
    assert found.pushed(URI) is None
    assert not found.is_due(URI)


def test_requests_for_other_settings_are_no_checks():
    found = checked()
    found.sent(CHANGE, text(2))
    for params in (
        settings_of(URI, URI),
        settings_of("file:///b.yaml"),
        {"items": [{"section": "yaml"}]},
        {"items": [{"scopeUri": 1}]},
        {"items": ["yaml"]},
        {"items": None},
        {},
    ):
        found.settings_requested(params)
    assert found.pushed(URI) is None


def test_the_name_of_a_document_may_be_written_in_another_way():
    found = CheckedVersions()
    found.sent(OPEN, text(1, "file:///a%20b/c%3Ad.yaml"))
    found.settings_requested(settings_of("file:///a%20b/c:d.yaml"))
    assert found.pushed("file:///a%20b/c%3ad.yaml") == 1


def test_of_more_documents_than_are_remembered_nothing_is_known(monkeypatch):
    monkeypatch.setattr(checked_versions, "MOST_REPORTED_FILES", 1)
    found = checked()
    found.sent(OPEN, text(1, "file:///b.yaml"))
    found.settings_requested(settings_of("file:///b.yaml"))
    assert found.pushed("file:///b.yaml") is None
    assert not found.is_due("file:///b.yaml")
    found.sent(CHANGE, text(2))
    found.settings_requested(settings_of(URI))
    assert found.pushed(URI) == 2


class Server:
    """A server that checks a document after a delay, of which any number may be under way."""

    def __init__(self) -> None:
        self.inbox: deque[tuple[str, int]] = deque()
        self.outbox: deque[tuple[str, int | None]] = deque()
        #: The text of each open of the document: a check goes on with the one that it began with.
        self.documents: list[int] = []
        self.is_open = False
        self.has_timer = False
        #: Checks that have asked, by the open that they are about; and those that were answered,
        #: with the version that they have read, or None.
        self.asking: deque[int] = deque()
        self.checks: list[tuple[int, int | None]] = []

    def read(self, reads_now: bool) -> None:
        """Process the next message of the client."""
        if not self.inbox:
            return
        what, version = self.inbox.popleft()
        if what == OPEN:
            self.documents.append(version)
            self.is_open = self.has_timer = True
        elif what == CHANGE:
            self.documents[-1] = version
            self.has_timer = True
        elif what == CLOSE:
            self.is_open = self.has_timer = False
            self.outbox.append(("push", None))
        else:
            which = self.asking.popleft()
            self.checks.append((which, self.documents[which] if reads_now else None))

    def fire(self) -> None:
        """The delay is over, or the settings have changed."""
        if self.has_timer:
            self.has_timer = False
            self.asking.append(len(self.documents) - 1)
            self.outbox.append(("ask", None))

    def finish(self, which: int) -> None:
        """Publish the findings of a check."""
        if self.checks:
            document, version = self.checks.pop(which % len(self.checks))
            self.outbox.append(("push", self.documents[document] if version is None else version))


class Client:
    """Sends texts, and notes which version it takes a push for."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.found = CheckedVersions()
        self.version = 0
        self.pushes: list[tuple[int | None, int | None]] = []

    def send(self, method: str) -> None:
        if method == CLOSE:
            self.found.sent(CLOSE, {"textDocument": {"uri": URI}})
        else:
            self.version += 1
            self.found.sent(method, text(self.version))
        self.server.inbox.append((method, self.version))

    def receive(self) -> None:
        if not self.server.outbox:
            return
        what, version = self.server.outbox.popleft()
        if what == "push":
            self.pushes.append((self.found.pushed(URI), version))
        else:
            self.found.settings_requested(settings_of(URI))
            self.server.inbox.append(("answer", 0))


#: What may happen next; the long ones bring a check far enough to be in the way of another.
STEPS = {
    "change": ["change"],
    "close and open": ["close"],
    "check again": ["again"],
    "read": ["read"],
    "begin a check": ["read", "read", "fire", "receive", "read"],
    "begin a check that reads late": ["read", "read", "fire", "receive", "read late"],
    "ask": ["read", "read", "fire"],
    "receive": ["receive"],
    "end a check": ["end", "receive"],
    "end another check": ["end another", "receive"],
}


def run(names: Iterable[str]) -> list[tuple[int | None, int | None]]:
    """For each push the version that the client took it for, and the one that it is about."""
    server = Server()
    client = Client(server)
    client.send(OPEN)
    for step in (step for name in names for step in STEPS[name]):
        if step == "change":
            client.send(CHANGE)
        elif step == "close":
            client.send(CLOSE)
            client.send(OPEN)
        elif step.startswith("read"):
            server.read(reads_now=step == "read")
        elif step == "fire":
            server.fire()
        elif step == "again":
            server.has_timer = server.is_open
        elif step == "receive":
            client.receive()
        else:
            server.finish(step == "end another")
    return client.pushes


def mistaken(names: Iterable[str]) -> list[tuple[int | None, int | None]]:
    return [one for one in run(names) if one[0] not in (None, one[1])]


def test_a_push_is_never_taken_for_another_version():
    short = itertools.chain.from_iterable(
        itertools.product(STEPS, repeat=length) for length in range(6)
    )
    assert [names for names in short if mistaken(names)] == []


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from([*STEPS]), min_size=6, max_size=40))
def test_nor_in_a_long_course(names):
    assert mistaken(names) == []


def test_the_model_has_pushes_that_are_sure_and_others_that_are_not():
    check = ["begin a check", "end a check"]
    assert run([*check, "change", *check]) == [(1, 1), (2, 2)]
    overlapping = ["begin a check", "change", "begin a check", "end another check", "end a check"]
    assert run(overlapping) == [(None, 2), (None, 1)]


def published(session: Session, version: int | None = None) -> int | None:
    event, _ = session.receive(messages.PublishedDiagnostics(uri=URI, version=version, items=b"[]"))
    assert isinstance(event, DiagnosticsPublished)
    return event.version


def session_with(*, asks_before_check: bool) -> Session:
    options = InitializeOptions("file:///", "top", asks_before_check=asks_before_check)
    session = Session(options)
    session.state = State.RUNNING
    session.notify(OPEN, text(7))
    params = messages.encode(settings_of(URI))
    session.receive(messages.RequestMessage(b"1", "workspace/configuration", params))
    return session


def test_a_session_names_the_version_only_for_servers_that_ask_and_name_none():
    assert published(session_with(asks_before_check=True)) == 7
    assert published(session_with(asks_before_check=False)) is None
    assert published(session_with(asks_before_check=True), version=3) == 3
