"""The smallest project that each server has something to say about.

A row has the files, the one that is asked about, and what the server has to
say: the name of a symbol in it, or a piece of a finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tests.real_servers import NODE_MODULES


@dataclass(frozen=True)
class Tiny:
    files: dict[str, str]
    main: str
    #: A symbol that the server must name; empty for one that knows no symbols.
    symbol: str = ""
    #: Part of the message of a finding that it must report.
    finding: str = ""
    #: Packages of the servers' folder that the project links to as its own.
    links: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        modules = folder / "node_modules"
        for package in self.links:
            modules.mkdir(exist_ok=True)
            (modules / package).symlink_to(NODE_MODULES / package)


_PYTHON = Tiny(
    {"pyproject.toml": "", "main.py": 'def area(size: int) -> int:\n    return "x"\n'},
    "main.py",
    "area",
)
_SCRIPT = Tiny(
    {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "lib": ["es2020"], "types": []}}\n',
        "main.ts": 'export function area(size: number): number {\n  return "x";\n}\n',
    },
    "main.ts",
    "area",
    "not assignable",
)
_STYLE = "a { color: red; b c d }\n"

TINY: dict[str, Tiny] = {
    "basedpyright": replace(_PYTHON, finding='"int"'),
    "pyright": replace(_PYTHON, finding='"int"'),
    "ty": replace(_PYTHON, finding="Return type"),
    "pyrefly": replace(_PYTHON, finding="not assignable"),
    "zuban": replace(_PYTHON, finding="Incompatible return"),
    "ruff": Tiny({"main.py": "import os\n"}, "main.py", finding="imported but unused"),
    "typescript": _SCRIPT,
    "vtsls": _SCRIPT,
    "typescript-7": _SCRIPT,
    "deno": Tiny(
        {"deno.json": "{}\n", "main.ts": _SCRIPT.files["main.ts"]},
        "main.ts",
        "area",
        "not assignable",
    ),
    "eslint": Tiny(
        {
            "package.json": '{"type": "module"}\n',
            "eslint.config.js": 'export default [{ rules: { "no-unused-vars": "error" } }];\n',
            "src/main.js": "const unused = 1;\n",
        },
        "src/main.js",
        finding="never used",
        links=("eslint",),
    ),
    "biome": Tiny(
        {"biome.json": "{}\n", "main.js": "debugger;\n"},
        "main.js",
        finding="debugger",
    ),
    "oxlint": Tiny(
        {".oxlintrc.json": "{}\n", "main.js": "debugger;\n"},
        "main.js",
        finding="debugger",
    ),
    "gopls": Tiny(
        {
            "go.mod": "module example.com/tiny\n\ngo 1.19\n",
            "main.go": 'package main\n\nfunc area() int { return "x" }\n\nfunc main() { area() }\n',
        },
        "main.go",
        "area",
        "cannot use",
    ),
    "rust-analyzer": Tiny(
        {
            "Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/main.rs": "fn area() -> i32 { 1 }\n\nfn main() { area(; }\n",
        },
        "src/main.rs",
        "area",
        "expected",
    ),
    "jdtls": Tiny(
        {
            "Main.java": 'class Main {\n  int area() { return "x"; }\n}\n',
        },
        "Main.java",
        "Main",
        "cannot convert",
    ),
    "clangd": Tiny(
        {"compile_flags.txt": "-std=c++17\n", "main.cpp": "int area() { return missing; }\n"},
        "main.cpp",
        "area",
        "undeclared",
    ),
    "bash": Tiny(
        {"main.sh": "#!/bin/bash\narea() {\n  echo $1\n}\narea 2\n"}, "main.sh", "area", "quote"
    ),
    "yaml": Tiny({"main.yaml": "area: 1\nlist: [1, 2\n"}, "main.yaml", "area", "Flow sequence"),
    "json": Tiny({"main.json": '{"area": 1,}\n'}, "main.json", "area", "Trailing comma"),
    "html": Tiny(
        {"main.html": "<html><body><style>a { colour }</style></body></html>\n"},
        "main.html",
        "html",
        "colon expected",
    ),
    "css": Tiny({"main.css": _STYLE}, "main.css", "a", "colon expected"),
    "vue": Tiny(
        {
            "package.json": "{}\n",
            "tsconfig.json": "{}\n",
            "main.vue": '<script setup lang="ts">\nconst area = 1;\n</script>\n\n'
            "<template>\n  <p>{{ area }</p>\n  <p>\n</template>\n",
        },
        "main.vue",
        "script setup",
        "missing end tag",
    ),
    "svelte": Tiny(
        {
            "package.json": "{}\n",
            "main.svelte": '<script lang="ts">\n  let area: number = "x";\n</script>\n{area}\n',
        },
        "main.svelte",
        "script",
        "not assignable",
    ),
    "intelephense": Tiny(
        {
            "composer.json": "{}\n",
            "main.php": "<?php\nfunction area(): int {\n    return 1;\n}\n",
        },
        "main.php",
        "area",
    ),
    "dockerfile": Tiny(
        {"Dockerfile": "FROM scratch\nWHAT is\n"}, "Dockerfile", "FROM", "Unknown instruction"
    ),
    "tombi": Tiny({"main.toml": "area = 1\narea = 2\n"}, "main.toml", finding="duplicate"),
}
