"""What lspkit does, on a small broken project: `make demo`.

Questions about the code, a check that finds its mistakes, and a check right after each edit that
mends them. The project is copied first, so that it stays broken for the next time.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import lspkit

PROJECT = Path(__file__).with_name("broken_project")

#: What a model (or you) would do about the findings: (what is there, what should be).
EDITS = [
    ('basket.add("tea", "two")', 'basket.add("tea", 2)'),
    ("lines.append(basket.total())", "lines.append(str(basket.total()))"),
]


def main() -> int:
    """Show it; the exit status says whether the project is in order at the end."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "shop").resolve()
        shutil.copytree(PROJECT, project)
        os.chdir(project)
        shop = Path("shop.py")
        with lspkit.Workspace(project) as ws:
            heading("Where is price_of defined, which line 13 of shop.py calls?")
            timed(lambda: ws.definition("shop.py", 13, symbol="price_of"))

            heading("Who uses it?")
            timed(lambda: ws.references("prices.py", symbol="price_of"))

            heading("What is Basket.total?")
            timed(lambda: [ws.hover("shop.py", symbol="Basket.total")])

            heading("What is in shop.py?")
            timed(lambda: outline(ws.document_symbols("shop.py")))

            heading("Is shop.py in order?")
            report = timed(lambda: [ws.check("shop.py")])[0]

            for old, new in EDITS:
                heading(f"Edit: {old}  ->  {new}")
                shop.write_text(shop.read_text().replace(old, new))
                report = timed(lambda: [ws.check("shop.py")])[0]
        os.chdir("/")
    return 0 if report.verdict.clean else 1


def outline(symbols: list[lspkit.Symbol] | tuple[lspkit.Symbol, ...], depth: int = 0) -> list[str]:
    """The tree of symbols, one line each, two levels deep."""
    lines = []
    for symbol in symbols:
        lines.append(f"{'  ' * depth}{symbol.kind} {symbol.name}")
        if depth < 1:
            lines += outline(symbol.children, depth + 1)
    return lines


def heading(text: str) -> None:
    print(f"\n── {text}", flush=True)


def timed(question):  # type: ignore[no-untyped-def]
    """Ask, print the answers, and how long it took."""
    began = time.perf_counter()
    answers = question()
    took = (time.perf_counter() - began) * 1000
    for answer in answers:
        print("\n".join(f"   {line}" for line in str(answer).splitlines()))
    print(f"   ({took:.0f} ms)")
    return answers


if __name__ == "__main__":
    sys.exit(main())
