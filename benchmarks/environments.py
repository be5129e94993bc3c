"""Throwaway environments for what is measured, one per package.

They live in the benchmarks' cache folder, are made once and found again, and never touch
the environment that runs the benchmarks. A package that cannot be had is no error: the
benchmark says so and goes on without it.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from sections import CACHE, QUICK, without_paths

#: An installation that takes longer than this is given up.
INSTALL_SECONDS = 900

#: The clients that lspkit is measured against.
PEERS = {
    "SolidLSP": "serena-agent==2.1.0",
    "multilspy": "multilspy==0.1.1",
    "pylspclient": "pylspclient==0.1.2",
    "pygls": "pygls==2.1.1",
}

#: The newest version of OpenCode whose program is published for x86-64 and for ARM64. The package
#: `opencode-ai` is a launcher; the program is in a package of its own for each platform.
OPENCODE = "1.18.18"


class Unavailable(Exception):
    """The package cannot be installed here; the message says why."""


def environment(requirement: str) -> Path:
    """The folder of an environment that holds exactly this pinned requirement."""
    place = CACHE / requirement.partition("=")[0]

    def install() -> None:
        venv.create(place, with_pip=True)
        _run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement], place)

    return _installed(place, requirement, install)


def opencode() -> Path:
    """The program of the published OpenCode."""
    words = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    kind = words.get(platform.machine().lower())
    if kind is None or sys.platform not in ("linux", "darwin"):
        raise Unavailable(f"no OpenCode for {sys.platform} on {platform.machine()}")
    package = f"opencode-{sys.platform}-{kind}"
    place = CACHE / "opencode"

    def install() -> None:
        place.mkdir(parents=True)
        (place / "package.json").write_text('{"private": true}\n')
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        _run([*words, f"{package}@{OPENCODE}"], place)

    _installed(place, f"{package}@{OPENCODE}", install)
    return place / "node_modules" / package / "bin" / "opencode"


def _installed(place: Path, requirement: str, install: Callable[[], None]) -> Path:
    mark = place / "installed"
    if mark.exists() and mark.read_text() == requirement:
        return place
    if QUICK:
        raise Unavailable(f"{requirement} is not installed yet: a whole run installs it")
    shutil.rmtree(place, ignore_errors=True)
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"{requirement}: {_last_line(error)}") from error
    mark.write_text(requirement)
    return place


def _run(argv: list[str], folder: Path) -> None:
    subprocess.run(
        argv, cwd=folder, check=True, timeout=INSTALL_SECONDS, capture_output=True, text=True
    )


def _last_line(error: OSError | subprocess.SubprocessError) -> str:
    """What the installer gave as its last error, or else what happened to it; without paths."""
    said = getattr(error, "stderr", None) or b""
    text = said if isinstance(said, str) else said.decode(errors="replace")
    lines = [line for line in text.splitlines() if "error" in line.lower()]
    kind = type(error).__name__
    found = lines[-1] if lines else f"{kind} after at most {INSTALL_SECONDS} s"
    return without_paths(found)
