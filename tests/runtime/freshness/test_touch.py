"""How a server that does not speak of a text is asked to look again: not for nothing, nor for ever.

Each time the document gets a new version with the text that it has.
"""

from __future__ import annotations

import pytest

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.testing import Diagnostics, Log, Say, Script
from tests.runtime.server_log import CHANGE, OPEN, finding, name_of, published
from tests.scripted import workspace

VERSION = ProofRule(how="version", single=True)
SILENT = Diagnostics(how="none")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(freshness_events, "PATIENCE", 0.1)
    monkeypatch.setattr(freshness_events, "PAUSE", 0.1)


@pytest.mark.parametrize("older", [None, 1], ids=["no-version", "first-version"])
def test_a_server_that_speaks_of_older_texts_for_long_still_comes_to_this_one(
    tmp_path, scripted, rules, older
):
    rules(VERSION)
    file = tmp_path / "a.scr"
    say = [
        Say(OPEN, notification=published(file, version=older), seconds=0.2),
        # Silent at first, then late: what it was asked to look at in between it passes over.
        Say(CHANGE, nth=2, notification=published(file, version=older), seconds=0.1),
        Say(CHANGE, nth=3, notification=published(file, version=older)),
        # Of that one or a later one: on a slow machine it may have been asked once more by then.
        Say(CHANGE, nth=4, times=0, notification=published(file, finding("now"), version=100)),
    ]
    argv = scripted(Script(diagnostics=SILENT, say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", timeout=30)
    assert (report.verdict.value, report.why) == ("dirty", "")
    assert [one.how for one in report.servers] == ["version"]


def test_a_server_that_stays_silent_is_asked_a_few_times_at_most(tmp_path, scripted, rules):
    rules(VERSION)
    argv = scripted(Script(diagnostics=SILENT))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", timeout=1.5)
        asked = len(Log.of(argv).messages(CHANGE))
    assert report.verdict.unknown
    # After 0.1, 0.3, 0.7 and 1.5 seconds, and no sooner however busy the machine is.
    assert 1 <= asked <= 4


def test_a_server_that_never_gives_a_version_is_asked_a_few_times_at_most(
    tmp_path, scripted, rules
):
    rules(VERSION)
    argv = scripted(Script(diagnostics=Diagnostics(version=False)))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", timeout=1.5)
        asked = len(Log.of(argv).messages(CHANGE))
    assert report.verdict.unknown
    # After 0, 0.1, 0.4, 1.1 and 2.6 seconds.
    assert 1 <= asked <= 4


def test_files_that_changed_together_are_looked_at_again_once_each(
    tmp_path, scripted, rules, monkeypatch
):
    rules(VERSION)
    argv, names = scripted(Script()), ["a.scr", "b.scr", "c.scr", "d.scr"]
    done: list[str] = []
    touch = DocumentChannel.touch

    def touching(channel, uri):
        done.append(uri)
        return touch(channel, uri)

    monkeypatch.setattr(DocumentChannel, "touch", touching)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        for text, verdict in (("fine\n", "clean"), ("ERROR\n", "dirty")):
            for name in names:
                (tmp_path / name).write_text(text, encoding="utf-8")
            done.clear()
            reports = ws.check_all(names)
            assert {one.verdict.value for one in reports.values()} == {verdict}
        changes = [name_of(one) for one in Log.of(argv).messages(CHANGE)]
    assert len(done) == 3, "the last one need not be touched"
    assert sorted(changes[:4]) == names
    assert sorted(changes[4:]) == sorted(changes[:3])
    versions = [one.servers[0].version for one in reports.values()]
    assert sorted(versions) == [2, 3, 3, 3]
