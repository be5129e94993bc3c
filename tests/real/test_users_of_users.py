"""Edits that break files which nobody has opened, and which no reference leads to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace

pytestmark = pytest.mark.server

TIMEOUT = 60.0


@dataclass(frozen=True)
class Case:
    """The texts of files, and an edit of the first one that breaks the last one."""

    files: dict[str, str]
    old: str
    new: str


CLASSES = {
    "shop.py": "class Shop:\n    open = 1\n\n    def name(self) -> str:\n        return ''\n",
    "branch.py": "from shop import Shop\n\n\nclass Branch(Shop):\n    pass\n",
    "user.py": "from branch import Branch\n\nprint(Branch())\n",
}
PYTHON = {
    "the first __init__": Case(CLASSES, "open = 1\n", "def __init__(self, x: int) -> None: ...\n"),
    "an abstract method": Case(
        {**CLASSES, "shop.py": "import abc\n\n\nclass Shop(abc.ABC):\n    open = 1\n"},
        "open = 1\n",
        "open = 1\n\n    @abc.abstractmethod\n    def total(self) -> int: ...\n",
    ),
    "a method of a base class": Case(
        {
            **CLASSES,
            "user.py": "from branch import Branch\n\n\nclass U(Branch):\n    def x(self): ...\n",
        },
        "open = 1\n",
        "open = 1\n\n    def x(self, y: int) -> int: ...\n",
    ),
    "a value of a result": Case(
        {
            "a.py": "def prices():\n    return {\n        'a': (\n            1\n        ),\n"
            "    }\n",
            "user.py": "from a import prices\n\nx: dict[str, int] = prices()\n",
        },
        "            1\n",
        "            'one'\n",
    ),
    "an attribute over several lines": Case(
        {
            "a.py": "class A:\n    def __init__(self) -> None:\n        self.w = max(\n"
            "            1,\n            2,\n        )\n",
            "user.py": "from a import A\n\nx: int = A().w\n",
        },
        "            2,\n        )",
        "            2,\n        ) * 1.5",
    ),
    "a name that is not handed on": Case(
        {
            "shop/__init__.py": "from .prices import price as cost, tax\n",
            "shop/prices.py": "price = 1\ntax = 1\n",
            "user.py": "from shop import cost\n\nprint(cost)\n",
        },
        "price as cost",
        "price as price",
    ),
    "a shorter list of exports": Case(
        {
            "a.py": "__all__ = [\n    'f',\n    'g',\n]\nf = 1\ng = 1\n",
            "user.py": "from a import *\n\nprint(g)\n",
        },
        "    'g',\n",
        "",
    ),
    "the body of a decorator": Case(
        {
            "deco.py": "def deco(f):\n    def inner() -> int:\n        return 1\n\n"
            "    return inner\n",
            "a.py": "from deco import deco\n\n\n@deco\ndef f(): ...\n",
            "user.py": "from a import f\n\nx: int = f()\n",
        },
        "def inner() -> int",
        "def inner(x: int) -> int",
    ),
    "a result through another function": Case(
        {
            "a.py": "def f() -> int:\n    return 1\n",
            "b.py": "from a import f as g\n\n\ndef h():\n    return g()\n",
            "user.py": "from b import h\n\nx: int = h()\n",
        },
        "-> int:\n    return 1",
        "-> str:\n    return ''",
    ),
    "an overload": Case(
        {
            "a.py": "from typing import overload\n\n\n@overload\ndef f(a: str) -> None: ...\n"
            "@overload\ndef f(a: None) -> None: ...\ndef f(a):\n    return a\n",
            "user.py": "from a import f\n\nf('')\n",
        },
        "a: str",
        "a: bytes",
    ),
}
TYPESCRIPT = {
    "all names of a file are not handed on": Case(
        {
            "index.ts": "export * from './prices'\nexport const x = 1\n",
            "prices.ts": "export const price = 1\n",
            "user.ts": "import { price } from './index'\nexport const y = price\n",
        },
        "export * from './prices'\n",
        "",
    ),
    "a result behind a typed default": Case(
        {
            "a.ts": "export function each(f = (x: number): number => x) {\n  return f(1)\n}\n",
            "user.ts": "import { each } from './a'\nexport const y: number = each()\n",
        },
        "return f(1)",
        "return [f(1)]",
    ),
    "a type that another type is made of": Case(
        {
            "a.ts": "export type Price = {\n  value: number\n}\n",
            "b.ts": "import { Price } from './a'\nexport interface Item<\n  T = 1,\n> {\n"
            "  cost: Price\n}\n",
            "c.ts": "import { Item } from './b'\n"
            "export const item = (): Item => ({ cost: { value: 1 } })\n",
            "user.ts": "import { item } from './c'\nexport const { value } = item().cost\n"
            "export const y: number = value\n",
        },
        "  value: number\n",
        "  value: string\n",
    ),
}
#: ty takes the result of a function that does not declare it for unknown, and lists all overloads.
PYRIGHT = (
    "a value of a result",
    "the body of a decorator",
    "a result through another function",
    "an overload",
)
CASES = [
    pytest.param(server, case, id=f"{server}: {name}")
    for checker, cases in (("ty", PYTHON), ("typescript", TYPESCRIPT))
    for name, case in cases.items()
    for server in ["pyright" if name in PYRIGHT else checker]
]


@pytest.mark.parametrize(("server", "case"), CASES)
def test_a_user_that_does_not_name_the_changed_lines_is_told(
    tmp_path: Path, server: str, case: Case
) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    for name, text in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"strict": true, "types": []}}')
    [edited, *_, user] = case.files
    text = case.files[edited]
    assert text.count(case.old) == 1
    with workspace(folder, server, argv=real_servers.command(server)) as ws:
        new = text.replace(case.old, case.new)
        report = ws.write(edited, new, check="project", timeout=TIMEOUT).report
        assert report is not None
        introduced = report.other_files.introduced or {}
        assert user in {path.name for path in introduced}, report
        back = ws.write(edited, text, check="project", timeout=TIMEOUT).report
        assert back is not None
        assert not back.other_files.introduced


def test_what_cannot_be_followed_makes_the_rest_unknown(tmp_path: Path) -> None:
    """The names of another file are handed on by a star: they stand nowhere."""
    real_servers.require("ty")
    for name, text in {
        "shop/__init__.py": "from .prices import *\n",
        "shop/prices.py": "price = 1\n",
        "user.py": "import shop as s\n\nprint(s)\n",
    }.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text, encoding="utf-8")
    with workspace(tmp_path / "project", "ty", argv=real_servers.command("ty")) as ws:
        report = ws.write("shop/__init__.py", "", check="project", timeout=TIMEOUT).report
    assert report is not None
    assert report.verdict.unknown
    assert report.other_files.reason.startswith("it hands on all names of another file")


def test_a_user_of_another_root_is_told(tmp_path: Path) -> None:
    """The server of the edited file does not check it; its own server does."""
    real_servers.require("ty")
    folder = tmp_path / "project"
    for name, text in {
        "a/pyproject.toml": '[project]\nname = "a"\nversion = "1"\n',
        "a/prices.py": "def price_of(item: str) -> int:\n    return 1\n",
        "b/pyproject.toml": '[project]\nname = "b"\nversion = "1"\n'
        '[tool.ty.environment]\nextra-paths = ["../a"]\n',
        "b/user.py": "from prices import price_of\n\nprint(price_of('a'))\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    new = "def price_of(item: str, tax: int) -> int:\n    return 1\n"
    with workspace(folder, "ty", argv=real_servers.command("ty")) as ws:
        report = ws.write("a/prices.py", new, check="project", timeout=TIMEOUT).report
    assert report is not None
    assert report.verdict.dirty
    assert [path.name for path in report.other_files.introduced or {}] == ["user.py"]
