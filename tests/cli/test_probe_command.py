"""`lspkit probe`: a row about a real server, and the judgement of its race."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lspkit.cli.machine.probe.bare_client import BareClient, ProbeError
from lspkit.cli.machine.probe.probe_command import COLUMNS, race_line, row_of
from lspkit.cli.machine.probe.probe_courses import COURSES, Template
from lspkit.cli.machine.probe.probe_race import tally
from lspkit.cli.machine.probe.server_probe import Measured
from lspkit.diagnostics.report import Evidence, Report
from lspkit.protocol.events import DiagnosticsPublished
from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.servers.built_in import BUILT_IN
from lspkit.testing import Diagnostics, Fault, Say, Script
from lspkit.types import Diagnostic, Position, Range, Severity, Verdict
from tests.cli.running import TIMEOUT
from tests.cli.shop import configured

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


@pytest.mark.server
@pytest.mark.slow
def test_a_server_is_measured_and_raced(with_ty, tmp_path):
    done = with_ty("probe", "ty", "--rounds", "12", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tier"] == "1"
    assert found["diagnostics"] == "pull"
    assert found["encodings"] == [8, 16, 32]
    assert found["capabilities"] == "DIRHSWCTN+A"
    assert found["initialize"] > 0 < found["changed"]
    assert (found["race"]["reports"], found["race"]["wrong"]) == (12, 0)


def test_a_missing_server_comes_with_how_to_get_it(bare, tmp_path):
    done = bare("probe", "pyrefly", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "lspkit: pyrefly is not installed; get it with: lspkit install pyrefly\n"


def test_a_program_that_cannot_be_run_is_status_3_with_the_reason(bare, tmp_path):
    program = tmp_path / "ruff"
    program.write_text("#!/gone/venv/bin/python\n", encoding="utf-8")
    program.chmod(0o755)
    variables = configured(tmp_path, "ruff", command=[str(program), "server"])
    done = bare("probe", "ruff", cwd=tmp_path, **variables)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"lspkit: ruff cannot be probed: {program} cannot be run: No such file or directory\n"
    )


#: Findings that no client can place.
MALFORMED = {
    "no range": {"message": "m"},
    "range that is null": {"range": None, "message": "m"},
    "line that is a text": {"range": {"start": {"line": "3"}}, "message": "m"},
    "line below 0": {"range": {"start": {"line": -1}}, "message": "m"},
    "no object": 5,
}


@pytest.mark.parametrize("finding", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("how", ["pull", "push"])
def test_a_malformed_finding_is_told(bare, tmp_path, scripted, how, finding):
    note = {"uri": "file:///a.py", "diagnostics": [finding]}
    push = {"method": "textDocument/publishDiagnostics", "params": note}
    script = Script(
        diagnostics=Diagnostics(how="pull" if how == "pull" else "none"),
        answers={"textDocument/diagnostic": {"kind": "full", "items": [finding]}},
        say=[Say("textDocument/didOpen", notification=push)] if how == "push" else [],
    )
    variables = configured(tmp_path, "ruff", command=scripted(script))
    done = bare("probe", "ruff", "--json", cwd=tmp_path, **variables)
    assert (done.returncode, done.stderr) == (3, "")
    method = "textDocument/diagnostic" if how == "pull" else push["method"]
    shown = json.dumps(finding, separators=(",", ":"))
    found = json.loads(done.stdout)
    assert found["notes"] == [f"{method}: a finding has no range.start.line: {shown}"]
    assert found["capabilities"], "the rest is measured"


def test_a_malformed_symbol_is_told(bare, tmp_path, scripted):
    script = Script(
        diagnostics=Diagnostics(how="pull"),
        answers={"textDocument/diagnostic": {"kind": "full", "items": 3}}
        | {"textDocument/documentSymbol": [5]},
    )
    variables = configured(tmp_path, "ruff", command=scripted(script))
    done = bare("probe", "ruff", cwd=tmp_path, **variables)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines()[-2:] == [
        "textDocument/diagnostic: the findings are no list: 3",
        "textDocument/documentSymbol: a symbol is no object: 5",
    ]


def test_a_number_that_no_client_can_read_is_told(tmp_path, scripted):
    options = InitializeOptions(tmp_path.as_uri(), tmp_path.name)
    items = b'[{"range": 1e999}]'
    with BareClient(tuple(scripted(Script())), options, os.environ) as client:
        client._note(DiagnosticsPublished("file:///a.py", 1, items))
    assert [one.lines for one in client.pushes] == [()]
    [fault] = client.faults
    assert fault.startswith("textDocument/publishDiagnostics: Number out of range")


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


def test_the_row_has_a_cell_for_each_column():
    one = Measured(
        server="x",
        argv=("/bin/x", "--stdio"),
        name="x 1.0",
        initialize=12.3,
        capabilities="DH",
        encodings=(8, 16),
        diagnostics="push",
        tier="2b",
        opened=100.0,
        changed=1.4,
        version_in_push=False,
        pushes_per_change=1.0,
    )
    assert dict(zip(COLUMNS, row_of(one), strict=True)) == {
        "server": "x 1.0",
        "argv": "`x --stdio`",
        "init": "12",
        "capabilities": "DH",
        "encodings": "8 16",
        "push / pull": "push",
        "open → diagnostics / change → diagnostics": "100 / 1",
        "version in push": "**no**",
        "pushes per change": "1",
        "tier": "2b",
    }
