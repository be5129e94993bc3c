"""Folders that a server passes over: that it finds nothing in them is no proof."""

from __future__ import annotations

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.adapters.web_adapters import Oxlint
from lspkit.servers.definition_parts import Caveats
from lspkit.testing import Diagnostics, Say, Script
from tests.runtime.server_log import OPEN, define, finding, published
from tests.scripted import workspace

BARRIER = ProofRule(how="ordered", ask="textDocument/documentSymbol")
VERSION = ProofRule(how="version", single=True)


@pytest.mark.parametrize("rule", [ProofRule(), VERSION, BARRIER])
def test_a_server_is_not_believed_to_find_nothing_in_a_folder_that_it_passes_over(
    tmp_path, scripted, monkeypatch, rule
):
    define(monkeypatch, rule, caveats=Caveats(skipped_folders=("out",)))
    (tmp_path / "out").mkdir()
    for name, text in (("fine", "fine\n"), ("broken", "ERROR\n")):
        (tmp_path / "out" / f"{name}.scr").write_text(text, encoding="utf-8")
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        fine, broken = ws.check("out/fine.scr"), ws.check("out/broken.scr")
        elsewhere = ws.check("a.scr")
    assert fine.verdict.unknown
    assert fine.why == (
        "scripted: it passes over files in out/ unless the project says otherwise, "
        "so its silence proves nothing"
    )
    assert broken.verdict.dirty
    assert elsewhere.verdict.clean


def test_oxlint_is_not_believed_to_find_nothing_in_a_file_that_an_ignore_file_names(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), adapter=Oxlint())
    (tmp_path / ".eslintignore").write_text("b.*\n", encoding="utf-8")
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script()), text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        ignored = ws.check("b.scr")
    assert ignored.verdict.unknown
    assert "it passes over what .eslintignore names" in ignored.why


@pytest.mark.parametrize("severity", [2, 3, 4])
def test_less_than_an_error_does_not_prove_that_a_server_has_looked_at_a_file_that_it_passes_over(
    tmp_path, scripted, monkeypatch, severity
):
    define(monkeypatch, VERSION, caveats=Caveats(skipped_folders=("out",)))
    file = tmp_path / "out" / "a.scr"
    file.parent.mkdir()
    file.write_text("fine\n", encoding="utf-8")
    hint = published(file, {**finding("not used"), "severity": severity}, version=1)
    silent = Diagnostics(on=[])
    say = [Say(OPEN, notification=hint)]
    with workspace(tmp_path, scripted(Script(diagnostics=silent, say=say))) as ws:
        report = ws.check("out/a.scr")
    assert report.verdict.unknown
    assert [one.message for one in report.diagnostics] == ["not used"]


@pytest.mark.parametrize("severity", [1, 2])
def test_a_server_that_says_that_it_has_not_looked_is_taken_at_its_word(
    tmp_path, scripted, monkeypatch, severity
):
    define(monkeypatch, VERSION, caveats=Caveats(disclaimers=("No part of anything",)))
    (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
    said = {**finding("No part of anything.\nSee there."), "severity": severity}
    say = [Say(OPEN, notification=published(tmp_path / "a.scr", said, version=1))]
    with workspace(tmp_path, scripted(Script(diagnostics=Diagnostics(on=[]), say=say))) as ws:
        report = ws.check("a.scr")
    assert report.verdict.unknown
    assert report.why == "scripted: No part of anything."
