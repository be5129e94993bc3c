"""The code blocks of README and docs: `python -m tests.doc_blocks` lists them, with what runs them.

A block is fenced, with the name of its language, or indented. What a program prints is `text`, and
is no code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCED = re.compile(r"^( {0,3})```(\w*)\n(.*?)^\1```$", re.M | re.S)
#: Not below an item of a list, whose text is indented as well.
_INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n|\n(?= {4}))+)")
_LIST = re.compile(r"^(?:[-*]|\d+\.) ")

#: Languages of blocks that are parsed, or run, by `test_docs.py`.
RUN = "tests/test_docs.py"
PARSED = ("json", "toml", "yaml")
SHELL = ("sh", "console", "indented")
#: Page and language of blocks that a test of their own runs, and that test.
HELD = {
    ("docs/command-line.md", "indented"): "tests/cli/test_command_line_page.py",
    ("docs/configuration.md", "console"): "tests/config/test_json_schema.py",
    ("README.md", "ipython"): "tests/notebook/test_page.py",
    ("docs/notebook.md", "ipython"): "tests/notebook/test_page.py",
    ("docs/trust.md", "console"): "tests/real/transcript.py",
    ("docs/trust.md", "ipython"): "tests/hosts/test_notebooks.py",
}
#: Commands that cannot run inside a test, by how they begin, and what runs them.
ELSEWHERE = {
    "make test": "Makefile",
    "make demo": "tests/test_examples.py",
    "pip install": "tests/test_packaging.py",
    "lspkit install": "tests/cli/test_install_command.py",
    "npx @modelcontextprotocol/inspector": "tests/mcp/test_process_real_servers.py",
}


class Block(NamedTuple):
    """A block of code on a page."""

    page: str
    #: Its number among the blocks of the page, from 1.
    number: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """Page, language and number, for people."""
        return f"{self.page}-{self.language}-{self.number}"

    def run_by(self) -> str:
        """The file that runs or parses it; empty if none does."""
        held = HELD.get((self.page, self.language))
        known = ("python", *PARSED, *SHELL)
        return held or (RUN if self.language in known else "")


def blocks_of(page: Path) -> list[Block]:
    """The blocks of one page that are code, in order."""
    text = page.read_text(encoding="utf-8")
    found = [
        (one.start(), one[2] or "text", _dedent(one[3], one[1])) for one in _FENCED.finditer(text)
    ]
    rest = _FENCED.sub(lambda one: "\n".join("x" for _ in one[0].split("\n")), text)
    for one in _INDENTED.finditer(rest):
        before = rest[: one.start()].rstrip().rpartition("\n\n")[2]
        if not _LIST.match(before):
            found.append((one.start(), "indented", _dedent(one[1], "    ")))
    name = str(page.relative_to(ROOT))
    code = [(language, body) for _, language, body in sorted(found) if language != "text"]
    return [Block(name, number, *one) for number, one in enumerate(code, 1)]


def _dedent(text: str, indent: str) -> str:
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def all_blocks() -> list[Block]:
    """The blocks of all pages."""
    return [block for page in PAGES for block in blocks_of(page)]


def commands_of(block: Block) -> list[str]:
    """The commands of a block for a shell, without what they print."""
    if block.language == "console" or block.text.startswith("$ "):
        return [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
    joined = re.sub(r"(\||\\)\n\s*", lambda one: "| " if one[1] == "|" else "", block.text)
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def main() -> None:
    """List what is not run, and its number."""
    blocks = all_blocks()
    missing = [block for block in blocks if not block.run_by()]
    for block in missing:
        print(f"not run: {block.name}")
    print(f"{len(blocks)} blocks of code in {len(PAGES)} pages, {len(missing)} not run by a test")


if __name__ == "__main__":
    main()
