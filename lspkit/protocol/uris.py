"""File paths as URIs and back.

lspkit writes one URI per path, spelled as VS Code spells it, since every server is tested with
that: everything except letters, digits and `-._~/` is percent-encoded. Any spelling is accepted
from servers; `normalize_uri` gives the spelling that identifies a document. No file is touched.

A POSIX file name is bytes. It is kept in a `str` as Python's file functions decode it, and encodes
to the same bytes, also where the file system encoding is not UTF-8.
"""

from __future__ import annotations

import functools
import re
import sys

from lspkit.limits import LONGEST_URI

#: How Python reads the names of files: as UTF-8, but as ASCII in the C locale with PYTHONUTF8=0.
_NAMES = sys.getfilesystemencoding()
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_ENCODED = [chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in range(256)]
_ALL_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
# The host is what stands between two slashes and a third. `file:/path` has none.
_FILE_URI = re.compile(r"file:(?://([^/\\]*))?(.*)", re.IGNORECASE | re.DOTALL)


def path_to_uri(path: str) -> str:
    """The URI of an absolute path.

    >>> path_to_uri("/code/a b#1.py")
    'file:///code/a%20b%231.py'
    """
    return "file://" + _encode(path)


def is_utf8(path: str) -> bool:
    r"""Whether the bytes of a path are UTF-8. The URI of another one means nothing to some servers.

    >>> is_utf8("/code/caf\u00e9.py"), is_utf8("/code/caf\udce9.py")
    (True, False)
    """
    if path.isascii():
        return True
    try:
        path.encode(_NAMES, "surrogateescape").decode()
    except UnicodeError:
        return False
    return True


def uri_to_path(uri: str) -> str | None:
    """The path of a file URI; None for another scheme, another host, or a URI that is too long.

    An unencoded `#` or `?` is part of the name: servers forget to encode it, and none uses
    fragments or queries in file URIs.

    >>> uri_to_path("file:///code/a%20b%231.py")
    '/code/a b#1.py'
    """
    return _uri_to_path(uri) if len(uri) <= LONGEST_URI else None


#: Size of the caches of paths and spellings: the same URIs come with every answer.
SPELLINGS = 4096


@functools.lru_cache(SPELLINGS)
def _uri_to_path(uri: str) -> str | None:
    parts = _FILE_URI.fullmatch(uri)
    if parts is None:
        return None
    host, path = parts[1] or "", parts[2]
    if host.lower() not in ("", "localhost") or not path.startswith("/"):
        return None
    return _decode(path)


def normalize_uri(uri: str) -> str:
    """The URI in lspkit's spelling. A URI that names no file of this machine is returned as it is.

    >>> normalize_uri("file:///code/c++/a.go")
    'file:///code/c%2B%2B/a.go'
    """
    return uri if len(uri) > LONGEST_URI else _normalize_uri(uri)


@functools.lru_cache(SPELLINGS)
def _normalize_uri(uri: str) -> str:
    path = uri_to_path(uri)
    return uri if path is None else path_to_uri(path)


def _encode(path: str) -> str:
    if _ALL_PLAIN.fullmatch(path):
        return path  # as nearly always
    try:
        data = path.encode(_NAMES, "surrogateescape")
    except UnicodeEncodeError:
        # No existing file has such a name, but a caller can pass one.
        data = path.encode("utf-8", "surrogatepass")
    return "".join([_ENCODED[byte] for byte in data])


def _decode(text: str) -> str:
    if "%" not in text and (_NAMES == "utf-8" or text.isascii()):
        return text
    data = text.encode("utf-8", "surrogatepass")
    data = _PERCENT.sub(lambda match: bytes((int(match[1], 16),)), data)
    return data.decode(_NAMES, "surrogateescape")
