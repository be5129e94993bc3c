"""Draws the picture of the panel: python tools/draw_panel.py [FOLDER]

It is what textual shows for a fixed status (`tests/panel/samples.py`). A test compares the words of
the committed picture with those of a new one.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.panel.samples import shop  # noqa: E402
from tests.panel.screen import panel  # noqa: E402

NAME = "panel.svg"
SIZE = (86, 33)
#: The broken server, expanded.
KEYS = ("enter",)


async def take_picture() -> str:
    """The screen as SVG."""
    async with panel(shop(), SIZE) as shown:
        await shown.press(*KEYS)
        return offline(shown.app.export_screenshot(title="lspkit panel"))


def offline(svg: str) -> str:
    """Without fonts from elsewhere, with the space that indents lines."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    svg = svg.replace("<text ", '<text xml:space="preserve" ')
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> None:
    """Write the picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    (folder / NAME).write_text(asyncio.run(take_picture()), encoding="utf-8")


if __name__ == "__main__":
    main()
