"""Runs pip, npm, go, gem and rustup, each for one folder.

They run in that folder, not in the current one: a project's `.npmrc` or modules do not count, while
the user's own settings (`PIP_*`, `pip.conf`, `.npmrc`) do. Scripts of npm packages are not run.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence

import msgspec

from lspkit.install.install_hint import has_pip, user_folders
from lspkit.install.program_run import run_program
from lspkit.install.recipe_table import Manager, Package, processor_name
from lspkit.servers.restriction.launch_environment import clean_environment
from lspkit.servers.selection.program_lookup import find_program, search_folders
from lspkit.workspace_boundary import is_inside, project_tree

#: No single step may hang for ever.
STEP_SECONDS = 900.0
#: What pip says if there is no build for this machine.
NO_BUILD = re.compile(r"No matching distribution found|Could not find a version that satisfies")
#: What pip writes to its log, and otherwise only in part, about an index that it cannot read. One
#: that answers 404 has no such package.
UNREAD_INDEX = re.compile(r"Could not fetch URL (\S+): (?!404 )")


class InstallError(Exception):
    """A package could not be installed. The message says why."""


class Machine(msgspec.Struct, frozen=True):
    """What package managers run with."""

    folders: list[str]
    environment: dict[str, str]
    processor: str

    def program(self, name: str) -> str | None:
        """The path of a program."""
        return find_program(name, self.folders)


def this_machine(home: str, environ: Mapping[str, str] = os.environ) -> Machine:
    """The machine, without programs of the project that the user stands in."""
    here = project_tree(os.path.realpath(os.curdir))
    if is_inside(os.path.realpath(home), here):
        # The home folder, or the top of the file system: nobody's project.
        folders, changes = user_folders(), dict[str, str]()
    else:
        folders = search_folders(here, environ=environ)
        changes = clean_environment(environ, here)
    processor = processor_name(platform.machine())
    return Machine(folders, {**environ, **changes}, processor)


def install_into(folder: str, manager: Manager, packages: Sequence[Package], on: Machine) -> None:
    """Install packages of one manager into a folder. Raises `InstallError`."""
    for package in packages:
        if on.processor not in package.processors:
            raise InstallError(f"there is no build of {package} for {on.processor}")
    _MANAGERS[manager](folder, packages, on)


def _pip(folder: str, packages: Sequence[Package], on: Machine) -> None:
    folders = on.environment.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="lspkit-", dir=folders) as logs:
        log_file = os.path.join(logs, "log")
        try:
            _run_pip(folder, packages, log_file, on)
        except InstallError as problem:
            if not NO_BUILD.search(str(problem)):
                raise
            raise InstallError(_why_not_found(packages, log_file, on)) from problem


def _run_pip(folder: str, packages: Sequence[Package], log_file: str, on: Machine) -> None:
    exact = [f"{one.name}=={one.version}" for one in packages]
    options = ["--only-binary", ":all:", "--target", folder, *exact]
    if has_pip():
        quiet = ["--disable-pip-version-check", "-q", "--log", log_file]
        quiet += ["install", "--no-user", "--no-compile"]
        argv = [sys.executable, "-P", "-m", "pip", *quiet, *options]
    elif uv := on.program("uv"):
        argv = [uv, "pip", "install", "-q", "--python", sys.executable, *options]
    else:
        raise InstallError(f"neither pip nor uv is on this machine (pip of {sys.executable})")
    # It says where packages may be installed, and this is a folder of its own.
    run(argv, folder, on, {"PIP_REQUIRE_VIRTUALENV": "0"})


def _why_not_found(packages: Sequence[Package], log_file: str, on: Machine) -> str:
    """Why pip has found no build: it has not read the index, or there is none."""
    names = " and ".join(map(str, packages))
    try:
        with open(log_file, encoding="utf-8", errors="replace") as stream:
            unread = UNREAD_INDEX.search(stream.read())
    except FileNotFoundError:  # of uv
        unread = None
    if unread is not None:
        return f"pip cannot reach {unread[1]}, where it looks for {names}"
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"pip finds no build of {names} for this machine ({on.processor}, {version})"


def _npm(folder: str, packages: Sequence[Package], on: Machine) -> None:
    npm = _needed("npm", on)
    pins = {one.name: one.version for one in packages}
    # Some servers ask for any version of TypeScript, and would bring the wrong one along.
    fixed = {name: pins[name] for name in ("typescript",) if name in pins}
    description = {"private": True, "dependencies": pins, "overrides": fixed}
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as stream:
        json.dump(description, stream, indent=1)
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    run([npm, "install", "--ignore-scripts", *quiet], folder, on)


def _go(folder: str, packages: Sequence[Package], on: Machine) -> None:
    go = _needed("go", on)
    for one in packages:
        own = {"GOBIN": os.path.join(folder, "bin"), "GOFLAGS": ""}
        run([go, "install", f"{one.name}@{one.version}"], folder, on, own)


def _gem(folder: str, packages: Sequence[Package], on: Machine) -> None:
    gem = _needed("gem", on)
    places = [
        "--install-dir",
        os.path.join(folder, "gems"),
        "--bindir",
        os.path.join(folder, "bin"),
    ]
    for one in packages:
        words = [gem, "install", "--no-document", *places, one.name, "--version", one.version]
        run(words, folder, on)


def _rustup(folder: str, packages: Sequence[Package], on: Machine) -> None:
    rustup = _needed("rustup", on)
    run([rustup, "component", "add", *(one.name for one in packages)], folder, on)
    program = run([rustup, "which", packages[0].name], folder, on).strip()
    os.makedirs(os.path.join(folder, "bin"))
    os.symlink(program, os.path.join(folder, "bin", packages[0].name))


_MANAGERS: dict[Manager, Callable[[str, Sequence[Package], Machine], None]] = {
    "pip": _pip,
    "npm": _npm,
    "go": _go,
    "gem": _gem,
    "rustup": _rustup,
}


def _needed(name: str, on: Machine) -> str:
    found = on.program(name)
    if found is None:
        raise InstallError(f"{name} is not on this machine")
    return found


def run(argv: Sequence[str], folder: str, on: Machine, own: Mapping[str, str] | None = None) -> str:
    """Run a program to its end, and return what it prints. Raises `InstallError`."""
    name = os.path.basename(argv[0])
    try:
        done = run_program(argv, folder, {**on.environment, **(own or {})}, STEP_SECONDS)
    except OSError as problem:
        raise InstallError(f"{argv[0]} cannot be run: {problem.strerror}") from problem
    except subprocess.TimeoutExpired as problem:
        raise InstallError(f"{name} did not end within {STEP_SECONDS:.0f} s") from problem
    if done.returncode:
        words = "pip" if "pip" in argv[:4] else name
        line = telling_line(done.stderr or done.stdout)
        raise InstallError(f"{words} ended with {done.returncode}: {line}")
    return done.stdout


def telling_line(printed: str) -> str:
    """The line of a failed program's output that tells the most."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    # npm begins with a code and the reason, and ends with advice; all others end with the reason.
    of_npm = [line for line in lines if re.match(r"npm (error|ERR!) (?!code )", line)]
    of_pip = [line for line in lines if line.startswith("ERROR: ")]
    return next(iter(of_npm or reversed(of_pip or lines)), "it says nothing")
