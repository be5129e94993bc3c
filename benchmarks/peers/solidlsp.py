"""Contestant: SolidLSP, from serena-agent. `python -P solidlsp.py FOLDER COMMAND…`

Its base class is given a command of ours, and the least start-up that the base class needs.
Document symbols are answered from a cache of its own; it is emptied between calls, since
the others ask the server each time. The file is held open as its own tools do.
"""

from __future__ import annotations

import importlib.metadata
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from blocks import serve_blocks
from solidlsp.ls import SolidLanguageServer
from solidlsp.ls_config import LanguageServerConfig, LanguageServerId
from solidlsp.lsp_protocol_handler.server import ProcessLaunchInfo
from solidlsp.settings import SolidLSPSettings


class CannedServer(SolidLanguageServer):
    """SolidLSP in front of any command."""

    def __init__(self, folder: Path, command: list[str], scratch: Path) -> None:
        settings = SolidLSPSettings(
            solidlsp_dir=str(scratch / "global"), project_data_path=str(scratch / "project")
        )
        super().__init__(
            LanguageServerConfig(ls_id=LanguageServerId.PYTHON),
            str(folder),
            ProcessLaunchInfo(cmd=command, cwd=str(folder)),
            "python",
            settings,
        )

    def _create_base_initialize_params(self) -> dict[str, Any]:
        return {"capabilities": {}}

    def _start_server(self) -> None:
        self.server.start()
        self.server.send.initialize(self._create_initialize_params())
        self.server.notify.initialized({})

    def forget_symbols(self) -> None:
        self._document_symbols_cache.clear()
        self._raw_document_symbols_cache.clear()


def main() -> None:
    logging.disable(logging.CRITICAL)
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        server: Any = CannedServer(folder, command, Path(scratch))
        server.start()
        with server.open_file("main.py"):
            serve_blocks(
                {
                    "definition": lambda: server.request_definition("main.py", 2, 4),
                    "hover": lambda: server.request_hover("main.py", 2, 4),
                    "references": lambda: server.request_references("main.py", 2, 4),
                    "symbols": lambda: server.request_document_symbols("main.py"),
                },
                before={"symbols": server.forget_symbols},
                version=importlib.metadata.version("serena-agent"),
            )
        server.stop()


main()
