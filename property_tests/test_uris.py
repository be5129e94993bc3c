"""Paths that survive being a URI, whatever is in their names."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from lspkit.protocol.uris import normalize_uri, path_to_uri, uri_to_path

# A name on POSIX is any bytes but these two.
POSIX_NAMES = st.binary(min_size=1).map(lambda name: name.replace(b"\0", b"x").replace(b"/", b"y"))
POSIX_PATHS = st.lists(POSIX_NAMES).map(
    lambda names: "/" + "/".join(name.decode("utf-8", "surrogateescape") for name in names)
)
PLAIN = re.compile(r"file://[A-Za-z0-9._~%-]*/[A-Za-z0-9._~/%-]*")


@given(POSIX_PATHS)
def test_posix_paths_survive(path: str) -> None:
    assert uri_to_path(path_to_uri(path)) == path


@given(POSIX_PATHS)
def test_a_uri_has_no_character_that_needs_encoding(path: str) -> None:
    assert PLAIN.fullmatch(path_to_uri(path))


@given(POSIX_PATHS)
def test_the_standard_library_reads_the_same_bytes(path: str) -> None:
    parts = urlsplit(path_to_uri(path))
    assert unquote_to_bytes(parts.path) == path.encode("utf-8", "surrogateescape")


@given(POSIX_PATHS, st.data())
def test_whatever_is_encoded_a_posix_uri_is_one_document(path: str, data: st.DataObject) -> None:
    own = path_to_uri(path)
    raw = path.encode("utf-8", "surrogateescape")
    # What is neither ASCII nor a percent sign has to be encoded; the rest may be, or may not.
    spelled = "".join(
        chr(byte)
        if byte < 128 and byte != ord("%") and data.draw(st.booleans())
        else f"%{byte:02x}"
        for byte in raw[1:]
    )
    assert normalize_uri(f"file:///{spelled}") == own


@given(st.text() | st.text("file:/%cC3A\\").map("file:".__add__))
def test_no_text_makes_reading_a_uri_raise(uri: str) -> None:
    path = uri_to_path(uri)
    assert path is None or path != ""
