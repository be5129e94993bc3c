"""Throwaway virtual environments for what is measured, one per package.

They live in the benchmarks' cache folder, are made once and found again, and never touch
the environment that runs the benchmarks. A package that cannot be had is no error: the
benchmark says so and goes on without it.
"""

from __future__ import annotations

import shutil
import subprocess
import venv
from pathlib import Path

from sections import CACHE

#: An installation that takes longer than this is given up.
INSTALL_SECONDS = 600


class Unavailable(Exception):
    """The package cannot be installed here; the message says why."""


def environment(requirement: str) -> Path:
    """The folder of an environment that holds exactly this pinned requirement."""
    place = CACHE / requirement.partition("=")[0]
    mark = place / "installed"
    if mark.exists() and mark.read_text() == requirement:
        return place
    shutil.rmtree(place, ignore_errors=True)
    try:
        venv.create(place, with_pip=True)
        subprocess.run(
            [place / "bin" / "python", "-m", "pip", "install", "--quiet", requirement],
            check=True,
            timeout=INSTALL_SECONDS,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        tail = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
        raise Unavailable(f"{requirement}: {' '.join(tail)}") from error
    mark.write_text(requirement)
    return place
