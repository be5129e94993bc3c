"""Paths and URIs: what is written, and all that is understood."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lspkit.protocol import uris
from lspkit.protocol.uris import SPELLINGS, normalize_uri, path_to_uri, uri_to_path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/", "file:///"),
        ("/code/a.py", "file:///code/a.py"),
        ("/code/a b.py", "file:///code/a%20b.py"),
        ("/code/a#b?c%d.py", "file:///code/a%23b%3Fc%25d.py"),
        ("/code/c:/x.py", "file:///code/c%3A/x.py"),
        ("/c:/x.py", "file:///c%3A/x.py"),
        ("/code/é🙂.py", "file:///code/%C3%A9%F0%9F%99%82.py"),
        (
            "/code/[id]&(x)+=@$!',;*.ts",
            "file:///code/%5Bid%5D%26%28x%29%2B%3D%40%24%21%27%2C%3B%2A.ts",
        ),
        ("/code/back\\slash", "file:///code/back%5Cslash"),
        ("/code/a-b_c.d~e/", "file:///code/a-b_c.d~e/"),
        ("//double/slash", "file:////double/slash"),
        ("/code/\udcff.py", "file:///code/%FF.py"),
        ("/code/%41", "file:///code/%2541"),
    ],
)
class TestPosixPaths:
    def test_the_uri_is_spelled_as_vs_code_spells_it(self, path: str, uri: str) -> None:
        assert path_to_uri(path) == uri

    def test_the_path_comes_back(self, path: str, uri: str) -> None:
        assert uri_to_path(uri) == path


@pytest.mark.parametrize("uri", ["file:///Gr%C3%BC%C3%9Fe", "file:///Grüße"])
def test_names_are_read_as_the_process_reads_names(uri: str) -> None:
    """In the C locale Python takes names for ASCII, and a path has to be one that it can open."""
    code = f"""
import os
from lspkit.protocol.uris import path_to_uri, uri_to_path
path = uri_to_path({uri!a})
assert os.fsencode(path) == b"/Gr\\xc3\\xbc\\xc3\\x9fe", ascii(path)
assert path_to_uri(path) == "file:///Gr%C3%BC%C3%9Fe"
"""
    plain = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=plain, timeout=60, check=True)


@pytest.mark.parametrize(
    "uri",
    [
        "file:///code/a%20b.py",
        "file:/code/a%20b.py",
        "file://localhost/code/a%20b.py",
        "File:///code/a%20b.py",
        "file:///code/a b.py",
        "file:///c%6fde/a%20b%2Epy",
    ],
)
def test_every_spelling_of_a_posix_uri_is_the_same_path(uri: str) -> None:
    assert uri_to_path(uri) == "/code/a b.py"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///code/c#/a.py", "/code/c#/a.py"),
        ("file:///code/what?.py", "/code/what?.py"),
        ("file:///code/100%.py", "/code/100%.py"),
        ("file:///code/%zz.py", "/code/%zz.py"),
        ("file:///code/é%20.py", "/code/é .py"),
    ],
)
def test_what_a_server_forgot_to_encode_is_part_of_the_name(uri: str, path: str) -> None:
    assert uri_to_path(uri) == path


@pytest.mark.parametrize(
    "uri",
    ["untitled:Untitled-1", "https://example.org/a.py", "git:/code/a.py", "a.py", "", "file:a.py"],
)
def test_what_is_no_file_has_no_path(uri: str) -> None:
    assert uri_to_path(uri) is None


def test_a_file_of_another_machine_has_no_posix_path() -> None:
    assert uri_to_path("file://server/share/a.py") is None


def test_a_name_that_no_posix_file_has_still_has_a_uri() -> None:
    assert path_to_uri("/\ud800") == "file:///%ED%A0%80"


@pytest.mark.parametrize(
    ("uri", "own"),
    [
        ("file:///code/c++/@scope/a.go", "file:///code/c%2B%2B/%40scope/a.go"),
        ("file:///code/%63%2b%2B/%40scope/a.go", "file:///code/c%2B%2B/%40scope/a.go"),
        ("file://localhost/code/é.py", "file:///code/%C3%A9.py"),
        ("file:/code/a.py", "file:///code/a.py"),
        ("file:///c:/x.py", "file:///c%3A/x.py"),
    ],
)
def test_a_document_has_one_spelling(uri: str, own: str) -> None:
    assert normalize_uri(uri) == own
    assert normalize_uri(own) == own


@pytest.mark.parametrize("uri", ["untitled:a+b", "jdt://contents/a+b.class", "", "file://other/a"])
def test_what_names_no_file_here_is_left_as_it_is(uri: str) -> None:
    assert normalize_uri(uri) == uri


def test_only_so_many_spellings_are_remembered() -> None:
    for number in range(SPELLINGS + 10):
        normalize_uri(f"file:///code/{number}")
    assert uris._normalize_uri.cache_info().currsize == SPELLINGS
