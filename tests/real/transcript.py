"""The session in docs/trust.md: a user's own project on a terminal, before and after it is trusted.

    python -m tests.real.transcript    # plays it, and writes it into the page

The servers are real, and so is the terminal. Only the name of the home folder is changed.
"""

from __future__ import annotations

import os
import re
import site
import subprocess
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from tests import real_servers

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "trust.md"
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)
TIMEOUT = 100

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "app.py": 'import prices\n\ntotal: int = prices.of("tea")\n',
    "package.json": '{"type": "module"}\n',
    "eslint.config.js": 'export default [{ rules: { "no-unused-vars": "error" } }];\n',
    "src/cart.js": "const unused = 1;\n",
}
#: What is typed, and the answer to the question that follows.
SESSION = (
    ("lspkit check app.py src/cart.js", "n"),
    ("lspkit check app.py src/cart.js", ""),
    ("lspkit trust", "y"),
    ("lspkit check app.py src/cart.js", ""),
)


def make(home: Path) -> Path:
    """A project with its own interpreter, linters and packages; the servers are the user's."""
    project, tools = home / "shop", home / "tools"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    venv.create(project / ".venv", symlinks=True)
    [packages] = (project / ".venv").glob("lib/python*/site-packages")
    (packages / "prices.py").write_text('def of(name: str) -> str:\n    return "1"\n')
    (project / ".venv" / "bin" / "ruff").symlink_to(real_servers.PROGRAMS / "ruff")
    modules = project / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    (modules / "eslint").symlink_to(real_servers.NODE_MODULES / "eslint")
    (modules / ".bin" / "eslint").symlink_to("../eslint/bin/eslint.js")
    tools.mkdir()
    for name in ("typescript-language-server", "vscode-eslint-language-server"):
        (tools / name).symlink_to(real_servers.NODE_MODULES / ".bin" / name)
    # An interpreter of its own, as one has that installed lspkit with its server for Python. Not
    # by PYTHONPATH, which ty would read as well.
    venv.create(home / "lspkit", symlinks=True)
    [own] = (home / "lspkit").glob("lib/python*/site-packages")
    paths = "\n".join([str(ROOT), *site.getsitepackages()])
    (own / "lspkit.pth").write_text(paths, encoding="utf-8")
    (home / "lspkit" / "bin" / "ty").symlink_to(real_servers.PROGRAMS / "ty")
    return project


def play(home: Path) -> str:
    """All that is seen."""
    project = make(home)
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(home / "tools"), "/usr/bin", "/bin"]),
        "TMPDIR": os.environ.get("TMPDIR", tempfile.gettempdir()),
        "LSPKIT_NO_SERVICE": "1",
        "LC_ALL": "C.UTF-8",
    }
    seen = "".join(
        f"$ {command}\n{typed(command, answer, home, project, environment)}"
        for command, answer in SESSION
    )
    return seen.replace(str(home), "~")


def typed(command: str, answer: str, home: Path, project: Path, environment: dict[str, str]) -> str:
    """What is seen after one command, on a terminal."""
    import pty

    ours, theirs = pty.openpty()
    argv = [str(home / "lspkit" / "bin" / "python"), "-P", "-m", *command.split()]
    child = subprocess.Popen(
        argv, cwd=project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = ""
    try:
        for read in _reads(ours):
            seen += read
            if answer and seen.endswith("[y/N] "):
                os.write(ours, f"{answer}\n".encode())
                answer = ""
    finally:
        os.close(ours)
        child.wait(TIMEOUT)
    # A line that rewrites itself is seen as it is in the end.
    lines = seen.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r\x1b[K")[2] for line in lines)


def _reads(terminal: int) -> Iterator[str]:
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # as Linux says that the other end is closed
            return
        if not read:
            return
        yield read.decode()


def main() -> None:
    """Play it, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        seen = play(Path(folder).resolve())
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: seen, page, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
