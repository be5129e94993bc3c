"""`lspkit install` with real packages, and a machine on which nothing is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from lspkit.install.recipe_table import recipe_named
from lspkit.install.tools_home import installed_packages
from tests.cli.bare_machine import BareMachine
from tests.scripted import comes_true

#: One of npm and one of pip.
BOTH = ("typescript-language-server", "ruff")


@pytest.fixture
def machine(tmp_path: Path) -> BareMachine:
    return BareMachine(tmp_path)


@pytest.fixture
def with_npm(tmp_path: Path) -> BareMachine:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm is not on this machine")
    return BareMachine(tmp_path, "node", "npm")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text('number: int = "text"\n')
    (folder / "app.ts").write_text('const number: number = "text";\n')
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}\n')
    return folder


def left_over(machine: BareMachine) -> list[str]:
    return [name for name in os.listdir(machine.tools) if name.startswith(".partial-")]


@pytest.mark.slow
@pytest.mark.server
def test_on_a_machine_without_servers_one_line_says_what_to_type_and_that_works(machine, project):
    first = machine("check", "app.py", cwd=project)
    assert first.returncode == 3
    [line] = [one for one in first.stdout.splitlines() if "get it with: " in one]
    typed = re.sub(r" \(or: .*\)$", "", line.partition("get it with: ")[2])
    assert typed.endswith("pip install 'lspkit[python]'")
    assert machine.type(typed, project).returncode == 0
    second = machine("check", "app.py", cwd=project)
    assert second.returncode == 1, second.stdout + second.stderr
    assert "1 finding in 1 file" in second.stdout


@pytest.mark.slow
@pytest.mark.server
def test_two_at_once_install_everything_once(with_npm, project):
    both = [with_npm.start("install", *BOTH, "--json") for _ in range(2)]
    printed = [one.communicate(timeout=100) for one in both]
    assert [one.returncode for one in both] == [0, 0], printed
    states = [[one["state"] for one in json.loads(answer)["servers"]] for answer, _ in printed]
    assert sorted(states) == [["installed"] * 2, ["present"] * 2]
    assert sum("waiting for another" in told for _, told in printed) <= 1
    assert not left_over(with_npm)
    assert set(os.listdir(with_npm.tools / "bin")) == set(BOTH)
    checked = with_npm("check", "app.ts", cwd=project)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "app.ts:1:7 error" in checked.stdout
    assert "[typescript]" in checked.stdout
    rows = {one["id"]: one for one in json.loads(with_npm("servers", "--json").stdout)}
    assert rows["typescript"]["where"] == rows["ruff"]["where"] == "lspkit"
    assert rows["typescript"]["version"] == rows["typescript"]["verified"]


def interrupted(machine: BareMachine, ending: signal.Signals) -> int:
    """Begin to install, and end that by a signal; returns the exit status."""
    child = machine.start("install", "ruff")
    assert child.stderr is not None
    assert "installing ruff" in child.stderr.readline()
    child.send_signal(ending)
    child.communicate(timeout=60)
    return child.returncode


@pytest.mark.slow
def test_one_that_is_interrupted_leaves_nothing(machine):
    assert interrupted(machine, signal.SIGINT) == 130
    assert not left_over(machine)
    assert installed_packages(str(machine.tools)) == {}


@pytest.mark.slow
@pytest.mark.server
def test_one_that_is_killed_half_way_can_be_repeated(machine):
    assert interrupted(machine, signal.SIGKILL) == -signal.SIGKILL
    assert len(left_over(machine)) == 1
    assert not (machine.tools / "bin").exists()
    again = machine("install", "ruff")
    assert (again.returncode, again.stdout) == (0, f"ruff {version('ruff')} is installed\n")
    assert not left_over(machine)
    assert os.access(machine.tools / "bin" / "ruff", os.X_OK)
    removed = machine("install", "--remove", "ruff")
    assert removed.stdout == f"ruff {version('ruff')} is removed\n"
    assert os.listdir(machine.tools / "bin") == []


#: A package manager that is at work for a long time.
BUSY_NPM = """\
#!/bin/sh
mkdir "$TMPDIR/at-work"
exec sleep 60
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_what_a_package_manager_was_at_is_left_in_no_other_folder(tmp_path, ending):
    machine = BareMachine(tmp_path, "sleep")
    npm = tmp_path / "bin" / "npm"
    npm.write_text(BUSY_NPM)
    npm.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    machine.environment["TMPDIR"] = str(temporary)
    child = machine.start("install", "typescript-language-server")
    assert comes_true(lambda: list(machine.tools.glob(".partial-*/.tmp/at-work")))
    child.send_signal(ending)
    child.communicate(timeout=60)
    assert os.listdir(temporary) == []
    assert len(left_over(machine)) == (ending == signal.SIGKILL)
    npm.write_text("#!/bin/sh\nexit 1\n")
    assert machine("install", "typescript-language-server").returncode == 1
    assert not left_over(machine)


def version(name: str) -> str:
    recipe = recipe_named(name)
    assert recipe is not None
    return recipe.version


# What cannot be installed


def test_without_npm_one_line_offers_what_this_machine_has(machine):
    done = machine("install", "pyright")
    assert done.returncode == 1
    assert done.stdout == (
        "pyright is not installed: npm is not on this machine; this machine can: lspkit install "
        "ty, or lspkit install basedpyright, or lspkit install pyrefly\n"
    )
    assert not left_over(machine)


def test_without_go_one_line_says_so(machine):
    done = machine("install", "gopls")
    assert (done.returncode, done.stdout) == (
        1,
        "gopls is not installed: go is not on this machine\n",
    )


def test_a_server_without_a_recipe_comes_with_how_to_get_it(machine):
    done = machine("install", "zls")
    assert done.returncode == 1
    assert done.stdout.startswith("zls is not installed: lspkit has no recipe for it; get it with:")


def test_a_package_without_a_build_for_this_machine_is_named():
    from lspkit.install.installation import InstallError, Machine, install_into
    from lspkit.install.recipe_table import Package

    machine = Machine([], {}, "riscv64")
    with pytest.raises(InstallError, match=r"there is no build of ruff 1.0 for riscv64"):
        install_into("/nowhere", "pip", [Package("pip", "ruff", "1.0")], machine)


#: Stands in for go: what it installs are empty scripts.
GO = """#!/bin/sh
program=${2%@*}
program=$GOBIN/${program##*/}
mkdir -p "$GOBIN" && echo '#!/bin/sh' > "$program"
"""


@pytest.fixture
def with_go(machine: BareMachine) -> BareMachine:
    go = Path(machine.environment["PATH"]) / "go"
    go.write_text(GO)
    go.chmod(0o755)
    return machine


def test_a_folder_that_cannot_be_written_is_told_with_what_to_do(machine, tmp_path):
    (tmp_path / "file").touch()
    machine.environment["LSPKIT_TOOLS"] = str(tmp_path / "file" / "tools")
    done = machine("install", "gopls", "zls")
    assert (done.returncode, done.stderr) == (1, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("zls is not installed: lspkit has no recipe for it")
    assert second == (
        f"gopls is not installed: {tmp_path}/file/tools cannot be written: Not a directory; "
        "LSPKIT_TOOLS names another folder"
    )
    states = [
        one["state"] for one in json.loads(machine("install", "ruff", "--json").stdout)["servers"]
    ]
    assert states == ["failed"]


@pytest.mark.parametrize("bad", ["gopls", "terraform-ls"])
def test_what_the_disk_refuses_leaves_the_outcome_of_the_others(with_go, bad):
    names = ["gopls", "terraform-ls"]
    (with_go.tools / "bin" / bad).mkdir(parents=True)
    done = with_go("install", *names)
    assert done.returncode == 1
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    [good] = {*names} - {bad}
    assert told[good] == f"{version(good)} is installed"
    assert told[bad] == (
        f"is not installed: {with_go.tools} cannot be written: Is a directory; "
        "LSPKIT_TOOLS names another folder"
    )
    assert not left_over(with_go)


def test_what_is_there_is_told_also_if_the_folder_cannot_be_written(with_go):
    assert with_go("install", "gopls").returncode == 0
    (with_go.tools / ".lock").unlink(missing_ok=True)
    (with_go.tools / ".lock").mkdir()
    done = with_go("install", "gopls", "terraform-ls")
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first == f"gopls {version('gopls')} is installed already"
    assert second.startswith(f"terraform-ls is not installed: {with_go.tools} cannot be written: ")
    done = with_go("install", "--remove", "gopls", "terraform-ls")
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first.startswith(f"gopls {version('gopls')} is not removed: {with_go.tools} cannot be ")
    assert second == "terraform-ls is not installed"


def test_names_are_checked_before_anything_is_installed(machine):
    done = machine("install", "ruff", "pyrigth")
    assert done.returncode == 2
    assert "did you mean pyright" in done.stderr
    assert not machine.tools.exists()


def test_without_a_name_the_call_is_wrong(machine):
    assert machine("install").returncode == 2
    assert machine("install", "--list", "ruff").returncode == 2


def test_what_is_installed_is_listed(machine):
    done = machine("install", "--list")
    told = f"nothing is installed in {machine.tools}; lspkit servers lists what can be\n"
    assert (done.returncode, done.stdout) == (0, told)


def test_a_project_has_no_say_in_what_is_installed(machine, project):
    """Neither its settings of pip and npm, nor its modules, nor its configuration count."""
    marker = project / "ran"
    (project / "pip.py").write_text(f"open({str(marker)!r}, 'w')\n")
    (project / ".npmrc").write_text("registry=http://127.0.0.1:9/\n")
    (project / ".lspkit").mkdir()
    (project / ".lspkit" / "lsp.json").write_text('{"lsp": {"evil": {"command": ["evil"]}}}\n')
    done = machine("install", "evil", cwd=project)
    assert done.returncode == 2
    done = machine("install", "gopls", cwd=project)
    assert done.returncode == 1
    assert not marker.exists()


def test_lspkit_runs_with_the_interpreter_of_this_machine(machine):
    """The other tests would prove nothing if it used that of the tests."""
    done = machine("doctor", "--json")
    told = json.loads(done.stdout)["examinations"][0]["text"]
    assert machine.python in told
    assert sys.executable not in told
