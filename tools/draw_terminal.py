"""Draws what commands show on a terminal: python tools/draw_terminal.py [FOLDER]

`answer.svg` is `lspkit check` and `lspkit references` in the example project. `check-progress.svg`
is a check of 200 files, half-way and at the end. The commands run in a real terminal with the
server `ty`; pyte keeps the screen, rich draws it. Needs the extra `dev`.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pyte
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
#: The commands of `answer.svg`.
ANSWERS = ("lspkit check shop.py", "lspkit references prices.py --symbol price_of")
FILES = 200
LINES = 24
ANSWER_COLUMNS, PROGRESS_COLUMNS = 118, 80
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


def record(folder: Path, command: str, columns: int) -> list[bytes]:
    """What a command writes to a terminal, cut before each drawing of the bar."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", *command.split()],
        cwd=folder,
        env={
            **os.environ,
            "TERM": "xterm-256color",
            "LSPKIT_TRUST": "never",
            "LSPKIT_NO_SERVICE": "1",
        },
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
        cells = [screen.buffer[number][column] for column in range(screen.columns)]
        line = Text()
        for colour, run in itertools.groupby(cells, key=lambda cell: cell.fg):
            style = "" if colour == "default" else colour
            line.append("".join(cell.data for cell in run), style=style)
        line.rstrip()
        if line.plain:
            lines.append(line)
    return lines


def prompt(command: str) -> Text:
    """A command as somebody has typed it."""
    return Text(f"$ {command}", style="bold")


def answer() -> list[Text]:
    """Both commands in a copy of the example project, with what they print."""
    lines: list[Text] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "broken_project")
        shutil.copytree(ROOT / "examples" / "broken_project", folder)
        for command in ANSWERS:
            screen = pyte.Screen(ANSWER_COLUMNS, LINES)
            pyte.ByteStream(screen).feed(b"".join(record(folder, command, ANSWER_COLUMNS)))
            lines += [prompt(command), *shown(screen), Text("")]
    return lines[:-1]


def progress() -> list[Text]:
    """The check of many files, half-way and at the end."""
    with tempfile.TemporaryDirectory() as name:
        write_project(Path(name))
        parts = record(Path(name), "lspkit check .", PROGRESS_COLUMNS)
    screen = pyte.Screen(PROGRESS_COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    middle: list[Text] = []
    for number, part in enumerate(parts):
        stream.feed(part)
        if number <= len(parts) // 2:
            middle = shown(screen)
    end = (Text("# at the end:", style="dim"), *shown(screen))
    return [prompt("lspkit check ."), *middle, Text(""), *end]


def draw(lines: list[Text], columns: int, title: str) -> str:
    """The lines as a picture."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=columns, file=nowhere, color_system="truecolor")
        for line in lines:
            console.print(line, highlight=False, soft_wrap=False)
        drawn = console.export_svg(title=title, unique_id="check")
    # A page that is built offline loads no font.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)
    return drawn.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    for name, lines, columns, title in (
        ("answer.svg", answer(), ANSWER_COLUMNS, "examples/broken_project"),
        ("check-progress.svg", progress(), PROGRESS_COLUMNS, "lspkit check"),
    ):
        (folder / name).write_text(draw(lines, columns, title), encoding="utf-8")


if __name__ == "__main__":
    main()
