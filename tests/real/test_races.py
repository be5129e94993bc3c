"""Short overlap and shape races: no verdict is wrong.

In the overlap race edits come faster than answers, through lspkit and behind its back, on one file
and on two that depend on each other; it is run on each server that can be had everywhere, and on
Vue's. In the shape race files, folders, links, stubs, packages and configuration come, go and are
replaced; what is true is said by a fresh process. The long races are
`python -m tools.write_freshness_page`; what they found is in docs/freshness.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.overlap_projects import COURSES
from benchmarks.overlap_truth import Tally
from benchmarks.shape import race as shape_race
from benchmarks.shape_projects import PROJECTS
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


#: Each state is judged by a process of its own.
SHAPE_ROUNDS = 5


@pytest.mark.parametrize("server", ["ty", "clangd", "gopls", "typescript-7"])
def test_no_verdict_is_wrong_while_the_set_of_files_changes(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    tally = shape_race(server, tmp_path, SHAPE_ROUNDS, 7)
    assert tally.stories == []
    assert tally.rounds == SHAPE_ROUNDS
    # Otherwise nothing was shown.
    assert tally.sure >= SHAPE_ROUNDS - 1, tally.reasons
    assert tally.states > SHAPE_ROUNDS / 2


def test_the_places_of_a_project_are_in_each_state_different_from_the_others() -> None:
    for server, project in PROJECTS.items():
        for place in project.places:
            texts = [sorted(state.items()) for state in place.states]
            assert len({str(one) for one in texts}) == len(texts) > 1, (server, place.name)
