"""When a server has loaded its project, by what it reports."""

from __future__ import annotations

from lspkit.protocol.events import Signal
from lspkit.servers.definition_parts import Readiness
from lspkit.servers.readiness import Loading

STATUS = "experimental/serverStatus"
BY_STATUS = Readiness(
    load_begins_within=1.0,
    ready_by=Signal(STATUS, {"quiescent": True}),
    unready_by=Signal(STATUS, {"quiescent": False}),
)


def test_a_server_that_says_that_it_is_loading_is_waited_for_until_it_says_that_it_has() -> None:
    loading = Loading(BY_STATUS)
    assert loading.notified(STATUS, {"quiescent": False}) == "reload"
    loading.end_work()  # one piece of several
    assert not loading.is_over(busy=False, late=True)
    assert loading.notified(STATUS, {"quiescent": True}) == "loaded"
    assert loading.is_over(busy=True, late=False)


def test_a_server_that_never_gives_its_sign_is_waited_for_until_it_would_have_begun() -> None:
    loading = Loading(BY_STATUS)
    assert loading.notified("$/other", {"quiescent": True}) == ""
    assert not loading.is_over(busy=False, late=False)
    assert not loading.is_over(busy=True, late=True)
    assert loading.is_over(busy=False, late=True)


def test_the_end_of_its_work_counts_for_a_server_without_a_sign() -> None:
    loading = Loading(Readiness(load_begins_within=1.0))
    assert not loading.is_over(busy=False, late=False)
    loading.end_work()
    assert not loading.is_over(busy=True, late=False)
    assert loading.is_over(busy=False, late=False)


def test_a_server_that_loads_nothing_has_loaded() -> None:
    assert Loading(Readiness()).is_over(busy=True, late=False)
