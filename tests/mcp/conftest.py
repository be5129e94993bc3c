"""Tests of the MCP server. Those in files `test_process_…` start it as a command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.mcp_client import TIMING
from tests.scripted import config_for
from tests.service.site import Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "mcp":
            # Requests of the protocol before 2026, which most clients speak.
            ignored = "ignore::mcp.shared.exceptions.MCPDeprecationWarning"
            item.add_marker(pytest.mark.filterwarnings(ignored))
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def site() -> Iterator[Site]:
    """A project without a service so far. Its services end with the test."""
    with Site() as made:
        made.environ.pop("LSPKIT_NO_SERVICE", None)
        made.configure({**config_for(made.argv), "timing": TIMING})
        yield made
