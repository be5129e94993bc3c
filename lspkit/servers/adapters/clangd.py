"""clangd: checks a document again only if it is changed, saved, or rebuilt by force.

It takes no notice of files that change on disk. Only a forced rebuild looks again for a missing
header, or checks an unchanged text. A changed text makes it compare the files that the document
includes, by size and by modification time in whole seconds.

What a file includes comes into its index only after findings about the file. The index covers the
files of a compilation database, and open files. `.clangd` can say where a database is.

It keeps the syntax trees of three files, and would build that of another one again for an answer.

It publishes at once only if the change asks for it; otherwise it waits for the end of typing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lspkit.servers.adapters.adapter import Adapter, BackgroundIndex


class Clangd(Adapter):
    """See above."""

    change_params: Mapping[str, Any] = {"wantDiagnostics": True}
    touch_params: Mapping[str, Any] = {"forceRebuild": True}
    compares_seconds = True
    withdraws_requests = True
    index = BackgroundIndex(
        title="indexing",
        needs=("compile_commands.json", "build/compile_commands.json", ".clangd"),
        without=(
            "clangd has built no index: a compile_commands.json is missing, or its `directory` "
            "is not an absolute path, so it knows only open files and what they include"
        ),
    )
    # 0.3 to 0.4 s with a few headers of the standard library, and longer on a busy machine.
    index_lag = 2.0
