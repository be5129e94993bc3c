"""How the scripted server ends, or does not, and whom it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess

import psutil
import pytest

from lspkit.testing import Grandchild, Script
from tests.testing.raw import PATIENCE, at

#: Long enough for a server that would end to have ended.
SILENCE = 0.15


def lives(client) -> bool:
    try:
        client.status(SILENCE)
    except subprocess.TimeoutExpired:
        return True
    return False


def end(client, pid: int) -> None:
    """Kills the server and a grandchild, and waits until the grandchild is gone."""
    process = psutil.Process(pid)
    client.process.kill()
    client.status()  # first: as long as it lives, its dead children are not waited for
    process.kill()
    process.wait(PATIENCE)


def test_shutdown_and_exit_end_it_with_status_0(connect):
    client = connect()
    assert client.result("shutdown") is None
    client.notify("exit")
    assert client.status() == 0


def test_exit_without_shutdown_is_status_1(connect):
    client = connect()
    client.notify("exit")
    assert client.status() == 1


def test_the_end_of_input_ends_it(connect):
    client = connect()
    client.process.stdin.close()
    assert client.status() == 1


def test_sigterm_ends_it(connect):
    client = connect()
    client.process.terminate()
    assert client.status() == -signal.SIGTERM


def test_shutdown_is_left_unanswered_where_it_is_ignored(connect):
    client = connect(Script(ignore=["shutdown"]))
    shutdown = client.request("shutdown")
    assert client.result("workspace/symbol", {"query": ""}) == []
    assert shutdown not in [message.get("id") for message in client.seen]


def test_exit_is_ignored(connect):
    client = connect(Script(ignore=["exit"]))
    client.notify("exit")
    assert client.result("workspace/symbol", {"query": ""}) == []


def test_the_end_of_input_is_ignored(connect):
    client = connect(Script(ignore=["eof"]))
    client.process.stdin.close()
    client.log.wait_for(lambda entries: entries[-1].eof)
    assert lives(client)


def test_sigterm_is_ignored(connect):
    client = connect(Script(ignore=["SIGTERM"]))
    client.process.terminate()
    assert client.result("workspace/symbol", {"query": ""}) == []


def test_a_grandchild_in_the_group_is_logged_and_dies_with_the_group(connect):
    client = connect(Script(grandchildren=[Grandchild("group")]))
    [grandchild] = client.log.grandchildren()
    process = psutil.Process(grandchild.pid)
    assert os.getpgid(grandchild.pid) == client.process.pid
    os.killpg(client.process.pid, signal.SIGTERM)
    client.status()  # first: until the server has ended, nobody can wait for its child
    process.wait(PATIENCE)


def test_a_grandchild_in_a_session_keeps_its_parent_and_environment(connect):
    client = connect(Script(grandchildren=[Grandchild("session")]))
    [grandchild] = client.log.grandchildren()
    process = psutil.Process(grandchild.pid)
    assert os.getsid(grandchild.pid) == grandchild.pid
    assert process.ppid() == client.process.pid
    assert "PATH" in process.environ()
    end(client, grandchild.pid)


def test_an_escaped_grandchild_cannot_be_told_by_anything(connect):
    client = connect(Script(grandchildren=[Grandchild("escaped")]))
    [grandchild] = client.log.grandchildren()
    process = psutil.Process(grandchild.pid)
    assert os.getsid(grandchild.pid) != os.getsid(client.process.pid)
    assert process.ppid() != client.process.pid
    assert process.environ() == {}
    process.terminate()
    client.process.kill()
    client.status()
    assert process.is_running()
    end(client, grandchild.pid)


def test_a_grandchild_may_keep_the_output_open(connect):
    client = connect(Script(grandchildren=[Grandchild("escaped", inherit=True)]))
    [grandchild] = client.log.grandchildren()
    client.process.kill()
    client.status()
    assert client.is_silent(SILENCE)  # an end of output would make it readable
    end(client, grandchild.pid)
    assert client.rest() == b""


def test_a_grandchild_may_be_started_at_a_request(connect):
    client = connect(Script(grandchildren=[Grandchild("group", when="textDocument/hover")]))
    assert client.log.grandchildren() == []
    client.result("textDocument/hover", at(0, 0))
    assert [each.kind for each in client.log.grandchildren()] == ["group"]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 5\r\n\r\n{}Con",
        b"hello there, server\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Type: text\r\n\r\n{}",
        b"Content-Length: 2\r\n\r\n[]",
        b'Content-Length: 3\r\n\r\n"\xff"',
    ],
)
def test_a_torn_frame_of_the_client_is_logged_and_ends_it_with_status_70(connect, data):
    client = connect()
    client.write(data)
    assert client.status() == 70
    assert len(client.log.complaints()) == 1


def test_an_end_of_input_inside_a_frame_is_torn(connect):
    client = connect()
    client.write(b"Content-Length: 100\r\n\r\n{")
    client.process.stdin.close()
    assert client.status() == 70


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda client: (client.open(""), client.open("")), "is open already"),
        (lambda client: client.change([]), "is not open"),
        (lambda client: (client.open(""), client.change([], version=1)), "is not newer"),
        (lambda client: client.send({"id": 1, "method": "again"}), "uses the id 1 again"),
        (lambda client: client.send({"id": "x", "result": None}), "was not asked"),
        (lambda client: client.result("initialize", {}), "initialize while"),
        (lambda client: (client.result("shutdown"), client.open("")), "after shutdown"),
    ],
)
def test_a_violation_of_the_protocol_is_logged_and_the_server_goes_on(connect, act, complaint):
    client = connect()
    act(client)
    client.log.wait_for(lambda entries: entries[-1].violation)
    assert complaint in client.log.complaints()[0]
    assert client.process.poll() is None


def test_a_change_outside_of_the_text_is_a_violation(connect):
    client = connect()
    client.open("\U0001f600")
    edges = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}}
    client.change([{"range": edges, "text": ""}])  # character 1 is inside the surrogate pair
    client.log.wait_for(lambda entries: entries[-1].violation)
    assert "outside of the text" in client.log.complaints()[0]
