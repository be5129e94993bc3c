"""Runs the quick unit tests on other interpreters: python tools/check_interpreters.py 3.12 3.13

Each version has an environment of its own in the checkout (.venv-3.12), made once. An interpreter
that is neither on the PATH nor among the versions of pyenv is named and passed over.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: What `make check` runs.
QUICK = "not server and not slow"


def interpreter_of(version: str) -> str | None:
    """An interpreter of this version that runs; pyenv's program on the PATH often does not."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    installed = sorted(pyenv.glob(f"versions/{version}*/bin/python{version}"))
    for program in [f"python{version}", *map(str, installed)]:
        try:
            subprocess.run([program, "-c", ""], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return program
    return None


def ready_environment(version: str, interpreter: str) -> Path:
    """The interpreter of the version's environment, with lspkit and the tools for tests."""
    environment = ROOT / f".venv-{version}"
    python, stamp = environment / "bin" / "python", environment / ".ready"
    wanted = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        subprocess.run([interpreter, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
        extras = f"{ROOT}[python,mcp,panel,notebook,dev]"
        subprocess.run([*install, "--editable", extras], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def check(version: str) -> str:
    """What came of the tests on this version."""
    interpreter = interpreter_of(version)
    if interpreter is None:
        return "not there"
    try:
        python = ready_environment(version, interpreter)
    except subprocess.CalledProcessError as error:
        return f"failed: no environment: {error}"
    print(f"Python {version}:", flush=True)
    pytest = [python, "-m", "pytest", "-q", "-n", "2", "-m", QUICK]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "quick"}
    done = subprocess.run(pytest, cwd=ROOT, env=environment, check=False)
    return "passed" if done.returncode == 0 else f"failed: status {done.returncode}"


def main(versions: Sequence[str]) -> int:
    """Check each version, and list the outcomes."""
    outcomes = {version: check(version) for version in versions}
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    return 1 if any(outcome.startswith("failed") for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
