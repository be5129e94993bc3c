"""Modules that take long are run first, whatever their names."""

from __future__ import annotations

from pathlib import Path

from tests import real_servers
from tests.conftest import FIRST_FOLDERS, SELDOM, USUAL, turn

ROOT = Path(__file__).resolve().parent.parent


def test_the_folders_that_come_first_are_there() -> None:
    assert [folder for folder in FIRST_FOLDERS if not (ROOT / folder).is_dir()] == []


def test_comparisons_come_first_then_real_servers_then_the_rest() -> None:
    folders = ["tests", "property_tests", "tests/real", "tests/agent", "tests/real/same"]
    assert sorted((f"{ROOT}/{one}" for one in folders), key=turn) == [
        f"{ROOT}/{one}"
        for one in ("tests/real/same", "tests/real", "tests", "property_tests", "tests/agent")
    ]


def test_a_usual_run_leaves_out_no_server_that_everybody_can_get() -> None:
    assert set() == SELDOM & real_servers.NEVER_SKIP
    assert [name for name in USUAL if not (ROOT / "tests" / "real" / name).is_file()] == []
