"""Takes pictures of the panel in a real terminal: python tools/picture_panel.py [FOLDER]

It needs tmux. The panel is that of the broken project of the examples: its server runs, another one
has failed. The screen is drawn as tmux shows it, at two sizes.
"""

from __future__ import annotations

import io
import json
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tools"))

from draw_panel import offline  # noqa: E402  after the path

from lspkit.testing import Fault, Script  # noqa: E402
from tests.panel.tmux import TmuxWindow  # noqa: E402

#: File, size, and the keys that are pressed, with what they show.
PICTURES = (
    ("panel-terminal.svg", (80, 24), (("Enter", "error "),)),
    ("panel-small.svg", (40, 12), (("Enter", "error "),)),
)
#: Ends the server that has it.
CRASH = Fault("textDocument/definition", "crash")


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    with tempfile.TemporaryDirectory() as base:
        project = Path(base) / "shop"
        shutil.copytree(ROOT / "examples" / "broken_project", project)
        (project / "notes.txt").write_text("buy tea\n", encoding="utf-8")
        command = Path(base) / "notes-server"
        words = shlex.join(Script(faults=[CRASH]).command(Path(base)))
        command.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
        command.chmod(0o755)
        config = {
            "lsp": {"notes": {"command": [str(command), "--stdio"], "extensions": [".txt"]}},
            "restart": {"policy": "never"},
        }
        words = [sys.executable, "-m", "tests.panel.embedded_panel", str(project)]
        for name, size, keys in PICTURES:
            drawn = picture([*words, json.dumps(config)], project, size, keys)
            (folder / name).write_text(drawn, encoding="utf-8")


def picture(
    words: list[str], project: Path, size: tuple[int, int], keys: tuple[tuple[str, str], ...]
) -> str:
    """The screen of a terminal of this size after these keys, as SVG."""
    more = {"HOME": str(project.parent), "COLORTERM": "truecolor"}
    with TmuxWindow(words, size, ROOT, more) as window:
        window.until("q quit", "› ✗ broken")
        for key, shown in keys:
            window.press(key)
            window.until(shown)
        screen = window.coloured()
    console = Console(
        record=True,
        width=size[0],
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    for line in screen.splitlines()[: size[1]]:
        console.print(Text.from_ansi(line), no_wrap=True, overflow="crop")
    return offline(console.export_svg(title="lspkit panel", theme=MONOKAI))


if __name__ == "__main__":
    main()
