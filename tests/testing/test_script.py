"""Scripts as files, and the log as tests read it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lspkit.testing import Fault, Log, Script, read_log
from lspkit.testing.script import FaultName
from lspkit.testing.serving.faults import FAULTS
from tests.testing.raw import PATIENCE, RawClient


def refusal(tmp_path, script) -> str:
    file = tmp_path / "script.json"
    file.write_text(script if isinstance(script, str) else json.dumps(script))
    argv = [*Script().command(tmp_path / "other")[:-1], str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 64
    return done.stderr


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("not json", "script.json"),
        ([], "must be an object"),
        ({"fault": []}, "'fault' is none of"),
        ({"faults": [{"on": "a", "do": "explode"}]}, "'explode' is none of crash"),
        ({"faults": [{"on": "a", "do": "hang", "seconds": 1}]}, "'seconds' is none of"),
        ({"faults": [{"do": "hang"}]}, "lacks 'on'"),
        ({"faults": [{"on": "a", "do": "stop-reading", "at": "during"}]}, "'during' is none of"),
        ({"faults": [{"on": "a", "do": "error", "code": "Odd"}]}, "'Odd' is none of"),
        ({"faults": [{"on": "a", "do": "crash", "signal": "SIGODD"}]}, "'SIGODD' is none of"),
        ({"say": [{"when": "a"}]}, "say needs"),
        ({"diagnostics": {"how": "shout"}}, "'shout' is none of"),
        ({"ignore": ["SIGKILL"]}, "'SIGKILL' is none of"),
        ({"grandchildren": ["lost"]}, "'lost' is none of"),
        ({"encoding": "utf-7"}, "'utf-7' is none of"),
    ],
)
def test_a_script_with_a_mistake_is_refused_with_its_place(tmp_path, script, named):
    assert named in refusal(tmp_path, script)


def test_the_empty_file_of_a_script_by_hand_is_enough(tmp_path):
    file = tmp_path / "script.json"
    file.write_text("{}")
    with RawClient([sys.executable, "-m", "lspkit.testing.scripted_server", str(file)]) as client:
        assert client.initialize()["serverInfo"]["name"] == "scripted"


def test_the_builder_knows_exactly_the_faults_of_the_server():
    assert set(FaultName.__args__) == set(FAULTS)


def test_the_builder_knows_every_option_of_every_fault():
    options = {name for _, defaults in FAULTS.values() for name in defaults}
    assert options <= set(Fault.__dataclass_fields__)


def test_the_log_has_the_start_and_every_message_in_order(scripted):
    argv = scripted()
    with RawClient(argv) as client:
        client.initialize()
        client.open("text")
        log = Log.of(argv)
        opened = log.wait_for_message("textDocument/didOpen")
        assert log.pids() == [client.process.pid]
    assert opened["params"]["textDocument"]["text"] == "text"
    methods = [message["method"] for message in log.messages()]
    assert methods == ["initialize", "initialized", "textDocument/didOpen"]


def test_waiting_for_the_log_ends_at_its_deadline_and_shows_the_tail(tmp_path):
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="did not show"):
        Log(tmp_path / "none").wait_for(lambda entries: entries, timeout=0.05)
    assert time.monotonic() - begin < PATIENCE


def test_a_line_that_is_half_written_is_not_read_yet(tmp_path):
    file = tmp_path / "log"
    file.write_text('{"pid": 1, "time": 0, "eof": true}\n{"pid": 2, "ti')
    assert [entry.pid for entry in read_log(file)] == [1]


def test_the_documentation_has_a_row_for_every_fault_with_all_its_options():
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for name, (_, options) in FAULTS.items():
        assert all(f"`{option}`" in rows[name].split("|")[2] for option in options)
