"""The states of a server process: the whole table, and what a real server goes through."""

from __future__ import annotations

import pytest

import lspkit
from lspkit.runtime.server.process_state import RIGHTS, TRANSITIONS, Life, ProcessState
from lspkit.testing import Script
from tests.scripted import SOURCE, comes_true

EVENTS = ("start", "initialized", "loaded", "reload", "outdated", "stop", "end")
#: What each event makes of a state; it changes nothing where none is named.
MOVES = {
    "new": {"start": "starting"},
    "starting": {"initialized": "loading", "outdated": "starting, outdated"},
    "starting, outdated": {"initialized": "outdated"},
    "loading": {"loaded": "ready", "outdated": "outdated"},
    "ready": {"reload": "reloading", "outdated": "outdated"},
    "reloading": {"loaded": "ready", "outdated": "outdated"},
    "outdated": {},
    "stopping": {"end": "ended"},
    "ended": {},
}
ENDS = {"stop": "stopping", "end": "ended"}


def expected(before: str, event: str) -> str:
    ends = {} if before in ("stopping", "ended") else ENDS
    return {**MOVES[before], **ends}.get(event, before)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", ProcessState)
def test_an_event_leads_where_the_table_says_or_changes_nothing(
    state: ProcessState, event: str
) -> None:
    life = Life()
    life.state, life.rights = state, RIGHTS[state]
    after = ProcessState(expected(state.value, event))
    assert life.move(event) is (after is not state)
    assert (life.state, life.rights) == (after, RIGHTS[after])


def test_the_table_has_no_other_event() -> None:
    assert {event for _, event in TRANSITIONS} == set(EVENTS)


def test_what_a_state_allows_fits_together() -> None:
    for state, rights in RIGHTS.items():
        assert rights.is_up + rights.is_coming + rights.is_over == 1, state
        assert not (rights.takes_calls and rights.is_over), state
        assert rights.is_up or not rights.is_loaded, state


def test_a_server_goes_from_state_to_state(tmp_path, scripted) -> None:
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    config = {"lsp": {"scripted": {"command": scripted(Script()), "extensions": [".scr"]}}}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        ws.definition("a.scr", 2, 4)
        [first] = ws._engine.pool.servers()
        assert first.state is ProcessState.READY
        ws._engine.pool.renew(first)
        assert first.state is ProcessState.OUTDATED
        assert first.is_up  # for the calls that have it
        ws.definition("a.scr", 2, 4)
        [second] = ws._engine.pool.servers()
        assert second.state is ProcessState.READY
        assert comes_true(lambda: first.state is ProcessState.ENDED)
        assert first.end is not None
        assert first.end.may_ask_again
    assert second.state is ProcessState.ENDED
