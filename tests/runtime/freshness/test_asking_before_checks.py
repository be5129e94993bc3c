"""Servers that publish without versions, and ask for a file's settings when they begin to check."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.diagnostics.report import Change, Report
from lspkit.servers.adapters.web_adapters import Yaml
from lspkit.testing import Diagnostics, Say, Script
from tests.runtime.server_log import CHANGE, finding, published
from tests.scripted import workspace

OPEN = "textDocument/didOpen"
#: The silence is longer than a check may take here: what is proven earlier is proven otherwise.
RULE = ProofRule(how="quiet", debounce=30.0, trusted=True)
NO_PUSHES = Diagnostics(how="none", version=False)


def ask(when: str, path: Path, *, seconds: float = 0.0, nth: int = 1) -> Say:
    params = {"items": [{"section": "[scripted]", "scopeUri": path.as_uri()}]}
    request = {"method": "workspace/configuration", "params": params}
    return Say(when, request=request, seconds=seconds, nth=nth)


def push(when: str, path: Path, *findings: str, seconds: float, nth: int = 1) -> Say:
    said = published(path, *map(finding, findings))
    return Say(when, notification=said, seconds=seconds, nth=nth)


def outcome(report: Report) -> tuple[str, str, int | None]:
    [evidence] = report.servers
    return report.verdict.value, evidence.how, evidence.version


def written(change: Change) -> tuple[str, str, int | None]:
    assert change.report is not None
    [report] = change.report.reports
    return outcome(report)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.scr"


def test_the_push_after_the_request_is_about_the_text_that_was_sent_before(
    tmp_path, scripted, rules, path
):
    rules(RULE, adapter=Yaml())
    say = [
        ask(OPEN, path, seconds=0.05),
        push(OPEN, path, seconds=0.1),
        ask(CHANGE, path, seconds=0.05),
        push(CHANGE, path, "wrong", seconds=0.1),
    ]
    argv = scripted(Script(say=say, diagnostics=NO_PUSHES))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert outcome(ws.check("a.scr", timeout=20)) == ("clean", "version", 1)
        assert written(ws.write("a.scr", "wrong\n", timeout=20)) == ("dirty", "version", 2)


@pytest.mark.parametrize("silence", [30.0, 0.2])
def test_a_check_that_was_under_way_when_the_text_was_sent_is_not_about_it(
    tmp_path, scripted, rules, path, silence
):
    """The server asks for the settings before the change, and publishes after it.

    The next check takes long: a silence before its end proves nothing.
    """
    rules(msgspec.structs.replace(RULE, debounce=silence), adapter=Yaml())
    say = [
        ask(OPEN, path, seconds=0.05),
        push(OPEN, path, seconds=0.1),
        # At once, so that it comes with the answer to the request before the change.
        Say("textDocument/documentSymbol", request=ask(OPEN, path).request, wait=True),
        push(CHANGE, path, "of the text before", seconds=0.05),
        ask(CHANGE, path, seconds=0.1),
        push(CHANGE, path, seconds=1.0),
    ]
    argv = scripted(Script(say=say, diagnostics=NO_PUSHES))
    with workspace(tmp_path, argv, text="def fine\n") as ws:
        assert ws.check("a.scr", timeout=20).verdict.clean
        ws.document_symbols("a.scr")
        assert written(ws.write("a.scr", "as fine\n", timeout=20)) == ("clean", "version", 2)


@pytest.mark.parametrize("asks", [True, False])
def test_without_the_request_only_silence_counts(tmp_path, scripted, rules, path, asks):
    """As with an older release of the server, or with two checks at the same time."""
    rules(msgspec.structs.replace(RULE, debounce=1.0), adapter=Yaml())
    say = [ask(OPEN, path), ask(OPEN, path, seconds=0.02)] if asks else []
    say += [push(OPEN, path, "early", seconds=0.1), push(OPEN, path, seconds=0.15)]
    argv = scripted(Script(say=say, diagnostics=NO_PUSHES))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr", timeout=20)
    assert outcome(report)[:2] == ("clean", "silence")
