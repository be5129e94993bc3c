"""Servers for Python."""

from __future__ import annotations

from typing import Any

from lspkit.diagnostics.proof import ProofRule
from lspkit.servers.definition import Definition, Rereads, Restricted

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
_PYRIGHT = Rereads(
    files=("/pyrightconfig.json", "/pyproject.toml"),
    imports=("pyrightconfig.json", "pyproject.toml"),
    one=True,
    says=("oading configuration file", "Loading pyproject.toml file"),
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
_BEGINS_ANEW: tuple[str, dict[str, Any]] = ("workspace/didChangeConfiguration", {"settings": {}})

#: What a type checker of Python reads besides sources.
_TYPED = ("*.toml", "*.ini", "*.cfg", "*.pth", "py.typed")

PYTHON: tuple[Definition, ...] = (
    Definition(
        id="basedpyright",
        family="python",
        languages=_LANGUAGES,
        aliases=("python",),
        markers=_MARKERS,
        commands=(("basedpyright-langserver", "--stdio"),),
        packages="site-packages",
        refreshed_by=_BEGINS_ANEW,
        refreshed_for=("*.py", "*.pyi", "*.pth"),
        source_folders=("src",),
        settings={"basedpyright": {"analysis": _FINDS_SRC}},
        own_settings={"python": {"pythonPath": "{interpreter}"}},
        # Not the interpreter of the project, but its packages, so that imports resolve.
        restricted=Restricted(
            settings={
                "python": {
                    "pythonPath": "{python}",
                    "analysis": {"extraPaths": "{packages}"},
                },
                "basedpyright": {"analysis": {"extraPaths": "{packages}"}},
            }
        ),
        unsaved="changed",
        rereads=_PYRIGHT,
        tells_whole_project=False,
        confuses_declarations=True,
        install={
            "pip": "pip install basedpyright",
            "uv": "uv tool install basedpyright",
            "npm": "npm install -g basedpyright",
        },
        quirks=(
            "The pip package is a Python process around a Node one.",
            "Offers to be asked for diagnostics only once it is up, and then publishes none.",
            "Never ends its answer about a whole project, nor says when all of it is told.",
            "Without declarations, leaves out the reference that it was asked at, whatever it is.",
            "Runs the interpreter that it finds in the project.",
        ),
        verified="1.40.2",
    ),
    Definition(
        id="pyright",
        family="python",
        languages=_LANGUAGES,
        markers=_MARKERS,
        commands=(("pyright-langserver", "--stdio"),),
        packages="site-packages",
        refreshed_by=_BEGINS_ANEW,
        refreshed_for=("*.py", "*.pyi", "*.pth"),
        source_folders=("src",),
        settings={"python": {"analysis": _FINDS_SRC}},
        own_settings={"python": {"pythonPath": "{interpreter}"}},
        # Not the interpreter of the project, but its packages, so that imports resolve.
        restricted=Restricted(
            settings={
                "python": {
                    "pythonPath": "{python}",
                    "analysis": {"extraPaths": "{packages}"},
                },
            }
        ),
        unsaved="changed",
        rereads=_PYRIGHT,
        tells_whole_project=False,
        confuses_declarations=True,
        install={
            "npm": "npm install -g pyright",
            "pip": "pip install pyright",
            "uv": "uv tool install pyright",
        },
        quirks=(
            "The pip package downloads the server when it is first run; the npm package has it.",
            "Offers to be asked for diagnostics only once it is up, and then publishes none.",
            "Never ends its answer about a whole project, nor says when all of it is told.",
            "Without declarations, leaves out the reference that it was asked at, whatever it is.",
        ),
        verified="1.1.414",
    ),
    Definition(
        id="ty",
        family="python",
        languages=_LANGUAGES,
        markers=_MARKERS,
        commands=(("ty", "server"),),
        packages="site-packages",
        # With uv, which it runs if it is told to, it would build the project.
        restricted=Restricted(
            initialization={"untrustedWorkspace": True}, environment={"TY_UV": "0"}
        ),
        unsaved="opened",
        source_folders=("src", "python"),
        # A file whose time is as before has not changed for it, whatever it is told.
        reads_closed="old",
        # Its main thread and the one that answers wait for each other.
        blocks_on_new_files=True,
        confuses_declarations=True,
        install={
            "pip": "pip install 'lspkit[python]'",
            "uv": "uv tool install ty",
        },
        passes_over=_LEFT_OUT,
        quirks=(
            "Runs nothing that lies in the project.",
            "Looks for modules in `src` and `python` if they are there when it starts.",
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `[tool.ty.src]` leaves out, which lspkit does not know.",
            "Answers nothing any more if it hears of a new file while it looks at another one.",
            "Takes the names in import statements for declarations.",
        ),
        verified="0.0.100",
    ),
    Definition(
        id="pyrefly",
        family="python",
        languages=_LANGUAGES,
        markers=(*_MARKERS, "pyrefly.toml"),
        commands=(("pyrefly", "lsp"),),
        packages="site-packages",
        depends_on=_TYPED,
        # As it comes, a project without a file of its own is hardly checked. Such a file wins.
        settings={"python": {"pyrefly": {"typeCheckingMode": "default"}}},
        unsaved="never",
        install={"pip": "pip install pyrefly", "uv": "uv tool install pyrefly"},
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
        # Of a file that names further folders of modules it hears nothing.
        rereads=Rereads(files=("/pyproject.toml", "/pyrefly.toml", "*.pth")),
        source_folders=("src", "typings"),
        # `**/`: it compares whole paths.
        passes_over=("**/__pycache__", "**/node_modules", "**/venv", "/typings"),
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
        markers=(*_MARKERS, "mypy.ini", ".mypy.ini"),
        commands=(("zuban", "server"),),
        unsaved="opened",
        unsaved_files=True,
        packages="site-packages",
        depends_on=_TYPED,
        install={"pip": "pip install zuban", "uv": "uv tool install zuban"},
        # It watches files itself, and may take notice only after the next question.
        reads_closed="always",
        rereads=Rereads(
            files=("/pyproject.toml", "/mypy.ini", "/.mypy.ini", "/setup.cfg", "*.pth")
        ),
        source_folders=("src",),
        # What takes the place of a module that it has found, or gives it free.
        modules=("*.pyi", "__init__.py"),
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
        answers_only=("textDocument/codeAction", "textDocument/formatting", "textDocument/hover"),
        languages=_LANGUAGES,
        markers=(*_MARKERS, "ruff.toml", ".ruff.toml"),
        commands=(("ruff", "server"),),
        # Of configuration that lies above its root, or that another one extends, it hears nothing;
        # it reads all of it again when it hears of one in its root.
        refreshed_by=(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": "{root}/ruff.toml", "type": 2}]},
        ),
        refreshed_for=("*.toml",),
        restricted=Restricted(),
        proofs=(ProofRule(alone=True),),
        install={
            "pip": "pip install ruff",
            "uv": "uv tool install ruff",
            "brew": "brew install ruff",
        },
        # It asks for changes of these, but not of what they extend.
        rereads=Rereads(imports=("ruff.toml", ".ruff.toml", "pyproject.toml")),
        passes_over=(
            *_LEFT_OUT,
            ".ipynb_checkpoints",
            ".pyenv",
            ".pytest_cache",
            ".vscode",
            "site-packages",
        ),
        quirks=(
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `exclude` leaves out, which lspkit does not know.",
        ),
        verified="0.17.4",
    ),
)
