"""A service with an HTTP server, for all tests of a module or for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.site import Site
from tests.web.web_site import WebSite


@pytest.fixture
def site() -> Iterator[Site]:
    """A project without a service so far. Its services end with the test."""
    with Site() as made:
        yield made


@pytest.fixture
def web(site: Site) -> Iterator[WebSite]:
    """The HTTP server of a service in this process."""
    with WebSite(site) as made:
        yield made


@pytest.fixture(scope="module")
def shared_web() -> Iterator[WebSite]:
    """The same for all tests of a module, which leave it as it is."""
    with Site() as site, WebSite(site) as made:
        yield made
