"""Takes the picture of `lspkit check` on a terminal: python tools/draw_check.py [FILE]

It checks 200 files in a real terminal of 80 columns, with the server `ty`. The screen is kept as it
is half-way and at the end (pyte), and both are drawn as one SVG (rich). Needs the extra `dev`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pyte
from rich.console import Console
from rich.text import Text

FILES = 200
LINES, COLUMNS = 24, 80
RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
WRONG = 'number: int = "three"\n'
#: Begins each drawing of the bar.
ERASE = b"\r\x1b[K"


def write_project(folder: Path) -> None:
    """200 files, of which two are wrong, and a rule that keeps a third one out."""
    for number in range(FILES):
        file = folder / "shop" / f"part{number % 8}" / f"module{number:03}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(WRONG if number in (40, 130) else RIGHT, encoding="utf-8")
    (folder / "generated.py").write_text(WRONG, encoding="utf-8")
    (folder / ".gitignore").write_text("generated.py\n", encoding="utf-8")
    (folder / ".git").mkdir()


def record(folder: Path) -> list[bytes]:
    """What the command writes to a terminal, cut before each drawing of the bar."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "lspkit", "check", "--no-service", "."]
    child = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "LSPKIT_TRUST": "never"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # as Linux says that the other end is closed
            break
        if not read:
            break
        seen += read
    os.close(ours)
    child.wait()
    first, *rest = seen.split(ERASE)
    return [first, *(ERASE + part for part in rest)]


def shown(screen: pyte.Screen) -> list[Text]:
    """The lines of a screen that are not empty, with their colours."""
    lines = []
    for number in range(screen.lines):
        line = Text()
        for column in range(screen.columns):
            cell = screen.buffer[number][column]
            line.append(cell.data, style="" if cell.fg == "default" else cell.fg)
        line.rstrip()
        if line.plain:
            lines.append(line)
    return lines


def main() -> None:
    """Write the picture."""
    default = Path(__file__).resolve().parent.parent / "docs" / "check-progress.svg"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    with tempfile.TemporaryDirectory() as name:
        write_project(Path(name))
        parts = record(Path(name))
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    middle: list[Text] = []
    for number, part in enumerate(parts):
        stream.feed(part)
        if number <= len(parts) // 2:
            middle = shown(screen)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, color_system="truecolor")
        for line in (
            *(Text("$ lspkit check .", style="bold"), *middle, Text("")),
            *(Text("# at the end:", style="dim"), *shown(screen)),
        ):
            console.print(line, highlight=False, soft_wrap=False)
        drawn = console.export_svg(title="lspkit check", unique_id="check")
    # A page that is built offline loads no font.
    target.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S), encoding="utf-8")


if __name__ == "__main__":
    main()
