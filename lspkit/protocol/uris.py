"""File paths as URIs and back.

lspkit writes one URI per path, spelled as VS Code spells it, since every server is tested with
that: everything except letters, digits and `-._~/` is percent-encoded, a drive letter is lower case
and its colon is encoded. Any spelling is accepted from servers; `normalize_uri` gives the spelling
that identifies a document. The operating system is an argument, and no file is touched.

A POSIX file name is bytes. It is kept in a `str` as Python's file functions decode it, and encodes
to the same bytes, also where the file system encoding is not UTF-8.
"""

from __future__ import annotations

import functools
import os
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
_DRIVE = re.compile(r"[/\\]*([A-Za-z]):(?=[/\\]|\Z)")
_EXTENDED = re.compile(r"\\\\\?\\(UNC\\)?", re.IGNORECASE)


def path_to_uri(path: str, *, windows: bool = os.name == "nt") -> str:
    """The URI of an absolute path.

    >>> path_to_uri("/code/a b#1.py", windows=False)
    'file:///code/a%20b%231.py'
    >>> path_to_uri("C:\\\\code\\\\a.py", windows=True)
    'file:///c%3A/code/a.py'
    """
    if not windows:
        return "file://" + _encode(path, "surrogateescape", _NAMES)
    # The prefix that lifts the length limit names the same file as the path without it.
    path = _EXTENDED.sub(lambda prefix: r"\\" if prefix[1] else "", path, count=1)
    path = path.replace("\\", "/")
    if path.startswith("//"):
        return "file:" + _encode(path, "surrogatepass")
    if drive := _DRIVE.match(path):
        path = drive[1].lower() + ":" + path[drive.end() :]
    return "file:///" + _encode(path.lstrip("/"), "surrogatepass")


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


def uri_to_path(uri: str, *, windows: bool = os.name == "nt") -> str | None:
    """The path of a file URI; None for another scheme, another host, or a URI that is too long.

    Windows paths get a capital drive letter and backslashes. An unencoded `#` or `?` is part of the
    name: servers forget to encode it, and none uses fragments or queries in file URIs.

    >>> uri_to_path("file:///code/a%20b%231.py", windows=False)
    '/code/a b#1.py'
    >>> uri_to_path("file:///c%3A/code/a.py", windows=True)
    'C:\\\\code\\\\a.py'
    """
    return _uri_to_path(uri, windows) if len(uri) <= LONGEST_URI else None


#: Size of the caches of paths and spellings: the same URIs come with every answer.
SPELLINGS = 4096


@functools.lru_cache(SPELLINGS)
def _uri_to_path(uri: str, windows: bool) -> str | None:
    parts = _FILE_URI.fullmatch(uri)
    if parts is None:
        return None
    host, rest = parts[1] or "", parts[2]
    if windows:
        return _windows_path(_decode(host, "surrogatepass"), _decode(rest, "surrogatepass"))
    if host.lower() not in ("", "localhost") or not rest.startswith("/"):
        return None
    return _decode(rest, "surrogateescape", _NAMES)


def normalize_uri(uri: str, *, windows: bool = os.name == "nt") -> str:
    """The URI in lspkit's spelling. A URI that names no file of this machine is returned as it is.

    >>> normalize_uri("file:///code/c++/a.go", windows=False)
    'file:///code/c%2B%2B/a.go'
    """
    return uri if len(uri) > LONGEST_URI else _normalize_uri(uri, windows)


@functools.lru_cache(SPELLINGS)
def _normalize_uri(uri: str, windows: bool) -> str:
    path = uri_to_path(uri, windows=windows)
    return uri if path is None else path_to_uri(path, windows=windows)


def _windows_path(host: str, rest: str) -> str | None:
    if _DRIVE.fullmatch(host):
        # Two slashes instead of three.
        host, rest = "", host + rest
    drive = _DRIVE.match(rest)
    if drive is not None and host.lower() in ("", "localhost"):
        rest = drive[1].upper() + ":" + rest[drive.end() :]
    elif host:
        rest = f"//{host}{rest}"
    elif not rest.startswith(("/", "\\")):
        return None
    return rest.replace("/", "\\")


def _encode(path: str, errors: str, encoding: str = "utf-8") -> str:
    if _ALL_PLAIN.fullmatch(path):
        return path  # as nearly always
    try:
        data = path.encode(encoding, errors)
    except UnicodeEncodeError:
        # No existing file has such a name, but a caller can pass one.
        data = path.encode("utf-8", "surrogatepass")
    return "".join([_ENCODED[byte] for byte in data])


def _decode(text: str, errors: str, encoding: str = "utf-8") -> str:
    if "%" not in text and (encoding == "utf-8" or text.isascii()):
        return text
    data = text.encode("utf-8", "surrogatepass")
    data = _PERCENT.sub(lambda found: bytes((int(found[1], 16),)), data)
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError:
        # Bytes that cannot be a name on Windows, from a server with a wrong encoding.
        return data.decode("utf-8", "replace")
