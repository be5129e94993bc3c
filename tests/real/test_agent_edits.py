"""An agent's work on a project, step by step: errors come, stay and go. What is it told each time?

After each step a second workspace checks the whole project. What the agent was told in this step,
as new or as still there, must be all that its edits have introduced so far; what was there before
its first edit is only counted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
from tests import real_servers
from tests.real.running import workspace

pytestmark = pytest.mark.server

TIMEOUT = 60
DONE = "Done."
PRICES = """\
PRICES = {"tea": 320}


def price_of(item: str) -> int:
    return PRICES[item]
"""
ORDERS = """\
from prices import price_of


def total(items: list[str]) -> int:
    return sum(price_of(item) for item in items)
"""
REPORT = """\
from orders import total


def line(items: list[str]) -> str:
    return f"{total(items)}"


limit: int = "old"
"""
FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "prices.py": PRICES,
    "orders.py": ORDERS,
    "report.py": REPORT,
}
#: By the words before them: how a finding is told.
HEADINGS = {
    "in this file, please fix:": "here",
    "in other files:": "elsewhere",
    "from your earlier edits that are still there:": "still",
}


class Agent:
    """An agent that edits files, and what it is told."""

    def __init__(self, folder: Path, hooks: EditHooks, judge: lspkit.Workspace) -> None:
        self.folder, self._hooks, self._judge = folder, hooks, judge
        self._before = self.errors()

    def errors(self) -> set[tuple[str, str]]:
        """All errors of the project: file and message, as a fresh look finds them."""
        names = sorted(self.folder.glob("*.py"))
        reports = self._judge.check_all(names, timeout=TIMEOUT).values()
        assert all(not report.verdict.unknown for report in reports)
        return {
            (report.path.name, one.message.splitlines()[0])
            for report in reports
            for one in report.counted
        }

    def read(self, name: str) -> list[str]:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert self._hooks.tool_result("read_file", {"path": name}, text) == text
        return []

    def edit(self, name: str, old: str, new: str, timeout: float = TIMEOUT) -> list[str]:
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")
        arguments = {"path": name, "old_string": old, "new_string": new}
        return self._told("edit_file", arguments, timeout)

    def write(self, name: str, text: str) -> list[str]:
        (self.folder / name).write_text(text, encoding="utf-8")
        return self._told("write_file", {"path": name, "content": text})

    def patch(self, lines: dict[str, tuple[str, str]]) -> list[str]:
        """Replace a line in each of several files by one patch."""
        patch = "*** Begin Patch\n"
        for name, (old, new) in lines.items():
            self.replace(name, f"{old}\n", f"{new}\n")
            patch += f"*** Update File: {name}\n@@\n-{old}\n+{new}\n"
        return self._told("apply_patch", {"input": f"{patch}*** End Patch\n"})

    def command(self, change: Callable[[], object]) -> list[str]:
        change()
        return self._told("bash", {"command": "…"})

    def replace(self, name: str, old: str, new: str) -> None:
        """What a command does to a file."""
        path = self.folder / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    def fail(self, name: str) -> list[str]:
        """An edit that has failed."""
        output = self._hooks.tool_result("edit_file", {"path": name}, DONE, is_error=True)
        return short(output)

    def _told(self, tool: str, arguments: dict[str, str], timeout: float = TIMEOUT) -> list[str]:
        output = self._hooks.tool_result(tool, arguments, DONE, timeout=timeout)
        if timeout == TIMEOUT:
            last = self._hooks.last
            assert last is not None
            shown = {one.split(" ", 2)[1] for one in short(output) if not one[-1].isdigit()}
            broken = self.errors() - self._before
            assert shown == {name for name, _ in broken}, output
            assert output.count("ERROR [") == len(broken), output
        return short(output)


def short(output: str) -> list[str]:
    """What is told, a line for each finding: how it is told, its file, its line and its code."""
    told: list[str] = []
    how, name = "", ""
    for line in output.removeprefix(DONE).splitlines():
        finding = re.fullmatch(r"ERROR \[(\d+):\d+\] .* \(([\w-]+)\)", line)
        heading = next((short for words, short in HEADINGS.items() if line.endswith(words)), "")
        if finding:
            told.append(f"{how} {name} line {finding[1]} {finding[2]}")
        elif heading:
            how = heading
        elif line.startswith("<diagnostics file="):
            name = line.split('"')[1]
        elif line and line != "</diagnostics>":
            told.append(line.removeprefix("The edit was applied. "))
    return told


@contextmanager
def agent(folder: Path) -> Iterator[Agent]:
    real_servers.require("ty")
    project = folder / "project"
    project.mkdir()
    for name, text in FILES.items():
        (project / name).write_text(text, encoding="utf-8")
    with workspace(project, "ty") as ws, workspace(project, "ty") as judge:
        yield Agent(project, EditHooks(ws), judge)


OLD = "LSP errors from before the edit that remain: 1"
OLD_ELSEWHERE = "LSP errors in other files from before the edit: 1"
TAX = "def tax_of(item: str) -> int:\n    return len(item)\n"


def test_an_agent_is_told_of_each_error_that_it_has_made_until_it_is_gone(tmp_path: Path) -> None:
    with agent(tmp_path) as on:
        on.read("prices.py")
        # Nothing is broken.
        assert on.edit("prices.py", "PRICES =", "# In cents.\nPRICES =") == []
        # A parameter more: a caller that nobody has opened is broken, and stays so.
        caller = "orders.py line 5 missing-argument"
        assert on.edit("prices.py", "item: str)", "item: str, tax: int)") == [f"elsewhere {caller}"]
        assert on.edit("report.py", '{total(items)}"', '{total(items)}!"') == [
            OLD,
            f"still {caller}",
        ]
        assert on.write("tax.py", TAX) == [f"still {caller}"]
        # Another error beside it; the first one is mended, and its file is broken anew.
        result = "tax.py line 2 invalid-return-type"
        assert on.edit("tax.py", "return len(item)", "return item") == [
            f"here {result}",
            f"still {caller}",
        ]
        assert on.fail("tax.py") == []
        assert on.edit("orders.py", "price_of(item)", "price_of(item, 1)") == [f"still {result}"]
        assert on.edit("prices.py", "def price_of", "def cost_of") == [
            "elsewhere orders.py line 1 import-not-found",
            f"still {result}",
            OLD_ELSEWHERE,
        ]
        replace = functools.partial(on.replace, "orders.py", "price_of", "cost_of")
        assert on.command(replace) == [f"still {result}"]
        # An error gives way to another one, which moves when lines are added.
        new = "return 1\n\n\nrate: int = 'a'"
        assert on.edit("tax.py", "return item", new) == ["here tax.py line 5 invalid-assignment"]
        assert on.edit("report.py", "from orders", "# The report.\nfrom orders") == [
            OLD,
            "still tax.py line 5 invalid-assignment",
        ]
        new = "\n\nrate: int = 'a'\nmore: str = 1"
        assert on.edit("tax.py", "rate: int = 'a'", new) == [
            "here tax.py line 8 invalid-assignment",
            "still tax.py line 7 invalid-assignment",
        ]
        assert on.write("tax.py", TAX) == []
        # A file that is used is removed by a command, and written again.
        used = "import total\nfrom tax import tax_of"
        assert on.edit("report.py", "import total", used) == [OLD]
        assert on.command((on.folder / "tax.py").unlink) == [
            "elsewhere report.py line 3 import-not-found",
            OLD_ELSEWHERE,
        ]
        assert on.write("tax.py", TAX) == []
        # A patch breaks two files.
        price = "prices.py line 6 invalid-return-type"
        patch = {
            "prices.py": ("    return PRICES[item]", "    return item"),
            "tax.py": ("    return len(item)", "    return item"),
        }
        assert on.patch(patch) == [f"here {price}", f"here {result}"]
        # There is no time for a check: the next edit catches up on it.
        assert on.edit("orders.py", "-> int", "-> str", 0.0) == [
            "Could not be checked in time: <files>orders.py</files>",
        ]
        assert on.edit("prices.py", "return item", "return PRICES[item]") == [
            "elsewhere orders.py line 5 invalid-return-type",
            f"still {result}",
            OLD_ELSEWHERE,
        ]
        assert on.edit("orders.py", "-> str", "-> int") == [f"still {result}"]
        assert on.edit("tax.py", "return item", "return 0") == []
