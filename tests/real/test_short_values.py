"""Results of a real server read well: `repr` is one short line, `str` is bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests.real_servers import require

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Lines of each of the three files that use the name.
USES = "".join(f"value_{number} = price()\n" for number in range(300))


def is_short(value: object) -> bool:
    shown = repr(value)
    return len(shown) <= 200 and len(shown.splitlines()) == 1


def test_large_results_of_a_real_server_are_short_to_look_at(tmp_path: Path):
    require("ty")
    files = {"a.py": f"def price() -> int:\n    return 1\n\n{USES}"}
    files |= dict.fromkeys(("b.py", "c.py"), f"from a import price\n\n{USES}")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with lspkit.Workspace(tmp_path, trusted=True) as ws:
        edit = ws.rename("a.py", symbol="price", new_name="cost", timeout=60)
        assert len(edit.files) == 3
        assert is_short(edit)
        assert str(edit) == "903 edits in 3 files"
        symbols = ws.document_symbols("a.py", timeout=60)
        assert (symbols[0].line, symbols[0].column) == (1, 5)
        uses = ws.references("a.py", symbol="price", timeout=60)
        assert {(uses[0].line, uses[0].column)} <= {(1, 5), (1, 15)}
        for one in (symbols, uses):
            assert len(one) > 300
            assert is_short(one)
            assert len(str(one)) < 10_000
        status = ws.status()
        assert all(map(is_short, (status, *status.rows)))
        assert len(str(status)) < 200
        assert len(ws.status_text()) < 3_000
        applied = ws.apply(edit, timeout=60)
        assert is_short(applied)
        assert len(str(applied)) < 200
