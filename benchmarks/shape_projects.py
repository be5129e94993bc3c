"""What the shape race runs on: for each server a project, parts of which come, go and are replaced.

A project has one file that is asked about, and places. A place is in one of several states: nothing
is there, a module, a package, a stub, a link, another text. Several places may decide about the
same line: a module and a package of one name, a source folder, a stub beside a module.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

#: Path: text. One that begins with `LINK` is a link to what is named behind that.
Files = dict[str, str]
LINK = "-> "
#: Stands for where the packages of the virtual environment lie.
SITE = f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
#: Bytes of every text, so that two that replace each other have the same size.
SIZE = 160


@dataclass(frozen=True)
class Place:
    """A part of a project, and what may be there."""

    name: str
    #: All states; the first is the one at the beginning.
    states: tuple[Files, ...]


@dataclass(frozen=True)
class Project:
    """What one server is raced on."""

    main: str
    text: str
    places: tuple[Place, ...]
    #: What stays as it is.
    files: Files = field(default_factory=dict)
    #: Whether there is a virtual environment of Python.
    environment: bool = False

    def at(self, state: tuple[int, ...]) -> Files:
        """All files of a state."""
        found = {self.main: self.text, **self.files}
        for place, at in zip(self.places, state, strict=True):
            found |= place.states[at]
        return found


def _padded(text: str) -> str:
    return text if text.startswith(LINK) else text + "\n" * (SIZE - len(text))


def _place(name: str, *states: Files) -> Place:
    padded = ({path: _padded(text) for path, text in state.items()} for state in states)
    return Place(name, tuple(padded))


def _either(name: str, path: str, one: str, other: str) -> Place:
    """A file that may be missing, or have one of two texts."""
    return _place(name, {path: one}, {path: other}, {})


def _function(name: str, result: str) -> str:
    return f"def {name}() -> {result}: ...\n"


_INT, _STR = _function("f", "int"), _function("f", "str")
_LAX = """\
[tool.pyright]
reportUndefinedVariable = false
[tool.basedpyright]
reportUndefinedVariable = false
[tool.ty.rules]
unresolved-reference = "ignore"
[tool.pyrefly.errors]
unknown-name = false
[tool.mypy]
disable_error_code = ["name-defined"]
"""

_PYTHON = Project(
    main="main.py",
    text="from dep import f\n"
    "from lone import g\n"
    "from installed import h\n"
    "from linked.inner import k\n"
    "from pack.sub import m\n"
    "import colorsys\n"
    "a: int = f()\n"
    "b: int = g()\n"
    "c: int = h()\n"
    "d: int = k()\n"
    "e: int = m()\n"
    "g: float = colorsys.ONE_THIRD\n"
    "print(missing)\n",
    files={
        f"{SITE}/README.txt": "",
        "kept/one/inner.py": _function("k", "int"),
        "kept/two/inner.py": _function("k", "str"),
        "kept/dep_one.py": _INT,
        "kept/dep_two.py": _STR,
    },
    environment=True,
    places=(
        _place(
            "module",
            {"dep.py": _INT},
            {"dep.py": _STR},
            {"dep.py": LINK + "kept/dep_one.py"},
            {"dep.py": LINK + "kept/dep_two.py"},
            {},
        ),
        _place(
            "package",
            {},
            {"dep/__init__.py": _INT},
            {"dep/__init__.py": _STR},
            {"dep/inner.py": _INT},
        ),
        _place(
            "stub",
            {},
            {"dep.pyi": _INT},
            {"dep.pyi": _STR},
            {"dep/__init__.pyi": _INT},
            {"typings/lone.pyi": _function("g", "str")},
        ),
        _place(
            "source folder",
            {"lone.py": _function("g", "int")},
            {"src/lone.py": _function("g", "int")},
            {"src/lone.py": _function("g", "str")},
            {"src/lone/__init__.py": _function("g", "int")},
            {"src/other.py": ""},
            {},
        ),
        _place(
            "installed",
            {},
            {f"{SITE}/installed/__init__.py": _function("h", "int")},
            {
                f"{SITE}/installed/__init__.py": _function("h", "str"),
                f"{SITE}/installed/py.typed": "",
            },
            {f"{SITE}/installed.py": _function("h", "int")},
            {f"{SITE}/installed-stubs/__init__.pyi": _function("h", "int")},
        ),
        _place("link", {"linked": LINK + "kept/one"}, {"linked": LINK + "kept/two"}, {}),
        _place(
            "namespace",
            {"pack/__init__.py": "", "pack/sub.py": _function("m", "int")},
            {"pack/sub.py": _function("m", "int")},
            {"pack/__init__.py": "", "pack/sub/__init__.py": _function("m", "str")},
            {"pack.py": ""},
            {},
        ),
        _place("standard", {}, {"colorsys.py": 'ONE_THIRD: str = ""\n'}),
        _place("configuration", {"pyproject.toml": ""}, {"pyproject.toml": _LAX}),
    ),
)


def _exported(name: str, kind: str) -> str:
    return f"export declare function {name}(): {kind};\n"


def _script(name: str, kind: str) -> str:
    value = "1" if kind == "number" else '""'
    return f"export function {name}(): {kind} {{ return {value}; }}\n"


_TSCONFIG = (
    '{"compilerOptions": {"strict": STRICT, "noEmit": true, "lib": ["es2020"], "types": [], '
    '"module": "commonjs", "moduleResolution": "node10", "ignoreDeprecations": "IGNORED"}}\n'
)
_MANIFEST = '{"name": "installed", "version": "1.0.0", "types": "TYPES"}\n'


def _typescript(ignored: str, settings: str = _TSCONFIG) -> Project:
    strict, lax = (
        settings.replace("STRICT", word).replace("IGNORED", ignored) for word in ("true", "false")
    )
    return Project(
        main="main.ts",
        text='import { f } from "./dep";\n'
        'import { h } from "installed";\n'
        'import { k } from "./linked/inner";\n'
        "export const a: number = f();\n"
        "export const b: number = h();\n"
        "export const c: number = k();\n"
        "export function own(given) { return given; }\n"
        "export const d: number = ambient;\n",
        files={
            "package.json": "{}",
            "node_modules/README.txt": "",
            "kept/one/inner.ts": _script("k", "number"),
            "kept/two/inner.ts": _script("k", "string"),
            "kept/dep_one.ts": _script("f", "number"),
            "kept/dep_two.ts": _script("f", "string"),
            "kept/package/package.json": _MANIFEST.replace("TYPES", "index.d.ts"),
            "kept/package/index.d.ts": _exported("h", "number"),
        },
        places=(
            _place(
                "module",
                {"dep.ts": _script("f", "number")},
                {"dep.ts": _script("f", "string")},
                {"dep.ts": LINK + "kept/dep_one.ts"},
                {"dep.ts": LINK + "kept/dep_two.ts"},
                {},
            ),
            _place(
                "folder",
                {},
                {"dep/index.ts": _script("f", "number")},
                {"dep/index.ts": _script("f", "string")},
                {"dep/index.d.ts": _exported("f", "number")},
            ),
            _place(
                "declared",
                {},
                {"dep.d.ts": _exported("f", "number")},
                {"dep.d.ts": _exported("f", "string")},
            ),
            _place(
                "installed",
                {},
                {
                    "node_modules/installed/package.json": _MANIFEST.replace("TYPES", "index.d.ts"),
                    "node_modules/installed/index.d.ts": _exported("h", "number"),
                },
                {
                    "node_modules/installed/package.json": _MANIFEST.replace("TYPES", "other.d.ts"),
                    "node_modules/installed/other.d.ts": _exported("h", "string"),
                },
                {"node_modules/installed": LINK + "../kept/package"},
                {"node_modules/@types/installed/index.d.ts": _exported("h", "number")},
            ),
            _place("link", {"linked": LINK + "kept/one"}, {"linked": LINK + "kept/two"}, {}),
            _either(
                "ambient",
                "types/ambient.d.ts",
                "declare const ambient: number;\n",
                "declare const ambient: string;\n",
            ),
            _place("configuration", {"tsconfig.json": strict}, {"tsconfig.json": lax}),
        ),
    )


def _header(name: str, kind: str) -> str:
    return f"#pragma once\n{kind} {name}();\n"


_CLANGD = Project(
    main="main.cpp",
    text='#include "dep.h"\n'
    '#include "found.h"\n'
    '#include "linked/inner.h"\n'
    '#if __has_include("optional.h")\n'
    '#include "optional.h"\n'
    "int o = optional();\n"
    "#endif\n"
    "int a = f();\n"
    "int b = g();\n"
    "int c = k();\n"
    "#ifndef LAX\n"
    "int own = missing;\n"
    "#endif\n",
    files={
        "kept/one/inner.h": _header("k", "int"),
        "kept/two/inner.h": _header("k", "const char *"),
        "kept/dep_one.h": _header("f", "int"),
        "kept/dep_two.h": _header("f", "const char *"),
    },
    places=(
        _place(
            "header",
            {"dep.h": _header("f", "int")},
            {"dep.h": _header("f", "const char *")},
            {"dep.h": LINK + "kept/dep_one.h"},
            {"dep.h": LINK + "kept/dep_two.h"},
            {},
        ),
        _either("first folder", "first/found.h", _header("g", "int"), _header("g", "const char *")),
        _either(
            "second folder", "second/found.h", _header("g", "int"), _header("g", "const char *")
        ),
        _either("optional", "optional.h", _header("optional", "int"), _header("optional", "char*")),
        _place("link", {"linked": LINK + "kept/one"}, {"linked": LINK + "kept/two"}, {}),
        _place(
            "configuration",
            {"compile_flags.txt": "-xc++\n-Ifirst\n-Isecond\n"},
            {"compile_flags.txt": "-xc++\n-Ifirst\n-Isecond\n-DLAX\n"},
            {"compile_flags.txt": "-xc++\n-Isecond\n"},
        ),
    ),
)


def _go(package: str, name: str, kind: str) -> str:
    value = "1" if kind == "int" else '""'
    return f"package {package}\n\nfunc {name}() {kind} {{ return {value} }}\n"


_GOPLS = Project(
    main="main.go",
    text="package main\n\n"
    'import "example.com/race/dep"\n'
    'import "example.com/race/inner/deep"\n\n'
    "var a int = dep.F()\n"
    "var b int = value()\n"
    "var c int = deep.K()\n\n"
    "func main() { _, _, _ = a, b, c }\n",
    places=(
        _place(
            "package",
            {"dep/dep.go": _go("dep", "F", "int")},
            {"dep/dep.go": _go("dep", "F", "string")},
            {"dep/other.go": _go("dep", "F", "int")},
            {"dep/dep.go": _go("another", "F", "int")},
            {},
        ),
        _place(
            "file",
            {"value.go": _go("main", "value", "int")},
            {"value.go": _go("main", "value", "string")},
            {"more.go": _go("main", "value", "int")},
            {},
        ),
        _either(
            "deep package", "inner/deep/k.go", _go("deep", "K", "int"), _go("deep", "K", "string")
        ),
        _place(
            "configuration",
            {"go.mod": "module example.com/race\n\ngo 1.14\n"},
            {"go.mod": "module example.com/other\n\ngo 1.14\n"},
        ),
    ),
)

PROJECTS: dict[str, Project] = {
    **dict.fromkeys(("ty", "pyright", "basedpyright", "pyrefly", "zuban"), _PYTHON),
    **dict.fromkeys(("typescript", "vtsls"), _typescript("5.0")),
    # It knows no resolution as old as that of the others.
    "typescript-7": _typescript(
        "6.0", _TSCONFIG.replace("commonjs", "preserve").replace("node10", "bundler")
    ),
    "clangd": _CLANGD,
    "gopls": _GOPLS,
}
