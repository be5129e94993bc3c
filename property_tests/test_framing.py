"""Framing under any chunking, with anything printed in between, and against another client."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sansio_lsp_client.io_handler import _make_request, _parse_messages
from sansio_lsp_client.structs import Request

from lspkit.protocol.wire.framing import FrameReader, frame

BODIES = st.lists(st.binary(max_size=40), max_size=8)
NAMES = st.sampled_from(["Content-Type", "X-Trace", "x-long-name", "Keep-Alive"])
VALUES = st.sampled_from(["application/vscode-jsonrpc; charset=utf8", "", "a: b", "  padded\t"])
# What a server may print. It ends its lines as programs do, so no line of it is a header.
PRINTED = st.text("abC: {}[]-/é\t0123", max_size=30).map(lambda text: (text + "\n").encode())
METHODS = st.sampled_from(["a/b", "$/c", "textDocument/é"])
PARAMS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3)
# Pieces that any stream may be made of, right or wrong.
PIECES = st.sampled_from(
    [
        *(b"Content-Length: ", b"content-length:", b"Content-Type: x; charset=", b"utf-8", b"X: y"),
        *(b"3", b"0", b"-1", b"99999999999", b"\r\n", b"\n", b"\r\n\r\n", b"abc", b" ", b"noise: "),
        *(b"x" * 9000, b"Content-Length: 3\r\n\r\nabc"),
    ]
)


@st.composite
def chunked(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    cuts = draw(st.lists(st.integers(0, len(stream)), max_size=12))
    edges = [0, *sorted(cuts), len(stream)]
    return [stream[low:high] for low, high in itertools.pairwise(edges)]


@st.composite
def framed(draw: st.DrawFn, body: bytes) -> bytes:
    """A message with headers in any order, case and spacing."""
    name = draw(st.sampled_from(["Content-Length", "content-length", "CONTENT-LENGTH"]))
    space = draw(st.sampled_from(["", " ", "\t ", "   "]))
    headers = [f"{name}:{space}{len(body)}{space}"]
    headers += [f"{name}:{value}" for name, value in draw(st.lists(st.tuples(NAMES, VALUES)))][:3]
    lines = draw(st.permutations(headers))
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def read(chunks: list[bytes]) -> tuple[list[bytes], FrameReader]:
    reader = FrameReader()
    return [body for chunk in chunks for body in reader.feed(chunk)], reader


@given(st.data(), BODIES)
def test_bodies_survive_any_chunking(data: st.DataObject, bodies: list[bytes]) -> None:
    stream = b"".join(map(frame, bodies))
    received, reader = read(data.draw(chunked(stream)))
    assert received == bodies
    assert reader.skipped == 0


@given(st.data(), BODIES)
def test_bodies_survive_any_headers_and_printed_lines(
    data: st.DataObject, bodies: list[bytes]
) -> None:
    printed = data.draw(st.lists(PRINTED, min_size=len(bodies), max_size=len(bodies)))
    messages = [data.draw(framed(body)) for body in bodies]
    stream = b"".join(text + message for text, message in zip(printed, messages, strict=True))
    received, reader = read(data.draw(chunked(stream)))
    assert received == bodies
    assert reader.error is None
    assert reader.skipped == sum(map(len, printed))


@given(st.data(), st.lists(PIECES, max_size=12))
def test_how_a_stream_is_cut_makes_no_difference(data: st.DataObject, pieces: list[bytes]) -> None:
    stream = b"".join(pieces)
    whole, reader = read([stream])
    parts, other = read(data.draw(chunked(stream)))
    assert parts == whole
    assert str(other.error) == str(reader.error)
    # Text of a line that has not ended may or may not have been counted yet.
    whole += reader.feed(b"\n")
    parts += other.feed(b"\n")
    assert (parts, other.skipped) == (whole, reader.skipped)
    assert other.skipped_sample == reader.skipped_sample


@given(st.lists(st.binary(max_size=60)))
def test_no_bytes_make_the_reader_raise(chunks: list[bytes]) -> None:
    _, reader = read(chunks)
    assert reader.skipped <= sum(map(len, chunks))


@given(st.data(), st.lists(st.tuples(METHODS, PARAMS), max_size=5))
def test_what_another_client_writes_is_read(
    data: st.DataObject, requests: list[tuple[str, dict[str, Any]]]
) -> None:
    stream = b"".join(
        bytes(_make_request(method, params, number))
        for number, (method, params) in enumerate(requests)
    )
    bodies, _ = read(data.draw(chunked(stream)))
    received = [(found["method"], found["params"]) for found in map(json.loads, bodies)]
    assert received == requests


@given(st.lists(st.tuples(METHODS, PARAMS), max_size=5))
def test_what_is_written_is_read_by_another_client(
    requests: list[tuple[str, dict[str, Any]]],
) -> None:
    stream = bytearray()
    for number, (method, params) in enumerate(requests):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        stream += frame(json.dumps(message, ensure_ascii=False).encode())
    received = [
        (found.id, found.method, found.params)
        for found in _parse_messages(stream)
        if isinstance(found, Request)
    ]
    assert received == [
        (number, method, params) for number, (method, params) in enumerate(requests)
    ]
