"""Which interpreter a server of Python uses, and why it is that one."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from lspkit.config import Config, ServerConfig
from lspkit.diagnostics.report import Evidence, Report
from lspkit.diagnostics.unresolved_imports import import_hint
from lspkit.servers.restriction import trust_profile
from lspkit.servers.restriction.python_interpreter import CHANGE, ORDER, interpreter_of
from lspkit.servers.selection.choose import Choice, definitions, permitted
from lspkit.types import Diagnostic, Interpreter, Position, Range, Severity, Verdict

UNTRUSTED = trust_profile.Permit(False, "untrusted", "lspkit trust add .")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


def made(folder: Path) -> str:
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    return str(folder / "bin" / "python")


def choice(
    server: str, project: Path, *, trusted: bool = True, said: ServerConfig | None = None
) -> Choice:
    config = Config(lsp={server: said} if said is not None else {})
    definition = next(one for one in definitions(config) if one.id == server)
    permit = trust_profile.ALL if trusted else UNTRUSTED
    at = str(project)
    return permitted(definition, said or ServerConfig(), at, at, ["/nowhere"], permit)


@pytest.mark.parametrize("server", ORDER)
def test_the_one_in_the_project_is_used_if_no_other_is_named(server, project):
    own = made(project / ".venv")
    found = interpreter_of(choice(server, project), {"PATH": "/usr/bin"})
    assert found == Interpreter(own, "it is in the project", CHANGE[server])


@pytest.mark.parametrize("server", ["ty", "pyrefly"])
def test_an_active_environment_comes_before_it(server, project, tmp_path):
    made(project / ".venv")
    other = made(tmp_path / "other")
    found = interpreter_of(choice(server, project), {"VIRTUAL_ENV": str(tmp_path / "other")})
    assert found is not None
    assert (found.path, found.why) == (other, "VIRTUAL_ENV names its environment")


@pytest.mark.parametrize("server", ["basedpyright", "pyright", "zuban"])
def test_for_others_that_of_the_project_comes_first(server, project, tmp_path):
    own = made(project / ".venv")
    made(tmp_path / "other")
    found = interpreter_of(choice(server, project), {"VIRTUAL_ENV": str(tmp_path / "other")})
    assert found is not None
    assert found.path == own


def test_the_first_on_path_is_the_last_resort(project, tmp_path):
    other = made(tmp_path / "other")
    folder = os.path.dirname(other)
    found = interpreter_of(choice("pyright", project), {"PATH": f".:{folder}"})
    assert found is not None
    assert os.path.dirname(found.path) == folder
    assert found.why.startswith("it is the first on PATH")
    active = {"PATH": folder, "VIRTUAL_ENV": str(tmp_path / "other")}
    found = interpreter_of(choice("pyright", project), active)
    assert found is not None
    assert found.why.startswith("its environment is active")


def test_the_configuration_is_named_as_the_reason(project):
    made(project / ".venv")
    said = ServerConfig(settings={"python": {"pythonPath": "/usr/bin/python3"}})
    found = interpreter_of(choice("pyright", project, said=said), {})
    assert found is not None
    assert (found.path, found.why) == (
        "/usr/bin/python3",
        "the configuration names it (python.pythonPath)",
    )


def test_that_of_an_untrusted_project_is_held_back_and_the_reason_says_so(project):
    made(project / ".venv")
    found = interpreter_of(choice("basedpyright", project, trusted=False), {})
    assert found is not None
    assert found.path == sys.executable
    assert ".venv/bin/python is not run since the project is not trusted" in found.why
    assert found.change == "lspkit trust add ."


def test_a_server_of_another_language_has_none(project):
    assert interpreter_of(choice("gopls", project), {}) is None


def test_without_any_interpreter_that_is_said(project):
    found = interpreter_of(choice("zuban", project), {"PATH": ""})
    assert found is not None
    assert str(found) == "no interpreter, because none was found"


# The hint


def finding(code: str) -> Diagnostic:
    at = Position(1, 1)
    return Diagnostic(
        path=Path("a.py"),
        range=Range(at, at),
        severity=Severity.ERROR,
        message="m",
        uri="file:///a.py",
        code=code,
        servers=("ty",),
    )


def report(*codes: str) -> Report:
    used = Interpreter("/usr/bin/python3", "it is the first on PATH", "activate another")
    evidence = Evidence("ty", 1, "pull", 0.1, interpreter=used)
    found = [finding(code) for code in codes]
    return Report(Path("a.py"), Verdict.DIRTY, found, [evidence], duration=0.1)


def test_most_findings_being_imports_is_told_with_the_interpreter():
    reports = [report("unresolved-import", "unresolved-import"), report("unresolved-import", "x")]
    assert import_hint(reports) == (
        "3 of 4 findings are unresolved imports; ty uses /usr/bin/python3 because it is the first "
        "on PATH; to use another: activate another"
    )


@pytest.mark.parametrize(
    "codes", [[], ["unresolved-import"], ["unresolved-import"] * 3 + ["x"] * 3, ["x"] * 5]
)
def test_otherwise_nothing_is_said(codes):
    assert import_hint([report(*codes)]) == ""
