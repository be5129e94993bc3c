"""What servers are told of besides the files of their own root: folders, the whole workspace, and
packages that are installed."""

from __future__ import annotations

import msgspec
import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.pool import disk_events
from lspkit.servers.adapters.python_adapters import Ty
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import DiskReactions, Launch, Refresh, Roots
from lspkit.servers.project.file_relevance import may_read
from lspkit.testing import Fault, Log, Script
from tests.runtime.pool.test_disk_events import BY_PULL, SCR, happened, listening, watching
from tests.runtime.server_log import (
    CHANGE,
    CHANGED,
    CREATED,
    DELETED,
    OPEN,
    PULL,
    WATCHED,
    adapter_with,
    define,
    heard,
    outside,
    written_outside,
)
from tests.scripted import config_for, workspace

# Folders


def test_folders_are_told_to_those_who_registered_for_them(tmp_path, scripted):
    with watching(tmp_path, scripted(listening("**"))) as (_, log):
        outside("paths[0].mkdir()", tmp_path / "package")
        written_outside(tmp_path / "package/b.scr", "new")
        assert set(happened(log, tmp_path)) >= {("package", CREATED), ("b.scr", CREATED)}
        outside("import shutil; shutil.rmtree(paths[0])", tmp_path / "package")
        log.wait_for(lambda _: ("package", DELETED) in heard(log))


def test_folders_are_not_told_to_those_who_only_want_files(tmp_path, scripted):
    with watching(tmp_path, scripted(SCR)) as (_, log):
        outside("paths[0].mkdir()", tmp_path / "package")
        written_outside(tmp_path / "package/b.scr", "new")
        assert happened(log, tmp_path) == [("b.scr", CREATED)]


def test_a_folder_that_a_write_has_made_is_told_before_the_next_question(tmp_path, scripted):
    with watching(tmp_path, scripted(listening("**"))) as (ws, log):
        ws.write("package/b.scr", "new")
        ws.document_symbols("a.scr")
        assert [one for one in heard(log) if not one[0].endswith(".sign")] == [
            ("package", CREATED),
            ("b.scr", CREATED),
        ]


# The workspace around a root


@pytest.fixture
def sibling(tmp_path):
    """A workspace of two packages: the server's, and another one."""
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scr.toml").touch()
    (tmp_path / "app/a.scr").write_text("fine\n", encoding="utf-8")
    return tmp_path / "lib"


def beside(folder, argv):
    """A workspace whose server has the root `app`."""
    return lspkit.Workspace(folder, config=config_for(argv, rootMarkers=["scr.toml"]))


def test_a_server_hears_of_what_lies_beside_its_root(tmp_path, sibling, scripted):
    argv = scripted(SCR)
    with beside(tmp_path, argv) as ws:
        ws.check("app/a.scr")
        written_outside(sibling / "b.scr", "new")
        ws.check("app/a.scr")
        assert ("b.scr", CREATED) in heard(Log.of(argv))
        ws.write("lib/b.scr", "newer")
        ws.check("app/a.scr")
        assert heard(Log.of(argv)).count(("b.scr", CHANGED)) == 1


def test_what_lies_beside_a_root_makes_earlier_proofs_void(tmp_path, sibling, scripted):
    with beside(tmp_path, scripted(Script())) as ws:
        assert ws.check("app/a.scr").servers[0].version == 1
        written_outside(sibling / "data", "new")
        assert ws.check("app/a.scr").servers[0].version == 2
        ws.write("lib/data", "newer")
        assert ws.check("app/a.scr").servers[0].version == 3
        assert ws.check("app/a.scr").servers[0].version == 3


# What a definition adds


def test_a_server_that_asks_for_nothing_is_told_what_its_definition_says(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(told_of=("**/*.txt",)))
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "b.txt", "new")
        written_outside(tmp_path / "c.log", "new")
        ws.check("a.scr")
        assert heard(Log.of(argv)) == [("b.txt", CREATED)]


def test_what_a_server_does_not_read_leaves_its_proofs_as_they_are(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(how="version"), disk=DiskReactions(reads=("*.txt",)))
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "c.log", "new")
        assert ws.check("a.scr").servers[0].version == 1
        written_outside(tmp_path / "b.txt", "new")
        assert ws.check("a.scr").servers[0].version == 2


@pytest.mark.parametrize("name", ["app.log", "x.tmp", ".a.py.swp", ".coverage", "data.db-journal"])
def test_what_is_written_while_a_program_runs_concerns_nobody(name):
    anything = Definition(
        id="x", family="x", languages={".x": "x"}, launch=Launch(commands=(("x",),))
    )
    assert not may_read(anything, f"/project/{name}")
    assert may_read(anything, "/project/notes.txt")
    of_logs = msgspec.structs.replace(anything, languages={".log": "log"})
    assert may_read(of_logs, "/project/app.log")


def test_a_marker_may_be_a_glob_and_is_read_whatever_else_is_not() -> None:
    row = Definition(
        id="x",
        family="x",
        languages={},
        roots=Roots(markers=("*.sln",)),
        disk=DiskReactions(reads=()),
    )
    assert may_read(row, "/project/all.sln")
    assert not may_read(row, "/project/all.txt")


# Packages

ANEW = "test/readAgain"


@pytest.fixture
def packages(tmp_path, scripted, monkeypatch):
    """Starts a server that reads packages; gives what was asked and said, package by package."""
    refresh = Refresh(method=ANEW, params={"root": "{root}"})
    disk = DiskReactions(packages="node_modules", refresh=refresh)
    define(monkeypatch, ProofRule(how="pull"), disk=disk)
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "node_modules/old/deep").mkdir(parents=True)
    for name in ("old/package.json", "old/deep/a.js", ".package-lock.json"):
        (tmp_path / "node_modules" / name).touch()
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")

        def after(code: str) -> list[str]:
            before = len(Log.of(argv).messages())
            outside(code, tmp_path / "node_modules")
            ws.check("a.scr")
            said = [one.get("method") for one in Log.of(argv).messages()[before:]]
            return [one for one in said if one in (ANEW, PULL)]

        yield after


@pytest.mark.parametrize(
    "code",
    {
        "installed": "(paths[0] / 'new').mkdir()",
        "with a scope": "(paths[0] / '@scope/new').mkdir(parents=True)",
        "removed": "import shutil; shutil.rmtree(paths[0] / 'old')",
        "replaced": "(paths[0] / 'old').rename(paths[0] / 'x'); (paths[0] / 'old').mkdir()",
        "written over": "(paths[0] / 'old/package.json').write_text('{}')",
        "noted down": "(paths[0] / '.package-lock.json').write_text('{}')",
        "by pnpm": "(paths[0] / '.pnpm/new@1.0.0').mkdir(parents=True)",
        "all of them gone": "import shutil; shutil.rmtree(paths[0])",
    }.values(),
)
def test_a_server_reads_everything_again_when_packages_change(packages, code):
    assert packages(code) == [ANEW, PULL]
    assert packages("pass") == [PULL]


@pytest.mark.parametrize("name", [".bin", ".cache", ".vite"])
def test_what_tools_keep_among_packages_is_none(packages, name):
    assert packages(f"(paths[0] / '{name}').mkdir()") == [PULL]


def test_nor_is_a_file_of_theirs(packages):
    assert packages("(paths[0] / '.lock').write_text('x')") == [PULL]


def test_what_lies_deep_in_a_package_is_not_watched(packages):
    assert packages("(paths[0] / 'old/deep/a.js').write_text('x')") == [PULL]


def test_packages_that_come_all_at_once_for_the_first_time_are_seen(packages):
    assert packages("import shutil; shutil.rmtree(paths[0])") == [ANEW, PULL]
    assert packages("(paths[0] / 'new').mkdir(parents=True)") == [ANEW, PULL]


def test_of_very_many_packages_only_some_are_watched_by_themselves(packages, monkeypatch):
    monkeypatch.setattr(disk_events, "MOST", 1)
    assert packages("(paths[0] / 'new').mkdir(); (paths[0] / 'new/a').touch()") == [ANEW, PULL]
    assert packages("(paths[0] / 'new/a').write_text('x')") == [PULL]
    assert packages("(paths[0] / 'old/a').write_text('x')") == [ANEW, PULL]
    assert packages("import shutil; shutil.rmtree(paths[0] / 'new')") == [ANEW, PULL]


def test_one_that_would_lose_an_edit_is_asked_something_after_many_files(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(how="pull"), adapter=adapter_with(loses_edits_after=5))
    with watching(tmp_path, scripted(listening("**/*.scr"))) as (_, log):
        for number in range(8):
            (tmp_path / f"{number}.scr").touch()
        log.wait_for(lambda _: len(heard(log)) >= 8 and log.messages("workspace/symbol"))


def test_one_that_would_block_is_made_to_end_its_work_before_it_is_told_of_a_new_file(
    tmp_path, scripted, monkeypatch
):
    """By a change of another document than the one that somebody waits for."""
    define(monkeypatch, ProofRule(how="pull"), adapter=Ty())
    (tmp_path / "b.scr").write_text("ok\n")
    silent = listening("**/*.scr", faults=[Fault("textDocument/hover", "hang")])
    with watching(tmp_path, scripted(silent)) as (ws, log):
        ws.check("b.scr")
        ws.check("a.scr")
        cancel = lspkit.CancelToken()
        waiting = ws.submit(ws.hover, "a.scr", 1, 1, cancel=cancel)
        log.wait_for(lambda _: log.messages("textDocument/hover"))
        begun = len(log.messages())
        written_outside(tmp_path / "new.scr", "new")
        log.wait_for(lambda _: ("new.scr", CREATED) in heard(log))
        written_outside(tmp_path / "new.scr", "newer")
        log.wait_for(lambda _: ("new.scr", CHANGED) in heard(log))
        cancel.set()
        assert isinstance(waiting.exception(20), lspkit.CancelledError)
        told = [one for one in log.messages()[begun:] if one.get("method") in (CHANGE, WATCHED)]
    assert [one["method"] for one in told] == [CHANGE, WATCHED, WATCHED]
    assert told[0]["params"]["textDocument"]["uri"].endswith("/b.scr")


def test_what_has_happened_on_disk_is_told_before_a_text_is_shown(tmp_path, scripted):
    """Else a server may take no notice that a file is back, since it has it open."""
    other = tmp_path / "other.scr"
    with watching(tmp_path, scripted(SCR)) as (ws, log):
        other.touch()
        with ws.overlay({other: "shown\n"}):
            ws.check(other)
        notes = log.messages()
    told, shown = (
        [number for number, one in enumerate(notes) if one.get("method") == method]
        for method in (WATCHED, OPEN)
    )
    about = [number for number in shown if "other.scr" in str(notes[number])]
    first = [number for number in told if "other.scr" in str(notes[number])]
    assert first[0] < about[0]
