"""How long the text is that an edit adds for a model: python benchmarks/summary_size.py

Edits with more and more errors go through the hooks, on ty, with the default limits and with the
compact ones. The bar is the configured number of bytes, however many errors there are.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.many_files import prepared  # noqa: E402
from benchmarks.sections import table, write_section  # noqa: E402
from lspkit.agent import EditHooks, Summary  # noqa: E402

SERVER = "ty"
ERRORS = (1, 10, 100, 1000)


def measured(folder: Path) -> list[dict[str, Any]]:
    """Bytes of each text, with the limit that it has."""
    own, paths = prepared(SERVER, folder)
    rows = []
    with lspkit.Workspace(folder, config=own.config(), trusted=True) as ws:
        kinds = {"default": Summary.of(ws.config), "compact": Summary.compact(ws.config)}
        for count in ERRORS:
            for at, (kind, summary) in enumerate(kinds.items()):
                lines = [f'name_{count}_{number}_{at}: int = "{number}"' for number in range(count)]
                paths[at].write_text("\n".join(lines) + "\n")
                arguments = {"path": str(paths[at])}
                hooks = EditHooks(ws, summary=summary)
                said = hooks.tool_result("write_file", arguments, "", timeout=60.0)
                told = {"errors": count, "limits": kind, "bytes": len(said.encode())}
                rows.append({**told, "most": summary.max_bytes})
    return rows


def main() -> None:
    """Measure, print, and keep the numbers."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        rows = measured(Path(scratch).resolve() / "project")
    print(table(list(rows[0]), [list(row.values()) for row in rows]))
    if not all(row["bytes"] for row in rows):
        raise RuntimeError("an edit with errors was not told of")
    write_section("summary_size", {"server": SERVER, "results": rows})


if __name__ == "__main__":
    main()
