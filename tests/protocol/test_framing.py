"""Message framing: what is read, what is stepped over, and what ends a connection."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

from lspkit.errors import FramingError
from lspkit.protocol.wire.framing import MAX_BODY, MAX_HEADER, SAMPLE_SIZE, FrameReader, frame


def read(*chunks: bytes) -> tuple[list[bytes], FrameReader]:
    reader = FrameReader()
    bodies = [body for chunk in chunks for body in reader.feed(chunk)]
    return bodies, reader


def one_byte_at_a_time(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


class TestMessages:
    def test_a_framed_body_comes_back(self) -> None:
        assert read(frame(b'{"a":1}'))[0] == [b'{"a":1}']

    def test_the_length_counts_bytes_not_characters(self) -> None:
        assert frame("é".encode()).startswith(b"Content-Length: 2\r\n\r\n")

    def test_many_messages_in_one_chunk_come_in_order(self) -> None:
        sent = [b"%d" % number for number in range(64)]
        assert read(b"".join(map(frame, sent)))[0] == sent

    def test_a_message_may_come_one_byte_at_a_time(self) -> None:
        stream = frame(b"first") + frame(b"") + frame(b"third")
        assert read(*one_byte_at_a_time(stream))[0] == [b"first", b"", b"third"]

    def test_a_body_is_returned_by_the_chunk_that_completes_it(self) -> None:
        reader = FrameReader()
        assert reader.feed(frame(b"body")[:-1]) == []
        assert reader.feed(b"y") == [b"body"]

    def test_a_body_may_look_like_a_header(self) -> None:
        body = b"Content-Length: 5\r\n\r\nhello"
        assert read(frame(body) + frame(b"x"))[0] == [body, b"x"]

    def test_nothing_counts_as_skipped_in_a_clean_stream(self) -> None:
        assert read(frame(b"a"), frame(b"b"))[1].skipped == 0

    def test_the_reader_shows_where_it_is(self) -> None:
        reader = FrameReader()
        assert repr(reader) == "<FrameReader: between messages, 0 bytes skipped>"
        reader.feed(b"Content-")
        assert repr(reader) == "<FrameReader: header, 0 bytes skipped>"
        reader.feed(b"Length: 5\r\n\r\nab")
        assert repr(reader) == "<FrameReader: body, 3 bytes to come, 0 bytes skipped>"


class TestHeaders:
    @pytest.mark.parametrize(
        "block",
        [
            b"content-length: 2\r\n\r\n",
            b"CONTENT-LENGTH:2\r\n\r\n",
            b"Content-Length:\t 2 \t\r\n\r\n",
            b"Content-Length : 2\r\n\r\n",
            b"Content-Length: 002\r\n\r\n",
            b"Content-Length: 2\n\n",
            b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        ],
    )
    def test_other_spellings_of_the_length_are_understood(self, block: bytes) -> None:
        bodies, reader = read(block + b"{}" + frame(b"next"))
        assert bodies == [b"{}", b"next"]
        assert reader.skipped == 0

    @pytest.mark.parametrize(
        "block",
        [
            b"X-Trace: abc\r\nContent-Length: 2\r\n\r\n",
            b"Content-Length: 2\r\nX-Trace: abc\r\n\r\n",
            b"Content-Length: 2\r\nX-Empty:\r\n\r\n",
            b"X-Content-Length: 9\r\nContent-Length: 2\r\n\r\n",
            b"X-Note: not the Content-Length: 9 you want\r\nContent-Length: 2\r\n\r\n",
        ],
    )
    def test_unknown_headers_are_read_over(self, block: bytes) -> None:
        bodies, reader = read(block + b"{}")
        assert bodies == [b"{}"]
        assert reader.skipped == 0

    @pytest.mark.parametrize("charset", [b"utf-8", b"utf8", b"UTF-8", b'"utf-8"', b"us-ascii"])
    def test_names_of_utf_8_are_accepted(self, charset: bytes) -> None:
        header = b"Content-Type: application/vscode-jsonrpc; charset=" + charset
        assert read(header + b"\r\nContent-Length: 2\r\n\r\n{}")[0] == [b"{}"]

    def test_a_content_type_needs_no_charset(self) -> None:
        header = b"Content-Type: application/vscode-jsonrpc\r\nContent-Length: 2\r\n\r\n"
        assert read(header + b"{}")[0] == [b"{}"]

    def test_a_block_of_exactly_the_limit_is_read(self) -> None:
        rest = b"Content-Length: 2\r\n\r\n"
        block = b"X: " + b"a" * (MAX_HEADER - len(rest) - 5) + b"\r\n" + rest
        assert len(block) == MAX_HEADER
        assert read(block + b"{}")[0] == [b"{}"]


class TestPrintedText:
    @pytest.mark.parametrize(
        "printed",
        [
            b"Debugger listening on ws://127.0.0.1:9229/0f2c936f\nFor help, see: the docs\n",
            b"loading\r\n",
            b"\n",
            b"\r\n\r\n",
            b"INFO: loading\n",
            b"INFO: loading\n\n",
            b"expected Content-Length: 12\n",
            b"the Content-Length: header is missing\r\n",
            b"[info] {}: done\r\n",
            b"\xff\xfe\x00\n",
            b"\x1b[32mready\x1b[0m\n",
            b"partial line",
            b"99% done ",
            b"INFO: partial line ",
            b"partial:",
            b"x" * 3 * MAX_HEADER + b"\n",
            b"x" * 3 * MAX_HEADER,
        ],
    )
    @pytest.mark.parametrize("split", [False, True])
    def test_text_before_a_header_is_skipped_and_counted(self, printed: bytes, split: bool) -> None:
        stream = frame(b"before") + printed + frame(b"after") + frame(b"last")
        bodies, reader = read(*one_byte_at_a_time(stream) if split else [stream])
        assert bodies == [b"before", b"after", b"last"]
        assert reader.skipped == len(printed)
        assert reader.skipped_sample == printed[:SAMPLE_SIZE]

    def test_text_between_the_headers_of_a_message_is_skipped(self) -> None:
        bodies, reader = read(b"Content-Length: 2\r\nlog line\r\n\r\n{}")
        assert bodies == [b"{}"]
        assert reader.skipped == len(b"log line\r\n")

    def test_the_sample_is_the_first_of_all_skipped_text(self) -> None:
        reader = read(b"one\n", frame(b"x"), b"two\n", frame(b"y"))[1]
        assert reader.skipped_sample == b"one\ntwo\n"

    def test_printed_text_without_end_is_not_kept(self) -> None:
        reader = FrameReader()
        tracemalloc.start()
        try:
            for _ in range(64):
                reader.feed(b"x" * 65536)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 262144
        assert reader.feed(frame(b"{}")) == [b"{}"]


class TestBrokenStreams:
    @pytest.mark.parametrize(
        ("stream", "said"),
        [
            (b"Content-Length: -1\r\n\r\n", "-1"),
            (b"Content-Length: abc\r\n\r\n", "abc"),
            (b"Content-Length: 1.0\r\n\r\n", "1.0"),
            (b"Content-Length: +1\r\n\r\n", "+1"),
            (b"Content-Length: 0x10\r\n\r\n", "0x10"),
            (b"Content-Length: 1_0\r\n\r\n", "1_0"),
            (b"Content-Length: \xd9\xa3\r\n\r\n", "not a decimal number"),
            (b"Content-Length:\r\n\r\n", "not a decimal number"),
            (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "2 and 3"),
            (b"Content-Type: application/vscode-jsonrpc\r\n\r\n{}", "without Content-Length"),
            (b"X-Other: 1\r\n\r\n{}", "without Content-Length"),
            (b"X-Content-Length: 2\r\n\r\n{}", "without Content-Length"),
            (b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), str(MAX_BODY)),
            (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", str(MAX_BODY)),
            (b"Content-Length: 2\r\nX: " + b"a" * MAX_HEADER + b"\r\n\r\n{}", str(MAX_HEADER)),
            (b"X: " + b"a" * MAX_HEADER, str(MAX_HEADER)),
            (b"Content-Length: 2\r\n" + b"X: 1\r\n" * 2000, str(MAX_HEADER)),
            (b"Content-Type: x; charset=utf-16\r\nContent-Length: 2\r\n\r\n{}", "utf-16"),
        ],
    )
    @pytest.mark.parametrize("split", [False, True])
    def test_a_length_that_cannot_be_believed_ends_the_stream(
        self, stream: bytes, said: str, split: bool
    ) -> None:
        stream = frame(b"before") + stream
        bodies, reader = read(*one_byte_at_a_time(stream) if split else [stream])
        assert bodies == [b"before"]
        assert isinstance(reader.error, FramingError)
        assert said in str(reader.error)
        assert reader.feed(frame(b"after")) == []

    def test_the_largest_length_is_still_believed(self) -> None:
        reader = read(b"Content-Length: %d\r\n\r\n{" % MAX_BODY)[1]
        assert reader.error is None

    def test_a_long_wrong_length_is_cut_in_the_message(self) -> None:
        reader = read(b"Content-Length: " + b"x" * 5000 + b"\r\n\r\n")[1]
        assert len(str(reader.error)) < 400

    def test_the_reader_shows_that_it_is_broken(self) -> None:
        assert "broken" in repr(read(b"Content-Length: x\r\n\r\n")[1])


def test_a_large_message_is_held_at_most_twice() -> None:
    size = 8 * 1024 * 1024
    chunk = b"x" * 65536
    reader = FrameReader()
    reader.feed(b"Content-Length: %d\r\n\r\n" % size)
    tracemalloc.start()
    try:
        bodies = [body for _ in range(size // len(chunk)) for body in reader.feed(chunk)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(body) for body in bodies] == [size]
    assert peak <= 2 * size + 65536


@pytest.mark.slow
def test_the_work_is_linear_in_the_bytes_however_they_come() -> None:
    # Copying or searching all that is there with each byte would take many minutes; this takes
    # seconds.
    script = """
from lspkit.protocol.wire.framing import FrameReader, frame
size = 2_000_000
reader = FrameReader()
bodies = [body for _ in range(size) for body in reader.feed(b"x")]
assert not bodies
for byte in frame(b"y" * size):
    bodies += reader.feed(b"%c" % byte)
assert bodies == [b"y" * size] and reader.skipped == size
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
