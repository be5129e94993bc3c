"""`lspkit hook`: the model hears of what an edit has broken, and the agent of nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from lspkit.agent.hooks.agent_protocols import HookCall, read_call
from lspkit.cli.hook_command import Reply, root_of
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests import real_servers
from tests.agent.hooks.agent_inputs import (
    ANSWERS,
    EDITS,
    OTHERS,
    agent_of,
    input_text,
    text_for_model,
)
from tests.cli.conftest import RIGHT, WRONG
from tests.cli.running import TIMEOUT

pytestmark = pytest.mark.slow  # a process each

#: For servers on a machine that is busy. The tests of the timeout have their own.
PATIENT = ("hook", "--timeout", "90")


def edit(project: Path, text: str, name: str = "edited.py") -> Path:
    file = project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def is_quiet(done: subprocess.CompletedProcess[str]) -> bool:
    assert done.stdout == ""
    assert done.stderr == ""
    return done.returncode == 0


# After an edit


@pytest.mark.server
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_that_breaks_a_file_is_answered_as_documented(with_ty, project, name):
    edit(project, WRONG)
    done = with_ty(*PATIENT, given=input_text(name, project))
    assert (done.returncode, done.stderr) == (0, "")
    jsonschema.validate(json.loads(done.stdout), ANSWERS[agent_of(name)])
    heading, tag, finding, end = text_for_model(done.stdout).split("\n")
    assert heading == "The edit was applied. LSP errors detected in this file, please fix:"
    assert (tag, end) == ('<diagnostics file="edited.py">', "</diagnostics>")
    assert finding.startswith("ERROR [2:15] ")


@pytest.mark.server
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_that_breaks_nothing_is_not_answered(with_ty, project, name):
    edit(project, RIGHT)
    assert is_quiet(with_ty(*PATIENT, given=input_text(name, project)))


@pytest.mark.server
@pytest.mark.parametrize("name", ["claude-code-edit", "gemini-cli-write-file"])
def test_typescript_is_checked_as_well(bare, tmp_path, name):
    real_servers.require("typescript")
    edit(tmp_path, '{"compilerOptions": {"strict": true}}', "tsconfig.json")
    edit(tmp_path, 'const count: number = "one"\n', "edited.ts")
    programs = f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    given = input_text(name, tmp_path, "edited.ts")
    done = bare(*PATIENT, given=given, PATH=programs, LSPKIT_TRUST="always")
    assert (done.returncode, done.stderr) == (0, "")
    jsonschema.validate(json.loads(done.stdout), ANSWERS[agent_of(name)])
    assert "ERROR [1:7] Type 'string' is not assignable" in text_for_model(done.stdout)


@pytest.mark.server
def test_a_path_of_a_patch_belongs_to_the_folder_of_the_agent(with_ty, project):
    (project / ".git").mkdir()
    edit(project, WRONG, "inner/edited.py")
    edit(project, RIGHT)
    done = with_ty(*PATIENT, given=input_text("codex-apply-patch", project / "inner"))
    assert '<diagnostics file="inner/edited.py">' in text_for_model(done.stdout)


@pytest.mark.server
def test_the_workspace_can_be_named(with_ty, project):
    edit(project, WRONG, "inner/edited.py")
    given = input_text("claude-code-write", project / "inner")
    done = with_ty(*PATIENT, "--root", project, given=given)
    assert '<diagnostics file="inner/edited.py">' in text_for_model(done.stdout)


@pytest.mark.server
def test_without_a_folder_in_the_input_it_is_the_current_one(with_ty, project):
    edit(project, WRONG)
    values = json.loads(input_text("codex-apply-patch", project))
    del values["cwd"]
    done = with_ty(*PATIENT, given=json.dumps(values), cwd=project)
    assert "ERROR [2:15]" in text_for_model(done.stdout)


@pytest.mark.server
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mcp__files__delete_file", {"path": "helper.py"}),
        ("mcp__files__move_file", {"source": "helper.py", "destination": "moved.py"}),
    ],
    ids=["delete", "move"],
)
def test_files_that_need_a_file_that_is_gone_are_reported(with_ty, project, tool, arguments):
    edit(project, RIGHT, "moved.py")
    edit(project, "from helper import double\n", "user.py")
    values = json.loads(input_text("claude-code-write", project))
    values |= {"tool_name": tool, "tool_input": arguments, "tool_response": {}}
    done = with_ty(*PATIENT, given=json.dumps(values))
    assert (done.returncode, done.stderr) == (0, "")
    told = text_for_model(done.stdout)
    assert '<diagnostics file="user.py">' in told
    assert "Cannot resolve imported module `helper`" in told


@pytest.mark.server
def test_an_old_error_is_not_blamed_on_an_edit(with_ty, project):
    """The agent tells what the file was before, or what its tool has replaced."""
    edit(project, f"{RIGHT}{WRONG}")
    for name, tool, result in (
        ("claude-code-write", {}, {"type": "update", "originalFile": f"# old\n{WRONG}"}),
        ("gemini-cli-replace", {"old_string": "# old", "new_string": RIGHT.rstrip()}, {}),
    ):
        values = json.loads(input_text(name, project))
        values["tool_input"] |= tool
        values["tool_response"] |= result
        done = with_ty(*PATIENT, given=json.dumps(values))
        text = text_for_model(done.stdout)
        assert text == "The edit was applied. LSP errors from before the edit that remain: 1"


# When there is nothing to say


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_edit_is_not_answered(with_ty, project, name):
    edit(project, WRONG)
    assert is_quiet(with_ty("hook", given=input_text(name, project)))


@pytest.mark.parametrize(
    "name", ["missing.py", "binary.py", "folder.py", "a.unheard", "../outside.py", "loop.py"]
)
def test_a_file_that_cannot_be_checked_is_not_answered(with_ty, tmp_path, name):
    project = tmp_path / "project"
    (project / "folder.py").mkdir(parents=True)
    (project / "loop.py").symlink_to("loop.py")
    (project / "binary.py").write_bytes(b'x: int = "\0\xff"\n')
    edit(project, WRONG, "a.unheard")
    edit(tmp_path, WRONG, "outside.py")
    assert is_quiet(with_ty(*PATIENT, given=input_text("claude-code-write", project, name)))


def test_a_language_without_a_server_is_answered_with_what_to_do(bare, project):
    edit(project, WRONG)
    done = bare(*PATIENT, given=input_text("claude-code-write", project))
    text = text_for_model(done.stdout)
    assert text.startswith("The edit was applied. Servers of this file that do not run: <reasons>")
    assert "get it with:" in text
    assert "\n" not in text


def test_a_project_that_is_gone_is_not_answered(bare, tmp_path):
    assert is_quiet(bare(*PATIENT, given=input_text("claude-code-write", tmp_path / "gone")))


def test_a_wrong_configuration_is_not_answered(bare, project, tmp_path_factory):
    edit(project, WRONG)
    wrong = edit(tmp_path_factory.mktemp("user"), "{", "lsp.json")
    given = input_text("claude-code-write", project)
    assert is_quiet(bare(*PATIENT, given=given, LSPKIT_CONFIG=str(wrong)))


def test_an_input_of_another_agent_than_the_named_one_is_ignored(with_ty, project):
    edit(project, WRONG)
    given = input_text("claude-code-write", project)
    assert is_quiet(with_ty("hook", "--agent", "gemini-cli", given=given))


@pytest.mark.parametrize("given", ["[]", "{}", "null", '"\\ud800"', '{"hook_event_name": "Stop"}'])
def test_other_json_is_ignored(bare, given):
    assert is_quiet(bare("hook", given=given))


@pytest.mark.parametrize("given", ["", "nonsense", "{", "\udcff", "[" * 100_000])
def test_what_is_no_json_is_reported_on_one_line(bare, given):
    done = bare("hook", given=given)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("lspkit: the input is not JSON")
    assert done.stderr.count("\n") == 1


def test_a_hundred_megabytes_are_read_and_ignored(bare):
    assert is_quiet(bare("hook", given=f'"{"x" * 100_000_000}"'))


def test_with_debug_it_says_what_it_saw(bare, project):
    done = bare("hook", "--debug", given=input_text("codex-bash", project))
    assert (done.returncode, done.stdout) == (0, "")
    assert "codex" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "object" in bare("hook", "--debug", given="[]").stderr


# What it costs


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_edit_loads_no_workspace(bare, project, name):
    edit(project, WRONG)  # it is there: nothing was deleted
    program = (
        "import sys\n"
        "from lspkit.cli import main\n"
        "status = main(['hook'])\n"
        "print(status, *(name for name in sys.modules if name.startswith('lspkit.')))"
    )
    done = subprocess.run(
        [bare.python, "-c", program],
        env=bare.environment,
        input=input_text(name, project),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    status, *loaded = done.stdout.split()
    assert status == "0"
    assert "lspkit.agent.hooks.agent_protocols" in loaded
    parts = {module.split(".")[1] for module in loaded}
    assert parts.isdisjoint({"workspace", "runtime", "servers", "operations", "config"})


# How it ends


def environment(argv: list[str], folder: Path) -> dict[str, str]:
    """In which `.scr` files belong to this server."""
    said = {"lsp": {"scripted": {"command": argv, "extensions": [".scr"]}}}
    file = edit(folder, json.dumps(said), "lsp.json")
    return {"LSPKIT_CONFIG": str(file), "LSPKIT_TRUST": "always"}


def test_an_input_that_does_not_end_is_not_waited_for(bare):
    child = subprocess.Popen(
        bare.command("hook", "--timeout", "0.5"),
        env=bare.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with child:
        assert child.wait(TIMEOUT) == 0
        assert child.stdout is not None and child.stderr is not None
        assert (child.stdout.read(), child.stderr.read()) == (b"", b"")


@pytest.mark.parametrize("method", ["initialize", "textDocument/diagnostic", "shutdown"])
def test_a_server_that_hangs_is_not_waited_for(bare, tmp_path, tmp_path_factory, scripted, method):
    """The server's processes are gone afterwards: each test is checked for leaks."""
    script = Script(diagnostics=Diagnostics(how="pull"), faults=[Fault(method, "hang")])
    argv = scripted(script)
    edit(tmp_path, "ERROR\n", "a.scr")
    done = bare(
        *("hook", "--timeout", "5"),
        given=input_text("claude-code-write", tmp_path, "a.scr"),
        **environment(argv, tmp_path_factory.mktemp("user")),
    )
    assert Log.of(argv).pids()
    assert (done.returncode, done.stderr) == (0, "")
    # The answer does not wait for the server to stop.
    late = "The edit was applied. Could not be checked in time: <files>a.scr</files>"
    assert (text_for_model(done.stdout) == late) == (method != "shutdown")


def test_a_reply_is_given_once_and_names_cannot_leave_their_tag(capsys, tmp_path):
    call = read_call(input_text("claude-code-write", tmp_path).encode())
    assert isinstance(call, HookCall)
    reply = Reply()
    reply.give_late()  # nothing is being checked
    reply.await_check(call, (str(tmp_path / "</files>.py"),))
    reply.give_late()
    reply.give(call, "too late")
    text = text_for_model(capsys.readouterr().out)
    assert text.endswith("in time: <files>&lt;/files&gt;.py</files>")


def test_a_timeout_that_no_timer_takes_is_no_limit(bare, tmp_path, tmp_path_factory, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    edit(tmp_path, "ERROR\n", "a.scr")
    done = bare(
        *("hook", "--timeout", "1e308"),
        given=input_text("claude-code-write", tmp_path, "a.scr"),
        **environment(argv, tmp_path_factory.mktemp("user")),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ERROR [1:1]" in text_for_model(done.stdout)


@pytest.mark.parametrize(
    "words", [["--unheard"], ["--timeout", "soon"], ["--agent", "nobody"], ["--root", ""], ["file"]]
)
def test_a_mistake_in_the_call_does_not_block_the_tool(bare, words):
    done = bare("hook", *words, given="{}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("lspkit: ")


def test_help_is_no_mistake(bare):
    done = bare("hook", "--help")
    assert done.returncode == 0
    assert "--no-service" in done.stdout


# The workspace


def test_the_workspace_is_the_work_tree_around_the_agent(tmp_path):
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert root_of(str(inner), (str(inner / "x.py"),)) == str(tmp_path)


def test_it_is_the_work_tree_of_the_file_if_the_agent_is_in_none(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
    files = (str(tmp_path / "two" / "src" / "x.py"), str(tmp_path / "one" / "y.py"))
    assert root_of(str(tmp_path), files) == str(tmp_path / "two")


def test_it_is_not_a_work_tree_elsewhere(tmp_path):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    (elsewhere / ".git").mkdir(parents=True)
    assert root_of(str(here), (str(elsewhere / "x.py"),)) == str(here)


def test_it_is_the_folder_of_the_agent_otherwise(tmp_path):
    link = tmp_path / "link"
    (tmp_path / "real").mkdir()
    link.symlink_to("real")
    assert root_of(str(link), ()) == str(tmp_path / "real")
