"""The layout of lspkit's tools folder, and how a package gets into it as a whole or not at all.

    tools/
      bin/PROGRAM            a link into a package, or a script that starts it
      packages/NAME-VERSION/ one package with all that it needs, and `installed.json`
      .partial-*             a package that is being installed, or what an interrupted run has left
      .lock                  held while anything here changes

A package is installed into `.partial-*`, gets its `installed.json`, and is renamed. Then its
programs are replaced in `bin`, each by a rename. So whoever looks finds the old one or the new one.
Whatever an interrupted run has left is finished or removed by the next one (`clean_up`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

import filelock
import msgspec

from lspkit.install.recipe_table import Recipe
from lspkit.msgspec_types import make_decoder

PARTIAL = ".partial-"
STAMP = "installed.json"

#: Prints a line for people.
Say = Callable[[str], None]

#: Becomes a Python script of a package, with the package before all others. Not by `PYTHONPATH`:
#: interpreters that the server runs would read it as well.
_RUN_SCRIPT = (
    "import runpy, sys; sys.path.insert(0, {packages!r}); sys.argv[0] = {script!r}; "
    "runpy.run_path({script!r}, run_name='__main__')"
)


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What `installed.json` of a package says."""

    recipe: str
    version: str
    #: Program: its file in the folder.
    programs: dict[str, str]
    #: Packages with their versions.
    packages: dict[str, str] = {}
    #: Packages that could not be had, with the reason.
    lacking: dict[str, str] = {}
    #: Variables that the launchers set.
    environment: dict[str, str] = {}
    #: When, in UTC.
    at: str = ""
    #: The folder; not part of the file.
    folder: str = ""

    def launchers(self) -> tuple[str, ...]:
        """The paths by which its programs are found."""
        home = os.path.dirname(os.path.dirname(self.folder))
        return tuple(_launcher(home, name) for name in self.programs)

    def is_whole(self) -> bool:
        """Whether all programs are there."""
        return all(
            os.path.exists(os.path.join(self.folder, program)) for program in self.programs.values()
        )


_stamp = make_decoder(Installed)


@contextlib.contextmanager
def locked(home: str, say: Say) -> Iterator[None]:
    """Holds the folder for this process. A second one waits, and says so."""
    os.makedirs(home, exist_ok=True)
    lock = filelock.FileLock(os.path.join(home, ".lock"))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say("waiting for another `lspkit install`")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def installed_packages(home: str) -> dict[str, Installed]:
    """What is installed, by the name of the recipe: the newest of each. Reads only."""
    packages: dict[str, Installed] = {}
    for package in sorted(_all_packages(home), key=lambda installed: installed.at):
        packages[package.recipe] = package
    return packages


def _all_packages(home: str) -> list[Installed]:
    above, packages = os.path.join(home, "packages"), []
    for name in sorted(_names_in(above)):
        folder = os.path.join(above, name)
        with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            with open(os.path.join(folder, STAMP), "rb") as stream:
                package = _stamp.decode(stream.read())
            packages.append(msgspec.structs.replace(package, folder=folder))
    return packages


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def clean_up(home: str) -> None:
    """Finish or remove what an interrupted run has left. Under the lock."""
    for name in _names_in(home):
        if name.startswith(PARTIAL):
            shutil.rmtree(os.path.join(home, name), ignore_errors=True)
    current = installed_packages(home)
    kept = {package.folder for package in current.values()}
    for name in _names_in(os.path.join(home, "packages")):
        folder = os.path.join(home, "packages", name)
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    for package in filter(Installed.is_whole, current.values()):
        if not all(os.path.lexists(_launcher(home, program)) for program in package.programs):
            write_launchers(home, package)


def partial_folder(home: str, recipe: Recipe) -> str:
    """A new empty folder, in which a package is installed."""
    return tempfile.mkdtemp(prefix=f"{PARTIAL}{recipe.name}-", dir=home)


def move_in(home: str, partial: str, recipe: Recipe, lacking: Mapping[str, str]) -> Installed:
    """Make a package that is installed in a partial folder the current one."""
    wanted = (*recipe.packages, *recipe.extras)
    package = Installed(
        recipe=recipe.name,
        version=recipe.version,
        programs=recipe.programs,
        packages={each.name: each.version for each in wanted if each.name not in lacking},
        lacking=dict(lacking),
        environment=recipe.environment,
        at=datetime.now(UTC).isoformat(),
    )
    stamp = {
        name: value for name, value in msgspec.to_builtins(package).items() if name != "folder"
    }
    with open(os.path.join(partial, STAMP), "w", encoding="utf-8") as stream:
        json.dump(stamp, stream, indent=1)
    os.chmod(partial, 0o755)  # a temporary folder is private
    folder = os.path.join(home, "packages", f"{recipe.name}-{recipe.version}")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    if os.path.lexists(folder):
        # A package with missing files.
        shutil.rmtree(folder)
    os.rename(partial, folder)
    package = msgspec.structs.replace(package, folder=folder)
    write_launchers(home, package)
    clean_up(home)
    return package


def take_out(home: str, package: Installed) -> None:
    """Remove a package. Under the lock."""
    for program in package.programs:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_launcher(home, program))
    shutil.rmtree(package.folder)


def write_launchers(home: str, package: Installed) -> None:
    """Put the programs of a package into `bin`."""
    os.makedirs(os.path.join(home, "bin"), exist_ok=True)
    for program, file in package.programs.items():
        path, new = _launcher(home, program), _launcher(home, f".new-{program}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        target = os.path.join(package.folder, file)
        text = launcher_text(target, package)
        if text:
            with open(new, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(new, 0o755)
        else:
            # A link, so that what belongs to the program is found beside it.
            os.symlink(os.path.relpath(target, os.path.dirname(new)), new)
        os.replace(new, path)


def _launcher(home: str, program: str) -> str:
    return os.path.join(home, "bin", program)


def launcher_text(target: str, package: Installed) -> str:
    """The script that starts a program; empty if a link suffices."""
    script = _is_python_script(target)
    if not script and not package.environment:
        return ""
    words = [target]
    if script:
        python = getattr(sys, "_base_executable", "") or sys.executable
        words = [python, "-I", "-c", _RUN_SCRIPT.format(packages=package.folder, script=target)]
    lines = ["#!/bin/sh", "# Written by lspkit install."]
    for name, value in package.environment.items():
        filled = value.replace("{folder}", shlex.quote(package.folder))
        lines.append(f"export {name}={filled.replace('$PATH', chr(34) + '$PATH' + chr(34))}")
    return "\n".join([*lines, f'exec {shlex.join(words)} "$@"', ""])


def _is_python_script(path: str) -> bool:
    """Whether pip has written it: its packages are found only with the right `sys.path`."""
    with open(path, "rb") as stream:
        first = stream.readline(256)
    return first.startswith(b"#!") and b"python" in first
