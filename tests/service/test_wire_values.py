"""Requests, results and errors are the same after their way through the wire.

The values are generated from the types of the operations and from the error classes, so a new
operation, field or error is covered without a change here.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lspkit import errors
from lspkit.errors import LspkitError, ProtocolError
from lspkit.operations import RawRequest, StatusTextRequest, WriteRequest
from lspkit.operations.request import OPERATIONS, Operation
from lspkit.protocol.wire import messages
from lspkit.service.client_session import CALL_FAILED
from lspkit.service.peer import error_body
from lspkit.service.wire_values import (
    decode_call,
    decode_error,
    decode_result,
    encode_call,
    encode_error,
    encode_result,
)
from tests.service.generated_values import DIFFICULT, JSON_VALUES, TEXTS, errors_of, values_of
from tests.test_errors import every

#: The values are large on purpose: to make one of them smaller would take minutes.
few = settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda one: one.name)
each_error = pytest.mark.parametrize("kind", every(), ids=lambda one: one.__name__)
any_error = st.one_of([errors_of(kind) for kind in every()])


def call_arrives(request: Any, timeout: float | None) -> tuple[Any, float | None]:
    """A request as the service gets it."""
    body = messages.request(1, "lsp/call", encode_call(request, timeout))
    message = messages.parse(body)
    assert isinstance(message, messages.RequestMessage), message
    arrived, left, cancelled = decode_call(message.params or b"")
    assert not cancelled
    return arrived, left


def result_arrives(
    operation: Operation, value: Any, answered: set[str], failed: list[Exception]
) -> tuple[Any, tuple[str, ...], list[Exception]]:
    """A result as the client gets it."""
    raw = msgspec.Raw(messages.encode(encode_result(value, answered, failed)))
    message = messages.parse(messages.response(b"1", raw))
    assert isinstance(message, messages.ResponseMessage), message
    return decode_result(operation, message.result)


def error_arrives(problem: Exception) -> Exception:
    """An error as the client gets it."""
    data, text = encode_error(problem)
    message = messages.parse(error_body(b"1", CALL_FAILED, text, data))
    assert isinstance(message, messages.ErrorResponse), message
    return decode_error(message.data, message.message)


def assert_same_error(one: Exception, other: Exception) -> None:
    assert type(one) is type(other)
    assert str(one) == str(other)
    if isinstance(one, LspkitError) and isinstance(other, LspkitError):
        assert (one.code, one.message) == (other.code, other.message)
        assert one.fields == other.fields
        assert {name: type(one.fields[name]) for name in one.fields} == {
            name: type(other.fields[name]) for name in other.fields
        }


@each_operation
@few
@given(data=st.data())
def test_a_request_arrives_unchanged(operation: Operation, data: st.DataObject) -> None:
    request = data.draw(values_of(operation.request))

    arrived, timeout = call_arrives(request, 1.5)

    assert arrived == request
    assert type(arrived) is operation.request
    assert repr(arrived) == repr(request)  # types of fields as well: a tuple is no list
    assert timeout == 1.5


@each_operation
@few
@given(data=st.data(), answered=st.sets(TEXTS, max_size=2), failed=st.lists(any_error, max_size=2))
def test_a_result_arrives_unchanged(
    operation: Operation, data: st.DataObject, answered: set[str], failed: list[Exception]
) -> None:
    value = data.draw(values_of(operation.result))

    arrived, servers, problems = result_arrives(operation, value, answered, failed)

    assert arrived == value
    assert type(arrived) is type(value)
    assert set(servers) == answered
    for one, other in zip(problems, failed, strict=True):
        assert_same_error(one, other)


@each_error
@few
@given(data=st.data())
def test_an_error_arrives_with_all_its_fields(kind: type[LspkitError], data: st.DataObject) -> None:
    problem = data.draw(errors_of(kind))

    assert_same_error(error_arrives(problem), problem)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
@few
@given(message=TEXTS)
def test_an_error_in_an_argument_arrives_as_itself(kind: type[Exception], message: str) -> None:
    assert_same_error(error_arrives(kind(message)), kind(message))


@pytest.mark.parametrize("text", DIFFICULT, ids=ascii)
def test_a_text_that_is_not_utf_8_arrives_unchanged_everywhere(text: str) -> None:
    request = RawRequest(path=text, method=text, params={text: [text, {text: text}]})
    assert call_arrives(request, None) == (request, None)

    problem = errors.PositionError(text, bounds=text, candidates=(text, text))
    value, answered, failed = result_arrives(
        OPERATIONS[RawRequest], {text: text}, {text}, [problem]
    )
    assert (value, answered) == ({text: text}, (text,))
    assert_same_error(failed[0], problem)
    assert_same_error(error_arrives(problem), problem)
    # The mark for escaped texts is one for the value and for the errors.
    plain = errors.PositionError("plain\0dc80")
    for one, other in [("\0dc80", problem), (text, plain)]:
        value, _, failed = result_arrives(OPERATIONS[StatusTextRequest], one, set(), [other])
        assert value == one
        assert_same_error(failed[0], other)


@pytest.mark.parametrize("filling", ["x", "😀", "\0", "\udc80"], ids=ascii)
def test_a_large_text_arrives_unchanged(filling: str) -> None:
    request = WriteRequest(path="a", text=filling * 200_000)
    assert call_arrives(request, None)[0] == request
    value = [filling * 200_000, filling]
    assert result_arrives(OPERATIONS[RawRequest], value, set(), [])[0] == value


@given(timeout=st.floats(allow_nan=False) | st.none())
def test_a_timeout_is_not_negative_and_without_a_limit_it_is_none(timeout: float | None) -> None:
    arrived = call_arrives(RawRequest(path="a", method="x"), timeout)[1]
    assert arrived == (None if timeout in (None, float("inf")) else max(0.0, timeout or 0.0))


@few
@given(message=TEXTS, more=st.dictionaries(TEXTS, JSON_VALUES, max_size=2))
def test_an_error_of_a_newer_lspkit_keeps_its_code(message: str, more: dict[str, Any]) -> None:
    values = {**more, "code": "EFUTURE", "message": message}
    found = decode_error(messages.encode({"error": values, "escaped": False}), "")

    assert type(found) is LspkitError
    assert found.code == "EFUTURE"
    assert found.fields == {}


def test_a_field_of_a_newer_lspkit_is_left_out() -> None:
    values = {"code": "EPOSITION", "message": "m", "bounds": "1", "colour": "red"}
    found = decode_error(messages.encode({"error": values, "escaped": False}), "")

    assert_same_error(found, errors.PositionError("m", bounds="1"))


@pytest.mark.parametrize(
    "data", [None, b"null", b"[]", b"{}", b'{"error": 1, "escaped": false}', b'{"error": {}}', b"{"]
)
def test_an_error_that_cannot_be_read_is_an_error_of_the_protocol(data: bytes | None) -> None:
    assert type(decode_error(data, "why")) is ProtocolError


def test_an_error_inside_the_service_does_not_pass_its_text_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = error_arrives(RuntimeError("a secret"))

    assert type(found) is LspkitError
    assert "secret" not in str(found)
    assert "RuntimeError" in str(found)
    assert "a secret" in caplog.text
