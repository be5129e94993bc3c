"""Files that a stranger wrote to keep lspkit busy: each is read once, or not at all.

Before, each of these took from half a minute to hours.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from lspkit.limits import MOST_COMPILE_STEPS, MOST_IGNORE_RULES, MOST_NAMES
from lspkit.servers.project import config_inputs
from lspkit.servers.project.config_inputs import imported_by
from lspkit.servers.project.skipped_files import ignoring
from lspkit.servers.restriction.compile_commands import CompileFlags, compiling, words_of

pytestmark = pytest.mark.slow

T = TypeVar("T")

#: Seconds of CPU that nothing here comes near, also on a slow machine.
PATIENCE = 20.0


def within_patience(work: Callable[[], T]) -> T:
    """The result, which must come in time."""
    began = time.process_time()
    result = work()
    assert time.process_time() - began < PATIENCE
    return result


def names_imported_by(folder: Path, name: str) -> set[str]:
    """The names of the files; the search must end in time."""
    found = within_patience(lambda: imported_by(str(folder), (name,)))
    return {Path(one).name for one in found}


@pytest.mark.parametrize(
    "piece",
    [
        "from ",
        "extends:[",
        "extends:['./a.json',",
        "plugins:'",
        "new ",
        "require(",
        '"',
        "import(\n",
    ],
)
@pytest.mark.parametrize("name", ["conf.json", "conf.mjs"])
def test_in_a_large_configuration_pieces_that_name_nothing_are_passed_over(
    tmp_path: Path, name: str, piece: str
):
    (tmp_path / "base.json").touch()
    count = (config_inputs.LARGEST - 100) // len(piece)
    (tmp_path / name).write_text("extends: './base.json'\n" + piece * count)
    assert names_imported_by(tmp_path, name) == {name, "base.json"}


def test_blanks_without_an_end_are_passed_over(tmp_path: Path):
    (tmp_path / "base.json").touch()
    blanks = "from" + " " * 900_000 + "\nextends" + "\n" * 90_000
    (tmp_path / "conf.mjs").write_text(f"{blanks}\nimport base from './base.json'\n")
    assert names_imported_by(tmp_path, "conf.mjs") == {"conf.mjs", "base.json"}


def test_so_many_names_are_looked_for_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names = ", ".join(f"'./{number}.json'" for number in range(3 * MOST_NAMES))
    (tmp_path / "conf.json").write_text(f"extends: [{names}]")
    looked: list[str] = []

    def paths(value: str, *_: object) -> list[str]:
        looked.append(value)
        return []

    monkeypatch.setattr(config_inputs, "_paths", paths)
    imported_by(str(tmp_path), ("conf.json",))
    assert len(looked) == MOST_NAMES


def test_so_many_missing_files_are_kept_and_no_more(tmp_path: Path):
    names = ", ".join(f"'./{number}.json'" for number in range(MOST_NAMES))
    (tmp_path / "conf.json").write_text(f"extends: [{names}]")
    found = imported_by(str(tmp_path), ("conf.json",))
    assert len(found) == config_inputs.MOST_MISSING + 1


def test_lists_and_imports_are_found_as_before(tmp_path: Path):
    for name in ("a.json", "b.json", "c.mjs", "d.json"):
        (tmp_path / name).write_text("")
    (tmp_path / "conf.mjs").write_text(
        "extends: [['./a.json', {}], './b.json']\nimport x from  (  './c.mjs')\n"
        "parser = './d.json'\nextends: ['./never-closed.json'"
    )
    found = imported_by(str(tmp_path), ("conf.mjs",))
    assert {Path(one).name for one in found} == {"conf.mjs", "a.json", "c.mjs", "d.json"}


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        ("' ", [" "] * 50_000),
        ("'' ", [""] * 100_000),
        ("\\ ", [" " * 100_000]),
        ('"\\" ', ['" "'] * 50_000),
        ("-Ia ", ["-Ia"] * 100_000),
    ],
    ids=["quote", "empty word", "escaped blank", "escaped quote", "option"],
)
def test_a_command_of_many_quotes_is_cut_once(piece: str, words: list[str]):
    found = within_patience(lambda: words_of("cc " + piece * 100_000))
    assert found == ["cc", *words]


@pytest.mark.parametrize(
    "command", ["a 'b c' d", "a\\ b", '"a\\"b" "c\\d"', "a'b'\"c\"", "'a", 'a"', "a\\", "a # b", ""]
)
def test_a_command_is_cut_as_a_shell_does(command: str):
    try:
        expected = shlex.split(command)
    except ValueError:
        expected = []
    assert words_of(command) == expected


def test_a_database_with_too_much_in_it_says_nothing(tmp_path: Path):
    command = "cc " + "-Ia " * 1000
    count = MOST_COMPILE_STEPS // 1000 + 1
    entries = [{"directory": "/", "file": f"{at}.c", "command": command} for at in range(count)]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    assert within_patience(lambda: compiling(str(tmp_path))) == CompileFlags()


def test_a_list_of_too_many_rules_may_ignore_everything(tmp_path: Path):
    (tmp_path / ".ignore").write_text("x\n" * (MOST_IGNORE_RULES + 1))
    assert ignoring(str(tmp_path / "a.py"), (".ignore",), str(tmp_path)) == ".ignore"
    (tmp_path / ".ignore").write_text("x\n" * 100)
    assert ignoring(str(tmp_path / "a.py"), (".ignore",), str(tmp_path)) == ""
