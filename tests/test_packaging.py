"""lspkit as a user installs it: into an environment of its own, with the extra for Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_with_the_extra_for_python_the_first_check_needs_nothing_else(tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=60)
    pip = [environment / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", f"{ROOT}[python]"], check=True, timeout=60)
    environ = {
        # Only the environment, and what every system has.
        "PATH": os.pathsep.join([str(environment / "bin"), "/usr/bin", "/bin"]),
        "HOME": str(tmp_path),
        "LSPKIT_NO_SERVICE": "1",
    }
    done = subprocess.run(
        [environment / "bin" / "lspkit", "check", "shop.py"],
        cwd=ROOT / "examples" / "broken_project",
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "[ty]" in done.stdout
