"""A test run ends with the servers that were there, those that were not, and what that cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.real_servers import NO_SET_UP
from tests.server_summary import servers_were_asked_for, summary

CHECKOUT = Path(__file__).resolve().parent.parent

SERVERS = {
    "ty": {"command": ["/bin/ty"], "env": {}, "version": "0.1"},
    "gopls": {"missing": "it needs go: no wheel"},
    "tombi": {"missing": "no wheel"},
}
PROGRAMS = {"ty": SERVERS["ty"], "go": {"missing": "no wheel"}, "clang": {"missing": "no Debian"}}

CONFTEST = """
from pathlib import Path
from tests import real_servers
from tests.server_summary import pytest_terminal_summary

real_servers.SERVERS = Path(__file__).parent
"""

TESTS = """
import pytest
from tests import real_servers

@pytest.mark.server
@pytest.mark.parametrize("server", ["ty", "gopls", "gopls", "tombi"])
def test_of_a_server(server):
    real_servers.require(server)

@pytest.mark.server
def test_of_a_program():
    real_servers.require_program("clang")

def test_of_nothing():
    pass
"""


def lines_of_a_run(folder: Path) -> list[str]:
    """What a run of the tests above says about servers."""
    texts = {"conftest.py": CONFTEST, "test_all.py": TESTS}
    texts["pytest.ini"] = "[pytest]\nmarkers = server: talks to one\n"
    texts |= {"servers.json": json.dumps(SERVERS), "programs.json": json.dumps(PROGRAMS)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    environment = {
        **os.environ,
        "LSPKIT_REQUIRE_SERVERS": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(CHECKOUT),
        "TMPDIR": str(folder),
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    _, _, told = done.stdout.partition(" language servers ")
    return told.splitlines()[1:5]


@pytest.mark.slow
def test_a_run_ends_with_the_servers_that_were_there_and_what_the_others_cost(
    tmp_path: Path,
) -> None:
    assert lines_of_a_run(tmp_path) == [
        "1 of 3 were there: ty 0.1",
        "missing server gopls, tests: 2 failed. it needs go: no wheel",
        "missing server tombi, tests: 1 skipped. no wheel",
        "missing program clang, tests: 1 skipped. no Debian",
    ]


@pytest.mark.parametrize("marked", [True, False])
def test_only_a_run_with_a_test_of_a_server_says_something(
    marked: bool, request: pytest.FixtureRequest
) -> None:
    words = {"test_of_one": 1, "server": 1} if marked else {"test_of_none": 1}
    report = pytest.TestReport("a", ("a", 1, "a"), words, "passed", None, "call")
    groups = {"passed": [report], "deselected": [request.node]}
    assert servers_were_asked_for(groups) is marked


def test_without_set_up_what_was_asked_for_is_listed() -> None:
    counts = Counter({("server", "ty"): 3})
    assert summary({}, {}, {"skipped": counts}) == [
        "0 of 0 were there: none",
        f"missing server ty, tests: 3 skipped. {NO_SET_UP}",
    ]
