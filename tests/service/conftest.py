"""A project with a runtime folder of its own, so that its services are of no other test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.site import Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "service" and item.path.name.startswith("test_process_"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def site() -> Iterator[Site]:
    """A project without a service so far. Its services end with the test."""
    with Site() as made:
        yield made


@pytest.fixture(scope="module")
def shared_site() -> Iterator[Site]:
    """The same for all tests of a module, which must not end its service."""
    with Site() as made:
        yield made
