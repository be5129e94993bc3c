"""Requests, results and errors of operations as JSON, and back.

Each operation of `lspkit.operations` has a decoder for its request and one for its result; there is
no other list of methods. Strings with lone surrogates (file names that are not UTF-8) are not valid
in JSON. A message that has any is marked as `escaped`, and each is written as NUL and four
hexadecimal digits.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, get_args, get_origin

import msgspec

from lspkit.answer import Answer
from lspkit.errors import LspkitError, ProtocolError, error_from_dict
from lspkit.msgspec_types import convert, make_decoder
from lspkit.operations.request import OPERATIONS, Operation, Request
from lspkit.types import Caveat

log = logging.getLogger("lspkit.service")


class CallParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The parameters of `lsp/call`."""

    #: Name of the operation.
    method: str
    #: The fields of its request.
    params: msgspec.Raw = msgspec.Raw(b"{}")
    #: Seconds that are left for the call; None: no limit.
    timeout: float | None = None
    escaped: bool = False
    #: Whether the caller had cancelled it before it was sent.
    cancelled: bool = False


EMPTY_LIST, NULL = msgspec.Raw(b"[]"), msgspec.Raw(b"null")


class CallResult(msgspec.Struct, frozen=True):
    """The result of `lsp/call`, not yet decoded."""

    value: msgspec.Raw
    #: Ids of the servers that have answered.
    answered: msgspec.Raw = EMPTY_LIST
    #: Errors of servers that have not, where another server has.
    failed: msgspec.Raw = EMPTY_LIST
    #: Why an `Answer` may be incomplete; null for any other value.
    caveats: msgspec.Raw = NULL
    escaped: bool = False


class _OutgoingResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of `lsp/call` before it is encoded."""

    value: Any
    answered: list[str] = []
    failed: list[dict[str, Any]] = []
    caveats: tuple[Caveat, ...] | None = None


def _encode_other(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    # As msgspec says it where there is no hook: an error of the caller, not of this module.
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


#: Answers name the same files again and again. Making a `Path` takes longer than decoding the rest.
_path = functools.lru_cache(1024)(Path)


def _decode_other(kind: type, value: Any) -> object:
    if kind is Path:
        return _path(value)
    raise NotImplementedError(f"a {kind.__name__} cannot be read from JSON")


# The decoder of an operation is built when it is first used: a command uses one or two of them, and
# building all takes 25 ms.


@functools.cache
def _request_decoder(of: Operation) -> Callable[[bytes], Any]:
    return make_decoder(of.request, _decode_other).decode


@functools.cache
def _result_decoder(of: Operation) -> Callable[[bytes], Any]:
    # `CallResult` with a value of this type, so that it is decoded at once.
    fields: list[Any] = [
        ("value", of.result),
        ("answered", tuple[str, ...], ()),
        ("failed", tuple[dict[str, Any], ...], ()),
        ("caveats", tuple[Caveat, ...] | None, None),
        ("escaped", bool, False),
    ]
    whole = msgspec.defstruct("Result", fields)
    return make_decoder(whole, _decode_other).decode


def prepare_for_requests() -> None:
    """Build the decoders of all requests, so that no client waits for that."""
    for operation in _by_name().values():
        _request_decoder(operation)


@functools.cache
def _by_name() -> dict[str, Operation]:
    """All operations, by name. Only the service needs them: a client has the request itself."""
    return {operation.name: operation for operation in OPERATIONS.values()}


_encoder = msgspec.json.Encoder(enc_hook=_encode_other)
_params = make_decoder(CallParams)
_result = make_decoder(CallResult)


def encode_value(value: Any) -> tuple[msgspec.Raw, bool]:
    """A value as JSON, and whether its strings are escaped."""
    try:
        return msgspec.Raw(_encoder.encode(value)), False
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=_encode_other, str_keys=True)
        return msgspec.Raw(_encoder.encode(_each_string(plain, _escape))), True


def _unescaped(raw: bytes | msgspec.Raw, kind: Any) -> Any:
    plain = _each_string(msgspec.json.decode(raw), _unescape)
    value = convert(plain, kind, dec_hook=_decode_other, str_keys=True)
    if get_origin(kind) is dict and get_args(kind)[0] is Path:
        return {Path(key): entry for key, entry in value.items()}  # `convert` leaves them as texts
    return value


def encode_call(
    request: Request[Any], timeout: float | None, *, cancelled: bool = False
) -> msgspec.Raw:
    """The parameters that carry a request. `timeout` is the time that is left."""
    # JSON has no infinity.
    left = None if timeout is None or timeout == float("inf") else max(0.0, timeout)
    name = OPERATIONS[type(request)].name
    params, escaped = encode_value(request)
    return msgspec.Raw(_encoder.encode(CallParams(name, params, left, escaped, cancelled)))


def decode_call(raw: bytes) -> tuple[Request[Any], float | None, bool]:
    """The request that parameters carry, its timeout, and whether it is cancelled already.

    Raises `msgspec.ValidationError` or `LspkitError` for values that no request can have.
    """
    given = _params.decode(raw)
    of = _by_name().get(given.method)
    if of is None:
        raise msgspec.ValidationError(f"there is no operation {given.method!r}")
    if given.escaped:
        request: Request[Any] = _unescaped(given.params, of.request)
    else:
        request = _request_decoder(of)(given.params)
    return request, given.timeout, given.cancelled


def encode_result(value: Any, answered: set[str], failed: list[Exception]) -> msgspec.Raw:
    """The result of an operation, with the servers that answered and the errors of others."""
    caveats = value.caveats if isinstance(value, Answer) else None
    errors = [error_to_dict(problem) for problem in failed]
    result = _OutgoingResult(value, sorted(answered), errors, caveats)
    try:
        return msgspec.Raw(_encoder.encode(result))
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(result, enc_hook=_encode_other, str_keys=True)
        marked = {**_each_string(plain, _escape), "escaped": True}  # one mark for all
        return msgspec.Raw(_encoder.encode(marked))


def decode_result(of: Operation, raw: bytes) -> tuple[Any, tuple[str, ...], list[Exception]]:
    """The result of an operation, the servers that answered, and the errors of others."""
    try:
        # Before the value is decoded: escaped strings may not fit the types of its fields. Inside
        # of a string the quotation marks would have backslashes.
        if b'"escaped":true' in raw and (parts := _result.decode(raw)).escaped:
            value = _unescaped(parts.value, of.result)
            answered, errors = (_unescaped(part, tuple) for part in (parts.answered, parts.failed))
            caveats = _unescaped(parts.caveats, tuple[Caveat, ...] | None)
        else:
            given = _result_decoder(of)(raw)
            value, answered, errors = given.value, given.answered, given.failed
            caveats = given.caveats
        if caveats is not None:
            value = Answer(value, caveats)
        return value, answered, [error_from_wire(problem) for problem in errors] if errors else []
    except (msgspec.DecodeError, UnicodeError, KeyError, TypeError) as problem:
        raise ProtocolError(f"the service sent a result that cannot be read: {problem}") from None


def decode_plain(raw: bytes | msgspec.Raw) -> Any:
    """Raw JSON as plain values."""
    return msgspec.json.decode(raw)


# Errors

#: Errors of the caller that are not lspkit's own, by code.
_BUILT_IN = {"ETYPE": TypeError, "EVALUE": ValueError}


def error_to_dict(problem: BaseException) -> dict[str, Any]:
    """An error as plain values: `code`, `message`, and the fields of an `LspkitError`."""
    if isinstance(problem, LspkitError):
        return problem.to_dict()
    for code, kind in _BUILT_IN.items():
        if isinstance(problem, kind):
            return {"code": code, "message": str(problem)}
    log.error("a call failed inside the service", exc_info=problem)
    return {
        "code": LspkitError.code,
        "message": f"lspkit itself failed ({type(problem).__name__}); see the log of the service",
    }


def error_from_wire(values: dict[str, Any]) -> Exception:
    """The error that these values describe."""
    if (kind := _BUILT_IN.get(values.get("code", ""))) is not None:
        return kind(values["message"])
    return error_from_dict(values)


def encode_error(problem: BaseException) -> tuple[msgspec.Raw, str]:
    """The `data` of an error response, and its message."""
    values = error_to_dict(problem)
    raw, escaped = encode_value(values)
    data, _ = encode_value({"error": raw, "escaped": escaped})
    return data, values["message"].encode("utf-8", "replace").decode()


def decode_error(data: bytes | None, message: str) -> Exception:
    """The error of an error response. Without data it is a `ProtocolError`."""
    if data is None:
        return ProtocolError(f"the service refused the call: {message}")
    try:
        given = msgspec.json.decode(data)
        values = _each_string(given["error"], _unescape) if given["escaped"] else given["error"]
        return error_from_wire(values)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as problem:
        return ProtocolError(f"the service sent an error that cannot be read: {problem}")


# Lone surrogates

_TO_ESCAPE = re.compile("[\ud800-\udfff\0]")
_ESCAPED = re.compile("\0([0-9a-f]{4})")


def _escape(text: str) -> str:
    return _TO_ESCAPE.sub(lambda match: f"\0{ord(match[0]):04x}", text)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _each_string(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each_string(entry, change) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_each_string(entry, change) for entry in value]
    return value
