"""Checks of many projects, on threads, on a process pool and on a Dask cluster."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

import lspkit
from lspkit.batch import Project, ProjectCheck, merge_sarif
from lspkit.testing import Diagnostics, Fault, Script
from tests.batch.killed_worker import PULL, check_and_kill, log_of
from tests.cli.check.test_sarif import valid
from tests.scripted import comes_true, config_for, lives

CHECKOUT = Path(lspkit.__file__).parents[1]
#: The project whose server hangs at the first start, so that its worker can be killed meanwhile.
HELD = 3
COUNT = 8


@pytest.fixture
def projects(tmp_path, scripted) -> list[Project]:
    """Every second one has an error in its file."""
    made = []
    for number in range(COUNT):
        root = tmp_path / f"project-{number}"
        root.mkdir()
        (root / "a.scr").write_text("ERROR\n" if number % 2 else "fine\n")
        hangs = [Fault(PULL, "hang", run=1)] if number == HELD else []
        script = Script(diagnostics=Diagnostics(how="pull"), faults=hangs)
        made.append(Project(root, config=config_for(scripted(script)), trusted=True))
    return made


def expected(projects: list[Project]) -> dict[str, str]:
    return {str(one.root): "dirty" if at % 2 else "clean" for at, one in enumerate(projects)}


def on_dask(projects: list[Project], folder: Path, **orders: Any) -> list[dict[str, Any]]:
    """What a batch on a Dask cluster of worker processes has printed."""
    told = json.dumps({"projects": [[str(one.root), one.config] for one in projects], **orders})
    done = subprocess.run(
        [sys.executable, "-m", "tests.batch.killed_worker", told],
        cwd=CHECKOUT,
        env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("where", ["process pool", "dask"])
def test_every_project_has_an_answer_though_a_worker_is_killed(
    projects, tmp_path_factory, where, ordered
):
    if where == "dask":
        pytest.importorskip("distributed", reason="Dask is a package for development")
        folder = tmp_path_factory.mktemp("dask")
        results = on_dask(projects, folder, held=HELD, ordered=ordered)
    else:
        with ProcessPoolExecutor(2) as pool:
            found = check_and_kill(projects, pool, HELD, ordered=ordered)
        results = [one.to_dict() for one in found]
    assert {one["root"]: one["verdict"] for one in results} == expected(projects)
    assert len(results) == COUNT
    assert [one["error"] for one in results] == [None] * COUNT
    assert not ordered or [one["root"] for one in results] == [str(one.root) for one in projects]
    assert len(log_of(projects[HELD]).pids()) == 2
    pids = [pid for one in projects for pid in log_of(one).pids()]
    assert comes_true(lambda: not any(map(lives, pids)))


def test_dask_checks_again_what_it_was_asked_before(projects, tmp_path_factory):
    pytest.importorskip("distributed", reason="Dask is a package for development")
    folder = tmp_path_factory.mktemp("dask")
    found = on_dask(projects[:1], folder, held=None, ordered=False)
    assert [one["verdict"] for one in found] == ["clean", "dirty"]


@pytest.fixture
def results(projects, tmp_path) -> list[ProjectCheck]:
    """Of three projects, of which one does not exist."""
    wanted = [projects[0], tmp_path / "nowhere", projects[1]]
    with ThreadPoolExecutor(2) as threads:
        return list(lspkit.batch.check(wanted, executor=threads, ordered=True, timeout=60))


def test_a_project_that_cannot_be_opened_has_an_error(results, tmp_path):
    assert [one.verdict.value for one in results] == ["clean", "unknown", "dirty"]
    assert isinstance(results[1].error, lspkit.PathError)
    assert results[1].root == tmp_path / "nowhere"
    assert str(results[1]).endswith("nowhere does not exist)")
    assert str(results[2]).endswith("project-1: dirty (1 file, 1 finding)")
    assert results[1].to_dict()["error"]["code"] == "ENOENT"


def test_results_can_be_sent_on(results):
    again = [pickle.loads(pickle.dumps(one)) for one in results]
    assert [one.to_dict() for one in again] == [one.to_dict() for one in results]
    assert json.dumps([one.to_dict() for one in results])


def test_the_logs_of_all_projects_become_one(results):
    runs = valid(merge_sarif(results))
    assert [len(one["results"]) for one in runs] == [0, 0, 1]
    assert [one["invocations"][0]["executionSuccessful"] for one in runs] == [True, False, True]
    ids = [one["automationDetails"]["id"] for one in runs]
    assert len(set(ids)) == 3
    assert ids[2].endswith("/project-1/")
    assert "does not exist" in json.dumps(runs[1]["invocations"])


def test_only_the_named_paths_are_checked(projects):
    root = Path(projects[0].root)
    (root / "b.scr").write_text("ERROR\n")
    named = msgspec.structs.replace(projects[0], paths=["a.scr", "missing.scr"])
    with ThreadPoolExecutor(1) as threads:
        (found,) = lspkit.batch.check([named], executor=threads, timeout=60)
    assert [one.path for one in found.reports] == [root / "a.scr"]
    assert list(found.unchecked) == [str(root / "missing.scr")]
    assert found.verdict is lspkit.Verdict.UNKNOWN


def test_a_configuration_that_cannot_be_sent_is_an_error(projects):
    odd = msgspec.structs.replace(projects[0], config={"lsp": lambda: None})
    with ProcessPoolExecutor(1) as pool:
        found = list(lspkit.batch.check([odd, projects[1]], executor=pool, ordered=True))
    assert "the executor has not checked the project" in str(found[0].error)
    assert found[1].verdict is lspkit.Verdict.DIRTY


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"projects": "one"}, "a list of folders"),
        ({"projects": ["one"], "executor": 4}, "concurrent.futures.Executor"),
    ],
)
def test_a_mistake_in_the_call_is_named_at_once(arguments, words):
    with pytest.raises(TypeError, match=words):
        lspkit.batch.check(**{"executor": None, **arguments})


def test_importing_brings_no_dask_and_no_process_pool():
    program = "import sys, lspkit, lspkit.batch.check_outcome; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint({"dask", "distributed", "multiprocessing"})
