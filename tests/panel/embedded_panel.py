"""A program that shows the panel of its own workspace, in which servers run, fail and are missing.

    python -m tests.panel.embedded_panel FOLDER CONFIG [NUMBER]

Each file of the folder is asked about and checked first, so that its servers start. With a NUMBER
the panel is shown as often as it says; in the end the program prints what is left of it, as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from pathlib import Path

import psutil

import lspkit
from lspkit.panel import run


def left_behind() -> dict[str, list[str]]:
    """Threads, descriptors and processes of this program."""
    return {
        "threads": sorted(one.name for one in threading.enumerate()),
        "descriptors": sorted(os.listdir("/dev/fd")),
        "processes": sorted(str(one.pid) for one in psutil.Process().children(recursive=True)),
    }


def main() -> None:
    folder, config = Path(sys.argv[1]), json.loads(sys.argv[2])
    with lspkit.Workspace(folder, config=config, trusted=True) as ws:
        for file in sorted(folder.iterdir()):
            try:
                ws.definition(file, 1, 1, timeout=60)
                ws.check(file, timeout=60)
            except lspkit.LspkitError:
                pass  # the panel shows why
        if len(sys.argv) == 3:
            run(ws)
        else:
            print(json.dumps(show_often(ws, int(sys.argv[3]))))


def show_often(ws: lspkit.Workspace, number: int) -> dict[str, object]:
    """What there is after the first panel, and after the last one."""
    run(ws)
    before = left_behind()
    for _ in range(number - 1):
        run(ws)
    gc.collect()
    panels = sum(type(one).__name__ == "PanelApp" for one in gc.get_objects())
    return {"before": before, "after": left_behind(), "panels": panels}


if __name__ == "__main__":
    main()
