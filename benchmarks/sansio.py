"""What sansio-lsp-client costs and where it breaks, each statement run here as a case.

    python benchmarks/sansio.py

Three kinds of cases: speed (10,000 hovers against plain `json`), growth (one big message in
small chunks) and behaviour (what a server may send, and what comes back). The numbers are
the ground of the decision in docs/decisions.md. lspkit's own frame
reader stands beside it wherever it can be imported. All loops are bounded in time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

from sansio_cases import behaviour, installation
from sansio_lsp_client import (
    Client,
    Position,
    TextDocumentIdentifier,
    TextDocumentPosition,
)
from sections import QUICK, median, table, write_section

try:
    from lspkit.protocol.wire.framing import FrameReader
    from lspkit.protocol.wire.messages import ResponseMessage, parse
    from lspkit.protocol.wire.results import read_hover
except ImportError:  # The columns are left out until those parts of lspkit exist.
    FrameReader = None  # type: ignore[assignment, misc]

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
        if FrameReader is not None:
            times["lspkit"].append(spent(lambda: feed_lspkit(frames)))
    floor = median(times["json"])
    return {
        "hovers": HOVERS,
        "json_s": floor,
        "sansio_s": median(times["sansio"]),
        "sansio_ratio": median(times["sansio"]) / floor,
        "lspkit_ratio": median(times["lspkit"]) / floor if times["lspkit"] else None,
    }


def growth() -> list[dict[str, Any]]:
    """One answer of 1 and 10 MB, in 64 KiB and 4 KiB chunks, and `json.loads` of the whole."""
    rows = []
    for megabytes in (1, 10):
        message = hover_answer(1)
        message["result"]["contents"]["value"] = "x" * (megabytes * 1_000_000)
        data = framed(message)
        for size in (65536, 4096):
            times = _taken_in_turns(data, chunked(data, size), 1)
            rows.append({"megabytes": megabytes, "chunk": size, **times})
    return rows


def backlog() -> list[dict[str, Any]]:
    """Many small answers that arrive together: each one copies all that wait behind it."""
    rows = []
    for count in (1_000, 10_000):
        data = b"".join(framed(hover_answer(number)) for number in range(1, count + 1))
        rows.append({"messages": count, **_taken_in_turns(None, [data], count)})
    return rows


def _taken_in_turns(one: bytes | None, chunks: list[bytes], answers: int) -> dict[str, Any]:
    """Median seconds of the three readers over the same chunks; `one` is for `json.loads`."""
    times: dict[str, list[float]] = {"json_s": [], "sansio_s": [], "lspkit_s": []}
    events: list[int] = []
    for _ in range(TURNS):
        if one is not None:
            times["json_s"].append(spent(lambda: json.loads(one[one.index(b"{") :])))
        client = ready_client(answers)
        times["sansio_s"].append(spent(lambda c=client: events.append(feed_client(c, chunks))))
        if FrameReader is not None:
            times["lspkit_s"].append(spent(lambda: feed_lspkit(chunks)))
    medians = {name: median(values) if values else None for name, values in times.items()}
    return medians | {"sansio_finished": set(events) == {answers}}


def main() -> None:
    speed = hovers()
    growing = growth()
    waiting = backlog()
    said = behaviour(ready_client, framed, PLACE)
    brought = {} if QUICK else installation()  # it asks the package index
    print(table(list(speed), [list(speed.values())]), end="\n\n")
    print(table(list(growing[0]), [list(row.values()) for row in growing]), end="\n\n")
    print(table(list(waiting[0]), [list(row.values()) for row in waiting]), end="\n\n")
    print(table(["case", "what happened"], [[row["case"], row["seen"]] for row in said]))
    print()
    print(table(["installing it", ""], [[key, str(value)] for key, value in brought.items()]))
    if FrameReader is None:
        print("\nlspkit's protocol core cannot be imported yet: its columns are empty.")
    write_section(
        "sansio",
        {
            "hovers": speed,
            "growth": growing,
            "backlog": waiting,
            "behaviour": said,
            "installation": brought,
        },
    )


if __name__ == "__main__":
    main()
