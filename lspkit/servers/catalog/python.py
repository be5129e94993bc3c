"""Servers for Python."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.server_signal import log_line
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    HARMLESS,
    Caveats,
    ConfigFiles,
    DiskReactions,
    DocumentSync,
    Exceptions,
    Launch,
    Refresh,
    Roots,
    TrustProfile,
    UntrustedRun,
)

_LANGUAGES = {".py": "python", ".pyi": "python", ".pyw": "python"}
_MARKERS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "pyrightconfig.json",
    "ty.toml",
)

#: It reads them by a timer, a tenth of a second after it was told. Of a `pyrightconfig.json` that
#: is new beside another file it takes no notice.
_PYRIGHT = ConfigFiles(
    files=("/pyrightconfig.json", "/pyproject.toml"),
    imports=("pyrightconfig.json", "pyproject.toml"),
    first_only=True,
    says=(log_line("oading configuration file"), log_line("Loading pyproject.toml file")),
)

#: What it does by itself, but no longer as soon as it is told anything about its analysis, be it by
#: the user or because the project is not trusted.
_FINDS_SRC = {"autoSearchPaths": True}

#: What both ty and ruff leave out, unless a project's own configuration takes it in again.
_LEFT_OUT = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pypackages__",
    "_build",
    "buck-out",
    "dist",
    "node_modules",
    "venv",
)

#: pyright looks at packages long after they have changed, and not at all at what lies beyond its
#: root. With new settings it begins anew, and answers nothing before it has.
_BEGINS_ANEW = Refresh(
    method="workspace/didChangeConfiguration",
    params={"settings": {}},
    files=("*.py", "*.pyi", "*.pth"),
)

#: What a type checker of Python reads besides sources.
_TYPED = ("*.toml", "*.ini", "*.cfg", "*.pth", "py.typed")

PYTHON: tuple[Definition, ...] = (
    Definition(
        id="basedpyright",
        family="python",
        languages=_LANGUAGES,
        aliases=("python",),
        roots=Roots(markers=_MARKERS),
        launch=Launch(
            commands=(("basedpyright-langserver", "--stdio"),),
            settings={"basedpyright": {"analysis": _FINDS_SRC}},
        ),
        trust=TrustProfile(
            trusted_settings={"python": {"pythonPath": "{interpreter}"}},
            # Not the interpreter of the project, but its packages, so that imports resolve.
            untrusted=UntrustedRun(
                settings={
                    "python": {
                        "pythonPath": "{python}",
                        "analysis": {"extraPaths": "{packages}"},
                    },
                    "basedpyright": {"analysis": {"extraPaths": "{packages}"}},
                }
            ),
        ),
        documents=DocumentSync(unsaved="changed"),
        disk=DiskReactions(
            packages="site-packages", refresh=_BEGINS_ANEW, source_folders=("src",), config=_PYRIGHT
        ),
        caveats=Caveats(workspace_pull=False),
        install={
            "pip": "pip install basedpyright",
            "uv": "uv tool install basedpyright",
            "npm": "npm install -g basedpyright",
        },
        quirks=(
            "The pip package is a Python process around a Node one.",
            "Offers to be asked for diagnostics only once it is up, and then publishes none.",
            "Never ends its answer about a whole project, nor says when all of it is told.",
            "Runs the interpreter that it finds in the project.",
        ),
        verified="1.40.2",
    ),
    Definition(
        id="pyright",
        family="python",
        languages=_LANGUAGES,
        roots=Roots(markers=_MARKERS),
        launch=Launch(
            commands=(("pyright-langserver", "--stdio"),),
            settings={"python": {"analysis": _FINDS_SRC}},
        ),
        trust=TrustProfile(
            trusted_settings={"python": {"pythonPath": "{interpreter}"}},
            # Not the interpreter of the project, but its packages, so that imports resolve.
            untrusted=UntrustedRun(
                settings={
                    "python": {
                        "pythonPath": "{python}",
                        "analysis": {"extraPaths": "{packages}"},
                    },
                }
            ),
        ),
        documents=DocumentSync(unsaved="changed"),
        disk=DiskReactions(
            packages="site-packages", refresh=_BEGINS_ANEW, source_folders=("src",), config=_PYRIGHT
        ),
        caveats=Caveats(workspace_pull=False),
        install={
            "npm": "npm install -g pyright",
            "pip": "pip install pyright",
            "uv": "uv tool install pyright",
        },
        quirks=(
            "The pip package downloads the server when it is first run; the npm package has it.",
            "Offers to be asked for diagnostics only once it is up, and then publishes none.",
            "Never ends its answer about a whole project, nor says when all of it is told.",
        ),
        verified="1.1.414",
    ),
    Definition(
        id="ty",
        family="python",
        languages=_LANGUAGES,
        roots=Roots(markers=_MARKERS),
        launch=Launch(commands=(("ty", "server"),)),
        # With uv, which it runs if it is told to, it would build the project.
        trust=TrustProfile(
            untrusted=UntrustedRun(
                initialization={"untrustedWorkspace": True}, environment={"TY_UV": "0"}
            )
        ),
        documents=DocumentSync(unsaved="opened"),
        disk=DiskReactions(
            packages="site-packages",
            source_folders=("src", "python"),
            # A file whose time is as before has not changed for it, whatever it is told.
            reads_closed="old",
        ),
        caveats=Caveats(skipped_folders=_LEFT_OUT),
        install={
            "pip": "pip install 'lspkit[python]'",
            "uv": "uv tool install ty",
        },
        quirks=(
            "Runs nothing that lies in the project.",
            "Looks for modules in `src` and `python` if they are there when it starts.",
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `[tool.ty.src]` leaves out, which lspkit does not know.",
        ),
        verified="0.0.100",
    ),
    Definition(
        id="pyrefly",
        family="python",
        languages=_LANGUAGES,
        roots=Roots(markers=(*_MARKERS, "pyrefly.toml")),
        launch=Launch(
            commands=(("pyrefly", "lsp"),),
            # As it comes, a project without a file of its own is hardly checked. Such a file wins.
            settings={"python": {"pyrefly": {"typeCheckingMode": "default"}}},
        ),
        documents=DocumentSync(unsaved="never"),
        # It looks at what has changed on disk in the background, and says so; the pushes for a
        # version that come before the end of that show other files as they were.
        proofs=(
            ProofRule(
                how="version",
                debounce=0.5,
                token="Pyrefly: Rechecking",
                ask="textDocument/documentSymbol",
            ),
        ),
        disk=DiskReactions(
            packages="site-packages",
            reads=_TYPED,
            # Of a file that names further folders of modules it hears nothing.
            config=ConfigFiles(files=("/pyproject.toml", "/pyrefly.toml", "*.pth")),
            source_folders=("src", "typings"),
        ),
        # `**/`: it compares whole paths.
        caveats=Caveats(
            skipped_folders=("**/__pycache__", "**/node_modules", "**/venv", "/typings")
        ),
        install={"pip": "pip install pyrefly", "uv": "uv tool install pyrefly"},
        quirks=(
            "Publishes two or three times for a file that is opened.",
            "Says since 1.0 when it looks at other files again; without that nothing is proven.",
            "Runs the interpreter that the project names.",
            "Gives only hints about files in venv, __pycache__, node_modules and `typings`.",
            "Looks for modules in `src` and `typings` if they are there when it starts.",
        ),
        verified="1.4.0",
    ),
    Definition(
        id="zuban",
        family="python",
        languages=_LANGUAGES,
        roots=Roots(markers=(*_MARKERS, "mypy.ini", ".mypy.ini")),
        launch=Launch(commands=(("zuban", "server"),)),
        documents=DocumentSync(unsaved="opened", unsaved_files=True),
        disk=DiskReactions(
            packages="site-packages",
            reads=_TYPED,
            # It watches files itself, and may take notice only after the next question.
            reads_closed="always",
            config=ConfigFiles(
                files=("/pyproject.toml", "/mypy.ini", "/.mypy.ini", "/setup.cfg", "*.pth")
            ),
            source_folders=("src",),
        ),
        # What takes the place of a module that it has found, or gives it free.
        exceptions=Exceptions(modules=("*.pyi", "__init__.py")),
        install={"pip": "pip install zuban", "uv": "uv tool install zuban"},
        quirks=(
            "Publishes without a version.",
            "Looks for changed files by itself, a moment late, but at one that is closed at once.",
            "Keeps to a module that it has found when a stub or a package comes before it.",
        ),
        verified="0.10.2",
    ),
    Definition(
        id="ruff",
        family="python",
        role="lint",
        languages=_LANGUAGES,
        answers_only=("textDocument/codeAction", "textDocument/formatting", "textDocument/hover"),
        roots=Roots(markers=(*_MARKERS, "ruff.toml", ".ruff.toml")),
        launch=Launch(commands=(("ruff", "server"),)),
        trust=HARMLESS,
        proofs=(ProofRule(alone=True),),
        disk=DiskReactions(
            # Of configuration that lies above its root, or that another one extends, it hears
            # nothing; it reads all of it again when it hears of one in its root.
            refresh=Refresh(
                method="workspace/didChangeWatchedFiles",
                params={"changes": [{"uri": "{root}/ruff.toml", "type": 2}]},
                files=("*.toml",),
            ),
            # It asks for changes of these, but not of what they extend.
            config=ConfigFiles(imports=("ruff.toml", ".ruff.toml", "pyproject.toml")),
        ),
        caveats=Caveats(
            skipped_folders=(
                *_LEFT_OUT,
                ".ipynb_checkpoints",
                ".pyenv",
                ".pytest_cache",
                ".vscode",
                "site-packages",
            )
        ),
        install={
            "pip": "pip install ruff",
            "uv": "uv tool install ruff",
            "brew": "brew install ruff",
        },
        quirks=(
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `exclude` leaves out, which lspkit does not know.",
        ),
        verified="0.17.4",
    ),
)
