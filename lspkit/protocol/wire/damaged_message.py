"""The id and the method of a message that cannot be decoded.

With them a server gets an answer to its request, and a caller does not wait for an answer that has
arrived damaged.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import UNSET

from lspkit.msgspec_types import make_decoder


class _Keys(msgspec.Struct, gc=False):
    id: msgspec.Raw | msgspec.UnsetType = UNSET
    method: msgspec.Raw | msgspec.UnsetType = UNSET


_keys = make_decoder(_Keys)
_BAD = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError)

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
        told = _keys.decode(body)  # the JSON may be valid: bad UTF-8, or wrong types
    except _BAD:
        found = _top_level(body)
        if b"id" not in found and whole and HEAD < len(body) <= WITH_END:
            found = {**_last_keys(body), **found}
        return found
    pairs = ((b"id", told.id), (b"method", told.method))
    found = {key: bytes(raw) for key, raw in pairs if not isinstance(raw, msgspec.UnsetType)}
    if not _ID.match(found.get(b"id", b"0")):
        del found[b"id"]
    return found


def _top_level(body: bytes) -> dict[bytes, bytes]:
    """The keys at the start."""
    found: dict[bytes, bytes] = {}
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
                found.setdefault(key, token)
            key = b""
        before = token
    return found


def _last_keys(body: bytes) -> dict[bytes, bytes]:
    """The keys at the end of the outermost object, if the body ends with it."""
    found: dict[bytes, bytes] = {}
    rest = body[-HEAD:].rstrip()
    bare = _STRING.sub(b"", body)
    closed = bare.count(b"{") == bare.count(b"}") and bare.count(b"[") == bare.count(b"]")
    if not closed or not rest.endswith(b"}"):
        return found
    rest = rest[:-1]
    while match := _LAST_PAIR.search(rest):
        found.setdefault(match[1], match[2])
        rest = rest[: match.start()]
    return found
