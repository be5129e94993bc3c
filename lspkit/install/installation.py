"""Installs and removes servers in the tools folder. Only `lspkit install` calls this."""

from __future__ import annotations

import difflib
import itertools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from lspkit.install.install_hint import has_manager, has_pip, install_hint, user_folders
from lspkit.install.program_version import run_program
from lspkit.install.recipe_table import (
    RECIPES,
    Manager,
    Package,
    Recipe,
    processor_name,
    recipe_named,
    recipes_of,
)
from lspkit.install.tools_home import (
    Installed,
    Say,
    clean_up,
    installed_packages,
    locked,
    move_in,
    partial_folder,
    take_out,
)
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition, command_lines
from lspkit.servers.restriction.launch_environment import clean_environment
from lspkit.servers.selection.program_lookup import find_program, search_folders
from lspkit.workspace_boundary import is_inside, project_tree

State = Literal["installed", "present", "failed", "removed", "absent", "kept"]


class UnknownServerError(Exception):
    """lspkit knows no server of this name."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What has happened with one package."""

    name: str
    state: State
    version: str = ""
    #: Paths of its programs.
    programs: tuple[str, ...] = ()
    #: Why it failed, and what to do; or what is worth knowing.
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is not there although it was wanted, or there although it was not."""
        return self.state in ("failed", "kept")

    def __str__(self) -> str:
        version = f" {self.version}" if self.version else ""
        sentence = {
            "installed": f"{self.name}{version} is installed",
            "present": f"{self.name}{version} is installed already",
            "failed": f"{self.name} is not installed",
            "removed": f"{self.name}{version} is removed",
            "absent": f"{self.name} is not installed",
            "kept": f"{self.name}{version} is not removed",
        }[self.state]
        return f"{sentence}: {self.message}" if self.message else sentence


class Wanted(msgspec.Struct, frozen=True):
    """What a name of the command line stands for."""

    name: str
    recipes: tuple[Recipe, ...]
    #: None for the name of a package that is not that of a server.
    definition: Definition | None


def wanted_of(name: str) -> Wanted:
    """What a name stands for: the id or alias of a server, a package, or a program."""
    known = next((definition for definition in BUILT_IN if name == definition.id), None)
    known = known or next(
        (definition for definition in BUILT_IN if name in definition.aliases), None
    )
    recipe = recipe_named(name)
    if known is None and recipe is None:
        names = {definition.id for definition in BUILT_IN} | {recipe.name for recipe in RECIPES}
        names |= {alias for definition in BUILT_IN for alias in definition.aliases}
        near = difflib.get_close_matches(name, sorted(names), 3)
        more = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownServerError(f"lspkit knows no server {name!r}{more} (see: lspkit servers)")
    if known is None and recipe is not None:
        return Wanted(name, (recipe,), _definition_of(recipe))
    return Wanted(name, recipes_of(known.id) if known is not None else (), known)


def _definition_of(recipe: Recipe) -> Definition | None:
    return next((definition for definition in BUILT_IN if definition.id in recipe.servers), None)


def install(names: Sequence[str], home: str, say: Say, *, upgrade: bool = False) -> list[Outcome]:
    """Install servers. With `upgrade`, also those that are there in another version."""
    wanted = [wanted_of(name) for name in names]
    on = this_machine(home)
    outcomes = [_no_recipe(server, on) for server in wanted if not server.recipes]
    each = _each_once(wanted)
    try:
        with locked(home, say):
            clean_up(home)
            for recipe, of in each:
                outcomes.append(_install_one(recipe, of, home, on, say, upgrade=upgrade))
    except OSError as problem:  # before the first one: `_install_one` handles its own
        for recipe, of in each:
            there = _if_present(recipe, home, upgrade=upgrade)
            outcomes.append(there or _failed(of, _refusal(home, problem)))
    return outcomes


def _each_once(wanted: Iterable[Wanted]) -> list[tuple[Recipe, Wanted]]:
    pairs: dict[str, tuple[Recipe, Wanted]] = {}
    for server in wanted:
        for recipe in server.recipes:
            pairs.setdefault(recipe.name, (recipe, server))
    return list(pairs.values())


def _no_recipe(server: Wanted, on: Machine) -> Outcome:
    hint = install_hint(server.definition, on.folders) if server.definition is not None else ""
    message = f"lspkit has no recipe for it; get it with: {hint}"
    return _failed(server, message)


def _failed(of: Wanted, message: str) -> Outcome:
    return Outcome(name=of.name, state="failed", message=message)


def _refusal(home: str, problem: OSError) -> str:
    """What users are told if the system refuses a change of the tools folder."""
    why = problem.strerror or problem
    return f"{home} cannot be written: {why}; LSPKIT_TOOLS names another folder"


def _if_present(recipe: Recipe, home: str, *, upgrade: bool) -> Outcome | None:
    """The outcome if nothing needs to be installed."""
    there = installed_packages(home).get(recipe.name)
    if there is None or not there.is_whole() or (there.version != recipe.version and upgrade):
        return None
    newer = "" if there.version == recipe.version else f"--upgrade brings {recipe.version}"
    return _outcome("present", there, newer)


def _install_one(
    recipe: Recipe, of: Wanted, home: str, on: Machine, say: Say, *, upgrade: bool
) -> Outcome:
    if there := _if_present(recipe, home, upgrade=upgrade):
        return there
    partial = ""
    try:
        partial = partial_folder(home, recipe)
        say(f"installing {recipe.name} {recipe.version} with {' and '.join(recipe.managers)}")
        # In there, so that what a killed package manager leaves is removed by the next run.
        temporary = os.path.join(partial, ".tmp")
        os.mkdir(temporary)
        on = msgspec.structs.replace(on, environment={**on.environment, "TMPDIR": temporary})
        for manager, packages in _by_manager(recipe.packages):
            install_into(partial, manager, packages, on)
        lacking = _add_extras(partial, recipe, on)
        for program, file in recipe.programs.items():
            if not os.path.exists(os.path.join(partial, file)):
                raise InstallError(f"{recipe.packages[0]} brings no {program}")
        shutil.rmtree(temporary)
        package = move_in(home, partial, recipe, lacking)
    except InstallError as problem:
        return _failed(of, _advice(str(problem), of, on))
    except OSError as problem:
        return _failed(of, _refusal(home, problem))
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return _outcome("installed", package, _remark(recipe, lacking, on))


def _by_manager(packages: tuple[Package, ...]) -> Iterable[tuple[Manager, list[Package]]]:
    for manager, some in itertools.groupby(packages, lambda package: package.manager):
        yield manager, list(some)


def _add_extras(partial: str, recipe: Recipe, on: Machine) -> dict[str, str]:
    """Add what the server works better with; returns what could not be had, and why."""
    lacking = {}
    for extra in recipe.extras:
        try:
            install_into(partial, extra.manager, [extra], on)
        except InstallError as problem:
            lacking[extra.name] = str(problem)
    return lacking


def _remark(recipe: Recipe, lacking: dict[str, str], on: Machine) -> str:
    """What users should know about a package that is installed now."""
    if not lacking:
        return "" if recipe.extras else recipe.note
    if on.program(recipe.extra_program) is not None:
        return ""
    ways = command_lines(recipe.extra_install)
    there = [line for manager, line in ways.items() if has_manager(manager, on.folders)]
    more = f"; get it with: {there[0]}" if there else ""
    return f"{recipe.note}, and {'; '.join(lacking.values())}{more}"


def _advice(problem: str, of: Wanted, on: Machine) -> str:
    """The problem, with what else this machine has for the server or its language."""
    if of.definition is None:
        return problem
    ways = [
        str(command)
        for command in install_hint(of.definition, on.folders).commands
        if not command.startswith("lspkit install ")
    ]
    rivals = [
        definition
        for definition in BUILT_IN
        if definition.family == of.definition.family
        and definition.role == of.definition.role
        and definition.id != of.definition.id
    ]
    for rival in rivals:
        ways += [
            command
            for command in install_hint(rival, on.folders).commands
            if command.startswith("lspkit install ")
        ]
    return f"{problem}; this machine can: {', or '.join(ways[:3])}" if ways else problem


def remove(names: Sequence[str], home: str, say: Say) -> list[Outcome]:
    """Remove servers that lspkit has installed."""
    wanted = [wanted_of(name) for name in names]
    outcomes = [
        Outcome(name=server.name, state="absent", message="lspkit does not install it")
        for server in wanted
        if not server.recipes
    ]
    if not os.path.isdir(home):
        return outcomes + [
            Outcome(name=recipe.name, state="absent") for recipe, _ in _each_once(wanted)
        ]
    each = _each_once(wanted)
    try:
        with locked(home, say):
            clean_up(home)
            outcomes += [_remove_one(recipe, home) for recipe, _ in each]
    except OSError as problem:  # as in `install`
        outcomes += [_remove_one(recipe, home, problem) for recipe, _ in each]
    return outcomes


def _remove_one(recipe: Recipe, home: str, refused: OSError | None = None) -> Outcome:
    """Remove a package, unless the system refuses changes of the folder."""
    package = installed_packages(home).get(recipe.name)
    if package is None:
        return Outcome(name=recipe.name, state="absent")
    try:
        if refused is not None:
            raise refused
        take_out(home, package)
    except OSError as problem:
        return _outcome("kept", package, _refusal(home, problem))
    return _outcome("removed", package)


def listed(home: str) -> list[Outcome]:
    """What is installed."""
    return [_outcome("installed", package) for package in installed_packages(home).values()]


def _outcome(state: State, package: Installed, message: str = "") -> Outcome:
    return Outcome(
        name=package.recipe,
        state=state,
        version=package.version,
        programs=package.launchers(),
        message=message,
    )


# Runs pip, npm, go, gem and rustup, each for one folder.
#
# They run in that folder, not in the current one: a project's `.npmrc` or modules do not count,
# while the user's own settings (`PIP_*`, `pip.conf`, `.npmrc`) do. Scripts of npm packages are not
# run.

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
    exact = [f"{package.name}=={package.version}" for package in packages]
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
    pins = {package.name: package.version for package in packages}
    # Some servers ask for any version of TypeScript, and would bring the wrong one along.
    fixed = {name: pins[name] for name in ("typescript",) if name in pins}
    description = {"private": True, "dependencies": pins, "overrides": fixed}
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as stream:
        json.dump(description, stream, indent=1)
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    run([npm, "install", "--ignore-scripts", *quiet], folder, on)


def _go(folder: str, packages: Sequence[Package], on: Machine) -> None:
    go = _needed("go", on)
    for package in packages:
        own = {"GOBIN": os.path.join(folder, "bin"), "GOFLAGS": ""}
        run([go, "install", f"{package.name}@{package.version}"], folder, on, own)


def _gem(folder: str, packages: Sequence[Package], on: Machine) -> None:
    gem = _needed("gem", on)
    places = [
        "--install-dir",
        os.path.join(folder, "gems"),
        "--bindir",
        os.path.join(folder, "bin"),
    ]
    for package in packages:
        words = [
            gem,
            "install",
            "--no-document",
            *places,
            package.name,
            "--version",
            package.version,
        ]
        run(words, folder, on)


def _rustup(folder: str, packages: Sequence[Package], on: Machine) -> None:
    rustup = _needed("rustup", on)
    run([rustup, "component", "add", *(package.name for package in packages)], folder, on)
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
    program = on.program(name)
    if program is None:
        raise InstallError(f"{name} is not on this machine")
    return program


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
