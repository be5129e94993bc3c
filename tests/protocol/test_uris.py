"""Paths and URIs: what is written, and all that is understood."""

from __future__ import annotations

import pytest

from lspkit.protocol.uris import path_to_uri, uri_to_path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/", "file:///"),
        ("/work/a.py", "file:///work/a.py"),
        ("/work/a b.py", "file:///work/a%20b.py"),
        ("/work/a#b?c%d.py", "file:///work/a%23b%3Fc%25d.py"),
        ("/work/c:/x.py", "file:///work/c%3A/x.py"),
        ("/c:/x.py", "file:///c%3A/x.py"),
        ("/work/é🙂.py", "file:///work/%C3%A9%F0%9F%99%82.py"),
        (
            "/work/[id]&(x)+=@$!',;*.ts",
            "file:///work/%5Bid%5D%26%28x%29%2B%3D%40%24%21%27%2C%3B%2A.ts",
        ),
        ("/work/back\\slash", "file:///work/back%5Cslash"),
        ("/work/a-b_c.d~e/", "file:///work/a-b_c.d~e/"),
        ("//double/slash", "file:////double/slash"),
        ("/work/\udcff.py", "file:///work/%FF.py"),
        ("/work/%41", "file:///work/%2541"),
    ],
)
class TestPosixPaths:
    def test_the_uri_is_spelled_as_vs_code_spells_it(self, path: str, uri: str) -> None:
        assert path_to_uri(path, windows=False) == uri

    def test_the_path_comes_back(self, path: str, uri: str) -> None:
        assert uri_to_path(uri, windows=False) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("C:\\", "file:///c%3A/"),
        ("C:\\work\\a b#.py", "file:///c%3A/work/a%20b%23.py"),
        ("D:\\é\\%.py", "file:///d%3A/%C3%A9/%25.py"),
        ("\\\\server\\share\\a b.py", "file://server/share/a%20b.py"),
        ("\\\\wsl$\\Ubuntu\\home", "file://wsl%24/Ubuntu/home"),
        ("\\\\localhost\\c$\\a.py", "file://localhost/c%24/a.py"),
        ("C:\\\ud800.py", "file:///c%3A/%ED%A0%80.py"),
    ],
)
class TestWindowsPaths:
    def test_the_uri_is_spelled_as_vs_code_spells_it(self, path: str, uri: str) -> None:
        assert path_to_uri(path, windows=True) == uri

    def test_the_path_comes_back(self, path: str, uri: str) -> None:
        assert uri_to_path(uri, windows=True) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("c:\\work", "file:///c%3A/work"),
        ("C:/work/a.py", "file:///c%3A/work/a.py"),
        ("/C:/work", "file:///c%3A/work"),
        ("\\\\?\\C:\\work\\a.py", "file:///c%3A/work/a.py"),
        ("\\\\?\\UNC\\server\\share", "file://server/share"),
        ("//server/share", "file://server/share"),
    ],
)
def test_other_windows_spellings_of_a_path_have_the_same_uri(path: str, uri: str) -> None:
    assert path_to_uri(path, windows=True) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "file:///C:/work/a.py",
        "file:///c:/work/a.py",
        "file:///c%3A/work/a.py",
        "file:///C%3a/work/a.py",
        "file:/c:/work/a.py",
        "file:c:/work/a.py",
        "file://c:/work/a.py",
        "file://C%3A/work/a.py",
        "file://localhost/c:/work/a.py",
        "file:////c:/work/a.py",
        "FILE:///c:/work/a.py",
        "file:///c:\\work\\a.py",
        "file:///c:/w%6Frk/a.py",
    ],
)
def test_every_spelling_of_a_drive_is_the_same_path(uri: str) -> None:
    assert uri_to_path(uri, windows=True) == "C:\\work\\a.py"


@pytest.mark.parametrize(
    "uri",
    ["file://server/share/a.py", "file:////server/share/a.py", "file://SERVER/share/a.py"],
)
def test_every_spelling_of_a_share_is_a_path_of_that_share(uri: str) -> None:
    path = uri_to_path(uri, windows=True)
    assert path is not None
    assert path.lower() == "\\\\server\\share\\a.py"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///work/a%20b.py",
        "file:/work/a%20b.py",
        "file://localhost/work/a%20b.py",
        "File:///work/a%20b.py",
        "file:///work/a b.py",
        "file:///w%6frk/a%20b%2Epy",
    ],
)
def test_every_spelling_of_a_posix_uri_is_the_same_path(uri: str) -> None:
    assert uri_to_path(uri, windows=False) == "/work/a b.py"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///work/c#/a.py", "/work/c#/a.py"),
        ("file:///work/what?.py", "/work/what?.py"),
        ("file:///work/100%.py", "/work/100%.py"),
        ("file:///work/%zz.py", "/work/%zz.py"),
        ("file:///work/é%20.py", "/work/é .py"),
    ],
)
def test_what_a_server_forgot_to_encode_is_part_of_the_name(uri: str, path: str) -> None:
    assert uri_to_path(uri, windows=False) == path


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize(
    "uri",
    ["untitled:Untitled-1", "https://example.org/a.py", "git:/work/a.py", "a.py", "", "file:a.py"],
)
def test_what_is_no_file_has_no_path(uri: str, windows: bool) -> None:
    assert uri_to_path(uri, windows=windows) is None


def test_a_file_of_another_machine_has_no_posix_path() -> None:
    assert uri_to_path("file://server/share/a.py", windows=False) is None


def test_bytes_that_are_no_windows_name_are_replaced() -> None:
    assert uri_to_path("file:///c:/%FF.py", windows=True) == "C:\\\ufffd.py"


def test_a_name_that_no_posix_file_has_still_has_a_uri() -> None:
    assert path_to_uri("/\ud800", windows=False) == "file:///%ED%A0%80"
