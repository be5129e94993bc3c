"""A short shape race on quick servers: no verdict is wrong.

Files, folders, links, stubs, packages and configuration come, go and are replaced; what is true is
said by a fresh process. The long race is `python -m tools.write_freshness_page --form shape`; what
it found is in docs/freshness.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.shape import race
from benchmarks.shape_projects import PROJECTS
from tests import real_servers

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Each state is judged by a process of its own.
ROUNDS = 5


@pytest.mark.parametrize("server", ["ty", "clangd", "gopls", "typescript-7"])
def test_no_verdict_is_wrong_while_the_set_of_files_changes(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    tally = race(server, tmp_path, ROUNDS, 7)
    assert tally.stories == []
    assert tally.rounds == ROUNDS
    # Otherwise nothing was shown.
    assert tally.sure >= ROUNDS - 1, tally.reasons
    assert tally.states > ROUNDS / 2


def test_the_places_of_a_project_are_in_each_state_different_from_the_others() -> None:
    for server, project in PROJECTS.items():
        for place in project.places:
            texts = [sorted(state.items()) for state in place.states]
            assert len({str(one) for one in texts}) == len(texts) > 1, (server, place.name)
