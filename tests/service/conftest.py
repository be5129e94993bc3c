"""A project with a runtime folder of its own, so that its services are of no other test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.site import Site


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
