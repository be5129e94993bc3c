"""Each fault of the scripted server, seen from the other end of the pipe."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from lspkit.testing import Diagnostics, Fault, Script
from tests.testing.raw import URI, RawClient, at

HOVER = "textDocument/hover"
PUBLISH = "textDocument/publishDiagnostics"

#: Long enough for a server that would answer to have answered.
SILENCE = 0.15


@pytest.fixture
def faulty(connect):
    """A client on a server with one fault on hover, and the document `def name` open."""

    def start(do, **options):
        script = Script(
            faults=[Fault(options.pop("on", HOVER), do, **options)], diagnostics=Diagnostics("none")
        )
        client = connect(script)
        client.open("def name\n")
        return client

    return start


def still_well(client) -> bool:
    return len(client.result("textDocument/definition", at(0, 4))) == 1


def test_crash_at_the_start_comes_before_any_output(connect):
    client = connect(Script(faults=[Fault("start", "crash", code=5)]), initialize=False)
    assert client.rest() == b""
    assert client.status() == 5


@pytest.mark.parametrize(("at_", "whole"), [("before", False), ("after", True)])
def test_crash_before_and_after_the_answer_to_initialize(connect, at_, whole):
    client = connect(Script(faults=[Fault("initialize", "crash", at=at_)]), initialize=False)
    client.request("initialize", {})
    assert (b'"capabilities"' in client.rest()) is whole
    assert client.status() == 1


def test_crash_during_the_answer_to_initialize_leaves_half_a_frame(connect):
    client = connect(Script(faults=[Fault("initialize", "crash", at="during")]), initialize=False)
    client.request("initialize", {})
    header, _, body = client.rest().partition(b"\r\n\r\n")
    promised = int(header.removeprefix(b"Content-Length: "))
    assert 0 < len(body) < promised
    assert client.status() == 1


def test_crash_by_a_signal_at_the_second_request(faulty):
    client = faulty("crash", nth=2, signal="SIGSEGV")
    assert client.answer(client.hover())["result"]
    client.hover()
    assert client.rest() == b""
    assert client.status() == -signal.SIGSEGV


def test_crash_on_a_notification_may_tear_a_frame_too(connect):
    fault = Fault("textDocument/didOpen", "crash", at="during", code=9)
    client = connect(Script(faults=[fault]))
    client.open("text")
    assert client.rest().startswith(b"Content-Length: ")
    assert client.status() == 9


def test_hang_leaves_one_request_unanswered_and_answers_others(faulty):
    client = faulty("hang", nth=1)
    first = client.hover()
    assert client.answer(client.hover())["result"]
    assert still_well(client)
    assert first not in [message.get("id") for message in client.seen]


def test_hang_in_initialize(connect):
    client = connect(Script(faults=[Fault("initialize", "hang")]), initialize=False)
    client.request("initialize", {})
    client.notify("exit")
    assert client.rest() == b""


def test_a_delayed_answer_comes_later_and_lets_others_pass(faulty):
    client = faulty("delay", seconds=0.5)
    begin = time.monotonic()
    slow = client.hover()
    assert still_well(client)
    assert client.seen == []
    assert client.answer(slow)["result"]
    assert time.monotonic() - begin >= 0.5


def test_a_delayed_request_that_is_cancelled_is_answered_at_once_and_once(faulty):
    client = faulty("delay", seconds=0.3)
    slow = client.hover()
    client.notify("$/cancelRequest", {"id": slow})
    assert client.answer(slow)["error"]["code"] == -32800
    assert client.is_silent(0.4)


def test_stop_reading_fills_the_pipe_while_output_stays_open(faulty):
    client = faulty("stop-reading", at="after")
    assert client.answer(client.hover())["result"]
    os.set_blocking(client.process.stdin.fileno(), False)
    capacity = os.write(client.process.stdin.fileno(), bytes(1 << 24))  # takes what has room
    with pytest.raises(BlockingIOError):
        os.write(client.process.stdin.fileno(), b"more")
    assert capacity < 1 << 24
    assert client.is_silent(SILENCE)
    assert client.process.poll() is None


def test_close_output_ends_the_stream_of_a_process_that_lives_on(faulty):
    client = faulty("close-output")
    client.hover()
    assert client.rest() == b""
    assert client.process.poll() is None


def test_drip_writes_one_byte_at_a_time(faulty):
    client = faulty("drip", seconds=0.004)
    assert client.answer(client.hover())["result"]
    # A reader that is held up finds several bytes at once, but not always.
    assert sum(len(chunk) == 1 for chunk in client.reads) >= 5


def test_garbage_stands_between_two_frames(faulty):
    client = faulty("garbage", text="oops\n")
    request = client.hover()
    assert client.receive(5) == b"oops\n"
    assert client.answer(request)["result"]


def test_garbage_at_the_start_is_a_banner(connect):
    client = connect(Script(faults=[Fault("start", "garbage", text="hello\n")]), initialize=False)
    assert client.receive(6) == b"hello\n"
    assert client.initialize()


def test_garbage_may_be_bytes_that_are_no_text(faulty):
    client = faulty("garbage", text=b"\xff\x00".decode("utf-8", "surrogateescape"))
    client.hover()
    assert client.receive(2) == b"\xff\x00"


def test_half_a_frame_swallows_the_frame_after_it(faulty):
    client = faulty("half-frame")
    client.hover()
    client.request("textDocument/definition", at(0, 4))
    assert b"Content-Length" in client.body()


def test_half_a_frame_may_be_the_last_thing_that_is_said(faulty):
    client = faulty("half-frame", mute=True)
    client.hover()
    client.request("textDocument/definition", at(0, 4))
    client.notify("exit")
    assert client.rest().count(b"Content-Length") == 1


@pytest.mark.parametrize("length", [1 << 40, "-1", "many"])
def test_the_length_may_be_anything(faulty, length):
    client = faulty("huge-length", length=length)
    client.hover()
    header = client.receive_until(b"\r\n\r\n").decode()
    assert header == f"Content-Length: {length}\r\n\r\n"


def test_extra_headers_come_in_any_case(faulty):
    client = faulty("header")
    client.hover()
    assert client.receive_until(b"\r\n").lower() == b"x-extra: yes\r\n"
    assert json.loads(client.body())["result"]


def test_a_header_block_may_be_written_freely(faulty):
    client = faulty("header", text="Content-Length: {length}\r\nContent-Length: 1\r\n\r\n")
    client.hover()
    assert client.receive_until(b"\r\n\r\n").count(b"Content-Length") == 2


def test_bad_json_has_the_right_length_and_a_readable_id(faulty):
    client = faulty("bad-json")
    request = client.hover()
    body = client.body()
    with pytest.raises(json.JSONDecodeError):
        json.loads(body)
    assert f'"id":{request},'.encode() in body
    assert still_well(client)


def test_bad_json_may_be_any_text(faulty):
    client = faulty("bad-json", text="nonsense")
    client.hover()
    assert client.body() == b"nonsense"


def test_bad_utf8_is_json_but_for_its_bytes(faulty):
    client = faulty("bad-utf8")
    request = client.hover()
    body = client.body()
    with pytest.raises(UnicodeDecodeError):
        body.decode("utf-8")
    assert json.loads(body.decode("utf-8", "replace"))["id"] == request
    assert still_well(client)


def test_a_lone_surrogate_is_written_as_an_escape(faulty):
    client = faulty("lone-surrogate")
    client.hover()
    body = client.body()
    assert b"\\ud800" in body
    assert json.loads(body)["result"]["contents"]["value"] == "def name\ud800"


def test_twice_answers_the_same_request_two_times(faulty):
    client = faulty("twice")
    client.hover()
    assert client.message() == client.message()


def test_reverse_holds_answers_and_releases_the_last_first(faulty):
    client = faulty("reverse", count=3)
    requests = [client.hover() for _ in range(3)]
    assert [client.message()["id"] for _ in range(3)] == requests[::-1]


def test_wrong_id_answers_a_question_that_nobody_asked(faulty):
    client = faulty("wrong-id", id="other")
    client.hover()
    assert client.message()["id"] == "other"


def test_result_may_be_of_another_type(faulty):
    client = faulty("result", result=[{"range": 7}])
    assert client.answer(client.hover())["result"] == [{"range": 7}]


def test_an_error_has_the_code_and_message_of_the_script(faulty):
    client = faulty("error", code=-32001, message="no luck")
    error = client.answer(client.hover())["error"]
    assert error == {"code": -32001, "message": "no luck"}


@pytest.mark.parametrize(
    ("name", "code"), [("ContentModified", -32801), ("ServerCancelled", -32802)]
)
def test_an_error_by_name_for_the_first_two_times(faulty, name, code):
    client = faulty("error", code=name, times=2)
    answers = [client.answer(client.hover()) for _ in range(3)]
    assert [answer.get("error", {}).get("code") for answer in answers] == [code, code, None]


def test_from_the_second_time_on_without_end(faulty):
    client = faulty("error", nth=2, times=0)
    answers = [client.answer(client.hover()) for _ in range(4)]
    assert ["error" in answer for answer in answers] == [False, True, True, True]


def test_a_flood_publishes_before_the_answer(faulty):
    client = faulty("flood", count=500)
    client.answer(client.hover())
    assert [message["method"] for message in client.seen] == [PUBLISH] * 500
    assert client.seen[0]["params"]["uri"] == URI


def test_a_flood_at_a_rate_goes_on_beside_the_answers(faulty):
    client = faulty("flood", count=100, rate=500)
    begin = time.monotonic()
    client.answer(client.hover())
    seen = len(client.seen)
    while len(client.seen) < 100:
        client.seen.append(client.called(PUBLISH))
    assert seen < 100
    assert time.monotonic() - begin >= 0.15


def test_stderr_is_written_in_full(faulty):
    client = faulty("stderr", bytes=300_000)
    client.hover()
    taken = 0
    while taken < 300_000:
        taken += len(os.read(client.process.stderr.fileno(), 1 << 16))
    assert taken == 300_000
    assert client.message()["result"]


def test_a_star_stands_for_every_request(connect):
    client = connect(Script(faults=[Fault("*", "error", nth=2, times=2)]))
    assert "error" in client.answer(client.request("textDocument/definition", at(0, 0)))
    assert "error" in client.answer(client.hover())
    assert "result" in client.answer(client.hover())


def test_faults_of_one_message_add_up(connect):
    faults = [Fault(HOVER, "delay", seconds=0.05), Fault(HOVER, "twice"), Fault(HOVER, "garbage")]
    client = connect(Script(faults=faults))
    client.hover()
    client.receive_until(b"no frame\n")
    assert client.message() == client.message()


def test_a_fault_on_a_message_of_the_server(connect):
    client = connect(Script(faults=[Fault(PUBLISH, "hang", nth=1)]))
    client.open("ERROR\n")
    client.change([{"text": "fine"}])
    assert client.called(PUBLISH)["params"]["version"] == 2


def test_a_fault_for_one_run_spares_the_next_start(scripted):
    argv = scripted(Script(faults=[Fault("initialize", "crash", run=1, code=4)]))
    with RawClient(argv) as first:
        first.request("initialize", {})
        assert first.status() == 4
    with RawClient(argv) as second:
        assert second.initialize()
