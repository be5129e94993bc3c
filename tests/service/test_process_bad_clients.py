"""A client that breaks the rules gets an error or is disconnected; nobody else notices.

All tests use the same service, which must stay up and must not grow.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

import lspkit
from lspkit.protocol.wire.framing import frame
from lspkit.service.peer import LARGEST_REQUEST, LONGEST_QUEUE
from tests.scripted import ask
from tests.service.raw_client import RawClient
from tests.service.site import Site

#: Bytes by which the service may grow.
MOST_GROWTH = 200 * 1024 * 1024
GIGABYTE = 1024 * 1024 * 1024

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
CALL_FAILED = -32000


@pytest.fixture(scope="module")
def service(shared_site: Site) -> Iterator[psutil.Process]:
    """The process of the service, with a running server."""
    with shared_site.connect() as ws:
        assert ask(ws) == "1:5"
        yield psutil.Process(shared_site.service_pid())


@pytest.fixture
def client(shared_site: Site, service: psutil.Process) -> Iterator[RawClient]:
    """A client. After the test the service is up, has not grown, and answers another client."""
    before = service.memory_info().rss
    with shared_site.connect() as other, RawClient(shared_site.place.socket) as made:
        yield made
        assert ask(other) == "1:5"
    assert shared_site.service_pid() == service.pid
    assert service.memory_info().rss - before < MOST_GROWTH


@contextlib.contextmanager
def meanwhile(site: Site) -> Iterator[list[str]]:
    """Another client asks all the time; gives its wrong answers and errors."""
    over, wrong = threading.Event(), []

    def keep_asking(ws: lspkit.Workspace) -> None:
        while not over.is_set():
            try:
                if (answer := ask(ws, timeout=20)) != "1:5":
                    wrong.append(answer)
            except lspkit.LspkitError as problem:
                wrong.append(str(problem))

    with site.connect() as ws:
        thread = threading.Thread(target=keep_asking, args=(ws,))
        thread.start()
        try:
            yield wrong
        finally:
            over.set()
            thread.join()


def write(client: RawClient, data: bytes, times: int = 1) -> bool:
    """Send bytes so many times; False if the service has ended the connection."""
    try:
        for _ in range(times):
            client.socket.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def code_of(answer: dict[str, Any]) -> int:
    """The code of an error."""
    code: int = answer["error"]["code"]
    return code


def test_garbage_gets_an_error_and_ends_the_connection(client: RawClient) -> None:
    write(client, b"what is this?\n")
    assert code_of(client.answer(None)) == PARSE_ERROR
    assert client.is_disconnected()


def test_half_a_message_waits_for_the_other_half(client: RawClient) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "lsp/diagnosticEpoch"}).encode()
    message = frame(body)
    write(client, message[:-5])
    with RawClient(client.socket.getpeername()) as other:
        assert other.result("lsp/diagnosticEpoch")["epoch"] > 0
    write(client, message[-5:])
    assert client.answer(7)["result"]["epoch"] > 0


def test_half_a_message_and_the_end_is_only_the_end(client: RawClient) -> None:
    write(client, b"Content-Length: 100\r\n\r\n{")
    client.socket.shutdown(socket.SHUT_WR)
    assert client.is_disconnected()


@pytest.mark.parametrize("length", [LARGEST_REQUEST + 1, 2**40, 10**30, "-1", "many"])
def test_a_length_that_is_not_accepted_ends_the_connection(client: RawClient, length: Any) -> None:
    write(client, f"Content-Length: {length}\r\n\r\n".encode())
    assert code_of(client.answer(None)) == PARSE_ERROR
    assert client.is_disconnected()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", PARSE_ERROR),
        (b"", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"null", PARSE_ERROR),
        (b"[]", PARSE_ERROR),
        (b"[" * 100_000 + b"]" * 100_000, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST),
    ],
)
def test_a_body_that_is_no_message_gets_an_error(client: RawClient, body: bytes, code: int) -> None:
    write(client, frame(body))
    while (answer := client.receive()) is not None and "error" not in answer:
        pass
    assert answer is not None and code_of(answer) in (code, INVALID_REQUEST)
    assert client.result("lsp/diagnosticEpoch")["epoch"] > 0


def test_an_unknown_method_gets_an_error_that_names_the_known_ones(client: RawClient) -> None:
    answer = client.ask("lsp/none")
    assert code_of(answer) == METHOD_NOT_FOUND
    assert "lsp/checkFile" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("lsp/checkFile", None),
        ("lsp/checkFile", {}),
        ("lsp/checkFile", []),
        ("lsp/checkFile", {"path": 7}),
        ("lsp/checkFile", {"path": "a.scr", "more": 1}),
        ("lsp/checkFile", {"path": "a.scr\0"}),
        ("lsp/checkFile", {"path": "x" * 100_000}),
        ("lsp/diagnosticsAfter", {}),
        ("lsp/diagnosticsAfter", {"afterEpoch": "1"}),
        ("lsp/call", {}),
        ("lsp/call", {"method": "none"}),
        ("lsp/call", {"method": "definition", "params": 7}),
        ("lsp/call", {"method": "definition", "params": {"path": []}}),
        ("lsp/call", {"method": "status", "params": {}, "timeout": "long"}),
        ("lsp/call", {"method": "show_disk", "params": {"number": 999}}),
        ("lsp/toolResult", {}),
        ("lsp/toolResult", {"tool": "edit", "arguments": {}, "output": 7}),
    ],
)
def test_wrong_parameters_get_an_error(client: RawClient, method: str, params: Any) -> None:
    answer = client.ask(method, params)
    assert code_of(answer) in (INVALID_PARAMS, CALL_FAILED), answer
    assert "lspkit itself failed" not in answer["error"]["message"]


@pytest.mark.parametrize("params", [None, [], [1], "text", 7, {"operation": 7}, {}, {"a": "b"}])
def test_wrong_input_of_the_single_tool_gets_an_envelope_or_an_error(
    client: RawClient, params: Any
) -> None:
    answer = client.ask("lsp/operation", params)
    assert ("error" in answer) or answer["result"]["ok"] is False, answer
    assert "lspkit itself failed" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("method", "before", "after"),
    [
        ("lsp/operation", '{"operation": "hover", "path": ', "}"),
        ("lsp/toolResult", '{"tool": "edit", "output": "", "arguments": ', "}"),
        ("lsp/call", '{"method": "status", "params": ', "}"),
        ("lsp/checkFile", '{"path": "a.scr", "text": ', "}"),
    ],
)
@pytest.mark.parametrize("depth", [500, 900, 5_000, 1_000_000])
def test_deep_nesting_gets_an_answer(
    client: RawClient, method: str, before: str, after: str, depth: int
) -> None:
    params = before + "[" * depth + "]" * depth + after
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}'
    write(client, frame(body.encode()))
    while (answer := client.receive()) is not None and answer.get("method") == "lsp/ready":
        pass
    assert answer is not None and answer["id"] in (1, None), answer
    assert "lspkit itself failed" not in json.dumps(answer)


def test_an_id_in_use_is_refused(client: RawClient) -> None:
    wait = {"afterEpoch": 10**15, "waitMs": 100_000}
    message = {"jsonrpc": "2.0", "id": 1, "method": "lsp/diagnosticsAfter", "params": wait}
    client.send(message)
    client.send(message)
    assert code_of(client.answer(1)) == INVALID_REQUEST


MEGABYTE = "x" * 1_000_000
FLOODS = {
    "text outside messages": MEGABYTE.encode(),
    "notifications": frame(json.dumps({"method": "none", "params": MEGABYTE}).encode()),
    "malformed messages": frame(b"{" + b" " * 1_000_000),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_a_gigabyte_in_all_is_not_kept(shared_site: Site, client: RawClient, kind: str) -> None:
    reader = threading.Thread(target=client.is_disconnected)
    reader.start()
    with meanwhile(shared_site) as wrong:
        write(client, FLOODS[kind], GIGABYTE // len(FLOODS[kind]))
        with contextlib.suppress(OSError):
            client.socket.shutdown(socket.SHUT_RDWR)
        reader.join()
    assert wrong == []


def test_who_never_reads_is_disconnected(shared_site: Site, client: RawClient) -> None:
    # Each answer quotes the name of the method.
    message = frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": MEGABYTE}).encode())
    with meanwhile(shared_site) as wrong:
        assert not write(client, message, 2 * LONGEST_QUEUE // len(MEGABYTE))
    assert wrong == []


def test_a_wait_of_any_length_is_accepted_and_can_be_cancelled(client: RawClient) -> None:
    number = client.begin("lsp/diagnosticsAfter", {"afterEpoch": 10**15, "waitMs": 10**400})
    client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
    assert code_of(client.answer(number)) == CALL_FAILED
