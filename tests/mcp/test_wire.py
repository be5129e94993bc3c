"""The wire of an MCP client and its roots, without a client."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

import lspkit
from lspkit.mcp import wire_streams
from lspkit.mcp.client_roots import ClientRoots, client_roots
from lspkit.mcp.mcp_process import McpChannel, serve_alone
from lspkit.mcp.wire_streams import Descriptors, split_lines
from lspkit.workspace_boundary import boundary_of
from tests.mcp.raw_mcp import RawWire
from tests.service.site import PATIENCE


def lines(chunks: Iterable[bytes]) -> list[bytes | str]:
    """The lines in these chunks; errors as texts."""
    left = iter([*chunks, b""])
    found = split_lines(lambda: next(left))
    return [str(one) if isinstance(one, Exception) else one for one in found]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b", b"\nc", b"\n"], [b"ab", b"c"]),
        ([b"\n", b" \r\n", b"a\r\n"], [b"a\r"]),
        ([b"a\nwithout an end"], [b"a"]),
        ([], []),
    ],
)
def test_a_message_is_a_line(chunks: list[bytes], expected: list[bytes]) -> None:
    assert lines(chunks) == expected


def test_a_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_streams, "LONGEST_LINE", 4)
    found = lines([b"abc", b"def", b"ghi", b"j\nab\n"])
    assert found == ["a message has more than 4 bytes", b"ab"]


def test_roots_are_used_only_in_the_workspace(tmp_path: Path) -> None:
    inner, link = tmp_path / "project" / "inner", tmp_path / "project" / "link"
    inner.mkdir(parents=True)
    link.symlink_to("/")
    boundary = boundary_of(str(tmp_path / "project"))
    uris = [inner.as_uri(), link.as_uri(), "https://example.org", "file:///%00", "nonsense"]
    found = client_roots(uris, boundary)
    # A link to a folder around the workspace allows all of it.
    assert found.folders is None
    assert found.ignored == ("https://example.org", "file:///%00", "nonsense")
    assert client_roots(uris[:1], boundary).folders == (str(inner),)
    beside = tmp_path / "project2"
    assert client_roots([beside.as_uri()], boundary) == ClientRoots((), (beside.as_uri(),))
    assert client_roots([], boundary) == ClientRoots(None)
    assert len(client_roots([inner.as_uri()] * 200, boundary).ignored) == 100


class Flood:
    """A client that sends requests with long answers, and reads none."""

    def __init__(self, ws: lspkit.Workspace) -> None:
        (inside, self.near_end), (self.far_end, outside) = os.pipe(), os.pipe()
        self.over = threading.Event()
        self.channel = McpChannel(Descriptors(inside, outside), ws, on_over=self.over.set)
        self.channel.start()
        self.wire = RawWire(self.far_end, self.near_end)
        self.wire.begin()

    def send_until_refused(self, most: int) -> int:
        """Send requests until the server does not read any more; returns their number."""
        for number in range(most):
            if not select.select([], [self.near_end], [], 2.0)[1]:
                return number
            self.wire.send("tools/list", {"_meta": {"padding": "x" * 3500}}, 1000 + number)
        return most

    def close(self) -> None:
        """End the connection."""
        os.close(self.near_end)
        self.channel.close()
        os.close(self.far_end)


def test_requests_of_a_client_that_does_not_read_are_not_taken_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_streams, "MOST_UNANSWERED", 4)
    with lspkit.Workspace(tmp_path) as ws:
        flood = Flood(ws)
        count = flood.send_until_refused(500)
        assert 4 < count < 500
        # It has lost nothing: as soon as it reads, it gets all answers.
        answered = {flood.wire.receive()["id"] for _ in range(count)}
        assert answered == {1000 + number for number in range(count)}
        assert flood.wire.result("ping") == {}
        flood.close()


def test_a_client_that_does_not_read_for_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_streams, "MOST_UNANSWERED", 4)
    monkeypatch.setattr(wire_streams, "UNREAD_SECONDS", 0.1)
    with lspkit.Workspace(tmp_path) as ws:
        flood = Flood(ws)
        with contextlib.suppress(BrokenPipeError):
            flood.send_until_refused(500)
        assert flood.over.wait(PATIENCE)
        flood.close()


def test_a_signal_ends_it_also_while_the_workspace_is_opened() -> None:
    opening, go_on = threading.Event(), threading.Event()

    def open_workspace() -> lspkit.Workspace:
        opening.set()
        go_on.wait(60)
        raise lspkit.ServerUnavailableError("too late")

    def interrupt() -> None:
        opening.wait(60)
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=interrupt)
    sender.start()
    serve_alone(Descriptors(-1, -1), open_workspace, allow_apply=False)
    assert not go_on.is_set()
    go_on.set()
    sender.join()


def test_a_failure_of_lspkit_while_the_workspace_is_opened_is_told_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    there, here = os.pipe(), os.pipe()
    told: list[str] = []
    over = threading.Event()

    def open_workspace() -> lspkit.Workspace:
        raise RuntimeError("can't start new thread")

    def use() -> None:
        with contextlib.suppress(AssertionError):  # no message came
            told.append(RawWire(here[0], there[1]).begin()["instructions"])
        os.close(there[1])
        if not over.wait(PATIENCE):
            told.append("it has not ended")
            os.kill(os.getpid(), signal.SIGTERM)

    client = threading.Thread(target=use)
    client.start()
    serve_alone(Descriptors(there[0], here[1]), open_workspace, allow_apply=False)
    over.set()
    client.join()
    os.close(here[0])
    assert told == [
        "lspkit has no tools here: lspkit itself failed (RuntimeError); see its log",
    ]
    assert "RuntimeError: can't start new thread" in caplog.text
