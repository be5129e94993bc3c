"""In IPython, which notebooks run on: one warning about a project that is not trusted.

Each test types cells into a real IPython process and reads what it prints. The project's own
configuration names a scripted server, so it is seen whether anything of the project has run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lspkit.testing import Log, Script
from tests.scripted import SOURCE, config_for

pytest.importorskip("IPython", reason="IPython is not installed: pip install 'lspkit[notebook]'")

TIMEOUT = 100
PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust.md"
IPYTHON = ("-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit")
#: A first cell, and a question that has an answer whether or not a server may run.
IMPORT = "import warnings, lspkit"
CHECK = "print('verdict', *[one.verdict.value for one in ws.check_all(['a.scr']).values()])"
OPEN = "ws = lspkit.Workspace('project')"


@dataclass
class Said:
    """What a session has printed, without colours."""

    out: str
    err: str

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings, in order."""
        return re.findall(r"^\S+: UntrustedProjectWarning: (.*)$", self.err, re.M)


class User:
    """Somebody with a home folder and projects in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            "LSPKIT_NO_SERVICE": "1",
            "HOME": str(home),
            "IPYTHONDIR": str(home / ".ipython"),
            "LSPKIT_STATE": str(home / "state"),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "TMPDIR": os.environ["TMPDIR"],
            "LC_ALL": "C.UTF-8",
        }

    def project(self, name: str, argv: list[str] | None = None) -> Path:
        """A project; with `argv`, one that names a server in its configuration and has another."""
        folder = self.home / name
        folder.mkdir()
        (folder / "a.scr").write_text(SOURCE, encoding="utf-8")
        if argv is not None:
            (folder / ".lspkit").mkdir()
            config = json.dumps(config_for(argv))
            (folder / ".lspkit" / "lsp.json").write_text(config, encoding="utf-8")
            self.plant(folder)
        return folder

    def plant(self, folder: Path) -> None:
        """Put a server into the project's own environment."""
        program = folder / ".venv" / "bin" / "ruff"
        program.parent.mkdir(parents=True)
        program.touch(0o755)

    def runs(self, *words: str, typed: str = "", status: int = 0, **environment: str) -> Said:
        """Run Python, in the home folder."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.home,
            env={**self.environment, **environment},
            input=typed,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return Said(re.sub(r"\x1b\[[\d;]*m", "", done.stdout), done.stderr)

    def types(self, *cells: str, **environment: str) -> Said:
        """Type cells into IPython; one of several lines ends with an empty one."""
        return self.runs(*IPYTHON, typed="\n".join([*cells, ""]), **environment)


@pytest.fixture
def user(tmp_path: Path) -> User:
    home = tmp_path.resolve() / "home"
    home.mkdir()
    return User(home)


@pytest.fixture
def argv(scripted) -> list[str]:
    """The command of a server that the project's configuration names."""
    return scripted(Script())


def test_the_first_workspace_warns_in_the_words_of_the_command_line(user, argv):
    folder = user.project("project", argv)
    said = user.types(IMPORT, OPEN, CHECK)
    line = user.runs("-m", "lspkit", "check", "--root", "project", "project/a.scr", status=3).err
    held = "held back: lsp.scripted.command, lsp.scripted.proof, .venv/bin/ruff. To allow it: "
    assert line.startswith(f"lspkit: {folder} is not trusted; {held}")
    assert line.endswith(
        f"lspkit trust add {folder} (in a terminal), or Workspace(..., trusted=True)\n"
    )
    assert said.warnings == [line.removeprefix("lspkit: ").rstrip("\n")]
    assert "verdict unknown" in said.out
    assert Log.of(argv).pids() == []


def test_the_warning_is_about_the_line_in_the_cell(user, argv):
    user.project("project", argv)
    said = user.types(IMPORT, "if True:\n    pass\n    ws = lspkit.Workspace('project')\n")
    where, source = said.err.splitlines()
    assert re.match(r"<ipython-input-2-\w+>:3: UntrustedProjectWarning: ", where)
    assert source == "  ws = lspkit.Workspace('project')"


def test_it_warns_once_for_all_calls_and_workspaces_of_a_project(user, argv):
    folder = user.project("project", argv)
    (user.home / "link").symlink_to(folder)
    again = "with lspkit.Workspace('link') as ws: ws.status()"
    said = user.types(IMPORT, OPEN, CHECK, CHECK, "ws.reload()", OPEN, CHECK, again)
    assert said.out.count("verdict unknown") == 3
    assert len(said.warnings) == 1


def test_a_filter_that_shows_every_warning_shows_this_one_once(user, argv):
    user.project("project", argv)
    always = "warnings.simplefilter('always')"
    assert len(user.types(IMPORT, always, OPEN, OPEN, CHECK).warnings) == 1


def test_many_threads_at_once_are_warned_once(user, argv):
    user.project("project", argv)
    (user.home / "many.py").write_text(
        "import sys, threading, lspkit\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "sys.setswitchinterval(1e-6)\n"
        "start = threading.Barrier(8)\n"
        "def make(_):\n"
        "    start.wait(60)\n"
        "    return lspkit.Workspace('project')\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    print('made', len(list(pool.map(make, range(8)))))\n",
        encoding="utf-8",
    )
    said = user.types(IMPORT, "warnings.simplefilter('always')", "import many")
    assert "made 8" in said.out
    assert len(said.warnings) == 1


def test_it_is_shown_also_if_a_module_opens_the_workspace(user, argv):
    user.project("project", argv)
    module = user.home / "opening.py"
    module.write_text(f"import lspkit\n\n{OPEN}\n", encoding="utf-8")
    said = user.types("import opening")
    assert len(said.warnings) == 1
    assert said.err.startswith(f"{module}:3: UntrustedProjectWarning: ")


def test_another_project_is_another_warning(user, argv):
    first, second = user.project("project", argv), user.project("other", argv)
    loop = "for one in ('project', 'other', 'project', 'other'): lspkit.Workspace(one).close()\n"
    warned = user.types(IMPORT, loop).warnings
    assert [one.split(" is not trusted")[0] for one in warned] == [str(first), str(second)]


def test_no_warning_once_it_is_trusted_and_the_server_answers(user, argv):
    user.project("project", argv)
    user.runs("-m", "lspkit", "trust", "add", "project", "--yes")
    said = user.types(IMPORT, OPEN, "print(ws.definition('a.scr', 2, 4)[0].range.start)")
    assert (said.warnings, said.err) == ([], "")
    assert "1:5" in said.out


@pytest.mark.parametrize(
    ("opened", "variable"),
    [
        ("ws = lspkit.Workspace('project', trusted=True)", ""),
        ("ws = lspkit.Workspace('project', trusted=False)", ""),
        (OPEN, "always"),
        (OPEN, "never"),
    ],
)
def test_no_warning_where_somebody_has_decided(user, argv, opened, variable):
    user.project("project", argv)
    said = user.types(IMPORT, opened, CHECK, LSPKIT_TRUST=variable)
    assert said.err == ""
    assert "verdict" in said.out


def test_no_warning_where_nothing_is_held_back(user):
    user.project("project")
    said = user.types(IMPORT, OPEN, CHECK)
    assert said.err == ""
    assert "verdict unknown" in said.out


def test_a_server_that_the_cell_itself_has_configured_runs_without_a_warning(user, argv):
    user.project("project")
    config = json.dumps(config_for(argv))
    said = user.types(IMPORT, f"ws = lspkit.Workspace('project', config={config})", CHECK)
    assert said.warnings == []
    assert len(Log.of(argv).pids()) == 1


@pytest.mark.parametrize("imports", ["lspkit", "IPython, lspkit"])
def test_a_script_is_not_warned_also_if_it_imports_ipython(user, argv, imports):
    user.project("project", argv)
    said = user.runs("-W", "always", "-c", f"import {imports}\n{OPEN}\n{CHECK}\nws.close()")
    assert "UntrustedProjectWarning" not in said.err
    assert "verdict unknown" in said.out


def test_lspkit_does_not_import_ipython_to_find_out(user, argv):
    user.project("project", argv)
    said = user.runs(
        "-c", f"import sys, lspkit\n{OPEN}\nws.close()\nprint('IPython' in sys.modules)"
    )
    assert said.out == "False\n"


def test_as_an_error_it_is_raised_and_nothing_is_left(user, argv):
    user.project("project", argv)
    look = "print('open', len(host.opened()), threads() - before, psutil.Process().children())"
    said = user.types(
        "import psutil",
        f"{IMPORT}; from lspkit.runtime.concurrency import teardown as host",
        "from threading import active_count as threads",
        "warnings.simplefilter('error', UserWarning); before = threads()",
        "ws = 'nothing'",
        OPEN,
        look,
        OPEN,
        "print('ws is', ws)",
        "warnings.simplefilter('default', UserWarning)",
        OPEN,
        CHECK,
    )
    raised = re.findall(r"^UntrustedProjectWarning: .* is not trusted; held back: ", said.out, re.M)
    assert len(raised) == 2, said.out
    assert "open 0 0 []" in said.out
    assert "ws is nothing" in said.out
    assert len(said.warnings) == 1
    assert "verdict unknown" in said.out


def test_one_filter_silences_it(user, argv):
    user.project("project", argv)
    ignore = "warnings.filterwarnings('ignore', category=lspkit.UntrustedProjectWarning)"
    assert user.types(IMPORT, ignore, OPEN).err == ""


def test_the_page_shows_what_is_printed(user):
    block = re.search(r"(?<=^```ipython\n).*?(?=^```$)", PAGE.read_text("utf-8"), re.M | re.S)
    assert block is not None
    user.plant(user.project("shop"))
    cells = re.findall(r"^In \[\d+\]: (.*)$", block[0], re.M)
    printed = user.types(*cells).err.replace(str(user.home), "/home/me")
    shown = [line for line in block[0].splitlines() if line and not line.startswith("In [")]
    assert re.sub(r"(?<=input-2-)\w+", "…", printed).splitlines() == shown
