"""Framing and decoding beside plain `json` and sansio-lsp-client: python benchmarks/sansio.py

Two kinds of cases: speed (10,000 hovers) and growth (one big message in small chunks). All loops
are bounded in time. What else sansio-lsp-client does with what servers send is recorded in
docs/decisions.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

from sansio_lsp_client import (
    Client,
    Position,
    TextDocumentIdentifier,
    TextDocumentPosition,
)
from sections import QUICK, median, table, write_section

from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import ResponseMessage, parse
from lspkit.protocol.wire.results import read_hover

#: Small answers per run.
HOVERS = 10_000
#: Interleaved runs of which the median is taken.
ROUNDS = 1 if QUICK else 5
#: The same for the growth cases, which take longer.
TURNS = 1 if QUICK else 3
#: A growth case that would take longer than this is stopped and said to be "over".
LIMIT = 3.0 if QUICK else 20.0
#: Where each hover of the speed case is asked.
PLACE = TextDocumentPosition(
    textDocument=TextDocumentIdentifier(uri="file:///a.py"), position=Position(line=1, character=2)
)


def framed(message: dict[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def hover_answer(identifier: int) -> dict[str, Any]:
    value = f"```python\n(function) def function_{identifier}(a: int) -> int\n```"
    place = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 12}}
    contents = {"kind": "markdown", "value": value}
    result = {"contents": contents, "range": place}
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def ready_client(asked: int = 0) -> Client:
    """A client past its handshake which waits for `asked` hovers, numbered from 1."""
    client = Client()
    list(client.recv(framed({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {}}})))
    for _ in range(asked):
        client.hover(PLACE)
    client.send()
    return client


def spent(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def feed_client(client: Client, chunks: Iterable[bytes], limit: float = LIMIT) -> int:
    """Feed until the end or the limit; returns how many events came out, -1 when stopped."""
    end = time.perf_counter() + limit
    events = 0
    for chunk in chunks:
        events += sum(1 for _ in client.recv(chunk))
        if time.perf_counter() > end:
            return -1
    return events


def feed_lspkit(chunks: Iterable[bytes]) -> int:
    """The whole way of an answer: frame, envelope, typed result; as far as sansio goes."""
    reader = FrameReader()
    hovers = 0
    for chunk in chunks:
        for body in reader.feed(chunk):
            message = parse(body)
            if isinstance(message, ResponseMessage) and read_hover(message.result).items:
                hovers += 1
    return hovers


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def hovers() -> dict[str, Any]:
    """10,000 answers, each in a chunk of its own: the kindest case for a buffer that is copied."""
    bodies = [json.dumps(hover_answer(number)).encode() for number in range(1, HOVERS + 1)]
    frames = [framed(hover_answer(number)) for number in range(1, HOVERS + 1)]
    times: dict[str, list[float]] = {"json": [], "sansio": [], "lspkit": []}
    for _ in range(ROUNDS):
        times["json"].append(spent(lambda: [json.loads(body) for body in bodies]))
        client = ready_client(HOVERS)
        times["sansio"].append(spent(lambda c=client: feed_client(c, frames)))
        times["lspkit"].append(spent(lambda: feed_lspkit(frames)))
    floor = median(times["json"])
    return {
        "hovers": HOVERS,
        "json_s": floor,
        "sansio_s": median(times["sansio"]),
        "sansio_ratio": median(times["sansio"]) / floor,
        "lspkit_ratio": median(times["lspkit"]) / floor,
    }


def growth() -> list[dict[str, Any]]:
    """One answer of 1 and 10 MB, in 64 KiB and 4 KiB chunks, and `json.loads` of the whole."""
    rows = []
    for megabytes in (1, 10):
        message = hover_answer(1)
        message["result"]["contents"]["value"] = "x" * (megabytes * 1_000_000)
        data = framed(message)
        for size in (65536, 4096):
            times = _taken_in_turns(data, chunked(data, size))
            rows.append({"megabytes": megabytes, "chunk": size, **times})
    return rows


def _taken_in_turns(data: bytes, chunks: list[bytes]) -> dict[str, Any]:
    """Median seconds of the three readers over the same answer."""
    times: dict[str, list[float]] = {"json_s": [], "sansio_s": [], "lspkit_s": []}
    events: list[int] = []
    for _ in range(TURNS):
        times["json_s"].append(spent(lambda: json.loads(data[data.index(b"{") :])))
        client = ready_client(1)
        times["sansio_s"].append(spent(lambda c=client: events.append(feed_client(c, chunks))))
        times["lspkit_s"].append(spent(lambda: feed_lspkit(chunks)))
    medians = {name: median(values) for name, values in times.items()}
    return medians | {"sansio_finished": set(events) == {1}}


def main() -> None:
    speed = hovers()
    growing = growth()
    print(table(list(speed), [list(speed.values())]), end="\n\n")
    print(table(list(growing[0]), [list(row.values()) for row in growing]))
    write_section("sansio", {"hovers": speed, "growth": growing})


if __name__ == "__main__":
    main()
