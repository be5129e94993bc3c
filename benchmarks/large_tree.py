"""A tree of 50,000 files with the watcher on: python benchmarks/large_tree.py

How long the watcher takes to start, what it keeps in memory, and how soon one change is known.
`watching.py` compares the same with other ways to watch; here only lspkit's own is measured.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))  # so that it runs by its path, too

from sections import QUICK, median, table, write_section  # noqa: E402
from watching import FILES, child, plant_files  # noqa: E402

ROUNDS = 1 if QUICK else 3


def main() -> None:
    """Measure, print, and keep the numbers."""
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "files"
        plant_files(root)
        for _ in range(ROUNDS):
            runs.append(child("inotify", "files", root))
    results = {key: median([run[key] for run in runs]) for key in runs[0]}
    print(table(["50,000 files", ""], list(results.items())))
    write_section("large_tree", {"files": FILES, "rounds": ROUNDS, "results": results})


if __name__ == "__main__":
    main()
