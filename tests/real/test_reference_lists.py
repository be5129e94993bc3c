"""References without declarations: the servers for Python give the same, wherever they are asked.

Asked so, ty leaves out the names in import statements as well, and pyright the reference that it is
asked at in place of the declaration. What lspkit does about that stands in their definitions,
`confuses_declarations`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0

FILES = {
    "pyproject.toml": '[project]\nname = "example"\nversion = "1"\n',
    "m.py": "def f() -> int:\n    return 1\n\n\nvalue = f()\n",
    "user.py": "import m\nfrom m import f, value\n\nprint(f(), m.f(), value)\n",
    "other.py": "from m import f\n\nf()\n",
}
#: Where `f` is, besides in its declaration, and where that is.
USES = [
    ("m.py", 5, 9),
    ("other.py", 1, 15),
    ("other.py", 3, 1),
    ("user.py", 2, 15),
    ("user.py", 4, 7),
    ("user.py", 4, 14),
]
DECLARED = ("m.py", 1, 5)


def places(found: list[lspkit.Location]) -> list[tuple[str, int, int]]:
    starts = [(one.path.name, one.range.start) for one in found]
    return sorted((name, start.line, start.column) for name, start in starts)


@pytest.mark.parametrize("server", ["basedpyright", "pyright", "ty"])
def test_only_the_declaration_is_left_out(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with workspace(folder, server) as ws:
        for name, _, _ in USES:
            ws.check(name, timeout=TIMEOUT)  # the first answers of pyright are about few files
        for name, line, column in (DECLARED, *USES):
            found = ws.references(name, line, column, timeout=TIMEOUT)
            assert places(found) == sorted([DECLARED, *USES])
            found = ws.references(name, line, column, include_declaration=False, timeout=TIMEOUT)
            assert places(found) == USES
        # About a text of the caller's own.
        text = "\n" + FILES["user.py"]
        found = ws.references(
            "user.py", 5, 7, text=text, include_declaration=False, timeout=TIMEOUT
        )
        assert ("user.py", 3, 15) in places(found)
        assert DECLARED not in places(found)
