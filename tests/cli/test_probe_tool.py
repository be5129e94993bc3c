"""`python -m tools.probe`: a row about a real server, and the judgement of its race."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lspkit.diagnostics.report import Evidence, Report
from lspkit.protocol.capabilities import InitializeOptions
from lspkit.servers.built_in import BUILT_IN
from lspkit.testing import Diagnostics, Fault, Say, Script
from lspkit.types import Diagnostic, Position, Range, Severity, Verdict
from tests.cli.running import TIMEOUT
from tests.cli.shop import configured
from tools.probe.__main__ import race_line
from tools.probe.bare_client import BareClient, ProbeError
from tools.probe.courses import COURSES, Template
from tools.probe.race import tally

ROOT = Path(__file__).resolve().parent.parent.parent

TEMPLATE = Template("a.py", "GAP\nLINE\n", "ok = NUMBER", "bad = NUMBER")


def report(*lines: int, verdict: Verdict | None = None) -> Report:
    found = [
        Diagnostic(
            path=Path("a.py"),
            range=Range(Position(line, 1), Position(line, 2)),
            severity=Severity.ERROR,
            message="m",
            uri="file:///a.py",
        )
        for line in lines
    ]
    if verdict is None:
        verdict = Verdict.DIRTY if lines else Verdict.CLEAN
    return Report(Path("a.py"), verdict, found, [Evidence("ty", 1, "pull", 0.1)], duration=0.02)


def probe(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.probe", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.server
@pytest.mark.slow
def test_a_server_is_measured_and_raced(tmp_path):
    done = probe(tmp_path, "ty", "--rounds", "12", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tier"] == "1"
    assert found["diagnostics"] == "pull"
    assert found["encodings"] == [8, 16, 32]
    assert found["capabilities"] == "DIRHSWCTN+A"
    assert found["initialize"] > 0 < found["changed"]
    assert (found["race"]["reports"], found["race"]["wrong"]) == (12, 0)


#: Findings that no client can place.
MALFORMED = {
    "no range": {"message": "m"},
    "line below 0": {"range": {"start": {"line": -1}}, "message": "m"},
    "no object": 5,
}


@pytest.mark.parametrize("finding", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("how", ["pull", "push"])
def test_a_malformed_finding_is_reported_and_the_rest_measured(tmp_path, scripted, how, finding):
    note = {"uri": "file:///a.py", "diagnostics": [finding]}
    push = {"method": "textDocument/publishDiagnostics", "params": note}
    script = Script(
        diagnostics=Diagnostics(how="pull" if how == "pull" else "none"),
        answers={"textDocument/diagnostic": {"kind": "full", "items": [finding]}},
        say=[Say("textDocument/didOpen", notification=push)] if how == "push" else [],
    )
    variables = configured(tmp_path, "ruff", command=scripted(script))
    done = probe(tmp_path, "ruff", "--json", **variables)
    assert (done.returncode, done.stderr) == (3, "")
    method = "textDocument/diagnostic" if how == "pull" else push["method"]
    shown = json.dumps(finding, separators=(",", ":"))
    found = json.loads(done.stdout)
    assert found["notes"] == [f"{method}: a finding has no range.start.line: {shown}"]
    assert found["capabilities"], "the rest is measured"


def test_a_server_that_does_not_read_is_not_waited_for_without_end(tmp_path, scripted):
    script = Script(faults=[Fault("initialized", "stop-reading")])
    options = InitializeOptions(tmp_path.as_uri(), tmp_path.name)
    with BareClient(tuple(scripted(script)), options, os.environ) as client:
        client.initialize(TIMEOUT)
        client.notify("workspace/didChangeConfiguration", {"settings": "x" * 1_000_000})
        with pytest.raises(ProbeError, match="it does not read its input"):
            client.request("workspace/symbol", {"query": ""}, 1.0)


def test_every_course_is_of_a_known_server():
    assert set(COURSES) <= {one.id for one in BUILT_IN}


def test_verdicts_are_held_against_the_texts():
    clean, broken = TEMPLATE.make(1, broken=False), TEMPLATE.make(2, broken=True)
    raced = tally(
        [
            (clean, report()),
            (broken, report(broken.line)),
            (broken, report(broken.line + 1)),
            (broken, report()),
            (clean, report(1)),
            (clean, report(verdict=Verdict.UNKNOWN)),
            (broken, None),
        ],
        "ty",
    )
    assert (raced.reports, raced.wrong, raced.false_clean, raced.unknown) == (7, 3, 1, 2)
    assert race_line(raced) == (
        "7 overlapping checks: 3 wrong, 1 of them falsely clean, 2 unknown; proof pull, p50 20 ms"
    )
