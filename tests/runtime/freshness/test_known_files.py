"""Files that a server has findings about and that nobody has open: they are never contradicted."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.diagnostics.report import OtherFiles
from lspkit.operations.checks.dependent_files import EditSearch, check_dependents
from lspkit.operations.host import OtherScope
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.freshness.other_files import FROM_BEFORE, LEFT_OUT, MOST_OPENED
from lspkit.runtime.host.call_host import CallHost
from lspkit.testing import Diagnostics, Log, Say, Script
from tests.runtime.server_log import OPEN, PULL, asked, define, finding, published
from tests.scripted import config_for, workspace


def saying(*paths: Path, how: str = "push") -> Script:
    """Says of itself that something is wrong with these files, when the first one is opened."""
    says = [Say(OPEN, notification=published(path, finding("heard of")), nth=1) for path in paths]
    return Script(diagnostics=Diagnostics(how=how), say=says)


def messages(others: OtherFiles) -> dict[str, list[str]]:
    found = others.diagnostics
    return {Path(path).name: [one.message for one in all] for path, all in found.items()}


@pytest.mark.parametrize("how", ["push", "pull"])
def test_a_file_that_the_server_has_findings_about_is_opened_and_judged(tmp_path, scripted, how):
    (tmp_path / "b.scr").write_text("ERROR b\n", encoding="utf-8")
    argv = scripted(saying(tmp_path / "b.scr", how=how))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
        assert asked(Log.of(argv), OPEN) == ["a.scr", "b.scr"]
    assert (others.coverage, others.verdict.value) == ("open", "dirty")
    assert "ERROR b" in messages(others)["b.scr"]


def test_a_finding_that_no_longer_holds_leaves_the_file_clean(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    argv = scripted(saying(tmp_path / "b.scr"))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
    assert (others.verdict.value, others.diagnostics, others.unknown) == ("clean", {}, {})


def test_a_file_of_another_language_is_not_opened_and_what_is_new_counts(tmp_path, scripted):
    manifest = tmp_path / "manifest.txt"
    manifest.write_text("fine\n", encoding="utf-8")
    argv = scripted(saying(manifest))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
        assert asked(Log.of(argv), OPEN) == ["a.scr"]
    assert others.verdict.dirty
    assert messages(others) == {"manifest.txt": ["heard of"]}


def test_of_such_a_file_nothing_is_known_after_a_later_change(tmp_path, scripted):
    manifest = tmp_path / "manifest.txt"
    manifest.write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, scripted(saying(manifest)), text="fine\n") as ws:
        ws.check("a.scr")
        (tmp_path / "a.scr").write_text("fine again\n", encoding="utf-8")
        others = ws.check("a.scr", scope="project").other_files
    assert (others.verdict.value, others.diagnostics) == ("unknown", {})
    assert others.unknown == {manifest: f"scripted: {FROM_BEFORE}"}


def test_where_there_are_too_many_to_look_at_the_rest_is_unknown(tmp_path, scripted):
    paths = [tmp_path / f"f{number:02}.scr" for number in range(MOST_OPENED + 3)]
    for path in paths:
        path.write_text("fine\n", encoding="utf-8")
    argv = scripted(saying(*paths))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        first = ws.check("a.scr", scope="project").other_files
        second = ws.check("a.scr", scope="project").other_files
        assert len(Log.of(argv).messages(OPEN)) == 1 + len(paths)
    assert (first.verdict.value, len(first.unknown)) == ("unknown", 3)
    assert set(first.unknown.values()) == {f"scripted: {LEFT_OUT}"}
    assert (second.verdict.value, second.unknown) == ("clean", {})


def test_a_file_that_is_not_there_is_no_other_file(tmp_path, scripted):
    argv = scripted(saying(tmp_path / "gone.scr", tmp_path.parent / "outside.scr"))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
    assert (others.verdict.value, others.diagnostics, others.unknown) == ("clean", {}, {})


def test_a_file_of_another_root_is_left_to_the_server_of_that_root(tmp_path, scripted):
    nested = tmp_path / "nested"
    nested.mkdir()
    (nested / "scr.conf").touch()
    (nested / "b.scr").write_text("fine\n", encoding="utf-8")
    argv = scripted(saying(nested / "b.scr"))
    (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config_for(argv, rootMarkers=["scr.conf"])) as ws:
        others = ws.check("a.scr", scope="project").other_files
        assert asked(Log.of(argv), OPEN) == ["a.scr"]
    assert messages(others) == {"b.scr": ["heard of"]}


def test_what_one_source_has_found_counts_though_another_one_is_silent(
    tmp_path, scripted, monkeypatch
):
    build = ProofRule(how="progress", source="build", token="build", sees="disk")
    define(monkeypatch, OFFERED, build)
    (tmp_path / "b.scr").write_text("ERROR b\n", encoding="utf-8")
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.document_symbols("b.scr")
        engine, call = ws._engine, Call(2.0)
        host = CallHost(engine, Context(engine.files, engine.pool, engine.threads, call))
        others = check_dependents(host, EditSearch(), ("a.scr",), OtherScope())
        call.end()
        assert asked(Log.of(argv), PULL) == ["b.scr"]
    assert others.verdict.dirty
    assert messages(others) == {"b.scr": ["ERROR b"]}
    assert "build" in others.unknown[tmp_path / "b.scr"]


def test_what_comes_to_light_meanwhile_is_looked_at_as_well(tmp_path, scripted):
    for name in ("b", "c"):
        (tmp_path / f"{name}.scr").write_text(f"ERROR {name}\n", encoding="utf-8")
    says = [
        Say(OPEN, notification=published(tmp_path / f"{name}.scr", finding("heard of")), nth=number)
        for number, name in ((1, "b"), (2, "c"))
    ]
    with workspace(tmp_path, scripted(Script(say=says)), text="fine\n") as ws:
        others = ws.check("a.scr", scope="project").other_files
    assert messages(others) == {"b.scr": ["ERROR b"], "c.scr": ["ERROR c"]}
