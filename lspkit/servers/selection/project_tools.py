"""Which of several type checkers a project uses, by its own files. Runs nothing.

The files are untrusted: each is read up to a limit, and what cannot be parsed says nothing. What
they decide is only which of the servers runs that may run there.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lspkit.config.file_syntax import NotJson, decode_toml
from lspkit.regular_files import read_regular_text
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Compiler, ProjectSigns
from lspkit.servers.project.python_environment import FOLDERS, PROGRAMS
from lspkit.servers.selection.program_lookup import description_of, package_of
from lspkit.visible_text import one_line

PYPROJECT = "pyproject.toml"
#: Files that list packages, relative to the folder of a project.
REQUIREMENTS = (
    *("requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt"),
    *("requirements/dev.txt", "requirements.txt"),
)
#: Bytes of such a file that are read.
LARGEST = 1_000_000
#: Characters of a version that are shown.
LONGEST_VERSION = 40
#: The tables of `package.json` that say which version a project has.
_NPM_TABLES = ("devDependencies", "dependencies", "optionalDependencies")

_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The runs of characters that names of packages may write alike.
_SEPARATORS = re.compile(r"[-_.]+")
#: The version that a version or range begins with, and the one before which a range ends.
_MAJOR = re.compile(r"[\s^~>=v]*+(\d+)")
_END = re.compile(r"<(?P<itself>=?)\s*+v?(?P<major>\d++)(?:\.0++)*+(?P<within>\.?)")

#: Names of files whose content decides.
_DECIDING = frozenset({PYPROJECT, "package.json", *map(os.path.basename, REQUIREMENTS)})


def decides(path: str) -> bool:
    """Whether the content of a file may decide which server runs."""
    return os.path.basename(path) in _DECIDING


class Wish(msgspec.Struct, frozen=True):
    """What a project says about one server."""

    #: Smaller is stronger: the kind of evidence, then the distance of the folder.
    rank: tuple[int, int] = (9, 0)
    #: What shows it, as a sentence; empty if nothing does.
    why: str = ""
    #: Whether the server serves the compiler of the project.
    serves: bool = True


class _PythonProject(msgspec.Struct, frozen=True):
    """What a folder says about packages of Python."""

    folder: str
    #: The tables below `tool` in `pyproject.toml`.
    tools: frozenset[str]
    #: Required package: the file that requires it.
    required: dict[str, str]


def wishes_of(rivals: Sequence[Definition], folders: Sequence[str]) -> dict[str, Wish]:
    """What a project says about rivals, by id. `folders` are those above a file, nearest first."""
    wishes = {definition.id: Wish() for definition in rivals}
    signs = {rival.id: rival.signs for rival in rivals if rival.signs is not None}
    if signs:
        projects = [_python_project(folder) for folder in folders]
        wishes |= {id: _wish_by(own, projects) for id, own in signs.items()}
    compilers = {rival.id: rival.compiler for rival in rivals if rival.compiler is not None}
    newest = dict[str, int]()
    for compiler in compilers.values():
        newest[compiler.package] = max(newest.get(compiler.package, 0), compiler.least)
    versions = {name: project_version(name, folders, least) for name, least in newest.items()}
    for id, compiler in compilers.items():
        if version := versions[compiler.package]:
            wishes[id] = Wish(why=version[1], serves=compiler.serves(version[0]))
    return wishes


def _wish_by(signs: ProjectSigns, projects: Sequence[_PythonProject]) -> Wish:
    """The strongest of the signs: a configuration, a requirement, an installed program."""
    wishes = [
        Wish((kind, distance), why)
        for distance, project in enumerate(projects)
        for kind, why in enumerate(_signs_in(project, signs))
        if why
    ]
    return min(wishes, key=lambda wish: wish.rank, default=Wish())


def _signs_in(project: _PythonProject, signs: ProjectSigns) -> tuple[str, str, str]:
    """What in a folder configures a package, requires it, and shows that it is installed."""
    configured = required = installed = ""
    if signs.package in project.tools:
        configured = f"the project has [tool.{signs.package}] in {PYPROJECT}"
    for name in signs.files:
        if os.path.isfile(os.path.join(project.folder, name)):
            configured = f"the project has {name}"
    if file := project.required.get(signs.package):
        required = f"the project requires {signs.package} in {file}"
    for name in FOLDERS:
        place = os.path.join(name, PROGRAMS, signs.package)
        if os.path.isfile(os.path.join(project.folder, place)):
            installed = f"the project has {place}"
    return configured, required, installed


def _python_project(folder: str) -> _PythonProject:
    path = os.path.join(folder, PYPROJECT)
    tools, packages = _pyproject(path, stamp_of(path))
    required = dict.fromkeys(packages, PYPROJECT)
    for name in REQUIREMENTS:
        path = os.path.join(folder, name)
        for package in _requirements(path, stamp_of(path)):
            required.setdefault(package, name)
    return _PythonProject(folder, tools, required)


def stamp_of(path: str) -> tuple[int, ...]:
    """What changes when a file does; empty if there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


@functools.lru_cache(256)
def _pyproject(path: str, stamp: tuple[int, ...]) -> tuple[frozenset[str], frozenset[str]]:
    if not stamp:
        return frozenset(), frozenset()
    try:
        project = decode_toml(read_regular_text(path, LARGEST))
    except NotJson:
        return frozenset(), frozenset()
    tool = project.get("tool")
    return frozenset(tool if isinstance(tool, dict) else ()), frozenset(_packages_in(project))


@functools.lru_cache(256)
def _requirements(path: str, stamp: tuple[int, ...]) -> frozenset[str]:
    lines = read_regular_text(path, LARGEST).splitlines() if stamp else []
    names = (_PACKAGE.match(line.strip()) for line in lines)
    return frozenset(_normal(name[0]) for name in names if name)


def _packages_in(project: Any) -> Iterator[str]:
    """The packages in all lists and tables of dependencies, wherever a tool has them."""
    # A table may be nested more deeply than calls may be.
    parts = [(project, False)]
    while parts:
        part, is_listed = parts.pop()
        if isinstance(part, dict):
            if is_listed:
                yield from map(_normal, part)
            parts += [(value, is_listed or "dependenc" in key) for key, value in part.items()]
        elif isinstance(part, list):
            parts += [(value, is_listed) for value in part]
        elif is_listed and isinstance(part, str) and (name := _PACKAGE.match(part)):
            yield _normal(name[0])


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


# Compilers of npm


def project_version(package: str, folders: Sequence[str], newest: int) -> tuple[int, str] | None:
    """The major version of a package that a project has, and what shows it; None if unknown.

    `newest` is as for `major_of`.
    """
    for folder in folders:
        installed = os.path.join(folder, "node_modules", package)
        version = description_of(installed).get("version")
        if isinstance(version, str) and (major := major_of(version)) is not None:
            return major, f"the project has {package} {_shown(version)} in node_modules"
    for folder in folders:
        description = description_of(folder)
        for table in (description.get(name) for name in _NPM_TABLES):
            wanted = table.get(package) if isinstance(table, dict) else None
            if isinstance(wanted, str):
                major = major_of(wanted, newest)
                why = f"the project requires {package} {_shown(wanted)} in package.json"
                return None if major is None else (major, why)
    return None


def major_of(wanted: str, newest: int = 0) -> int | None:
    """The highest major version that a version or range allows; None if it does not say one.

    A range without an end says none if it begins before the newest version that makes a difference.
    """
    if wanted.startswith("npm:"):
        wanted = wanted.rpartition("@")[2]
    majors = list[int]()
    for alternative in wanted.split("||"):
        major = _highest_major(alternative, newest)
        if major is None:
            return None
        majors.append(major)
    return max(majors)


def _highest_major(alternative: str, newest: int) -> int | None:
    """The same for a range without alternatives."""
    if end := _END.search(alternative):
        is_excluded = not end["itself"] and not end["within"]
        return max(0, int(end["major"][:6]) - is_excluded)
    begin = _MAJOR.match(alternative)
    if begin is None:
        return None
    major = int(begin[1][:6])
    return None if ">" in begin[0] and major < newest else major


def _shown(version: str) -> str:
    """A version as it is shown: anybody may have written it."""
    return one_line(version[:LONGEST_VERSION])


def unfit_program(compiler: Compiler, program: str) -> str:
    """Why a program of a compiler's package is no server; empty if it may be one."""
    if os.path.basename(program) not in compiler.programs:
        return ""
    folder = _package_folder(program, compiler.package, stamp_of(program))
    version = description_of(folder).get("version") if folder is not None else None
    if not isinstance(version, str) or compiler.serves(major_of(version)):
        return ""
    what = f"{compiler.package} {_shown(version)}"
    return f"{program} is {what}, and a server only from {compiler.least} on"


@functools.lru_cache(64)
def _package_folder(program: str, package: str, stamp: tuple[int, ...]) -> str | None:
    return package_of(program, package) if stamp else None
