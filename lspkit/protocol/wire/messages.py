"""Encoding and decoding of JSON-RPC messages.

The envelope is decoded with `params` and `result` left as raw JSON; the caller decodes them in its
own thread (`results.py`). An invalid body becomes a `Malformed` value, never an exception, so that
other messages are not affected. Its id is extracted if that is safe, so that a caller does not wait
for an answer that has arrived damaged.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from msgspec import UNSET

from lspkit.limits import LONGEST_WORDS
from lspkit.msgspec_types import make_decoder

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
REQUEST_CANCELLED = -32800
CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802

#: Raw JSON, decoded when it is needed.
RawJson = bytes


class RequestMessage(msgspec.Struct, frozen=True):
    """A request from the server. `id` is raw JSON, which the answer repeats."""

    id: RawJson
    method: str
    params: RawJson | None


class NotificationMessage(msgspec.Struct, frozen=True):
    """A notification from the server."""

    method: str
    params: RawJson | None


class PublishedDiagnostics(msgspec.Struct, frozen=True):
    """`textDocument/publishDiagnostics`, its items still raw."""

    uri: str
    version: int | None
    items: RawJson


class ResponseMessage(msgspec.Struct, frozen=True):
    """The result of one of our requests. `id` is None if lspkit cannot have sent it."""

    id: int | None
    result: RawJson


class ErrorResponse(msgspec.Struct, frozen=True):
    """One of our requests failed at the server."""

    id: int | None
    code: int
    message: str
    data: RawJson | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A body that is not a valid message."""

    reason: str
    sample: bytes
    #: The error code for the answer, if it is a request.
    code: int = PARSE_ERROR
    #: Raw id, if it seems to be a request.
    asked: RawJson | None = None
    #: Id of our request, if it seems to be an answer.
    answers: int | None = None
    #: Further frames in the body: the server stopped in the middle of a message and continued with
    #: the next one. A header cannot be part of the body, since strings in JSON have no bare line
    #: breaks.
    swallowed: bytes = b""


Message = (
    RequestMessage
    | NotificationMessage
    | PublishedDiagnostics
    | ResponseMessage
    | ErrorResponse
    | Malformed
)


class _Envelope(msgspec.Struct, gc=False):
    id: msgspec.Raw | msgspec.UnsetType = UNSET
    method: str | msgspec.UnsetType = UNSET
    params: msgspec.Raw | msgspec.UnsetType = UNSET
    result: msgspec.Raw | msgspec.UnsetType = UNSET
    error: msgspec.Raw | msgspec.UnsetType = UNSET


class _Answer(msgspec.Struct, gc=False):
    id: int
    result: msgspec.Raw
    method: msgspec.Raw | msgspec.UnsetType = UNSET
    error: msgspec.Raw | msgspec.UnsetType = UNSET


class _Error(msgspec.Struct, gc=False):
    code: float = 0
    message: str | None = None
    data: msgspec.Raw | msgspec.UnsetType = UNSET


class _Publish(msgspec.Struct, gc=False):
    uri: str
    diagnostics: msgspec.Raw = msgspec.Raw(b"[]")
    version: float | None = None


_envelope = make_decoder(_Envelope)
_answer = make_decoder(_Answer)
_error = make_decoder(_Error)
_publish = make_decoder(_Publish)
_BAD = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError)


def parse(body: bytes) -> Message:
    """Decode the body of one frame. Never raises."""
    try:
        if not body.isascii():
            body.decode()  # msgspec does not check raw parts for valid UTF-8
        return _parse(body)
    except _BAD as problem:
        mended = _without_lone_surrogates(body)
        if mended is None:
            return _malformed_message(body, problem)
    try:
        return _parse(mended)
    except _BAD as problem:
        return _malformed_message(body, problem)


def _parse(body: bytes) -> Message:
    envelope = _envelope.decode(body)
    method, raw_id = envelope.method, envelope.id
    if method is not UNSET:
        params = None if envelope.params is UNSET else bytes(envelope.params)
        # With an id it is a request, also if one of our requests has the same id.
        if raw_id is not UNSET:
            return RequestMessage(bytes(raw_id), method, params)
        if method == "textDocument/publishDiagnostics":
            published = _publish.decode(params or b"null")
            version = None if published.version is None else int(published.version)
            return PublishedDiagnostics(published.uri, version, bytes(published.diagnostics))
        return NotificationMessage(method, params)
    if raw_id is UNSET:
        raise ValueError("neither a method nor an id")
    our_id = _our_id(bytes(raw_id))
    error = envelope.error
    # Some servers send `"error": null` beside a result.
    if error is not UNSET and bytes(error) != b"null":
        fault = _error.decode(error)
        data = None if fault.data is UNSET else bytes(fault.data)
        return ErrorResponse(our_id, int(fault.code), (fault.message or "")[:LONGEST_WORDS], data)
    if envelope.result is UNSET:
        return ResponseMessage(our_id, b"null")  # JavaScript drops a result that is `undefined`
    return ResponseMessage(our_id, bytes(envelope.result))


#: Digits. No id of ours is longer, and Python refuses to convert very long ones.
LONGEST_ID = 18
_NUMBER = re.compile(rb'"?(-?\d{1,%d})(?:\.0+)?"?\Z' % LONGEST_ID)


def _our_id(raw: bytes) -> int | None:
    """Our ids are integers; servers send them back as `7`, `7.0` or `"7"`."""
    if raw.isdigit() and len(raw) <= LONGEST_ID:
        return int(raw)
    match = _NUMBER.match(raw)
    return int(match[1]) if match else None


def _without_lone_surrogates(body: bytes) -> bytes | None:
    r"""The body with lone surrogates (`\ud800`) replaced, None if it has none.

    JavaScript servers cut strings in the middle of a pair; msgspec refuses such a message.
    """
    if b"\\u" not in body:
        return None
    try:
        return _dump(json.loads(body))
    except _BAD:
        return None


def _dump(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text).encode()


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_any(raw: bytes) -> Any:
    """Raw JSON as plain values, lone surrogates replaced."""
    try:
        return msgspec.json.decode(raw)
    except _BAD:
        mended = _without_lone_surrogates(raw)
        if mended is None:
            raise
        return msgspec.json.decode(mended)


def replace_lone_surrogates(raw: bytes) -> bytes:
    """`raw` with lone surrogates replaced."""
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except _BAD:
        return _without_lone_surrogates(raw) or raw
    return raw


def _malformed_message(body: bytes, problem: Exception) -> Malformed:
    header = _HEADER.search(body)
    # After a header another message follows.
    keys = keys_of(body if header is None else body[: header.start()], whole=header is None)
    raw_id, method = keys.get(b"id"), keys.get(b"method")
    syntax = not isinstance(problem, msgspec.ValidationError | RecursionError)
    code = PARSE_ERROR if syntax else INVALID_REQUEST
    if method is not None and method[:1] == b'"' and not syntax:
        code = INVALID_PARAMS
    request_id = raw_id if method is not None and raw_id is not None and _is_json(raw_id) else None
    answers = _our_id(raw_id) if raw_id is not None and method is None else None
    return Malformed(
        reason=f"{type(problem).__name__}: {problem}",
        sample=body[:200],
        code=code,
        asked=request_id,
        answers=answers,
        swallowed=body[header.start() :] if header else b"",
    )


#: With a limited number of other headers, so that the search is not quadratic.
_HEADER = re.compile(
    rb"Content-Length: *+\d++\r\n(?:[\w-]++:[^\r\n]*+\r\n){0,8}+\r\n", re.IGNORECASE
)


def _is_json(raw: bytes) -> bool:
    """Whether it is valid JSON, so that an answer can repeat it."""
    try:
        msgspec.json.decode(raw)
    except _BAD:
        return False
    return True


_encoder = msgspec.json.Encoder()


def encode(message: dict[str, Any]) -> bytes:
    """Encode a message, with lone surrogates in its strings replaced."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        plain = {key: _decode_raw(value) for key, value in message.items()}
        return _dump(plain)


def _decode_raw(value: Any) -> Any:
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


class _Request(msgspec.Struct, tag_field="jsonrpc", tag="2.0", gc=False):
    id: int
    method: str
    params: Any


def request(id: int, method: str, params: Any = None) -> bytes:
    """A request of ours. `params` None is left out: some servers reject `null`."""
    try:
        return _encoder.encode(_Request(id, method, UNSET if params is None else params))
    except UnicodeEncodeError:
        members = {} if params is None else {"params": params}
        return encode({"jsonrpc": "2.0", "id": id, "method": method, **members})


def raw_request(id: int, method: str, params: RawJson) -> bytes:
    """A request whose parameters are JSON already; the method has no special characters."""
    return b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}' % (id, method.encode(), params)


def notification(method: str, params: Any = None) -> bytes:
    """A notification of ours."""
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return encode(message)


def response(id: RawJson, result: Any) -> bytes:
    """The answer to a request of the server; `result` is present also if it is null."""
    return encode({"jsonrpc": "2.0", "id": msgspec.Raw(id), "result": result})


def raw_response(id: RawJson, result: RawJson | msgspec.Raw) -> bytes:
    """The answer to a request of the server, with a result that is JSON already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id, result)


def error_response(id: RawJson, code: int, message: str) -> bytes:
    """The error answer to a request of the server."""
    error = {"code": code, "message": message}
    return encode({"jsonrpc": "2.0", "id": msgspec.Raw(id), "error": error})


# The id and the method of a message that cannot be decoded.
#
# With them a server gets an answer to its request, and a caller does not wait for an answer that
# has arrived damaged.


class _Keys(msgspec.Struct, gc=False):
    id: msgspec.Raw | msgspec.UnsetType = UNSET
    method: msgspec.Raw | msgspec.UnsetType = UNSET


_keys = make_decoder(_Keys)
_UNDECODABLE = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError)

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_ID = re.compile(rb'(?:-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*")\Z', re.DOTALL)
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_LAST_PAIR = re.compile(rb',\s*"(id|method|jsonrpc)"\s*:\s*(-?\d+(?:\.\d+)?|"[^"\\]*")\s*\Z')

#: Bytes at the start of invalid JSON that are searched for the message's keys.
HEAD = 64 * 1024
#: Size up to which the end is searched, too; larger messages would block the reader.
WITH_END = 4 * 1024 * 1024


def keys_of(body: bytes, *, whole: bool) -> dict[bytes, bytes]:
    """`id` and `method` of an invalid message, as raw JSON. `whole`: it contains no other message.

    Only keys of the outermost object are used: a nested `id` belongs to something else, and using
    it would fail a request that is still pending.
    """
    try:
        decoded = _keys.decode(body)  # the JSON may be valid: bad UTF-8, or wrong types
    except _UNDECODABLE:
        keys = _top_level(body)
        if b"id" not in keys and whole and HEAD < len(body) <= WITH_END:
            keys = {**_last_keys(body), **keys}
        return keys
    pairs = ((b"id", decoded.id), (b"method", decoded.method))
    keys = {key: bytes(raw) for key, raw in pairs if not isinstance(raw, msgspec.UnsetType)}
    if not _ID.match(keys.get(b"id", b"0")):
        del keys[b"id"]
    return keys


def _top_level(body: bytes) -> dict[bytes, bytes]:
    """The keys at the start."""
    keys: dict[bytes, bytes] = {}
    depth, key, before = 0, b"", b""
    for match in _TOKEN.finditer(body[:HEAD]):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":" and depth == 1:
            key = before.strip(b'"')
        elif key in (b"id", b"method") and before == b":" and depth == 1:
            if key == b"method" or _ID.match(token):
                keys.setdefault(key, token)
            key = b""
        before = token
    return keys


def _last_keys(body: bytes) -> dict[bytes, bytes]:
    """The keys at the end of the outermost object, if the body ends with it."""
    keys: dict[bytes, bytes] = {}
    rest = body[-HEAD:].rstrip()
    bare = _STRING.sub(b"", body)
    closed = bare.count(b"{") == bare.count(b"}") and bare.count(b"[") == bare.count(b"]")
    if not closed or not rest.endswith(b"}"):
        return keys
    rest = rest[:-1]
    while match := _LAST_PAIR.search(rest):
        keys.setdefault(match[1], match[2])
        rest = rest[: match.start()]
    return keys
