"""Servers for Python."""

from __future__ import annotations

import msgspec

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import log_line
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition

_LANGUAGES = {".py": "python", ".pyi": "python", ".pyw": "python"}
_MARKERS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"),
    *("pyrightconfig.json", "ty.toml"),
)

#: The default of pyright, which any other setting of `analysis` turns off: one of the user, or one
#: for an untrusted project.
_FINDS_SRC = {"autoSearchPaths": True}

#: Folders that ty and ruff exclude by default.
_LEFT_OUT = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".mypy_cache", ".nox", ".pants.d"),
    *(".pytype", ".ruff_cache", ".svn", ".tox", ".venv", "__pypackages__", "_build", "buck-out"),
    *("dist", "node_modules", "venv"),
)

#: pyright in a trusted project, and in another one: there, the packages of the project without its
#: interpreter, so that imports resolve.
_INTERPRETER = {"python": {"pythonPath": "{interpreter}"}}
_PACKAGES = {"analysis": {"extraPaths": "{packages}"}}
_NO_INTERPRETER = {"python": {"pythonPath": "{python}", **_PACKAGES}}

# It reads them 0.1 s after the notification. It ignores a new `pyrightconfig.json` if the other
# file exists.
_PYRIGHT_CONFIG = parts.ConfigFiles(
    files=("/pyrightconfig.json", "/pyproject.toml"),
    imports=("pyrightconfig.json", "pyproject.toml"),
    first_only=True,
    says=(log_line("oading configuration file"), log_line("Loading pyproject.toml file")),
    # It leaves out a single value that it does not understand, and its command line does not fail.
    fails=(log_line('Config file "'),),
)
_PYRIGHT_DISK = parts.DiskReactions(
    packages="site-packages",
    # 20 files in one notification take it 5 ms, a tenth of the time for their findings.
    skips_open=True,
    # It notices changed packages late, and changes outside of its root never. After a change of
    # the settings it reads all files again before it answers.
    refresh=parts.Refresh(
        method="workspace/didChangeConfiguration",
        params={"settings": {}},
        files=("*.py", "*.pyi", "*.pth"),
    ),
    source_folders=("src",),
    config=_PYRIGHT_CONFIG,
)
#: The command line of basedpyright fails at any mistake, that of pyright only at those above.
_BASEDPYRIGHT_DISK = msgspec.structs.replace(
    _PYRIGHT_DISK,
    config=msgspec.structs.replace(
        _PYRIGHT_CONFIG,
        fails=(
            log_line('Config file "'),
            log_line('Config "'),
            log_line("Config contains unrecognized setting"),
            log_line('invalid "typeCheckingMode" value'),
        ),
    ),
)
_PYRIGHT_QUIRKS = (
    "Offers to be asked for diagnostics only once it is up, and then publishes none.",
    "Never ends its answer about a whole project, nor says when all of it is told.",
    "Without declarations, leaves out the reference that it was asked at, whatever it is.",
)

#: What a type checker of Python reads besides sources.
_TYPED = ("*.toml", "*.ini", "*.cfg", "*.pth", "py.typed")

#: In a project that configures none of them the first that is found runs.
PYTHON: tuple[Definition, ...] = (
    Definition(
        id="ty",
        family="python",
        languages=_LANGUAGES,
        confuses_declarations=True,
        roots=parts.Roots(markers=_MARKERS),
        signs=parts.ProjectSigns(package="ty", files=("ty.toml",)),
        launch=parts.Launch(commands=(("ty", "server"),)),
        # With uv it would build the project.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(
                initialization={"untrustedWorkspace": True}, environment={"TY_UV": "0"}
            )
        ),
        documents=parts.DocumentSync(unsaved="opened", misses_created=True),
        disk=parts.DiskReactions(
            packages="site-packages",
            source_folders=("src", "python"),
            # It does not apply a changed `src` table to files that are open.
            config=parts.ConfigFiles(
                files=("/pyproject.toml", "/ty.toml"),
                above=True,
                fails=(log_line("Failed to load project for workspace"),),
            ),
            # It ignores a notification of a file whose modification time is unchanged.
            reads_closed="old",
        ),
        caveats=parts.Caveats(skipped_folders=_LEFT_OUT),
        install={"pip": "'lspkit[python]'", "uv": "ty"},
        quirks=(
            "Runs nothing that lies in the project.",
            "Looks for modules in `src` and `python` if they are there when it starts.",
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `[tool.ty.src]` leaves out, which lspkit does not know.",
            "Answers nothing any more if it hears of a new file while it looks at another one.",
            "Ends if it hears of a file whose name is not UTF-8; lspkit does not tell it of one.",
            "Takes the names in import statements for declarations.",
            "Does not resolve relative imports of a file that is not on disk.",
        ),
        verified="0.0.100",
    ),
    Definition(
        id="pyright",
        family="python",
        languages=_LANGUAGES,
        confuses_declarations=True,
        roots=parts.Roots(markers=_MARKERS),
        signs=parts.ProjectSigns(package="pyright", files=("pyrightconfig.json",)),
        launch=parts.Launch(
            commands=(("pyright-langserver", "--stdio"),),
            settings={"python": {"analysis": _FINDS_SRC}},
        ),
        trust=parts.TrustProfile(
            trusted_settings=_INTERPRETER, untrusted=parts.UntrustedRun(settings=_NO_INTERPRETER)
        ),
        documents=parts.DocumentSync(unsaved="changed"),
        disk=_PYRIGHT_DISK,
        caveats=parts.Caveats(workspace_pull=False),
        install={"npm": "pyright", "pip": "pyright", "uv": "pyright"},
        quirks=(
            "The pip package downloads the server when it is first run; the npm package has it.",
            *_PYRIGHT_QUIRKS,
        ),
        verified="1.1.414",
    ),
    Definition(
        id="basedpyright",
        family="python",
        languages=_LANGUAGES,
        confuses_declarations=True,
        roots=parts.Roots(markers=_MARKERS),
        signs=parts.ProjectSigns(package="basedpyright"),
        launch=parts.Launch(
            commands=(("basedpyright-langserver", "--stdio"),),
            settings={"basedpyright": {"analysis": _FINDS_SRC}},
        ),
        trust=parts.TrustProfile(
            trusted_settings=_INTERPRETER,
            untrusted=parts.UntrustedRun(settings={**_NO_INTERPRETER, "basedpyright": _PACKAGES}),
        ),
        documents=parts.DocumentSync(unsaved="changed"),
        disk=_BASEDPYRIGHT_DISK,
        caveats=parts.Caveats(workspace_pull=False),
        install={"pip": "basedpyright", "uv": "basedpyright", "npm": "basedpyright"},
        quirks=(
            "The pip package is a Python process around a Node one.",
            *_PYRIGHT_QUIRKS,
            "Runs the interpreter that it finds in the project.",
        ),
        verified="1.40.2",
    ),
    Definition(
        id="pyrefly",
        family="python",
        languages=_LANGUAGES,
        roots=parts.Roots(markers=(*_MARKERS, "pyrefly.toml")),
        signs=parts.ProjectSigns(package="pyrefly", files=("pyrefly.toml",)),
        launch=parts.Launch(
            commands=(("pyrefly", "lsp"),),
            # By default it hardly checks a project without pyrefly.toml, which overrides this.
            settings={"python": {"pyrefly": {"typeCheckingMode": "default"}}},
        ),
        documents=parts.DocumentSync(unsaved="never"),
        # It reads changes on disk in the background, with progress. What it publishes before the
        # end of that is about other files as they were before.
        proofs=(
            ProofRule(
                how="version",
                debounce=0.5,
                token="Pyrefly: Rechecking",
                ask="textDocument/documentSymbol",
            ),
        ),
        disk=parts.DiskReactions(
            packages="site-packages",
            reads=_TYPED,
            # It does not register for `.pth` files.
            config=parts.ConfigFiles(files=("/pyproject.toml", "/pyrefly.toml", "*.pth")),
            source_folders=("src", "typings"),
        ),
        # `**/`: it matches whole paths.
        caveats=parts.Caveats(
            skipped_folders=("**/__pycache__", "**/node_modules", "**/venv", "/typings")
        ),
        install={"pip": "pyrefly", "uv": "pyrefly"},
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
        roots=parts.Roots(markers=(*_MARKERS, "mypy.ini", ".mypy.ini")),
        signs=parts.ProjectSigns(package="zuban"),
        launch=parts.Launch(commands=(("zuban", "server"),)),
        documents=parts.DocumentSync(unsaved="opened", unsaved_files=True),
        disk=parts.DiskReactions(
            packages="site-packages",
            reads=_TYPED,
            # Its own watcher may notice a change only after the next request.
            reads_closed="always",
            config=parts.ConfigFiles(
                files=("/pyproject.toml", "/mypy.ini", "/.mypy.ini", "/setup.cfg", "*.pth")
            ),
            source_folders=("src",),
        ),
        install={"pip": "zuban", "uv": "zuban"},
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
        roots=parts.Roots(markers=(*_MARKERS, "ruff.toml", ".ruff.toml")),
        launch=parts.Launch(commands=(("ruff", "server"),)),
        trust=parts.HARMLESS,
        proofs=(ProofRule(alone=True),),
        disk=parts.DiskReactions(
            # It does not register for configuration above its root, nor for extended files. It
            # reads all of them again after a notification of a file in its root.
            refresh=parts.Refresh(
                method="workspace/didChangeWatchedFiles",
                params={"changes": [{"uri": "{root}/ruff.toml", "type": 2}]},
                files=("*.toml",),
            ),
            # It registers for these files, but not for what they extend.
            config=parts.ConfigFiles(
                imports=("ruff.toml", ".ruff.toml", "pyproject.toml"),
                fails=(log_line("Error while resolving settings from workspace"),),
            ),
        ),
        caveats=parts.Caveats(
            skipped_folders=(
                *_LEFT_OUT,
                *(".ipynb_checkpoints", ".pyenv", ".pytest_cache", ".vscode", "site-packages"),
            )
        ),
        install={"pip": "ruff", "uv": "ruff", "brew": "ruff"},
        quirks=(
            "Finds nothing wrong with files that it leaves out: those in dist, venv and the like.",
            "So also with those that `exclude` leaves out, which lspkit does not know.",
        ),
        verified="0.17.4",
    ),
)
