"""The packages of `elsewhere.py`: their sources, and random edits of them."""

from __future__ import annotations

import ast
import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.elsewhere_judges import (
    FLAGS,
    Check,
    Mutation,
    checked_by_clang,
    checked_by_pyright,
    checked_by_tsc,
    checked_by_ty,
)
from benchmarks.sections import CACHE
from tests import real_servers

#: Where the packages of Python are, if this environment does not have them.
SOURCES = CACHE / "elsewhere"
PYTHON = ("httpx", "rich")
#: Packages that are run only if they are named.
UNUSUAL = ("rich",)
KINDS = ("arity", "name", "type", "removal")


@dataclass(frozen=True)
class Package:
    """A package that a server knows, and how it is changed and checked."""

    server: str
    name: str
    prepare: Callable[[Path], None]
    mutations: Callable[[Path, random.Random], Iterator[Mutation]]
    check: Check
    #: A file, and a line that changes it and breaks nothing.
    first: tuple[str, str]
    #: Further arguments of the server.
    arguments: tuple[str, ...] = ()


def endless(
    found: list[Any], chance: random.Random, edit: Callable[[Any, str], Mutation | None]
) -> Iterator[Mutation]:
    """Random edits of random declarations, without end."""
    while True:
        made = edit(chance.choice(found), chance.choice(KINDS))
        if made is not None:
            yield made


# Python


def source_of(package: str) -> Path:
    """The folder of a package of this environment; else it is installed, without what it needs."""
    found = importlib.util.find_spec(package)
    if found is not None and found.origin is not None:
        return Path(found.origin).parent
    if not (SOURCES / package).is_dir():
        argv = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
        subprocess.run([*argv, str(SOURCES), package], check=True)
    return SOURCES / package


def prepare_python(package: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source_of(package), folder / package, ignore=compiled)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{package}"\nversion = "1"\n')

    return prepare


def python_mutations(folder: Path, chance: random.Random) -> Iterator[Mutation]:
    """Edits of public functions and methods."""
    found: list[tuple[Path, Any]] = []
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bodies = [tree, *(one for one in tree.body if isinstance(one, ast.ClassDef))]
        found += [
            (path, one)
            for body in bodies
            for one in body.body
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            and not one.name.startswith("_")
            and not one.decorator_list
        ]

    def edit(at: tuple[Path, Any], kind: str) -> Mutation | None:
        path, function = at
        made = PYTHON_EDITS[kind](path.read_text(encoding="utf-8"), function)
        name = str(path.relative_to(folder))
        return None if made is None else Mutation(name, kind, function.name, *made)

    return endless(found, chance, edit)


def _whole(text: str, function: Any) -> str:
    lines = text.split("\n")[function.lineno - 1 : function.end_lineno]
    return "\n".join(lines) + "\n"


def _arity(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    head = re.search(rf"def {function.name}\(\s*(self\b,?|cls\b,?)?\s*", whole)
    if head is None:
        return None
    end, first = head.end(), "" if whole[head.end() - 1] in "(, \n" else ", "
    new = f"{whole[:end]}{first}added_here: int, {whole[end:]}"
    return (whole, new) if _parses(new) else None


def _name(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    return whole, whole.replace(f"def {function.name}(", f"def {function.name}_renamed(", 1)


def _type(text: str, function: Any) -> tuple[str, str] | None:
    arguments = [one for one in function.args.args if one.annotation is not None]
    if not arguments:
        return None
    whole, one = _whole(text, function), arguments[0]
    written = ast.get_source_segment(text, one.annotation) or ""
    old = f"{one.arg}: {written}"
    if whole.count(old) != 1 or "\n" in old:
        return None
    return whole, whole.replace(old, f"{one.arg}: memoryview")


def _removal(text: str, function: Any) -> tuple[str, str] | None:
    whole = _whole(text, function)
    indent = re.match(r"\s*", whole)
    return whole, f"{indent[0] if indent else ''}pass\n"


def _parses(text: str) -> bool:
    try:
        ast.parse("if 1:\n" + text if text.startswith(" ") else text)
    except SyntaxError:
        return False
    return True


PYTHON_EDITS: dict[str, Callable[[str, Any], tuple[str, str] | None]] = {
    "arity": _arity,
    "name": _name,
    "type": _type,
    "removal": _removal,
}


# TypeScript

_SCRIPT = re.compile(r"^export function (\w+)(<[^()]*>)?\(.*?^\}\n", re.MULTILINE | re.DOTALL)


def prepare_rxjs(folder: Path) -> None:
    """The sources of rxjs with a configuration of their own."""
    source = real_servers.SERVERS / "node-sources" / "node_modules" / "rxjs" / "src"
    shutil.copytree(source, folder / "src", ignore=shutil.ignore_patterns("tsconfig*"))
    options = {
        "strict": True,
        "target": "es2019",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2019", "dom"],
        "types": [],
        "noEmit": True,
    }
    said = {"include": ["src"], "compilerOptions": options}
    (folder / "tsconfig.json").write_text(json.dumps(said))
    (folder / "package.json").write_text("{}")


def script_mutations(folder: Path, chance: random.Random) -> Iterator[Mutation]:
    """Edits of exported functions without overloads."""
    found: list[tuple[str, str, str]] = []
    for path in sorted(folder.glob("src/**/*.ts")):
        text = path.read_text(encoding="utf-8")
        for one in _SCRIPT.finditer(text):
            if len(re.findall(rf"^export function {one[1]}\b", text, re.MULTILINE)) == 1:
                found.append((str(path.relative_to(folder)), one[1], one[0]))

    def edit(at: tuple[str, str, str], kind: str) -> Mutation | None:
        path, name, whole = at
        head = re.match(rf"export function {name}(<[^()]*>)?\(", whole)
        if head is None:
            return None
        start, rest = whole[: head.end()], whole[head.end() :]
        if kind == "arity":
            new = f"{start}added_here: number{'' if rest.startswith(')') else ', '}{rest}"
        elif kind == "name":
            new = whole.replace(f"function {name}", f"function {name}_renamed", 1)
        elif kind == "type":
            new = start + re.sub(r"\A(\s*\w+\??): [\w<>\[\]| ]+(?=[,)])", r"\1: RegExp", rest)
        else:
            new = "export const removed_here = 1;\n"
        return None if new == whole else Mutation(path, kind, name, whole, new)

    return endless(found, chance, edit)


# C++

#: A declaration of a function in a header, on one line.
_DECLARED = re.compile(
    r"^[ ]*(?:static |extern |virtual )?(?:const )?[\w:]+[*& ]+(\w+)\(([^()\n]*)\)( const)?;$",
    re.MULTILINE,
)
_NOT_BUILT = re.compile(
    r"_test\.cc|_bench|_sse\.cc|/issues/|/win/|leveldbutil|testharness|testutil"
)


def prepare_leveldb(folder: Path) -> None:
    """The sources of leveldb with a compilation database."""
    packages = real_servers.SERVERS / "node-sources" / "node_modules"
    source = packages / "leveldown" / "deps" / "leveldb" / "leveldb-1.20"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    for path in list(folder.rglob("*.cc")):
        if _NOT_BUILT.search(str(path)):
            path.unlink()
    commands = [
        {
            "directory": str(folder),
            "file": str(path),
            "arguments": ["clang++", *FLAGS, "-c", str(path)],
        }
        for path in sorted(folder.rglob("*.cc"))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(commands))


def header_mutations(folder: Path, chance: random.Random) -> Iterator[Mutation]:
    """Edits of functions that headers declare."""
    found: list[tuple[str, str, str, str]] = []
    for path in sorted(folder.rglob("*.h")):
        if _NOT_BUILT.search(str(path)) or path.name == "port_example.h":
            continue
        text = path.read_text(encoding="utf-8")
        for one in _DECLARED.finditer(text):
            if text.count(one[0]) == 1 and "operator" not in one[0] and "return " not in one[0]:
                found.append((str(path.relative_to(folder)), one[1], one[2], one[0]))

    def edit(at: tuple[str, str, str, str], kind: str) -> Mutation | None:
        path, name, arguments, whole = at
        if kind == "arity":
            new = whole.replace(f"{name}(", f"{name}(int added_here{', ' if arguments else ''}", 1)
        elif kind == "name":
            new = whole.replace(f"{name}(", f"{name}_renamed(", 1)
        elif kind == "type":
            if not arguments:
                return None
            first = arguments.split(",")[0]
            new = whole.replace(f"({first}", "(char*** changed_here", 1)
        else:
            new = "// removed here"
        return None if new == whole else Mutation(path, kind, name, whole, new)

    return endless(found, chance, edit)


_NOTHING = "\ndef added_here() -> None: ...\n"
PACKAGES = (
    *(
        Package(
            server,
            name,
            prepare_python(name),
            python_mutations,
            check,
            (f"{name}/__init__.py", _NOTHING),
        )
        for server, check in (("ty", checked_by_ty), ("pyright", checked_by_pyright))
        for name in PYTHON
    ),
    Package(
        "typescript",
        "rxjs",
        prepare_rxjs,
        script_mutations,
        checked_by_tsc,
        ("src/internal/util/noop.ts", "\nexport const added_here = 1;\n"),
    ),
    Package(
        "clangd",
        "leveldb",
        prepare_leveldb,
        header_mutations,
        checked_by_clang,
        ("util/coding.h", "\nextern int added_here;\n"),
        # Else a busy machine never lets it build its index.
        ("--background-index-priority=normal",),
    ),
)
