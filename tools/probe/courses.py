"""What a server is probed and raced on: for each server a file that can be broken and mended, and,
where the server looks across files, a second one that breaks and mends the first.

A text is made from a template. `LINE` becomes a line that is in order or has the only error of the
text; `NUMBER` is another one in every text, so that no two are equal; `GAP` becomes some empty
lines, so that the error of one text stands on another line than that of the next, and an old
finding can be told from a new one. All texts of a file have the same size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

#: Bytes of every text.
SIZE = 640
#: The longest gap, in lines.
GAPS = 7


@dataclass(frozen=True)
class Text:
    """One text of one file, and what is true about it."""

    content: str
    number: int
    #: Whether it is broken by itself.
    broken: bool
    #: The line of its own error, counted from 1, and the one that another file can break.
    line: int
    use: int = 0


@dataclass(frozen=True)
class Template:
    """How the texts of one file are made."""

    name: str
    text: str
    good: str
    bad: str
    #: How the line begins that another file can break.
    use: str = ""

    def make(self, number: int, *, broken: bool) -> Text:
        """The text of that number."""
        line = self.bad if broken else self.good
        gap = "\n" * (number % GAPS)
        content = self.text.replace("GAP", gap).replace("LINE", line)
        content = content.replace("NUMBER", str(1000 + number))
        line = line.replace("NUMBER", str(1000 + number))
        lines = content.split("\n")
        place = next(at for at, one in enumerate(lines, 1) if one.strip() == line.strip())
        uses = [at for at, one in enumerate(lines, 1) if self.use and one.strip() == self.use]
        padded = content + "\n" * (SIZE - len(content))
        return Text(padded, number, broken, place, uses[0] if uses else 0)


@dataclass(frozen=True)
class Course:
    """What one server is raced on."""

    language: str
    alone: Template
    #: `alone` with a line that depends on `other`, and that other file, where broken means that it
    #: breaks the first one, and is itself in order.
    pair: Template | None = None
    other: Template | None = None
    #: Files that make a folder a project.
    files: dict[str, str] = field(default_factory=dict)
    #: Packages of the servers' folder that the project links to as its own.
    links: tuple[str, ...] = ()
    #: The server whose program it is, where that is another one's.
    program: str = ""

    def write(self, folder: Path, modules: Path) -> None:
        """Make the project; the raced files come later."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        for package in self.links:
            (folder / "node_modules").mkdir(exist_ok=True)
            os.symlink(modules / package, folder / "node_modules" / package)
        for template in (self.alone, self.pair, self.other):
            if template is not None:
                (folder / template.name).parent.mkdir(parents=True, exist_ok=True)


_PYTHON = Course(
    language="python",
    files={"pyproject.toml": ""},
    alone=Template("main.py", "# NUMBER\nGAP\nLINE\n", "own: int = NUMBER", 'own: int = "NUMBER"'),
    pair=Template(
        "user.py",
        "from other import value\n# NUMBER\nGAP\nLINE\ncopy: int = value\n",
        "own: int = NUMBER",
        'own: int = "NUMBER"',
        "copy: int = value",
    ),
    other=Template("other.py", "# NUMBER\nLINE\n", "value: int = NUMBER", 'value: str = "NUMBER"'),
)

_OWN = ("export const own: number = NUMBER;", 'export const own: number = "NUMBER";')
_COPY = "export const copy: number = value;"
_VALUE = ("export const value: number = NUMBER;", 'export const value: string = "NUMBER";')


def _script(files: dict[str, str], other: str) -> Course:
    """TypeScript, with the other file as it has to be named."""
    head = f'import {{ value }} from "{other}";\n'
    return Course(
        language="typescript",
        files=files,
        alone=Template("main.ts", "// NUMBER\nGAP\nLINE\n", *_OWN),
        pair=Template("user.ts", f"{head}// NUMBER\nGAP\nLINE\n{_COPY}\n", *_OWN, _COPY),
        other=Template("other.ts", "// NUMBER\nLINE\n", *_VALUE),
    )


_TSCONFIG = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "lib": ["es2020"], '
    '"types": []}}\n'
}
_TYPESCRIPT = _script(_TSCONFIG, "./other")

_CLANGD = Course(
    language="cpp",
    files={"compile_flags.txt": "-xc++\n-std=c++17\n"},
    alone=Template("main.cpp", "// NUMBER\nGAP\nLINE\n", "int own = NUMBER;", "int own = missing;"),
    pair=Template(
        "user.cpp",
        # The standard header makes it slow to read the included files anew.
        '#include <string>\n#include "other.h"\n// NUMBER\nGAP\nLINE\nint copy = value();\n',
        "int own = NUMBER;",
        "int own = missing;",
        "int copy = value();",
    ),
    other=Template(
        "other.h",
        "#pragma once\n// NUMBER\nLINE\n",
        "inline int value() { return NUMBER; }",
        'inline const char *value() { return "NUMBER"; }',
    ),
)

_GOPLS = Course(
    language="go",
    files={"go.mod": "module example.com/race\n\ngo 1.19\n"},
    alone=Template(
        "one/main.go",
        "package main\n\n// NUMBER\nGAP\nLINE\n\nfunc main() { _ = own }\n",
        "var own int = NUMBER",
        'var own int = "NUMBER"',
    ),
    pair=Template(
        "two/user.go",
        "package main\n\n// NUMBER\nGAP\nLINE\nvar copied int = value\n\n"
        "func main() { _, _ = own, copied }\n",
        "var own int = NUMBER",
        'var own int = "NUMBER"',
        "var copied int = value",
    ),
    other=Template(
        "two/other.go",
        "package main\n\n// NUMBER\nLINE\n",
        "var value int = NUMBER",
        'var value string = "NUMBER"',
    ),
)

_RUST = Course(
    language="rust",
    files={
        "Cargo.toml": '[package]\nname = "race"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub mod alone;\npub mod other;\npub mod user;\n",
    },
    alone=Template(
        "src/alone.rs",
        "// NUMBER\nGAP\nLINE\n",
        "pub fn own() -> i32 { NUMBER }",
        'pub fn own() -> i32 { "NUMBER" }',
    ),
    pair=Template(
        "src/user.rs",
        "// NUMBER\nGAP\nLINE\npub fn copy() -> i32 { crate::other::value() }\n",
        "pub fn own() -> i32 { NUMBER }",
        'pub fn own() -> i32 { "NUMBER" }',
        "pub fn copy() -> i32 { crate::other::value() }",
    ),
    other=Template(
        "src/other.rs",
        "// NUMBER\nLINE\n",
        "pub fn value() -> i32 { NUMBER }",
        'pub fn value() -> &\'static str { "NUMBER" }',
    ),
)

_JAVA = Course(
    language="java",
    alone=Template(
        "Main.java",
        "class Main {\n  // NUMBER\nGAP\n  LINE\n}\n",
        "int own() { return NUMBER; }",
        'int own() { return "NUMBER"; }',
    ),
    pair=Template(
        "User.java",
        "class User {\n  // NUMBER\nGAP\n  LINE\n  int copy() { return Other.value(); }\n}\n",
        "int own() { return NUMBER; }",
        'int own() { return "NUMBER"; }',
        "int copy() { return Other.value(); }",
    ),
    other=Template(
        "Other.java",
        "class Other {\n  // NUMBER\n  LINE\n}\n",
        "static int value() { return NUMBER; }",
        'static String value() { return "NUMBER"; }',
    ),
)

_SVELTE_OWN = ("let own: number = NUMBER;", 'let own: number = "NUMBER";')
_SVELTE = Course(
    language="svelte",
    files={"package.json": "{}\n"},
    alone=Template(
        "Main.svelte",
        '<script lang="ts">\n  // NUMBER\nGAP\n  LINE\n</script>\n{own}\n',
        *_SVELTE_OWN,
    ),
    pair=Template(
        "User.svelte",
        '<script lang="ts">\n  import { value } from "./Other.svelte";\n  // NUMBER\nGAP\n  LINE\n'
        "  let copy: number = value;\n</script>\n{own}{copy}\n",
        *_SVELTE_OWN,
        "let copy: number = value;",
    ),
    other=Template(
        "Other.svelte",
        '<script context="module" lang="ts">\n  // NUMBER\n  LINE\n</script>\n',
        *_VALUE,
    ),
)

_VUE_OWN = ("const own: number = NUMBER;", 'const own: number = "NUMBER";')
_VUE_TYPESCRIPT = Course(
    language="vue",
    files=_TSCONFIG,
    program="typescript",
    alone=Template(
        "Main.vue",
        '<script setup lang="ts">\n// NUMBER\nGAP\nLINE\n</script>\n'
        "<template><p>{{ own }}</p></template>\n",
        *_VUE_OWN,
    ),
    pair=Template(
        "User.vue",
        '<script setup lang="ts">\nimport { value } from "./Other.vue";\n// NUMBER\nGAP\nLINE\n'
        "const copy: number = value;\n</script>\n<template><p>{{ own + copy }}</p></template>\n",
        *_VUE_OWN,
        "const copy: number = value;",
    ),
    other=Template("Other.vue", '<script lang="ts">\n// NUMBER\nLINE\n</script>\n', *_VALUE),
)

_PHP = Course(
    language="php",
    files={"composer.json": "{}\n"},
    alone=Template(
        "main.php", "<?php\n// NUMBER\nGAP\nLINE\n", '$own = strlen("NUMBER");', "$own = missing();"
    ),
    pair=Template(
        "user.php",
        "<?php\n// NUMBER\nGAP\nLINE\n$copy = value();\n",
        '$own = strlen("NUMBER");',
        "$own = missing();",
        "$copy = value();",
    ),
    other=Template(
        "other.php",
        "<?php\n// NUMBER\nLINE\n",
        "function value(): int { return NUMBER; }",
        "function another(): int { return NUMBER; }",
    ),
)

COURSES: dict[str, Course] = {
    "pyright": _PYTHON,
    "basedpyright": _PYTHON,
    "ty": _PYTHON,
    "ruff": Course(
        language="python",
        alone=Template("main.py", "# NUMBER\nGAP\nLINE\n", "print(NUMBER)", "print(missing)"),
    ),
    "pyrefly": _PYTHON,
    "zuban": _PYTHON,
    "typescript": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "typescript-7": _TYPESCRIPT,
    "deno": _script({"deno.json": "{}\n"}, "./other.ts"),
    "eslint": Course(
        language="javascript",
        files={
            "package.json": '{"type": "module"}\n',
            "eslint.config.js": 'export default [{ rules: { "no-unused-vars": "error" } }];\n',
        },
        links=("eslint",),
        alone=Template(
            "src/main.js",
            "// NUMBER\nGAP\nLINE\n",
            "export const own = NUMBER;",
            "const own = NUMBER;",
        ),
    ),
    "clangd": _CLANGD,
    "gopls": _GOPLS,
    "rust-analyzer": _RUST,
    "bash": Course(
        language="shellscript",
        alone=Template(
            "main.sh", "#!/bin/bash\n# NUMBER\nGAP\nLINE\n", "echo NUMBER", 'echo "NUMBER$@"'
        ),
    ),
    "jdtls": _JAVA,
    "yaml": Course(
        language="yaml",
        alone=Template("main.yaml", "# NUMBER\nGAP\nLINE\n", "own: NUMBER", "own: NUMBER: 1"),
    ),
    "json": Course(
        language="json",
        alone=Template(
            "main.json", '{\n"number": NUMBER,\nGAP\nLINE\n}\n', '"own": 1', '"own": oops'
        ),
    ),
    "css": Course(
        language="css",
        alone=Template("main.css", "/* NUMBER */\nGAP\nLINE\n", "a { top: 1px }", "a { top: }"),
    ),
    "html": Course(
        language="html",
        alone=Template(
            "main.html",
            "<!-- NUMBER -->\n<style>\nGAP\nLINE\n</style>\n",
            "a { top: 1px }",
            "a { top: }",
        ),
    ),
    "tombi": Course(
        language="toml",
        alone=Template(
            "main.toml", "# NUMBER\nGAP\nown = 1\nLINE\n", "other = NUMBER", "own = NUMBER"
        ),
    ),
    "dockerfile": Course(
        language="dockerfile",
        alone=Template(
            "Dockerfile", "FROM scratch\n# NUMBER\nGAP\nLINE\n", "LABEL own=NUMBER", "WHAT NUMBER"
        ),
    ),
    "biome": Course(
        language="javascript",
        files={"biome.json": "{}\n"},
        alone=Template(
            "main.js",
            "// NUMBER\nGAP\nLINE\n",
            "export const own = NUMBER;",
            "debugger; // NUMBER",
        ),
    ),
    "oxlint": Course(
        language="javascript",
        files={".oxlintrc.json": '{"rules": {"no-debugger": "error"}}\n'},
        alone=Template(
            "main.js",
            "// NUMBER\nGAP\nLINE\n",
            "export const own = NUMBER;",
            "debugger; // NUMBER",
        ),
    ),
    "vue": Course(
        language="vue",
        files={"package.json": "{}\n"},
        alone=Template(
            "Main.vue",
            "<template>\n<!-- NUMBER -->\nGAP\nLINE\n</template>\n",
            "<p>NUMBER</p>",
            "<p>NUMBER",
        ),
    ),
    "vue-typescript": _VUE_TYPESCRIPT,
    "svelte": _SVELTE,
    "intelephense": _PHP,
}
