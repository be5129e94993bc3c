"""Configuration files that a stranger wrote to keep lspkit busy: read once, or refused.

Before, each of the first took from seconds to hours.
"""

from __future__ import annotations

import time

import pytest

from lspkit.config.config_files import LARGEST
from lspkit.config.problems import MOST
from tests.config.scene import Scene

#: Seconds of CPU that nothing here comes near, also on a slow machine.
PATIENCE = 20.0

_ROOM = LARGEST - 1000
_HOSTILE = {
    "line breaks": "lspkit = \n" + "\n" * _ROOM,
    "brackets": "lspkit = \n" + "[" * _ROOM,
    "blanks": "lspkit = \n" + "[ \t" * (_ROOM // 3),
    "a deep table": "[tool.lspkit]\n["
    + "a." * (_ROOM // 4)
    + "a]\n"
    + "".join(f"k{number}=1\n" for number in range(_ROOM // 20)),
    "a deep table in quotes": "[tool.lspkit]\n[ "
    + '"a\\"" . ' * (_ROOM // 16)
    + "a]\n"
    + "".join(f"k{number}=1\n" for number in range(_ROOM // 20)),
    "deep keys": "[tool.lspkit]\n"
    + "".join(f"{'a.' * 2000}k{number}=1\n" for number in range(_ROOM // 4010)),
    "escaped quotes": "[tool.lspkit]\n#" + '\\"' * (_ROOM // 2),
    "quotes after blanks": "[tool.lspkit]\n#" + ' "a\\" .' * (_ROOM // 7),
    "unknown keys": "[tool.lspkit]\n" + "".join(f"k{number}=1\n" for number in range(_ROOM // 8)),
    "unknown tables": "".join(f"[tool.lspkit.t{number}]\n" for number in range(_ROOM // 24)),
}


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
def test_a_strangers_project_file_keeps_nobody_busy(tmp_path, text: str):
    scene = Scene(tmp_path)
    scene.project(text, "pyproject.toml")
    began = time.process_time()
    scene.load()
    assert time.process_time() - began < PATIENCE


def test_a_key_of_too_many_names_is_told_with_its_line(tmp_path):
    scene = Scene(tmp_path)
    scene.project("[tool.lspkit]\nx = 1\n" + "a . " * 100 + "a = 1\n", "pyproject.toml")
    assert any("pyproject.toml:3" in one and "64 names" in one for one in scene.warnings())


def test_sentences_and_versions_are_no_keys_of_many_names(tmp_path):
    scene = Scene(tmp_path)
    text = "# " + "a b. " * 100 + "\n[project]\ndescription = '" + "one. two three. " * 99 + "'\n"
    scene.project(text + "[tool.lspkit]\nlsp = false\n", "pyproject.toml")
    assert scene.load().config.lsp is False


def test_what_is_held_back_is_told_up_to_a_number_and_then_counted(tmp_path):
    scene = Scene(tmp_path)
    settings = {f"some.key{number}": number for number in range(MOST + 50)}
    scene.project({"lsp": {"pyright": {"settings": settings}}})
    warnings = scene.warnings(trusted=False)
    assert len(warnings) < MOST + 10
    assert any("50 more" in one for one in warnings)
