"""What clangd is told of how a project is compiled, where the project is not trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lspkit.servers.restriction.compile_commands import CompileFlags, compiling, safe


def database(folder: Path, *entries: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["-I", "include", "-Isrc"], ["-Iinclude", "-Isrc"]),
        (["-isystem", "/usr/include/x", "-iquote", "."], ["-isystem/usr/include/x", "-iquote."]),
        (["-include", "config.h", "-D", "A=1", "-UB"], ["-includeconfig.h", "-DA=1", "-UB"]),
        (["-std=c++20", "-Wall", "-Wno-unused", "-O2", "-pthread", "-fno-exceptions"], None),
        (["-x", "c++", "-xobjective-c"], ["-xc++", "-xobjective-c"]),
        (["-c", "main.cpp", "-o", "main.o", "-g", "-MD"], []),
        (["-I"], []),
    ],
)
def test_options_that_say_how_sources_are_read_are_kept(
    given: list[str], kept: list[str] | None
) -> None:
    assert list(safe(given)) == (given if kept is None else kept)


@pytest.mark.parametrize(
    "given",
    [
        ["-fplugin=./evil.so"],
        ["-fpass-plugin=./evil.so"],
        ["-Xclang", "-load", "-Xclang", "./evil.so"],
        ["-fopenmp", "--offload-arch=native", "--offload-arch-tool=./evil"],
        ["--amdgpu-arch-tool=./evil"],
        ["-x", "hip"],
        ["-xcuda"],
        ["--target=amdgcn-amd-amdhsa", "-mcpu=native"],
        ["-B", "bin"],
        ["-Bbin"],
        ["-Wl,-plugin,evil", "-Wa,x", "-Wp,-x,cuda"],
        ["@options"],
        ["--config=evil.cfg"],
        ["-wrapper", "evil"],
        ["-march=native"],
        ["-std=c++17 -fplugin=x"],
        ["-include-pch", "evil.pch"],
        ["-include", "-pch"],
        ["-isystem-after", "evil"],
        ["-D", "-fplugin=x"],
    ],
)
def test_options_that_may_run_something_are_not(given: list[str]) -> None:
    assert list(safe(given)) == []


def test_a_value_is_never_a_word_of_its_own() -> None:
    assert list(safe(["-I", "@options"])) == ["-I@options"]


def test_a_database_gives_a_command_for_each_file(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    database(
        root,
        {"directory": str(root), "file": "a.cpp", "arguments": ["./evil/g++", "-Iinc", "a.cpp"]},
        {"directory": "sub", "file": "../b.c", "command": "cc -DX='a b' -fplugin=e ../b.c"},
    )
    found = compiling(str(root))
    assert found.commands == {
        f"{root}/a.cpp": {
            "workingDirectory": str(root),
            "compilationCommand": ["clang++", "-Iinc", f"{root}/a.cpp"],
        },
        f"{root}/b.c": {
            "workingDirectory": f"{root}/sub",
            "compilationCommand": ["clang", "-DX=a b", f"{root}/b.c"],
        },
    }


def test_other_files_have_what_all_commands_have(tmp_path: Path) -> None:
    one = {"directory": "/w", "file": "a.c", "arguments": ["cc", "-Iinc", "-DA", "-includeb.h"]}
    two = {"directory": "/w/d", "file": "b.c", "arguments": ["cc", "-I../inc", "-DA", "-xc"]}
    database(tmp_path, one, two)
    assert compiling(str(tmp_path)).flags == ["-I/w/inc", "-DA", "-I/w/d/../inc"]


def test_a_standard_that_not_all_commands_have_is_for_no_other_file(tmp_path: Path) -> None:
    one = {"file": "a.c", "arguments": ["cc", "-std=c11", "-DA"]}
    two = {"file": "b.cpp", "arguments": ["c++", "-std=c++20", "-DA"]}
    database(tmp_path, one)
    assert compiling(str(tmp_path)).flags == ["-std=c11", "-DA"]
    database(tmp_path, one, two)
    assert compiling(str(tmp_path)).flags == ["-DA"]


def test_a_file_is_known_by_where_it_really_is(tmp_path: Path) -> None:
    real, link = tmp_path.resolve() / "real", tmp_path / "link"
    database(real, {"directory": str(link), "file": "a.c", "arguments": ["cc"]})
    link.symlink_to(real)
    assert list(compiling(str(real)).commands) == [f"{real}/a.c"]


def test_the_database_of_a_build_folder_is_found(tmp_path: Path) -> None:
    database(tmp_path / "build", {"directory": "..", "file": "a.c", "arguments": ["cc", "-DX"]})
    assert compiling(str(tmp_path)).flags == ["-DX"]


def test_a_file_of_flags_is_for_all_files(tmp_path: Path) -> None:
    text = "-Iinc\n-std=c++17\n--amdgpu-arch-tool=./evil\n-xc++\n"
    (tmp_path / "compile_flags.txt").write_text(text, encoding="utf-8")
    assert compiling(str(tmp_path)).flags == [f"-I{tmp_path}/inc", "-std=c++17", "-xc++"]


def test_a_database_that_changes_is_read_again(tmp_path: Path) -> None:
    for name in ("A", "BB"):
        database(tmp_path, {"file": "a.c", "arguments": ["cc", f"-D{name}"]})
        assert compiling(str(tmp_path)).flags == [f"-D{name}"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[1]",
        '[{"file": 1}]',
        "[" * 100_000,
        '[{"file": "", "arguments": ["cc"]}]',
        '[{"file": "a.c"}]',
        '[{"file": "a.c", "command": "cc \'"}]',
        '[{"file": "a\\u0000.c", "arguments": ["cc"]}]',
    ],
)
def test_what_makes_no_sense_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "compile_commands.json").write_text(content, encoding="utf-8")
    assert compiling(str(tmp_path)) == CompileFlags()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_name_that_is_not_utf_8_hides_no_other_command(tmp_path: Path) -> None:
    """On Linux a path may have any bytes, and CMake writes them as they are."""
    root = tmp_path.resolve()
    entries = [
        {"directory": str(root), "file": name, "arguments": ["cc", "-DX", name]}
        for name in ("caf\xe9.c", "b.c")
    ]
    content = json.dumps(entries, ensure_ascii=False).encode("latin-1")
    (root / "compile_commands.json").write_bytes(content)
    found = compiling(str(root))
    assert set(found.commands) == {f"{root}/caf\ufffd.c", f"{root}/b.c"}
    assert found.flags == ["-DX"]


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "compile_commands.json")
    assert compiling(str(tmp_path)) == CompileFlags()


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "compile_commands.json", "wb") as file:
        file.truncate(2**30)
    assert compiling(str(tmp_path)) == CompileFlags()
