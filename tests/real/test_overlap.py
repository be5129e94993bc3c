"""A short overlap race on each server that can be had everywhere, and Vue's: no verdict is wrong.

Edits come faster than answers, through lspkit and behind its back, on one file and on two that
depend on each other. The long race is `python -m tools.write_freshness_page`; what it found is in
docs/freshness.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.overlap import race_only
from benchmarks.overlap_projects import COURSES
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


@pytest.mark.parametrize("server", list(ROUNDS))
def test_no_verdict_is_wrong_while_edits_overlap(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    for form, tally in race_only(server, tmp_path, ROUNDS[server], seed=7).items():
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
