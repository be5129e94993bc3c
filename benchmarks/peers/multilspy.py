"""Contestant: multilspy, through its blocking face. `python -P multilspy.py FOLDER COMMAND…`

Its base class is given a command of ours, and the least start-up that the base class needs.
The file is held open, so that no call pays for opening it.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from blocks import serve_blocks
from multilspy import SyncLanguageServer
from multilspy.language_server import LanguageServer
from multilspy.lsp_protocol_handler.server import ProcessLaunchInfo
from multilspy.multilspy_config import Language, MultilspyConfig
from multilspy.multilspy_logger import MultilspyLogger


class CannedServer(LanguageServer):
    """multilspy in front of any command."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        super().__init__(
            MultilspyConfig(code_language=Language.PYTHON),
            MultilspyLogger(),
            str(folder),
            ProcessLaunchInfo(cmd=command, cwd=str(folder)),
            "python",
        )

    @asynccontextmanager
    async def start_server(self) -> AsyncIterator[CannedServer]:
        async with super().start_server():
            await self.server.start()
            await self.server.send.initialize(
                {
                    "processId": os.getpid(),
                    "rootUri": Path(self.repository_root_path).as_uri(),
                    "capabilities": {},
                }
            )
            self.server.notify.initialized({})
            yield self
            await self.server.shutdown()
            await self.server.stop()


def main() -> None:
    logging.disable(logging.CRITICAL)
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    server = SyncLanguageServer(CannedServer(folder, command))
    with server.start_server(), server.open_file("main.py"):
        serve_blocks(
            {
                "definition": lambda: server.request_definition("main.py", 2, 4),
                "hover": lambda: server.request_hover("main.py", 2, 4),
                "references": lambda: server.request_references("main.py", 2, 4),
                "symbols": lambda: server.request_document_symbols("main.py"),
            },
            version=importlib.metadata.version("multilspy"),
        )


main()
