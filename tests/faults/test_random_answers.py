"""Whatever a server answers, nothing but a `LspkitError` leaves lspkit, and no call is late."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.random_answers import run


@pytest.mark.parametrize("seed", range(4))
def test_random_answers_end_in_results_or_in_errors_that_lspkit_defines(
    tmp_path: Path, seed: int
) -> None:
    tally = run(tmp_path, 250, seed)
    assert tally.wrong == []
    assert tally.refused < tally.answers
