"""The truth for `elsewhere.py`: which files an edit has newly broken, by the compiler's own list.

A package of Python is checked by the server's own command line, one of TypeScript (rxjs) by `tsc`,
one of C++ (leveldb) by `clang++ -fsyntax-only`. The list for the unchanged package is made once.
Then each edit is made in a copy of the package and checked there, two edits at a time. Only what
can depend on an edit is compiled again: `tsc` knows that from its last run; of the C++ units, those
that mention the name whose declaration is changed, themselves or in a header.

An error in a header is an error of the header, and the compiler names it under the header. Every
unit that includes it fails, too, and a server reports that in the unit, at the `#include`. So a
listing has both: the files with errors, and the units that do not compile.
"""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import json
import queue
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import real_servers

#: How many edits are checked at the same time.
WORKERS = 2
#: Errors, and how often each occurs.
Errors = collections.Counter[str]


@dataclass(frozen=True)
class Mutation:
    """An edit of one file."""

    path: str
    kind: str
    name: str
    old: str
    new: str


@dataclass
class Listing:
    """What a compiler says about a package."""

    #: The errors of each file, by relative path.
    files: dict[str, Errors] = field(default_factory=dict)
    #: The errors of each C++ unit, also those in its headers.
    units: dict[str, Errors] = field(default_factory=dict)

    def add(self, name: str, message: str) -> None:
        self.files.setdefault(name, Errors())[message] += 1


@dataclass(frozen=True)
class Broken:
    """What an edit has newly broken in other files."""

    #: Files with an error more than before.
    files: frozenset[str]
    #: Units with an error more than before, only in headers.
    through_header: frozenset[str]


def newly_broken(before: Listing, after: Listing, edited: str) -> Broken:
    """The files that are broken after an edit, without the edited one."""
    files = {name for name in after.files if _has_more(before.files, after.files, name)}
    units = {name for name in after.units if _has_more(before.units, after.units, name)}
    own = {edited}
    return Broken(frozenset(files - own), frozenset(units - files - own))


def _has_more(before: dict[str, Errors], after: dict[str, Errors], name: str) -> bool:
    return bool(after[name] - before.get(name, Errors()))


#: Lists the errors of the package in a folder: all of them, or after an edit. The last argument has
#: files that were told: a C++ header among them is compiled as a unit of its own.
Check = Callable[[Path, Mutation | None, frozenset[str]], Listing]
#: An edit, and the files that were told after it.
Played = tuple[Mutation, frozenset[str]]


def judge(prepared: Path, check: Check, edits: Sequence[Played]) -> Iterator[Broken]:
    """What each edit breaks in the package in this folder, which stays as it is."""
    before = check(prepared, None, frozenset().union(*(told for _, told in edits)))
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(WORKERS):
        copy = prepared.parent / f"judge{number}"
        shutil.copytree(prepared, copy / prepared.name, dirs_exist_ok=True)
        copies.put(copy / prepared.name)

    def broken(played: Played) -> Broken:
        edit, told = played
        folder = copies.get()
        try:
            path = folder / edit.path
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
            try:
                return newly_broken(before, check(folder, edit, told), edit.path)
            finally:
                path.write_text(text, encoding="utf-8")
        finally:
            copies.put(folder)

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        yield from workers.map(broken, edits)


def _output(argv: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


# Python


def _part(edit: Mutation | None) -> str:
    """What is checked: after an edit, only its package, the folder at the top that holds it."""
    return "." if edit is None else Path(edit.path).parts[0]


def checked_by_ty(folder: Path, edit: Mutation | None, _: frozenset[str]) -> Listing:
    """The errors of ty's own command."""
    argv = [real_servers.command("ty")[0], "check", "--output-format", "concise", _part(edit)]
    found = Listing()
    for line in _output(argv, folder).stdout.splitlines():
        match = re.match(r"(.+?):\d+:\d+: error(.*)", line)
        if match:
            found.add(match[1], match[2])
    return found


def checked_by_pyright(folder: Path, edit: Mutation | None, _: frozenset[str]) -> Listing:
    """The errors of pyright's own command."""
    program = Path(real_servers.command("pyright")[0]).with_name("pyright")
    found = Listing()
    said = json.loads(_output([str(program), "--outputjson", _part(edit)], folder).stdout)
    for one in said["generalDiagnostics"]:
        if one["severity"] == "error":
            found.add(str(Path(one["file"]).relative_to(folder)), one["message"])
    return found


# TypeScript

#: What `tsc` has found out about the unchanged package, inside its folder.
_BUILD_INFO = "tsbuildinfo"


def checked_by_tsc(folder: Path, edit: Mutation | None, _: frozenset[str]) -> Listing:
    """The errors of the TypeScript compiler."""
    known, used = folder / _BUILD_INFO, folder / f"{_BUILD_INFO}.used"
    if edit is not None:
        shutil.copyfile(known, used)
    argv = [str(real_servers.SERVERS / "bin" / "tsc-5"), "-p", ".", "--pretty", "false"]
    argv += ["--incremental", "--tsBuildInfoFile", str(known if edit is None else used)]
    return _listed_by_tsc(argv, folder)


def checked_by_tsc_7(folder: Path, _: Mutation | None, __: frozenset[str]) -> Listing:
    """The same of the native compiler, which is quick enough without its last run."""
    argv = [str(real_servers.SERVERS / "bin" / "tsc"), "-p", ".", "--pretty", "false"]
    return _listed_by_tsc(argv, folder)


def _listed_by_tsc(argv: list[str], folder: Path) -> Listing:
    """The errors of a compiler, without those in its own library."""
    found = Listing()
    for line in _output(argv, folder).stdout.splitlines():
        match = re.match(r"(?!\.\.)(\S.*?)\(\d+,\d+\): error (.*)", line)
        if match:
            found.add(match[1], match[2])
    return found


# C++

FLAGS = ("-std=c++11", "-I.", "-Iinclude", "-DLEVELDB_PLATFORM_POSIX", "-DOS_LINUX", "-w")
#: The output of the compiler, by relative path of the unit and state of what it includes.
_compiled: dict[tuple[str, str], str] = {}


def checked_by_clang(folder: Path, edit: Mutation | None, told: frozenset[str]) -> Listing:
    """The errors of the compiler in units and in headers.

    A header that no unit includes, or that was told, is a unit of its own.
    """
    sources = sorted(folder.rglob("*.cc"))
    closures = {path: _included(folder, path) for path in sources}
    known = {one for closure in closures.values() for one in closure}
    headers = set(folder.rglob("*.h"))
    for path in sorted((headers - known) | (headers & {folder / one for one in told})):
        closures[path] = _included(folder, path)
    needed = closures if edit is None else _concerned(folder, closures, edit)
    found, seen = Listing(), set[str]()
    with concurrent.futures.ThreadPoolExecutor(WORKERS if edit is None else 1) as workers:
        outputs = workers.map(lambda path: _compile(folder, path, closures[path]), needed)
        for unit, output in zip(needed, outputs, strict=True):
            own = str(unit.relative_to(folder))
            for line in output.splitlines():
                match = re.match(r"(.+?):(\d+:\d+): (?:fatal )?error: (.*)", line)
                if match is None:
                    continue
                found.units.setdefault(own, Errors())[line] += 1
                if line not in seen:
                    seen.add(line)
                    path = (folder / match[1]).resolve()
                    found.add(str(path.relative_to(folder)), match[3])
    return found


def _compile(folder: Path, path: Path, closure: dict[Path, bytes]) -> str:
    """The output of the compiler, with relative paths: it is the same in every copy."""
    own = str(path.relative_to(folder))
    key = own, hashlib.sha256(b"\0".join(closure.values())).hexdigest()
    if key not in _compiled:
        program = str(real_servers.SERVERS / "bin" / "clang++-22")
        kind = ["-x", "c++"] if path.suffix == ".h" else []
        argv = [program, *FLAGS, "-ferror-limit=0", "-fsyntax-only", *kind, own]
        _compiled[key] = _output(argv, folder).stderr
    return _compiled[key]


def _concerned(folder: Path, closures: dict[Path, dict[Path, bytes]], edit: Mutation) -> list[Path]:
    """The units that include the edited file and mention the name that it declares.

    A mention in the edited file itself, besides the declaration, concerns all that include it.
    """
    edited = folder / edit.path
    word = re.compile(rb"\b%s\b" % edit.name.encode())
    declared = edit.new.encode()
    return [
        unit
        for unit, closure in closures.items()
        if edited in closure
        and any(
            word.search(data.replace(declared, b"") if path == edited else data)
            for path, data in closure.items()
        )
    ]


def _included(
    folder: Path, path: Path, found: dict[Path, bytes] | None = None
) -> dict[Path, bytes]:
    """The contents of a file and of all headers of the project that it includes."""
    found = {} if found is None else found
    if path not in found and path.is_file():
        found[path] = data = path.read_bytes()
        for name in re.findall(rb'^\s*#\s*include ["<]([\w/.]+)[">]', data, re.MULTILINE):
            for top in (folder, folder / "include", path.parent):
                _included(folder, top / name.decode(), found)
    return found
