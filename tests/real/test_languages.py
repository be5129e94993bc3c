"""Servers of several languages: a file is read in its own, whichever file started the process.

Each server runs once for each order. The first time all files are right and become wrong, the
second time the other way round. What is right in one language is wrong in another, where there is
such a text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lspkit import Verdict
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import command, workspace_with

pytestmark = pytest.mark.server

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0


@dataclass(frozen=True)
class Several:
    """The files of a project, by name: a right text and a wrong one."""

    files: dict[str, tuple[str, str]]
    manifests: dict[str, str] = field(default_factory=dict)
    #: Packages of the servers' folder that the project links to as its own.
    links: tuple[str, ...] = ()


_CHECKED = "// @ts-check\n/** @type {number} */\nexport const n = "
#: What the types of TypeScript and those in comments of JavaScript have to say.
_TYPED = {
    # The assertion is no TypeScript with tags in it.
    "a.ts": ("export const n = <number>1;\n", "export const n = <p>1</p>;\n"),
    "b.tsx": ("export const p = <p>1</p>;\n", "export const n = <number>1;\n"),
    # To TypeScript the type in the comment means nothing.
    "c.js": (f"{_CHECKED}1;\n", f"{_CHECKED}'x';\n"),
    "d.jsx": (f"{_CHECKED}1, p = <p>1</p>;\n", f"{_CHECKED}'x', p = <p>1</p>;\n"),
}
#: Tags that need no package.
_TAGS = '"strict": false, "jsx": "react", "jsxFactory": "String"'
_TYPESCRIPT = Several(
    _TYPED,
    {
        "tsconfig.json": f'{{"compilerOptions": {{{_TAGS}, "allowJs": true, "noEmit": true,'
        ' "lib": ["es2020"], "types": []}}\n'
    },
)
_DEBUGGER = ("f();\n", "debugger;\n")
_JSON = ('{"a": 1}\n', '{"a": 1 // more\n}\n')
_COMMENTED = ('{"a": 1 // more\n}\n', '{"a": }\n')
_BROKEN_STYLE = "a { color: red; b c d }\n"

SEVERAL = {
    "css": Several(
        {
            "a.css": ("a { color: red; }\n", "$c: red;\na { b { color: $c; } }\n"),
            "b.scss": ("$c: red;\na { b { color: $c; } }\n", _BROKEN_STYLE),
            "c.less": ("@c: red;\n.m() { color: @c; }\na { .m(); }\n", _BROKEN_STYLE),
        }
    ),
    "json": Several(
        {
            "a.json": _JSON,
            "b.jsonc": _COMMENTED,
            "tsconfig.x.json": _COMMENTED,
            "d.webmanifest": _JSON,
        }
    ),
    "biome": Several(
        {
            "a.ts": ("export const n = <number>1;\n", "export const n = <p>1</p>;\n"),
            "b.tsx": ("export const p = <p>1</p>;\n", "export const n = <number>1;\n"),
            "c.js": ("export const n = 1;\n", "export const n: number = 1;\n"),
            "d.jsx": ("export const p = <p>1</p>;\n", "export const n: number = 1;\n"),
            "e.css": ("a {\n\tcolor: red;\n}\n", "a { color: red; b c d }\n"),
            "f.json": _JSON,
            "g.jsonc": _COMMENTED,
            "tsconfig.x.json": _COMMENTED,
            "h.graphql": ("query A {\n\ta\n}\n", "query A {\n"),
            "i.vue": ("<script>\nf();\n</script>\n", "<script>\ndebugger;\n</script>\n"),
            "j.svelte": ("<script>\nf();\n</script>\n", "<script>\ndebugger;\n</script>\n"),
            "k.astro": ("---\nf();\n---\n<p>1</p>\n", "---\ndebugger;\n---\n<p>1</p>\n"),
        },
        {"biome.json": "{}\n"},
    ),
    "deno": Several(_TYPED, {"deno.json": f'{{"compilerOptions": {{{_TAGS}}}}}\n'}),
    "typescript": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "typescript-7": _TYPESCRIPT,
    "eslint": Several(
        {"a.js": _DEBUGGER, "b.jsx": ("f(<p>1</p>);\n", "debugger;\n"), "c.mjs": _DEBUGGER},
        {
            "package.json": '{"type": "module"}\n',
            "eslint.config.js": "const parserOptions = { ecmaFeatures: { jsx: true } };\n"
            'export default [{ files: ["**/*.{js,jsx,mjs}"], languageOptions: { parserOptions },'
            ' rules: { "no-debugger": "error" } }];\n',
        },
        links=("eslint",),
    ),
    "oxlint": Several(
        {
            "a.ts": ("f(<number>1);\n", "f(<p>1</p>);\n"),
            "b.tsx": ("f(<p>1</p>);\n", "f(<number>1);\n"),
            "c.js": ("f(1);\n", "f(1 as number);\n"),
            "d.jsx": ("f(<p>1</p>);\n", "f(<p>1</p> as number);\n"),
            "e.vue": ("<script>\nf();\n</script>\n", "<script>\ndebugger;\n</script>\n"),
            "f.svelte": ("<script>\nf();\n</script>\n", "<script>\ndebugger;\n</script>\n"),
            "g.astro": ("---\nf();\n---\n<p>1</p>\n", "---\ndebugger;\n---\n<p>1</p>\n"),
        },
        {".oxlintrc.json": '{"rules": {"no-debugger": "error"}}\n'},
    ),
    "clangd": Several(
        {
            "a.c": ("int class = 1;\n", "class A {};\n"),
            "b.cpp": ("class A {};\n", "int class = 1;\n"),
            "c.m": ("@interface A\n@end\n", "class A {};\n"),
            "d.mm": ("@interface A\n@end\nclass B {};\n", "int class = 1;\n"),
        }
    ),
    "gopls": Several(
        {
            "a.go": ("package a\n\nvar N = 1\n", "package a\n\nvar N = x\n"),
            "b.gotmpl": ("{{.A}}\n", "{{if}}\n"),
        },
        {"go.mod": "module a.b/c\n\ngo 1.20\n"},
    ),
}


def _written(project: Several, folder: Path, names: list[str], which: int) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(project.files[name][which], encoding="utf-8")
    for name, text in project.manifests.items():
        (folder / name).write_text(text, encoding="utf-8")
    for package in project.links:
        (folder / "node_modules").mkdir(exist_ok=True)
        (folder / "node_modules" / package).symlink_to(real_servers.NODE_MODULES / package)


@pytest.mark.parametrize("right_first", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("server", SEVERAL)
def test_each_file_is_read_in_its_own_language(
    server: str, right_first: bool, tmp_path: Path
) -> None:
    real_servers.require(server)
    project, folder = SEVERAL[server], tmp_path / "project"
    names = list(project.files) if right_first else list(reversed(project.files))
    first, then = (0, 1) if right_first else (1, 0)
    _written(project, folder, names, first)
    with workspace_with(folder, {server: command(server, ())}) as ws:
        before = {name: ws.check(name, timeout=TIMEOUT) for name in names}
        after = {
            name: ws.write(name, project.files[name][then], timeout=TIMEOUT).report
            for name in names
        }
    verdicts = [Verdict.CLEAN, Verdict.DIRTY]
    for found, expected in ((before, verdicts[first]), (after, verdicts[then])):
        wrong = {name: str(one) for name, one in found.items() if one.verdict is not expected}
        assert not wrong, expected


def test_all_servers_of_several_languages_are_here() -> None:
    several = {one.id for one in BUILT_IN if len(set(one.languages.values())) > 1}
    assert several & real_servers.known() <= set(SEVERAL)
