"""`lspkit servers` and `lspkit doctor`: what is here, what is missing, and what is broken."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from lspkit.servers.built_in import BUILT_IN


def doctor(command: Any, folder: Path, **variables: str) -> tuple[int, list[dict[str, str]]]:
    done = command("doctor", folder, "--json", LSPKIT_STATE=str(folder.parent / "s"), **variables)
    found = json.loads(done.stdout)
    states = [one["state"] for one in found["examinations"]]
    assert found["broken"] == states.count("broken")
    assert done.returncode == (1 if found["broken"] else 0)
    return done.returncode, found["examinations"]


def about(subject: str, found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [one for one in found if one["subject"] == subject]


def test_a_missing_server_of_a_language_that_the_project_has_is_broken(bare, project):
    status, found = doctor(bare, project)
    assert status == 1
    [server] = [one for one in about("server", found) if one["state"] == "broken"]
    assert server["text"] == "no server for python: ty is missing"
    assert "pip install 'lspkit[python]'" in server["hint"]


def test_a_disabled_server_is_not_offered(bare, project):
    (project / ".lspkit").mkdir()
    (project / ".lspkit" / "lsp.json").write_text('{"lsp": {"ty": {"disabled": true}}}')
    _, found = doctor(bare, project)
    [server] = [one for one in about("server", found) if one["state"] == "broken"]
    assert server["text"] == (
        "no server for python: pyright is missing (ty is disabled in the configuration)"
    )
    assert "lspkit[python]" not in server["hint"]


def test_one_of_a_language_that_it_has_no_file_of_is_not(bare, tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "notes.md").write_text("# Notes\n")
    status, found = doctor(bare, tmp_path / "p")
    assert status == 0
    assert {one["state"] for one in about("server", found)} == {"note"}


def test_with_a_server_nothing_is_broken_and_the_interpreter_is_named(with_ty, project):
    status, found = doctor(with_ty, project)
    assert status == 0
    assert any(one["text"].startswith("ty ") for one in about("server", found))
    [interpreter] = about("interpreter", found)
    assert interpreter["text"].startswith("ty uses /")
    assert ", because " in interpreter["text"]
    assert interpreter["hint"].startswith("to use another: ")


def test_a_program_that_does_not_work_is_broken(bare, tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    program = tmp_path / "bin" / "ty"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho it is only a stub >&2\nexit 3\n")
    program.chmod(0o755)
    status, found = doctor(bare, folder, PATH=f"{program.parent}:/bin")
    assert status == 1
    [server] = [one for one in about("server", found) if one["state"] == "broken"]
    assert server["text"] == f"ty: {program}: it ends with 3: it is only a stub"


def test_a_bad_configuration_is_broken(bare, project, tmp_path_factory):
    file = tmp_path_factory.mktemp("user") / "bad.json"
    file.write_text("{")
    status, found = doctor(bare, project, LSPKIT_CONFIG=str(file))
    assert status == 1
    assert [one["state"] for one in about("configuration", found)] == ["broken"]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set with the shell of Linux")
def test_too_few_open_files_are_broken(bare, tmp_path):
    command = " ".join(bare.command("doctor", "."))
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n 100; exec {command}"],
        cwd=tmp_path,
        env=bare.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "only 100 open files; raise the limit: ulimit -n 100" in done.stdout


def test_limits_trust_tools_and_the_service_are_told(with_ty, project):
    _, found = doctor(with_ty, project)
    assert {one["subject"] for one in found} >= {
        *("versions", "configuration", "trust", "tools folder", "installers", "limits", "service")
    }


@pytest.mark.parametrize(
    ("variables", "said", "hint"),
    [
        ({}, "nothing in {} needs to be trusted, and it is not", "lspkit trust add {}"),
        ({"LSPKIT_TRUST": "always"}, "{} is trusted (LSPKIT_TRUST is always)", ""),
        ({"LSPKIT_TRUST": "never"}, "no program of {} may run, as you have decided", "never"),
    ],
    ids=["nothing", "always", "never"],
)
def test_what_trust_means_here_is_told(bare, tmp_path, variables, said, hint):
    state = {"LSPKIT_STATE": str(tmp_path / "state"), "LSPKIT_TRUST": ""}
    (tmp_path / "project").mkdir()
    done = bare("doctor", "--json", cwd=tmp_path / "project", **{**state, **variables})
    found = json.loads(done.stdout)["examinations"]
    [trust] = [one for one in found if one["subject"] == "trust"]
    assert trust["state"] == "ok"
    assert said.format(tmp_path / "project") in trust["text"]
    assert hint.format(tmp_path / "project") in trust["hint"]
    assert bool(trust["hint"]) == bool(hint)


def test_the_last_line_counts_what_is_broken(bare, with_ty, project):
    (project / "main.go").write_text("package main\n", encoding="utf-8")
    assert bare("doctor", cwd=project).stdout.splitlines()[-1] == "2 things broken"
    (project / "main.go").unlink()
    assert bare("doctor", cwd=project).stdout.splitlines()[-1] == "1 thing broken"
    assert with_ty("doctor", cwd=project).stdout.splitlines()[-1] == "nothing broken"


def test_every_server_has_a_row_with_its_place_or_how_to_get_it(with_ty, tmp_path):
    done = with_ty("servers", "--json", cwd=tmp_path)
    rows = {one["id"]: one for one in json.loads(done.stdout)}
    assert list(rows) == [one.id for one in BUILT_IN]
    for row in rows.values():
        assert row["path"] if row["state"] == "found" else row["install"], row
    assert rows["ty"]["where"] == "interpreter"
    # The newest one that is published, which may be newer than the one that was tried.
    assert rows["ty"]["version"] == metadata.version("ty")
    assert rows["ty"]["verified"]


def test_the_table_is_for_people(with_ty, tmp_path):
    lines = with_ty("servers", cwd=tmp_path).stdout.splitlines()
    assert len(lines) == len(BUILT_IN)
    [line] = [one for one in lines if one.startswith("pyrefly ")]
    assert line.split(None, 2) == [
        "pyrefly",
        "python",
        "missing; get it with: lspkit install pyrefly",
    ]
