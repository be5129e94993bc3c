"""`connect()` gives the results of `Workspace` on real servers, field by field."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest

import lspkit.operations as ops
from lspkit.testing import leaks_since, take_snapshot
from tests import real_servers
from tests.real.projects import PROJECTS, Project
from tests.real.running import TIMING, command
from tests.service.compared_outcomes import Case, Outcomes, Scene, differences, outcomes_of

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one call on a busy machine.
LONG = 100.0


def cases_of(project: Project) -> dict[str, Case]:
    """Calls about a project whose results depend on the server."""
    main, near = project.main, project.near
    far_use, method = project.place(project.far_use), project.place(project.method)

    def at_use(name: str, **more: Any) -> Case:
        return lambda s: getattr(s.ws, name)(main, *far_use, timeout=LONG, **more)

    def at_method(name: str, **more: Any) -> Case:
        return lambda s: getattr(s.ws, name)(near, *method, timeout=LONG, **more)

    def actions(scene: Scene) -> Any:
        offers = []
        for finding in scene.ws.check(main, timeout=LONG).diagnostics:
            (line, column), end = msgspec.structs.astuple(finding.range.start), finding.range.end
            beyond = {"end_line": end.line, "end_column": end.column}
            offers += scene.ws.code_actions(main, line, column, **beyond, timeout=LONG)
        return offers

    def checked_text(scene: Scene) -> Any:
        return scene.ws.check(main, project.files[main] + "\n1 +\n", timeout=LONG)

    def states(scene: Scene) -> Any:
        return [(row.server, row.state, row.diagnostics) for row in scene.ws.status().rows]

    def renamed(scene: Scene) -> Any:
        before = {name: (scene.root / name).read_text() for name in project.files}
        edit = scene.ws.rename(near, *method, "extent", timeout=LONG)
        applied = scene.ws.apply(edit, timeout=LONG)
        after = {name: (scene.root / name).read_text() for name in project.files}
        checked = scene.ws.check_all([main, near], timeout=LONG)
        scene.ws.undo(applied)
        assert before != after
        assert before == {name: (scene.root / name).read_text() for name in project.files}
        return edit, applied, after, checked

    def rewritten(scene: Scene) -> Any:
        text = project.files[near]
        broken = scene.ws.write(near, text.replace("area", "volume"), timeout=LONG)
        dirty = scene.ws.check(main, timeout=LONG)
        restored = scene.ws.write(near, text, timeout=LONG)
        return broken, dirty, restored, scene.ws.check(main, timeout=LONG)

    def overlaid(scene: Scene) -> Any:
        with scene.ws.overlay({near: project.files[near].replace("area", "volume")}):
            inside = scene.ws.check(main, timeout=LONG)
        return inside, scene.ws.check(main, timeout=LONG)

    def synced(scene: Scene) -> Any:
        scene.ws.sync(near, project.files[near].replace("area", "volume"))
        symbols = scene.ws.document_symbols(near, text=project.files[near], timeout=LONG)
        return symbols, scene.ws.sync(near), scene.ws.check(near, timeout=LONG)

    return {
        "definition": at_use("definition"),
        "references": at_use("references"),
        "hover": at_use("hover"),
        "document_symbols": lambda s: s.ws.document_symbols(near, timeout=LONG),
        "workspace_symbols": lambda s: s.ws.workspace_symbols("Circle", near, timeout=LONG),
        "incoming_calls": at_method("incoming_calls"),
        "code_actions": actions,
        "check": lambda s: s.ws.check(main, timeout=LONG),
        "check of a text": checked_text,
        "check_all": lambda s: s.ws.check_all([main, near, project.far], timeout=LONG),
        "check_edit": lambda s: s.ws.run(
            ops.CheckEditRequest(
                files=(ops.EditedFile(near, project.files[near].replace("area", "volume")),)
            ),
            timeout=LONG,
        ),
        "rename, apply and undo": renamed,
        "write": rewritten,
        "overlay": overlaid,
        "sync": synced,
        "diagnostics": lambda s: s.ws.diagnostics(),
        "status": states,
    }


@pytest.fixture(scope="class")
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    server = request.cls.server
    real_servers.require(server)
    folder = tmp_path_factory.mktemp(server)
    (folder / "tmp").mkdir()
    environment = {**real_servers.servers()[server]["env"], "TMPDIR": str(folder / "tmp")}
    entry = {"command": command(server), "env": environment, "disabled": False}
    config = {"lsp": {server: entry, "ruff": {"disabled": True}}, "timing": TIMING}
    project = PROJECTS[server]
    before = take_snapshot()
    found = outcomes_of(cases_of(project), folder / "project", project.write, config)
    assert leaks_since(before) == []
    return found


class SameResults:
    server: ClassVar[str]

    @pytest.mark.parametrize("name", cases_of(PROJECTS["ty"]))
    def test_a_result_is_the_same(self, outcomes: Outcomes, name: str) -> None:
        local, remote = outcomes.local[name], outcomes.remote[name]
        if isinstance(local, Exception):
            assert type(local).__name__ == "UnsupportedError", local
        else:
            assert local
        assert differences(remote, local) == []


class TestTy(SameResults):
    server = "ty"


class TestTypeScript(SameResults):
    server = "typescript"
