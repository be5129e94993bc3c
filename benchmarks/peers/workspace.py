"""Contestant: lspkit's own high-level interface. `python -P workspace.py FOLDER COMMAND…`

With `LSPKIT_BENCH_SERVER` the command is that of a server which lspkit knows by this id.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))
# lspkit itself, where it is not installed: the root of the checkout.
sys.path.append(str(Path(__file__).resolve().parent.parent.parent))

from blocks import serve_blocks

try:
    import lspkit
    from lspkit.servers.built_in import BUILT_IN

    lspkit.Workspace  # noqa: B018 - a half-written package imports without it.
except (ImportError, AttributeError) as error:
    sys.exit(f"lspkit is not there yet: {error}")


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    # A Python server that happens to be installed would be asked as well.
    servers: dict[str, Any] = {definition.id: {"disabled": True} for definition in BUILT_IN}
    # As patient as the driver: a busy machine must not end a measurement.
    timing = {"initializeTimeoutMs": 60_000, "requestTimeoutMs": 60_000}
    name = os.environ.get("LSPKIT_BENCH_SERVER", "canned")
    servers[name] = {"command": command, "disabled": False}
    if name == "canned":
        servers[name]["extensions"] = [".py"]
    with lspkit.Workspace(
        folder, config={"lsp": servers, "timing": timing}, trusted=True
    ) as workspace:
        serve_blocks(
            {
                "definition": lambda: workspace.definition("main.py", 3, 5),
                "hover": lambda: workspace.hover("main.py", 3, 5),
                "references": lambda: workspace.references("main.py", 3, 5),
                "symbols": lambda: workspace.document_symbols("main.py"),
            }
        )


main()
