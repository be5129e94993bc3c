"""`lspkit config`, as a process, on real files."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import CommandLine

pytestmark = pytest.mark.slow  # a process each


@pytest.fixture(scope="session")
def command(tmp_path_factory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("config"))


@pytest.fixture
def scene(tmp_path):
    """A project; and a folder for the user's file, which is not there yet."""
    (tmp_path / "project" / ".lspkit").mkdir(parents=True)
    (tmp_path / "own" / "lspkit").mkdir(parents=True)
    return tmp_path


def run(command, scene, *words):
    return command("config", *words, cwd=scene / "project", XDG_CONFIG_HOME=str(scene / "own"))


def say(scene, text):
    (scene / "own" / "lspkit" / "lsp.json").write_text(text, encoding="utf-8")


def project(scene, text):
    (scene / "project" / ".lspkit" / "lsp.json").write_text(text, encoding="utf-8")


def test_without_files_the_defaults_are_shown(command, scene):
    done = run(command, scene, "show")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"# global   {scene}/own/lspkit/lsp.json (not there)"
    assert lines[1].startswith("# project  (none)")
    assert "timing.requestTimeoutMs = 10000" in lines
    assert 'diagnostics.severity = "error"' in lines


def test_every_value_is_shown_with_its_origin(command, scene):
    say(scene, '{"timing": {"firstTouchTimeoutMs": 3}}')
    project(scene, '{"timing": {"firstTouchTimeoutMs": 2}, "lsp": {"x": {"extensions": [".x"]}}}')
    (scene / "project" / ".lsp.json").write_text("{}", encoding="utf-8")
    done = run(command, scene, "show", "--origin")
    file = f"{scene}/project/.lspkit/lsp.json"
    lines = done.stdout.splitlines()
    assert f"timing.firstTouchTimeoutMs = 2  # project {file}" in lines
    assert f'lsp.x.extensions = [".x"]  # project {file}' in lines
    assert "timing.requestTimeoutMs = 10000  # built-in" in lines
    assert f"# passed over  {scene}/project/.lsp.json" in lines
    assert done.returncode == 0


def test_what_is_held_back_is_told(command, scene):
    project(scene, '{"lsp": {"x": {"command": ["./x"], "extensions": [".x"]}}}')
    done = run(command, scene, "show")
    assert done.returncode == 0
    assert "lsp.x.command = " not in done.stdout
    assert "lsp.x.command: it is left out" in done.stdout
    assert "lspkit trust add" in done.stdout


def test_json_has_the_documented_keys(command, scene):
    say(scene, '{"timng": 1}')
    project(scene, '{"lsp": {"x": {"command": ["./x"]}}}')
    plain = json.loads(run(command, scene, "show", "--json").stdout)
    assert set(plain) == {"files", "trust", "heldBack", "warnings", "config"}
    assert plain["files"] == {
        "global": f"{scene}/own/lspkit/lsp.json",
        "project": f"{scene}/project/.lspkit/lsp.json",
        "passedOver": [],
    }
    assert plain["heldBack"] == ["lsp.x.command"]
    assert plain["trust"]["state"] == "untrusted"
    assert plain["config"]["timing"]["requestTimeoutMs"] == 10_000
    assert plain["warnings"][0]["place"] == "timng"
    assert "timing" in plain["warnings"][0]["message"]
    more = json.loads(run(command, scene, "show", "--json", "--origin").stdout)
    assert more["origins"]["timing.debounceMs"] == {"layer": "built-in", "file": None}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_whatever_letters_can_be_printed(command, scene, encoding):
    say(scene, '{"lsp": {"ty": {"settings": {"a": "é😀"}}}}')
    variables = {"XDG_CONFIG_HOME": str(scene / "own"), "PYTHONIOENCODING": encoding}
    done = command("config", "show", "--json", cwd=scene / "project", **variables)
    assert json.loads(done.stdout)["config"]["lsp"]["ty"]["settings"] == {"a": "é😀"}


def test_a_bad_file_of_the_user_is_status_2_with_a_line_for_each_fault(command, scene):
    say(scene, '{"timing": {"debounceMs": -1,\n"requestTimeoutMs": 0}}')
    done = run(command, scene, "show")
    assert done.returncode == 2
    assert done.stdout == ""
    file = f"{scene}/own/lspkit/lsp.json"
    one, other = done.stderr.splitlines()
    assert one.startswith(f"lspkit: {file}:2: timing.requestTimeoutMs: expected")
    assert other.startswith(f"{file}:1: timing.debounceMs: expected")


def test_a_bad_file_of_the_project_is_status_2_and_the_rest_is_shown(command, scene):
    say(scene, '{"timing": {"debounceMs": 1}}')
    project(scene, '{"timing": {"debounceMs": -2}}')
    done = run(command, scene, "show")
    assert done.returncode == 2
    assert "the whole file is ignored" in done.stdout
    assert "timing.debounceMs = 1" in done.stdout.splitlines()


@pytest.mark.parametrize("content", ["{}", "{"])
def test_the_paths_are_shown_also_of_bad_files(command, scene, content):
    say(scene, content)
    project(scene, content)
    done = run(command, scene, "path")
    assert done.stdout.splitlines() == [
        f"global   {scene}/own/lspkit/lsp.json",
        f"project  {scene}/project/.lspkit/lsp.json",
    ]
    plain = json.loads(run(command, scene, "path", "--json").stdout)
    assert plain["project"] == f"{scene}/project/.lspkit/lsp.json"


def test_a_path_that_is_not_there_is_told(command, scene):
    done = run(command, scene, "path")
    assert done.stdout.splitlines() == [
        f"global   {scene}/own/lspkit/lsp.json (not there)",
        "project  (none)",
    ]


def test_another_folder_can_be_named(command, scene):
    project(scene, '{"timing": {"requestTimeoutMs": 7}}')
    done = command("config", "show", "--root", scene / "project", cwd="/")
    assert "timing.requestTimeoutMs = 7" in done.stdout.splitlines()


def test_the_schema_is_json(command, scene):
    done = run(command, scene, "schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["properties"]["timing"]["$ref"] == "#/$defs/TimingConfig"


@pytest.mark.parametrize("words", [[], ["unheard"], ["show", "--colour"]])
def test_a_mistake_in_the_call_is_status_2_with_the_usage(command, scene, words):
    done = run(command, scene, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: lspkit")


def test_names_of_files_may_be_anything(command, tmp_path):
    root = tmp_path / "a\nb\x1b[31m\udcff"
    root.mkdir()
    (root / ".lsp.json").write_text('{"timng": 1}', encoding="utf-8")
    done = command("config", "show", "--origin", "--root", root, cwd="/")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert r"a\nb\x1b[31m\udcff/.lsp.json" in done.stdout
