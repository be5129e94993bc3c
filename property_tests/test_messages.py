"""Any bytes are read without an exception, and what is written is read back."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.messages import (
    ErrorResponse,
    Malformed,
    NotificationMessage,
    PublishedDiagnostics,
    RequestMessage,
    ResponseMessage,
    parse,
)

KEYS = st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc", "uri", "version"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
#: Objects that look like messages, right or wrong.
ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON | st.integers(0, 9),
        "method": JSON | st.sampled_from(["a/b", "textDocument/publishDiagnostics"]),
        "params": JSON | st.fixed_dictionaries({"uri": JSON}, optional={"version": JSON}),
        "result": JSON,
        "error": JSON | st.fixed_dictionaries({"code": JSON, "message": JSON}),
    },
)
METHODS = st.text(min_size=1, max_size=12).filter(
    lambda name: name != "textDocument/publishDiagnostics"
)
IDS = st.integers(0, 2**31) | st.text(max_size=6) | st.floats(0, 9, allow_nan=False) | st.none()
PARAMS = st.dictionaries(st.text(max_size=4), JSON, max_size=4) | st.lists(JSON, max_size=4)
HALVES = st.sampled_from(["\ud800", "\udbff", "\udc00", "\udfff"])


def as_body(message: messages.Message) -> bytes:
    """The message again as the body that it was read from, in our order of keys."""
    values: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case RequestMessage(id=id, method=method, params=params):
            values |= {"id": msgspec.Raw(id), "method": method}
        case NotificationMessage(method=method, params=params):
            values |= {"method": method}
        case ResponseMessage(id=number, result=result):
            return messages.encode({**values, "id": number, "result": msgspec.Raw(result)})
        case ErrorResponse(id=number, code=code, message=text):
            return messages.encode(
                {**values, "id": number, "error": {"code": code, "message": text}}
            )
        case PublishedDiagnostics() | Malformed():
            raise AssertionError(message)
    if params is not None:
        values["params"] = msgspec.Raw(params)
    return messages.encode(values)


@given(st.binary(max_size=80))
def test_no_bytes_make_parse_raise(body: bytes) -> None:
    assert isinstance(parse(body), msgspec.Struct)


@given(JSON | ENVELOPES)
def test_no_json_makes_parse_raise(value: object) -> None:
    message = parse(json.dumps(value).encode())
    if not isinstance(value, dict) or not ({"method", "id"} & set(value)):
        assert isinstance(message, Malformed)


@given(ENVELOPES, st.data())
def test_no_damage_to_a_message_makes_parse_raise(value: object, data: st.DataObject) -> None:
    body = bytearray(json.dumps(value).encode())
    del body[data.draw(st.integers(0, len(body))) :]
    if body:
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    message = parse(bytes(body))
    if isinstance(message, Malformed):
        assert message.sample == bytes(body)[:200]
        assert message.code in (-32700, -32600, -32602)


@given(st.integers(0, 2**31), METHODS, PARAMS)
def test_a_request_is_read_as_it_was_written(id: int, method: str, params: Any) -> None:
    body = messages.request(id, method, params)
    message = parse(body)
    assert isinstance(message, RequestMessage)
    assert (json.loads(message.id), message.method) == (id, method)
    assert messages.decode_any(message.params or b"") == params
    assert as_body(message) == body


@given(METHODS, PARAMS | st.none())
def test_a_notification_is_read_as_it_was_written(method: str, params: Any) -> None:
    body = messages.notification(method, params)
    message = parse(body)
    assert isinstance(message, NotificationMessage)
    assert message.method == method
    assert (message.params is None) == (params is None)
    assert as_body(message) == body


@given(st.integers(0, 2**31), JSON)
def test_an_answer_is_read_as_it_was_written(id: int, result: Any) -> None:
    body = messages.response(str(id).encode(), result)
    message = parse(body)
    assert isinstance(message, ResponseMessage)
    assert (message.id, messages.decode_any(message.result)) == (id, result)
    assert as_body(message) == body


@given(st.integers(0, 2**31), st.integers(-(2**31), 2**31), st.text(max_size=20))
def test_a_refusal_is_read_as_it_was_written(id: int, code: int, text: str) -> None:
    body = messages.error_response(str(id).encode(), code, text)
    message = parse(body)
    assert message == ErrorResponse(id, code, text)
    assert as_body(message) == body


@given(IDS, METHODS)
def test_an_id_is_echoed_byte_for_byte(id: object, method: str) -> None:
    raw = json.dumps(id).encode()
    asked = parse(b'{"method":%s,"id":%s}' % (json.dumps(method).encode(), raw))
    assert isinstance(asked, RequestMessage)
    assert messages.response(asked.id, None) == b'{"jsonrpc":"2.0","id":%s,"result":null}' % raw


@given(st.text(max_size=6), HALVES, st.text(max_size=6))
def test_half_a_pair_is_replaced_wherever_it_stands(before: str, half: str, after: str) -> None:
    cut = before + half + after
    # What is next to it might have been the other half.
    assume(json.loads(json.dumps(cut)) == cut)
    mended = before + "\ufffd" + after
    message = parse(json.dumps({"method": cut, "params": {cut: [cut]}}).encode())
    assert isinstance(message, NotificationMessage)
    assert message.method == mended
    assert messages.decode_any(message.params or b"") == {mended: [mended]}
    sent = messages.notification("m", {cut: [cut]})
    assert json.loads(sent)["params"] == {mended: [mended]}
