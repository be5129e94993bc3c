"""What is in the planted project: files that tools read and that name something to run."""

from __future__ import annotations

#: Modules of Python that are imported by themselves, or by what servers ask an interpreter.
MODULES = (
    *("sitecustomize.py", "usercustomize.py", "site.py", "os.py", "json.py", "re.py"),
    *("encodings/__init__.py", "typing.py", "setup.py", "conftest.py", "nodeenv.py"),
)

#: Files of packages in `node_modules` that are libraries or plugins of tools.
PACKAGES = (
    *("typescript/lib/tsserver.js", "typescript/lib/_tsserver.js", "typescript/lib/typescript.js"),
    *("typescript/lib/tsserverlibrary.js", "typescript/lib/tsc.js", "typescript/bin/tsserver"),
    *("typescript/lib/typingsInstaller.js", "typescript/lib/getExePath.js", "typescript/bin/tsc"),
    *("planted-plugin/index.js", "@planted/plugin/index.js", "eslint/lib/api.js"),
    *("eslint/lib/unsupported-api.js", "prettier/index.cjs", "svelte/compiler/index.js"),
    *("@vue/typescript-plugin/index.js", "typescript-svelte-plugin/index.js"),
    *("@typescript/native-preview/lib/getExePath.js", "node-pty/index.js", "vscode-uri/index.js"),
)

#: Settings of all servers that name something to run.
SETTINGS = {
    "python": {"pythonPath": "@PROJECT@/bin/python", "venvPath": "@PROJECT@"},
    "python.defaultInterpreterPath": "@PROJECT@/bin/python",
    "basedpyright": {"analysis": {"nodeExecutable": "@PROJECT@/bin/node"}},
    "typescript": {
        "tsdk": "node_modules/typescript/lib",
        "npm": "@PROJECT@/bin/npm",
        "tsserver": {"pluginPaths": ["@PROJECT@/node_modules"]},
    },
    "vtsls": {
        "autoUseWorkspaceTsdk": True,
        "typescript": {"globalTsdk": "node_modules/typescript/lib"},
        "tsserver": {"globalPlugins": [{"name": "planted-plugin", "location": "@PROJECT@"}]},
    },
    "tsserver": {"path": "@PROJECT@/node_modules/typescript/lib/tsserver.js"},
    "plugins": [{"name": "planted-plugin", "location": "@PROJECT@"}],
    "bashIde": {"shellcheckPath": "@PROJECT@/bin/shellcheck"},
    "gopls": {"env": {"GOTOOLCHAIN": "auto", "CGO_ENABLED": "1", "PATH": "@PROJECT@/bin"}},
    "env": {"GOTOOLCHAIN": "auto", "CGO_ENABLED": "1", "PATH": "@PROJECT@/bin"},
    "fallbackFlags": ["-fopenmp", "--offload-arch=native", "-B@PROJECT@/bin"],
    "compilationDatabasePath": "@PROJECT@",
    "ruff": {"path": ["@PROJECT@/bin/ruff"], "interpreter": ["@PROJECT@/bin/python"]},
}

_NOTE = 'require("fs").appendFileSync("@RAN@", "script {name}\\n"); module.exports = {};\n'
_CODE = {
    name: _NOTE.replace("{name}", name)
    for name in (
        *("eslint.config.js", "eslint.config.cjs", ".eslintrc.js", ".eslintrc.cjs"),
        *("prettier.config.cjs", ".prettierrc.cjs", "svelte.config.cjs", "babel.config.cjs"),
        *("postcss.config.cjs", "tailwind.config.js", ".pnp.cjs", ".stylelintrc.js", "index.js"),
        *("local-plugin.js", "package.js", ".yarn/releases/yarn.cjs", "typescript.js"),
    )
}

_PYTHON = {
    "main.py": "import os\nimport installed\n\n\ndef area(size: int) -> str:\n"
    "    return installed.answer\n\n\narea(1)\n",
    "script.py": '# /// script\n# dependencies = ["planted"]\n# ///\nnumber: int = "x"\n',
    "pyrightconfig.json": '{"venvPath": ".", "venv": ".venv"}\n',
    "pyproject.toml": """\
[project]
name = "planted"
version = "1"

[build-system]
requires = []
build-backend = "setup"
backend-path = ["."]

[tool.ty.environment]
python = ".venv"

[tool.pyrefly]
python-interpreter-path = "bin/python"

[tool.mypy]
python_executable = "bin/python"
plugins = ["setup.py", "conftest"]
""",
    ".python-version": "@PROJECT@/bin/python\n",
}

_SCRIPTS = {
    "main.ts": 'export function area(size: number): number {\n  return "x";\n}\narea(1);\n',
    "src/main.js": "const unused = 1;\n/** @type {number} */\nexport const wrong = 'x';\n",
    "package.json": """\
{"name": "planted", "packageManager": "yarn@4.0.0",
 "scripts": {"preinstall": "bin/npm", "postinstall": "bin/npm", "prepare": "bin/npm"},
 "prettier": "planted-plugin", "eslintConfig": {"plugins": ["planted-plugin"]},
 "dependencies": {"lodash": "1", "express": "1"}}
""",
    "tsconfig.json": """\
{"compilerOptions": {"strict": true, "lib": ["es2020"], "types": [], "allowJs": true,
 "checkJs": true, "noEmit": true, "module": "nodenext", "plugins": [{"name": "planted-plugin"},
 {"name": "@planted/plugin"}, {"name": "./local-plugin"}, {"name": "../project/local-plugin"}]},
 "typeAcquisition": {"enable": true, "include": ["jquery"]},
 "include": ["main.ts", "src/*.js"]}
""",
    "node_modules/typescript/package.json": '{"name": "typescript", "version": "5.9.2",'
    ' "main": "./lib/typescript.js", "bin": {"tsc": "./bin/tsc", "tsserver": "./bin/tsserver"}}\n',
    "node_modules/planted-plugin/package.json": '{"name": "planted-plugin", "version": "1.0.0"}\n',
    "node_modules/@planted/plugin/package.json": '{"name": "@planted/plugin", "version": "1.0.0"}',
    "node_modules/eslint/package.json": '{"name": "eslint", "version": "9.0.0",'
    ' "main": "./lib/api.js", "bin": {"eslint": "./lib/api.js"}}\n',
    "node_modules/prettier/package.json": '{"name": "prettier", "version": "3.0.0",'
    ' "main": "./index.cjs"}\n',
    "node_modules/@typescript/native-preview/package.json": "{}\n",
    ".vscode/settings.json": """\
{"typescript.tsdk": "node_modules/typescript/lib", "python.defaultInterpreterPath": "bin/python",
 "eslint.nodePath": "node_modules", "clangd.path": "bin/clangd", "go.goroot": "@PROJECT@",
 "bashIde.shellcheckPath": "bin/shellcheck"}
""",
    ".npmrc": "node-options=--require=@PROJECT@/index.js\nscript-shell=@PROJECT@/bin/sh\n"
    "git=@PROJECT@/bin/git\n",
    ".yarnrc.yml": "yarnPath: .yarn/releases/yarn.cjs\n",
    ".prettierrc": '{"plugins": ["planted-plugin"]}\n',
}

_C = {
    "main.cpp": "#include <planted.h>\n#ifndef FROM_DATABASE\n#error no database\n#endif\n"
    "int area() { return missing; }\nint use() { return area(); }\n",
    "include/planted.h": "",
    "compile_commands.json": """\
[{"directory": "@PROJECT@", "file": "main.cpp", "arguments": [
  "@PROJECT@/bin/clang++", "-std=c++17", "-DFROM_DATABASE", "-I", "include", "-B", "bin",
  "-fplugin=@LIBRARY@", "-fopenmp", "--offload-arch=native",
  "--offload-arch-tool=@PROJECT@/bin/offload-arch", "-c", "main.cpp"]}]
""",
    ".clangd": """\
CompileFlags:
  Compiler: @PROJECT@/bin/clang++
  BuiltinHeaders: QueryDriver
  Add: [-Xclang, -load, -Xclang, "@LIBRARY@", -fopenmp, --offload-arch=native,
        "--offload-arch-tool=@PROJECT@/bin/offload-arch"]
""",
    ".clang-tidy": "Checks: '*'\n",
}

_GO = {
    "main.go": 'package main\n\nfunc area() int { return "x" }\n\nfunc main() { area() }\n',
    "native.go": "package main\n\n// #cgo CFLAGS: -fplugin=@LIBRARY@ -Bbin\n"
    '// #cgo pkg-config: planted\n// int one(void) { return 1; }\nimport "C"\n\n'
    "var one = C.one()\n\n//go:generate @PROJECT@/bin/go\n",
    "goenv": "GOFLAGS=-toolexec=@PROJECT@/bin/env\n",
    "go.mod": "module example.com/planted\n\ngo 1.21\n",
    "go.work": "go 1.21\n\nuse .\n",
}

_RUST = {
    "Cargo.toml": '[package]\nname = "planted"\nversion = "0.1.0"\nedition = "2021"\n'
    'build = "build.rs"\n',
    "src/main.rs": "fn area() -> i32 { 1 }\n\nfn main() { area(; }\n",
    "build.rs": "fn main() {\n    use std::io::Write;\n"
    "    let mut file = std::fs::OpenOptions::new().append(true).create(true)\n"
    '        .open("@RAN@").unwrap();\n    writeln!(file, "script build.rs").unwrap();\n}\n',
    ".cargo/config.toml": '[build]\nrustc = "@PROJECT@/bin/rustc"\n'
    'rustc-wrapper = "@PROJECT@/bin/rustc"\n\n[target.x86_64-unknown-linux-gnu]\n'
    'linker = "@PROJECT@/bin/ld"\n',
    "rust-toolchain.toml": '[toolchain]\npath = "@PROJECT@"\n',
}

_OTHER = {
    "main.sh": "#!/bin/bash\narea() {\n  echo $1\n}\narea 2\nshellcheck --version\n"
    "source ./bin/sh\n",
    ".shellcheckrc": "external-sources=true\nsource-path=@PROJECT@/bin\nenable=all\n",
    "main.yaml": "# yaml-language-server: $schema=./local-plugin.js\narea: 1\nlist: [1, 2\n",
    "main.json": '{"$schema": "./local-plugin.js", "area": 1,}\n',
    "main.css": "a { color: red; b c d }\n",
    "main.html": "<html><body><style>a { colour }</style></body></html>\n",
    "Dockerfile": "FROM scratch\nWHAT is\n",
    "main.toml": "area = 1\narea = 2\n",
    "main.php": "<?php\nfunction area(): int {\n    return 1;\n}\narea();\n",
    "composer.json": '{"scripts": {"post-install-cmd": "bin/sh"}}\n',
    ".envrc": "echo envrc >> @RAN@\n",
    ".tool-versions": "nodejs path:@PROJECT@\n",
    ".mise.toml": '[tools]\nnode = "path:@PROJECT@"\n',
    ".editorconfig": "root = true\n",
    "Makefile": "$(shell echo makefile >> @RAN@)\nall:\n",
    "CMakeLists.txt": "execute_process(COMMAND @PROJECT@/bin/cmake)\n",
    # A folder that was unpacked rather than cloned has a configuration of git, too.
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    "\tfsmonitor = @PROJECT@/bin/git\n\tsshCommand = @PROJECT@/bin/git\n"
    "\thooksPath = @PROJECT@/bin\n\tpager = @PROJECT@/bin/git\n",
    ".git/objects/info/packs": "\n",
    ".git/refs/heads/.keep": "",
}

#: Name: text, with the places of `Planted` in it.
FILES: dict[str, str] = {**_CODE, **_PYTHON, **_SCRIPTS, **_C, **_GO, **_RUST, **_OTHER}
