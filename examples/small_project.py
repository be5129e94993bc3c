"""What the example agents share: a small project, tools that edit it, and what the model will do.

The model of the examples is scripted, so that they run without a network and say the same each
time. It is no recording, though: it looks at what the tools answer, as a real one would, and mends
its mistake only if it is told of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TASK = "Add a module receipt.py with a function that tells what a list of items costs in euros."

FILES = {
    "prices.py": '''"""What things cost, in cents."""

PRICES = {"tea": 320, "bread": 410, "jam": 275}


def price_of(item: str) -> int:
    return PRICES[item]
''',
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\n',
}

#: One server, whichever others are installed, so that all see the same: `lspkit[python]` has it.
CONFIG = {"lsp": {"ty": {"disabled": False}, "ruff": {"disabled": True}}}

#: The mistake: a number is returned as a text.
RECEIPT = """from prices import price_of


def in_euros(items: list[str]) -> str:
    return sum(price_of(item) for item in items) / 100
"""
MISTAKE = "return sum(price_of(item) for item in items) / 100"
MENDED = 'return f"{sum(price_of(item) for item in items) / 100:.2f}"'


def make_project(folder: Path) -> None:
    """Put the files there."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


class FileTools:
    """What an agent can do to the files of a folder. Each tool returns what the model is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_file(self, path: str, content: str) -> str:
        """Give a file this content."""
        (self.folder / path).write_text(content, encoding="utf-8")
        return f"Wrote {len(content.splitlines())} lines to {path}."

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a piece of text in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{path} has that text {text.count(old)} times, not once")
        file.write_text(text.replace(old, new), encoding="utf-8")
        return f"Edited {path}."


def next_move(answers: list[str]) -> tuple[str, dict[str, Any]] | str:
    """What the scripted model does after these answers: a tool and its arguments, or a last word.

    It asks what it wants to use, writes the module with a mistake in it, and edits it as long as it
    is told of errors.
    """
    if not answers:
        return "lsp_hover", {"filePath": "prices.py", "symbol": "price_of"}
    if len(answers) == 1:
        return "write_file", {"path": "receipt.py", "content": RECEIPT}
    if "<diagnostics" in answers[-1] and len(answers) < 5:
        return "edit_file", {"path": "receipt.py", "old": MISTAKE, "new": MENDED}
    return "receipt.py is there, and no errors are left."


def show(who: str, what: str) -> None:
    """A line of the transcript, or several."""
    print("\n".join([f"{who}:", *(f"    {line}".rstrip() for line in what.splitlines())]))


def show_call(name: str, arguments: dict[str, Any]) -> None:
    """What the model wants to be done."""
    told = (f"{key}={json.dumps(value)}" for key, value in arguments.items())
    show("model", f"{name}({', '.join(told)})")
