"""A method is renamed together with the methods that it overrides, and with its overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.operations.renaming import method_family
from tests.real.both import TIMEOUT
from tests.real.test_complete_answers import PYTHON, SCRIPTS, c_project, start, write

pytestmark = [pytest.mark.server, pytest.mark.slow]

FILES = {
    "pyproject.toml": "",
    "base.py": "class Flow:\n    def step(self) -> int:\n        return 1\n",
    "middle.py": "from base import Flow\n\n\nclass Middle(Flow):\n    pass\n",
    "low.py": (
        "from middle import Middle\n\n\nclass Low(Middle):\n"
        "    def step(self) -> int:\n        return 2\n"
    ),
    "unrelated.py": "class Flow:\n    def step(self) -> int:\n        return 3\n",
    "use.py": "from base import Flow\nfrom low import Low\n\nFlow().step()\nLow().step()\n",
}
SCRIPT_FILES = {
    "tsconfig.json": "{}",
    "base.ts": "export interface Flow {\n  step(): number;\n}\n",
    "low.ts": (
        'import { Flow } from "./base";\n'
        "export class Low implements Flow {\n  step(): number {\n    return 1;\n  }\n}\n"
    ),
    "use.ts": 'import { Low } from "./low";\nnew Low().step();\n',
}


@pytest.mark.parametrize("start_at", ["base.py:Flow.step", "low.py:Low.step"])
@pytest.mark.parametrize("server", PYTHON)
def test_overrides_in_other_files_are_renamed(server: str, start_at: str, tmp_path: Path) -> None:
    file, symbol = start_at.split(":")
    with start(write(tmp_path, FILES), server) as ws:
        edit = ws.rename(file, symbol=symbol, new_name="advance", timeout=TIMEOUT)
        assert edit.complete, edit
        ws.apply(edit)
    assert [one.name for one in edit.files] == ["base.py", "low.py", "use.py"]
    for name in ("base.py", "low.py", "use.py"):
        assert "step" not in (tmp_path / name).read_text(), name
    assert "step" in (tmp_path / "unrelated.py").read_text()


@pytest.mark.parametrize("server", PYTHON)
def test_a_method_of_a_library_is_named_and_the_edit_is_not_applied(
    server: str, tmp_path: Path
) -> None:
    text = "import json\n\n\nclass Own(json.JSONEncoder):\n    def default(self, o): ...\n"
    with start(write(tmp_path, {"pyproject.toml": "", "own.py": text}), server) as ws:
        edit = ws.rename("own.py", symbol="Own.default", new_name="other", timeout=TIMEOUT)
    assert [one.kind for one in edit.caveats] == ["overrides not followed"]
    assert [one.path.stem for one in edit.caveats[0].places if one.path] == ["encoder"]


@pytest.mark.parametrize("server", PYTHON)
def test_a_function_has_no_family(server: str, tmp_path: Path) -> None:
    files = {"pyproject.toml": "", "a.py": "def step(): ...\n\n\nstep()\n"}
    with start(write(tmp_path, files), server) as ws:
        edit = ws.rename("a.py", symbol="step", new_name="advance", timeout=TIMEOUT)
    assert edit.complete
    assert [len(one.edits) for one in edit.changes if hasattr(one, "edits")] == [2]


@pytest.mark.parametrize("start_at", ["base.ts:Flow.step", "low.ts:Low.step"])
@pytest.mark.parametrize("server", SCRIPTS)
def test_implementations_of_an_interface_are_renamed(
    server: str, start_at: str, tmp_path: Path
) -> None:
    file, symbol = start_at.split(":")
    with start(write(tmp_path, SCRIPT_FILES), server) as ws:
        edit = ws.rename(file, symbol=symbol, new_name="advance", timeout=TIMEOUT)
    assert edit.complete, edit
    assert [one.name for one in edit.files] == ["base.ts", "low.ts", "use.ts"]


def test_virtual_methods_are_renamed(tmp_path: Path) -> None:
    c_project(tmp_path, database=False)
    text = (
        "struct Flow { virtual int step() { return 1; } };\n"
        "struct Low : Flow { int step() override { return 2; } };\n"
        "int use(Flow &flow) { return flow.step(); }\n"
    )
    (tmp_path / "flow.cpp").write_text(text)
    with start(tmp_path, "clangd") as ws:
        edit = ws.rename("flow.cpp", symbol="Flow.step", new_name="advance", timeout=TIMEOUT)
    assert [one.kind for one in edit.caveats] == ["no project index"]
    assert [len(one.edits) for one in edit.changes if hasattr(one, "edits")] == [3]


ARGUMENTS = {
    "pyproject.toml": "",
    "user.py": (
        "from typing import Generic, TypeVar\n\nT = TypeVar('T')\n\n\n"
        "class User:\n    def save(self) -> int:\n        return 1\n\n\n"
        "class Base(Generic[T]):\n    pass\n\n\n"
        "class Users(Base[User]):\n    def save(self) -> str:\n        return ''\n\n\n"
        "class Many(list[User]):\n    def save(self) -> str:\n        return ''\n"
    ),
    "tsconfig.json": "{}",
    "user.ts": (
        "export class User {\n  save(): number {\n    return 1;\n  }\n}\n"
        "class Base<T> {\n  one?: T;\n}\n"
        "export class Users extends Base<User> {\n  save(): string {\n    return '';\n  }\n}\n"
    ),
}


@pytest.mark.parametrize("start_at", ["User.save", "Users.save"])
@pytest.mark.parametrize("server", [*PYTHON, *SCRIPTS])
def test_a_type_argument_is_no_base_class(server: str, start_at: str, tmp_path: Path) -> None:
    file = "user.py" if server in PYTHON else "user.ts"
    with start(write(tmp_path, ARGUMENTS), server) as ws:
        edit = ws.rename(file, symbol=start_at, new_name="store", timeout=TIMEOUT)
    assert edit.complete, edit
    assert [len(one.edits) for one in edit.changes if hasattr(one, "edits")] == [1]


# Derived classes are only searched for servers that cannot tell implementations.
@pytest.mark.parametrize(
    ("server", "limit"),
    [("pyright", "MOST_FILES"), ("ty", "MOST_BASES"), ("ty", "MOST_CLASSES")],
)
def test_a_search_that_ends_at_a_limit_says_so(
    server: str, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = FILES | {"low.py": FILES["low.py"].replace("(Middle)", "(Middle, dict[int, int])")}
    monkeypatch.setattr(method_family, limit, 1)
    with start(write(tmp_path, files), server) as ws:
        edit = ws.rename("low.py", symbol="Low.step", new_name="advance", timeout=TIMEOUT)
    assert [one.kind for one in edit.caveats] == ["overrides not followed"]
    assert "more than 1" in edit.caveats[0].message
