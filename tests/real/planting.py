"""A project in which everything is planted that a language server might run.

Each planted thing, be it a program, a module, a library or a piece of configuration that is code,
does one thing: it adds a line to a file outside of the project. So what ran is known, whoever ran
it. The user beside the project has a home of their own, the real servers in a folder as package
managers make them, and a careless PATH that leads into the project three times.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from watchfiles import watch

from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING

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


#: Programs that servers, or what servers run, look for by name.
PROGRAMS = (
    *("node", "npm", "npx", "pnpm", "yarn", "corepack", "bun", "deno", "tsc", "tsserver", "tsgo"),
    *("eslint", "prettier", "python", "python3", "pip", "uv", "poetry", "conda", "mypy", "ruff"),
    *("ty", "pyright", "pyright-langserver", "basedpyright-langserver", "basedpyright"),
    *("git", "hg", "env", "sh", "bash", "man", "col", "uname", "make", "cmake", "ninja"),
    *("gcc", "g++", "cc", "c++", "clang", "clang++", "clangd", "ld", "as", "pkg-config"),
    *("go", "go1.21.99", "gopls", "gopackagesdriver", "cargo", "rustc", "rustup", "rustfmt"),
    *("rust-analyzer", "shellcheck", "shfmt", "xcrun", "nvptx-arch", "amdgpu-arch"),
    *("offload-arch", "typescript-language-server", "vtsls", "vscode-eslint-language-server"),
    *("bash-language-server", "yaml-language-server", "vscode-json-language-server"),
    *("vscode-css-language-server", "vscode-html-language-server", "docker-langserver"),
)

#: Folders of the project in which they are planted.
PLACES = (".", "bin", "node_modules/.bin", ".venv/bin", "venv/bin")

#: What servers run of the user's programs.
NEEDED = ("go", "shellcheck")

#: Where the servers' real programs are, as package managers have made them: not the launchers of
#: `.servers/bin`, which set PATH themselves.
INSTALLED = (
    real_servers.SERVERS / "node" / "node_modules" / ".bin",
    real_servers.SERVERS / "node-typescript-7" / "node_modules" / ".bin",
    real_servers.SERVERS / "python" / "bin",
    real_servers.SERVERS / "debian" / "usr" / "bin",
    real_servers.SERVERS / "debian-shellcheck" / "usr" / "bin",
)

#: Variables that tell real tools where their caches are; without them every test fills its own.
CACHES = {
    "GOCACHE": str(real_servers.SERVERS / "cache" / "go-build"),
    "GOPATH": str(real_servers.SERVERS / "cache" / "go"),
    "CARGO_HOME": str(real_servers.SERVERS / "cache" / "cargo"),
}


class Planted:
    """A user, a project full of traps, and a note of those that went off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.project = self.folder / "project"
        self.home = self.folder / "home"
        self.tools = self.folder / "tools"
        self._ran = self.folder / "ran"
        for made in (self.project, self.home, self.tools):
            made.mkdir()

    # What the project brings

    def plant(self) -> None:
        """Everything."""
        for place in PLACES:
            for name in PROGRAMS:
                self.program(f"{place}/{name}")
        for name in MODULES:
            self.write(name, self.python(name))
        for name in (".venv", "venv"):
            packages = f"{name}/lib/python3.11/site-packages"
            self.write(f"{name}/pyvenv.cfg", f"home = {self.project}/bin\nversion = 3.11.7\n")
            self.write(f"{packages}/planted.pth", f"import sys; {self._note_in_python('pth')}\n")
            self.write(f"{packages}/sitecustomize.py", self.python("sitecustomize of the .venv"))
            self.write(f"{packages}/installed/__init__.py", "answer: int = 42\n")
        for name in PACKAGES:
            self.write(f"node_modules/{name}", self.javascript(name))
        self.library("planted.so")
        for name, text in FILES.items():
            self.write(name, self._filled(text))

    def write(self, name: str, text: str) -> Path:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def program(self, name: str, then: str = "exit 1") -> Path:
        """A program that leaves a note. It needs no other program for that."""
        file = self.write(name, f'#!/bin/sh\necho "program $0 $*" >> {self._ran}\n{then}\n')
        file.chmod(0o755)
        return file

    def javascript(self, name: str) -> str:
        return (
            f'require("fs").appendFileSync({json.dumps(str(self._ran))}, "script {name}\\n");\n'
            "module.exports = {};\n"
        )

    def python(self, name: str) -> str:
        return f"{self._note_in_python(name)}\n"

    def _note_in_python(self, name: str) -> str:
        """With nothing that may not be there yet while an interpreter starts."""
        flags, text = os.O_WRONLY | os.O_CREAT | os.O_APPEND, f"module {name}\n".encode()
        opened = f"posix.open({str(self._ran)!r}, {flags}, 0o600)"
        return f"import posix; posix.write({opened}, {text!r})"

    def library(self, name: str) -> None:
        """A library that leaves a note when it is loaded; an empty one if nobody can compile."""
        file = self.write(name, "")
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is not None:
            note = f"library {name}\\n"
            code = (
                "#include <fcntl.h>\n#include <unistd.h>\n"
                "__attribute__((constructor)) static void note(void) {\n"
                f'  int file = open("{self._ran}", O_WRONLY | O_CREAT | O_APPEND, 0600);\n'
                f'  (void) !write(file, "{note}", {len(note) - 1});\n  close(file);\n}}\n'
            )
            argv = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(file)]
            subprocess.run(argv, input=code, text=True, check=True, timeout=60)

    def _filled(self, text: str) -> str:
        library = str(self.project / "planted.so")
        places = {"@PROJECT@": str(self.project), "@RAN@": str(self._ran), "@LIBRARY@": library}
        for name, value in places.items():
            text = text.replace(name, value)
        return text

    def _filled_in(self, values: dict[str, Any]) -> dict[str, Any]:
        filled: dict[str, Any] = json.loads(self._filled(json.dumps(values)))
        return filled

    def configure(self, *servers: str) -> None:
        """A configuration of the project that would run all sorts of things."""
        library, script = str(self.project / "planted.so"), str(self.project / "required.js")
        self.write("required.js", self.javascript("required.js"))
        run = str(self.project / "bin" / "planted-server")
        self.program("bin/planted-server")
        self.program("bin/planted-watcher", then="exec sleep 60")
        said = {
            "command": [run, "--stdio"],
            "env": {"NODE_OPTIONS": f"--require={script}", "LD_PRELOAD": library, "PATH": "bin"},
            "watch": [[str(self.project / "bin" / "planted-watcher")]],
            "settings": self._filled_in(SETTINGS),
            "initialization": self._filled_in(SETTINGS),
        }
        self.write(".lspkit/lsp.json", json.dumps({"lsp": dict.fromkeys(servers, said)}))

    # The user

    def install(self, *servers: str) -> None:
        """Put the programs of these servers where the user has them, and what they need."""
        named = {one.id: [command[0] for command in one.launch.commands] for one in BUILT_IN}
        for name in [*(name for one in servers for name in named[one]), *NEEDED]:
            found = [folder / name for folder in INSTALLED if (folder / name).exists()]
            if found and not (self.tools / name).is_symlink():
                (self.tools / name).symlink_to(found[-1])

    def environment(self) -> dict[str, str]:
        """The user's variables."""
        return {
            "PATH": os.pathsep.join([str(self.tools), os.environ["PATH"]]),
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".data"),
            **CACHES,
        }

    def careless_environment(self) -> dict[str, str]:
        """The same of a user whose variables lead into whatever project they work in."""
        usual, project = self.environment(), self.project
        link = self.folder / "link"
        link.symlink_to(project / "bin")
        into = [".", "", "node_modules/.bin", str(project / "bin"), str(link)]
        return {
            **usual,
            "PATH": os.pathsep.join([*into, usual["PATH"]]),
            "PYTHONPATH": os.pathsep.join(["", ".", str(project)]),
            "NODE_PATH": os.pathsep.join([".", "node_modules"]),
            "NODE_OPTIONS": "--require ./index.js",
            "LD_LIBRARY_PATH": os.pathsep.join(["", "bin"]),
            "LD_PRELOAD": "./planted.so",
            "BASH_ENV": "bin/bash",
            "ENV": "./bin/sh",
            "VIRTUAL_ENV": str(project / ".venv"),
            "CONDA_PREFIX": str(project / "venv"),
            "TY_UV": "1",
            "GOPACKAGESDRIVER": "./bin/gopackagesdriver",
            "GOROOT": str(project),
            "GOFLAGS": "-toolexec=./bin/env",
            "GOENV": "goenv",
            "CC": "./bin/cc",
            "CXX": "bin/c++",
            "npm_config_script_shell": str(project / "bin" / "sh"),
        }

    def say(self, values: dict[str, Any]) -> None:
        """What the user's own configuration says."""
        file = self.home / ".config" / "lspkit" / "lsp.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")

    def only(self, *servers: str, **more: Any) -> None:
        """The user has switched off all other servers."""
        others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in servers}
        self.say({"lsp": others, "timing": TIMING, **more})

    def without_servers(self) -> None:
        """Take those programs out of the project that lspkit would start as its servers."""
        names = {command[0] for one in BUILT_IN for command in one.launch.commands}
        for place in PLACES[2:]:
            for name in names:
                (self.project / place / name).unlink(missing_ok=True)

    def lspkit(
        self, *words: str | Path, status: int = 0, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line as this user, without a terminal."""
        done = subprocess.run(
            # Not with the current folder in front of all modules, where that may be the project.
            [sys.executable, "-P", "-m", "lspkit", *map(str, words)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    # What happened

    def wait_for(self, note: str, seconds: float) -> None:
        """Wait until something has run."""
        until = time.monotonic() + seconds
        changes = watch(self.folder, recursive=False, yield_on_timeout=True, rust_timeout=500)
        with contextlib.closing(changes):
            while not any(note in one for one in self.ran):
                assert time.monotonic() < until, f"no {note!r} in {self.ran}"
                next(changes)

    @property
    def ran(self) -> list[str]:
        """What of the project has run."""
        if not self._ran.exists():
            return []
        return sorted(set(self._ran.read_text(encoding="utf-8").splitlines()))
