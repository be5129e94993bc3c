"""`connect()` gives the results and errors of `Workspace`, field by field: scripted servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lspkit import errors
from lspkit.operations.request import OPERATIONS
from lspkit.testing import Fault, Script, leaks_since, take_snapshot
from tests.faults.operations import answers
from tests.service.compared_outcomes import Outcomes, differences, outcomes_of
from tests.service.error_cases import CLOSED, FAILURES
from tests.service.result_cases import ODD, RESULTS, TEXT, A

pytestmark = pytest.mark.slow


def write_project(root: Path) -> None:
    for name in (A, "p.two", "x.none", "x.gone", "x.brk", "x.lim", "x.go"):
        (root / name).write_text(TEXT)
    (root / ODD).write_text(TEXT)
    (root / "b.scr").write_text("def treat\n")
    (root / "binary.scr").write_bytes(b"\0\x01\xff" * 100)
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x.scr").write_text(TEXT)


def configuration(folder: Path, root: Path) -> dict[str, Any]:
    canned = {**answers((root / A).as_uri()), "x/fail": None, "x/hang": None}
    scripts = {
        "scripted": (
            ".scr",
            Script(
                answers=canned,
                faults=[
                    Fault("x/hang", "hang"),
                    Fault("x/fail", "error", code=-32001, message="it cannot\nbe done"),
                ],
            ),
        ),
        "one": (".two", Script()),
        "two": (".two", Script(faults=[Fault("textDocument/definition", "error")])),
        "broken": (".brk", Script(faults=[Fault("textDocument/hover", "crash", code=3)])),
        "limited": (".lim", Script(capabilities={"hoverProvider": None})),
    }
    servers: dict[str, Any] = {
        name: {"command": script.command(folder / name), "extensions": [extension], "proof": "pull"}
        for name, (extension, script) in scripts.items()
    }
    servers["gone"] = {"command": ["no-such-program-of-lspkit"], "extensions": [".gone"]}
    servers["gopls"] = {"command": ["no-such-program-of-lspkit"]}
    return {"lsp": servers}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("same")
    root = folder / "project"
    cases = {**RESULTS, **{name: case for name, (_, _, case) in FAILURES.items()}, **CLOSED}
    before = take_snapshot()
    found = outcomes_of(cases, root, write_project, configuration(folder, root))
    assert leaks_since(before) == []
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_the_same(outcomes: Outcomes, name: str) -> None:
    local, remote = outcomes.local[name], outcomes.remote[name]
    assert not isinstance(local, Exception), local
    assert differences(remote, local) == []


@pytest.mark.parametrize("name", FAILURES)
def test_an_error_is_the_same(outcomes: Outcomes, name: str) -> None:
    kind, code, _ = FAILURES[name]
    local, remote = outcomes.local[name], outcomes.remote[name]
    assert type(local) is kind, local
    assert getattr(local, "code", "") == code
    assert differences(remote, local) == []


def test_the_command_that_installs_a_server_is_passed_on(outcomes: Outcomes) -> None:
    remote = outcomes.remote["unavailable, with the command to install it"]
    assert "gopls" in remote.install


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_workspace_says_so(outcomes: Outcomes, name: str) -> None:
    assert type(outcomes.local[name]) is errors.WorkspaceClosedError
    assert differences(outcomes.remote[name], outcomes.local[name]) == []


def test_every_operation_has_a_case(outcomes: Outcomes) -> None:
    assert outcomes.requests == set(OPERATIONS)
