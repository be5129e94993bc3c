"""A short overlap race on each server that can be had everywhere, and Vue's: no verdict is wrong.

Edits come faster than answers, through lspkit and behind its back, on one file and on two that
depend on each other. The long race is `python -m tools.write_freshness_page`; what it found is in
docs/freshness.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.overlap_projects import COURSES
from benchmarks.overlap_truth import Tally
from tests import real_servers

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Rounds of each form. What a verdict costs differs: bash waits half a second before it looks, and
#: rust-analyzer runs cargo.
ROUNDS = dict.fromkeys(sorted(real_servers.NEVER_SKIP), 14) | {
    "bash": 10,
    "rust-analyzer": 8,
    "vue": 14,
    "vue-typescript": 14,
}


#: Each race has a process of its own: what it shows depends on how threads take turns, which those
#: that ran before it in a long-lived process must not decide.
PROGRAM = """
import dataclasses, json, sys
from pathlib import Path
from benchmarks.overlap import race_only
tallies = race_only(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), seed=7)
print(json.dumps({form: dataclasses.asdict(one) for form, one in tallies.items()}))
"""
CHECKOUT = Path(__file__).resolve().parents[2]


def raced(server: str, folder: Path) -> dict[str, Tally]:
    command = [sys.executable, "-c", PROGRAM, server, str(folder), str(ROUNDS[server])]
    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, check=False, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr
    return {form: Tally(**values) for form, values in json.loads(done.stdout).items()}


@pytest.mark.parametrize("server", list(ROUNDS))
def test_no_verdict_is_wrong_while_edits_overlap(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    for form, tally in raced(server, tmp_path).items():
        assert tally.stories == [], form
        assert (tally.wrong, tally.false_clean) == (0, 0)
        # Otherwise nothing was shown. Who gives a call hardly any time may get to know nothing, and
        # how many verdicts were the only possible one depends on how busy the machine is.
        assert tally.unknown <= tally.calls / 10, tally.reasons
        assert tally.late == 0, "calls have waited for each other"
        assert tally.sure >= tally.calls / 5


def test_a_race_on_one_file_has_a_second_form_where_a_server_looks_across_files() -> None:
    alone = {server for server, course in COURSES.items() if course.pair is None}
    assert alone == {
        "bash",
        "biome",
        "css",
        "dockerfile",
        "eslint",
        "html",
        "json",
        "oxlint",
        "ruff",
        "tombi",
        "vue",
        "yaml",
    }
