"""The rows and totals of the panel as data: their order, their names, and what they count."""

from __future__ import annotations

import json

from lspkit.panel import panel_of, rows, totals
from lspkit.servers.status import ServerState
from tests.panel.samples import NOW, ROOT, broken, running, server, shop, taken

STATES = ServerState


def test_broken_ones_come_first_and_disabled_ones_last():
    mixed = taken(
        [
            server("z-disabled", STATES.DISABLED),
            server("b-missing", STATES.UNAVAILABLE),
            server("a-idle"),
            running("b-active"),
            running("a-active"),
            running("z-starting", STATES.STARTING),
            broken("z-broken", "ended"),
        ]
    )
    assert [one.server_id for one in rows(mixed)] == [
        *("z-broken", "z-starting", "a-active", "b-active", "a-idle", "b-missing", "z-disabled")
    ]


def test_a_row_has_these_fields_as_json():
    counts = {"error": 2, "warning": 1, "info": 0, "hint": 4, "total": 7}
    [row] = rows(taken([running("ruff", diagnostics=counts, source="merged")]))
    assert json.loads(json.dumps(row.to_dict())) == {
        "serverId": "ruff",
        "source": "merged",
        "disabled": False,
        "extensions": [".scr"],
        "configuredRoots": ["root.marker"],
        "connectedRoots": [ROOT],
        "spawningRoots": [],
        "broken": None,
        "diagnostics": counts,
        "lastSeenAt": round((NOW - 1.5) * 1000),
    }


def test_a_broken_row_says_when_it_is_tried_again():
    error = "界 it ended\n" + "because of this and that " * 100
    [row] = rows(taken([broken("ty", error, retry_in=4.0)]))
    assert row.to_dict()["broken"] == {
        "attempts": 3,
        "retryAt": round((NOW + 4) * 1000),
        "lastError": error,
    }


def test_several_roots_are_one_row():
    first, second = running("ruff").roots[0], running("ruff", STATES.STARTING, "/web").roots[0]
    third = broken("ruff", "ended", folder="/api").roots[0]
    [row] = rows(taken([server("ruff", STATES.BROKEN, roots=(first, second, third))]))
    assert row.connected_roots == (ROOT,)
    assert row.spawning_roots == (f"{ROOT}/web",)
    assert row.broken is not None


def test_one_that_never_ran_was_never_seen():
    [row] = rows(taken([server("ruff", STATES.DISABLED)]))
    assert (row.disabled, row.last_seen_at, row.connected_roots) == (True, None, ())
    assert row.to_dict()["diagnostics"] == dict.fromkeys(
        ("error", "warning", "info", "hint", "total"), 0
    )


def test_totals_count_servers():
    assert totals(shop()).to_dict() == {
        "configured": 9,
        "connected": 3,
        "spawning": 1,
        "broken": 1,
        "disabled": 1,
    }


def test_all_of_it_is_one_value():
    found = panel_of(taken([], unavailable="no server can run", warnings=("odd",)))
    assert json.loads(json.dumps(found.to_dict())) == {
        "generatedAt": round(NOW * 1000),
        "totals": dict.fromkeys(("configured", "connected", "spawning", "broken", "disabled"), 0),
        "rows": [],
        "unavailable": "no server can run",
        "warnings": ["odd"],
    }
