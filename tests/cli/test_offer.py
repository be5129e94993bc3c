"""`lspkit check` in a project that is not trusted: what it says, what it asks, and how often."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lspkit.config.trust.trust_store import read_trust_list
from tests.cli.running import QUESTION, CommandLine, is_there, on_terminal

pytest.importorskip("pty")

pytestmark = [pytest.mark.server, pytest.mark.slow]

WRONG = 'number: int = "x"\n'


@pytest.fixture(scope="session")
def command_line(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    if not is_there("ty"):
        pytest.skip("the embedded server is not installed: pip install 'lspkit[python]'")
    return CommandLine(tmp_path_factory.mktemp("offer"), "ty")


@dataclass
class User:
    """Somebody with a home, a project, and a terminal if they like."""

    line: CommandLine
    home: Path
    project: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "TMPDIR": os.environ["TMPDIR"], "TERM": "dumb"}
        return {**self.line.environment, **own, **self.variables}

    @property
    def ran(self) -> str:
        """What of the project has run."""
        file = self.home / "ran"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    @property
    def trusted(self) -> list[str]:
        state = self.home / ".local" / "state" / "lspkit"
        return [entry.path for entry in read_trust_list(str(state)).entries]

    def write(self, name: str, text: str) -> Path:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def plant(self, name: str) -> None:
        """A program of the project, which leaves a note and then is ty."""
        real = Path(self.line.python).parent / "ty"
        text = f'#!/bin/sh\necho "$0 $*" >> {self.home}/ran\nexec {real} "$@"\n'
        self.write(name, text).chmod(0o755)

    def types(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run it without a terminal."""
        return self.line(*words, cwd=self.project, **{"HOME": str(self.home), **self.variables})

    def sees(self, *words: str | Path, answer: bytes = b"", after: float = 0.0) -> tuple[int, str]:
        """Run it on a terminal: the exit status, and all that was seen there."""
        command = self.line.command(*words)
        return on_terminal(command, self.project, self.environment, answer, after=after)


@pytest.fixture
def user(command_line: CommandLine, tmp_path: Path) -> User:
    """In whose project there is a server, and a configuration that names it."""
    home, project = tmp_path.resolve() / "home", tmp_path.resolve() / "project"
    home.mkdir()
    made = User(command_line, home, project)
    made.write("pyproject.toml", "")
    made.write("main.py", WRONG)
    made.plant(".venv/bin/ty")
    made.write(".lspkit/lsp.json", json.dumps({"lsp": {"ty": {"command": ["ty", "server"]}}}))
    return made


# Without a terminal


def test_without_a_terminal_one_line_says_what_is_held_back_and_what_allows_it(user: User) -> None:
    done = user.types("check", "main.py")
    held_back = "held back: lsp.ty.command, .venv/bin/ty."
    ways = f"lspkit trust add {user.project} (in a terminal), or Workspace(..., trusted=True)"
    remedy = f"To allow it: {ways}"
    assert done.stderr == f"lspkit: {user.project} is not trusted; {held_back} {remedy}\n"
    assert (done.returncode, user.ran) == (1, "")
    assert "main.py:1:15 error" in done.stdout


def test_a_project_that_would_run_something_else_by_now_is_told_as_such(user: User) -> None:
    assert user.types("trust", "add", "--yes").returncode == 0
    assert user.types("check", "main.py").stderr == ""
    user.write(".lspkit/lsp.json", json.dumps({"lsp": {"ty": {"command": ["ty", "server", "-v"]}}}))
    [line] = user.types("check", "main.py").stderr.splitlines()
    assert line.startswith(f"lspkit: {user.project} is no longer trusted ({user.project} was trust")
    assert "the programs that it would run have changed); held back: lsp.ty.command," in line


def test_what_is_said_is_no_part_of_the_result(user: User) -> None:
    done = user.types("check", "--json", "main.py")
    [report] = json.loads(done.stdout)["reports"]
    assert report["verdict"] == "dirty"
    assert len(done.stderr.splitlines()) == 1


def test_the_command_that_it_names_does_what_it_promises(user: User) -> None:
    command = (
        user.types("check", "main.py")
        .stderr.split("To allow it: lspkit ")[1]
        .split(" (")[0]
        .split()
    )
    assert user.types(*command, "--yes").returncode == 0
    done = user.types("check", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert user.ran == f"{user.project}/.venv/bin/ty server\n"


def test_the_command_for_a_folder_that_others_can_change_does_as_well(user: User) -> None:
    user.project.chmod(0o777)
    command = (
        user.types("check", "main.py")
        .stderr.split("To allow it: lspkit ")[1]
        .split(" (")[0]
        .split()
    )
    assert "--shared" in command
    assert user.types(*command, "--yes").returncode == 0
    assert user.trusted == [str(user.project)]


def test_nothing_is_said_where_nothing_is_held_back(user: User) -> None:
    for name in (".lspkit/lsp.json", ".venv/bin/ty"):
        (user.project / name).unlink()
    assert user.types("check", "main.py").stderr == ""


@pytest.mark.parametrize("variable", ["always", "never"])
def test_nothing_is_said_where_all_is_said_already(user: User, variable: str) -> None:
    user.variables["LSPKIT_TRUST"] = variable
    assert user.types("check", "main.py").stderr == ""
    assert (user.ran != "") == (variable == "always")


def test_a_command_that_changed_after_trust_is_held_back_again(user: User) -> None:
    user.types("trust", "--yes")
    user.write(
        ".lspkit/lsp.json", json.dumps({"lsp": {"ty": {"command": ["ty", "server", "--evil"]}}})
    )
    done = user.types("check", "main.py")
    assert "held back: lsp.ty.command" in done.stderr
    assert user.ran == ""


def test_a_linter_that_runs_code_is_named(user: User) -> None:
    for name in (".lspkit/lsp.json", ".venv/bin/ty"):
        (user.project / name).unlink()
    user.write("eslint.config.js", "export default [];\n")
    user.write("main.js", "const unused = 1;\n")
    tools = user.home / "tools"
    tools.mkdir()
    for name in ("typescript-language-server", "vscode-eslint-language-server"):
        (tools / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    user.variables["PATH"] = f"{user.line.environment['PATH']}:{tools}"
    assert "eslint" in user.types("check", "main.js").stderr


# On a terminal


def test_on_a_terminal_it_asks_before_it_checks(user: User) -> None:
    status, seen = user.sees("check", "main.py", answer=b"n\n")
    assert seen.index('lsp.ty.command = ["ty", "server"]') < seen.index(QUESTION)
    assert seen.index(".venv/bin/ty") < seen.index(QUESTION)
    assert seen.index(QUESTION) < seen.index("main.py:1:15 error")
    assert (status, user.ran, user.trusted) == (1, "", [])


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b""], ids=["no", "nothing", "hung up"])
def test_it_asks_once(user: User, answer: bytes) -> None:
    assert QUESTION in user.sees("check", "main.py", answer=answer)[1]
    status, seen = user.sees("check", "main.py")
    assert QUESTION not in seen
    assert f"To allow it: lspkit trust add {user.project}" in seen.replace("\r\n", "\n")
    assert (status, user.ran, user.trusted) == (1, "", [])


def test_a_yes_is_heeded_at_once_and_remembered(user: User) -> None:
    status, seen = user.sees("check", "main.py", answer=b"y\n")
    assert f"{user.project} is trusted." in seen
    assert user.trusted == [str(user.project)]
    assert user.ran == f"{user.project}/.venv/bin/ty server\n"
    assert (status, "main.py:1:15 error" in seen) == (1, True)
    status, seen = user.sees("check", "main.py")
    assert (status, QUESTION in seen, "not trusted" in seen) == (1, False, False)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["check", "main.py"], 1, "main.py:1:15 error"),
        (["hover", "main.py:1:1"], 0, "Literal"),
        (["status"], 0, "LSP servers"),
    ],
    ids=["check", "hover", "status"],
)
def test_the_time_for_the_answer_does_not_count(
    user: User, words: list[str], status: int, said: str
) -> None:
    found, seen = user.sees(*words, "--timeout", "10", answer=b"n\n", after=10.5)
    assert QUESTION in seen
    assert (found, said in seen.split(QUESTION)[1]) == (status, True), seen


def test_another_project_is_another_question(user: User) -> None:
    user.sees("check", "main.py", answer=b"n\n")
    other = user.project.with_name("other")
    user.project.rename(other)
    user.project = other
    assert QUESTION in user.sees("check", "main.py", answer=b"n\n")[1]


@pytest.mark.parametrize("variable", ["always", "never"])
def test_it_does_not_ask_where_the_answer_is_known(user: User, variable: str) -> None:
    user.variables["LSPKIT_TRUST"] = variable
    assert QUESTION not in user.sees("check", "main.py")[1]


def test_it_does_not_ask_where_the_user_wants_no_programs_of_projects(user: User) -> None:
    file = user.home / ".config" / "lspkit" / "lsp.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"security": {"projectConfigPolicy": "never"}}', encoding="utf-8")
    assert QUESTION not in user.sees("check", "main.py")[1]
    assert user.ran == ""


# Where it is shown besides


def test_the_configuration_is_shown_with_what_is_held_back(user: User) -> None:
    done = user.types("config", "show", "--origin")
    file = user.project / ".lspkit" / "lsp.json"
    assert f"# project  {file}, untrusted: no entry trusts it" in done.stdout
    warning = next(line for line in done.stdout.splitlines() if line.startswith("# warning"))
    assert f"{file}: lsp.ty.command: it is left out" in warning
    assert f"to allow it: lspkit trust add {user.project}" in warning
    assert "\nlsp.ty.command" not in done.stdout


def test_the_same_as_data(user: User) -> None:
    shown = json.loads(user.types("config", "show", "--origin", "--json").stdout)
    assert shown["heldBack"] == ["lsp.ty.command"]
    assert shown["trust"] == {"state": "untrusted", "why": "no entry trusts it"}
    user.types("trust", "--yes")
    shown = json.loads(user.types("config", "show", "--origin", "--json").stdout)
    assert shown["heldBack"] == []
    assert shown["trust"]["state"] == "trusted"
    assert shown["origins"]["lsp.ty.command"]["layer"] == "project"
