"""The text of a status: one line where nothing can run."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from lspkit.servers.status import (
    NOT_FOUND,
    ServerState,
    ServerStatus,
    snapshot,
    status_text,
    why_nothing_runs,
)
from lspkit.testing import Script
from tests.scripted import config_for

MISSING = (ServerState.UNAVAILABLE, NOT_FOUND, "trusted")
HELD_BACK = (ServerState.UNAVAILABLE, "held back: it runs code of the project", "stale")
USELESS = (ServerState.UNAVAILABLE, "cannot run: it lacks something", "trusted")
DISABLED = (ServerState.DISABLED, "", "trusted")
IDLE = (ServerState.IDLE, "", "trusted")


def row(state: ServerState, reason: str, trust: str) -> ServerStatus:
    return ServerStatus(
        "x", state, (), (), (), "built-in", (), "documentation", trust, reason=reason
    )


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], ""),
        ([MISSING, IDLE], ""),
        ([MISSING, (ServerState.BROKEN, "", "trusted")], ""),
        ([MISSING, MISSING], "no server can run (2 not found)"),
        (
            [DISABLED, MISSING, HELD_BACK],
            "no server can run (1 disabled, 1 held back, 1 not found)",
        ),
        ([USELESS, DISABLED], "no server can run (1 disabled, 1 unusable)"),
    ],
)
def test_why_nothing_runs(rows: list[tuple[ServerState, str, str]], why: str) -> None:
    assert why_nothing_runs([row(*one) for one in rows]) == why


def _only(server: str) -> dict[str, object]:
    """Every server disabled but this one, whatever is installed here."""
    with lspkit.Workspace(".", config={}) as ws:
        others = [row.server for row in ws.status().rows]
    return {one: {"disabled": True} for one in others if one != server}


def test_where_nothing_can_run_the_status_is_one_line(tmp_path: Path) -> None:
    missing = config_for([str(tmp_path / "no-such-server")])["lsp"]
    with lspkit.Workspace(tmp_path, config={"lsp": {**_only("scripted"), **missing}}) as ws:
        taken, text = ws.status(), ws.status_text()
    disabled = taken.totals["disabled"]
    assert taken.totals["unavailable"] == 1
    assert text == f"LSP unavailable: no server can run ({disabled} disabled, 1 not found)"
    assert len(taken.rows) == disabled + 1


def test_where_the_configuration_has_disabled_everything_that_is_the_whole_sentence(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").touch()
    with lspkit.Workspace(tmp_path, config={"lsp": False}) as ws:
        taken, text = ws.status(), ws.status_text()
        with pytest.raises(lspkit.NoServerError) as caught:
            ws.check("a.py")
    sentence = "LSP disabled by configuration"
    assert (taken.unavailable, str(taken), text) == (sentence, sentence, sentence)
    assert str(caught.value) == sentence


def test_where_one_can_run_the_status_has_totals(tmp_path: Path, scripted) -> None:
    one = config_for(scripted(Script()))["lsp"]
    with lspkit.Workspace(tmp_path, config={"lsp": {**_only("scripted"), **one}}) as ws:
        assert not ws.status().unavailable
        first, idle, disabled = ws.status_text().splitlines()
    assert first == "LSP servers: 1 idle"
    assert idle == "  idle: scripted"
    assert disabled.startswith("  disabled: ")
    assert disabled.endswith(" more")


def test_what_runs_or_could_run_comes_first_and_the_rest_are_counted() -> None:
    broken = (ServerState.BROKEN, "", "trusted")
    rows = [row(*one) for one in (IDLE, *(MISSING,) * 40, broken, HELD_BACK, DISABLED)]
    assert status_text(snapshot(rows, 0.0, warnings=("be careful",))).splitlines() == [
        "LSP servers: 1 broken, 1 idle",
        "  x: broken",
        "  idle: x",
        "  held back or unusable: x",
        "  disabled: x",
        "  not installed: 40, see `lspkit servers`",
        "  warning: be careful",
    ]
    assert status_text(snapshot([row(*IDLE)] * 10, 0.0)).splitlines() == [
        "LSP servers: 10 idle",
        "  idle: x, x, x, x, x, x, x, x and 2 more",
    ]


def test_a_program_that_does_not_work_is_told_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "a.scr").touch()
    useless = config_for(["/bin/sh", "-c", "echo no such component >&2; exit 3"])
    with lspkit.Workspace(tmp_path, config=useless) as ws:
        with pytest.raises(lspkit.ServerUnavailableError):
            ws.definition("a.scr", 1, 1)
        lines = ws.status_text().splitlines()
        row = next(one for one in ws.status().rows if one.server == "scripted")
    assert row.state is ServerState.UNAVAILABLE
    at = lines.index("  scripted: unavailable")
    assert lines[at + 2].strip().startswith("scripted does not work: /bin/sh: it ended with exit")
    assert "no such component" in lines[at + 2]
