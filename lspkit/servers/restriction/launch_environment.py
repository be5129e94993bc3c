"""The user's variables without what would let a project be loaded or run.

A server works in the project's folder: what is relative is looked for there, and what lies in the
work tree around the workspace is the project's as well, whoever has put it into a variable. A
package manager puts `node_modules/.bin` into `PATH`, and an activated environment its `bin`.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
import shlex
from collections.abc import Mapping

from lspkit.workspace_boundary import leads_through, own_home

#: Variables that are lists of folders in which programs, modules and libraries are looked for.
FOLDERS = (
    "PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
)
#: Variables, or globs of them, that each name one file or folder: what a shell or a tool reads
#: first, where an interpreter, a compiler or a cache is.
FILES = (
    *("BASH_ENV", "ENV", "ZDOTDIR", "GCONV_PATH", "LOCPATH", "OPENSSL_CONF", "OPENSSL_MODULES"),
    *("OPENSSL_ENGINES", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSTARTUP", "PYTHONPYCACHEPREFIX"),
    *("GOROOT", "GOENV", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTOOLDIR", "GOWORK"),
    *("XDG_*_HOME", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "DENO_DIR", "NODE_V8_COVERAGE"),
    *("GIT_DIR", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL"),
    *("GIT_CONFIG_SYSTEM", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "RUFF_CONFIG"),
    *("TY_CONFIG_FILE", "UV_CONFIG_FILE", "PHPRC", "DEVELOPER_DIR", "SDKROOT"),
)
#: Words that stand for no file where one is named.
NO_FILES = frozenset({"off", "auto", "none"})
#: Variables that name libraries; those without a path are looked for in the folders above.
LIBRARIES = ("LD_AUDIT", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES")
#: Variables that hold commands and options: a word with a slash in it is a path.
COMMANDS = (
    *("GOFLAGS", "NODE_OPTIONS", "CC", "CXX", "CPP", "AR", "LD", "FC", "SHELL", "EDITOR", "PAGER"),
    *("VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_*", "NPM_CONFIG_*", "RUSTC*", "RUSTFLAGS"),
    *("CARGO_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "PERL5*", "RUBY*"),
    *("LUA_*", "PKG_CONFIG*", "CLANGD_*", "SHELLCHECK_OPTS", "CGO_*", "*FLAGS", "PHP_*"),
)
#: Options of Node that load a file, or go by one. Node takes `_` for `-` in them.
LOADING = frozenset(
    {"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"}
    | {"--env-file-if-exists", "--experimental-config-file", "--openssl-config", "--icu-data-dir"}
    | {"--snapshot-blob", "--experimental-sea-config", "--build-snapshot-config"}
)
#: Variables that say where something is, and lead nobody to run it.
TOLD = frozenset({"PWD", "OLDPWD", "INIT_CWD", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME"})
#: A home for a user who has none but the project.
NOWHERE = "/nonexistent"

_BETWEEN_PATHS = re.compile(r"[\s:;,='\"@]+")


def clean_environment(environ: Mapping[str, str], project: str) -> dict[str, str]:
    """The variables that would let the project be loaded or run, as they are harmless."""
    made = {
        name: _cleaned(name, value, project) for name, value in environ.items() if name not in TOLD
    }
    home = environ.get("HOME", "")
    if home and home != own_home() and not _is_outside(home, project):
        made["HOME"] = own_home() if _is_outside(own_home(), project) else NOWHERE
    made["PATH"] = made.get("PATH") or os.defpath  # an empty one means: the folder one is in
    return {name: value for name, value in made.items() if environ.get(name) != value}


def clean_path(variable: str, project: str) -> str:
    """A list of folders, such as `PATH`, without relative ones and what leads to the project."""
    kept = [folder for folder in variable.split(os.pathsep) if _is_outside(folder, project)]
    return os.pathsep.join(kept)


def _cleaned(name: str, value: str, project: str) -> str:
    """The value, or as much of it as is harmless."""
    if name in FOLDERS:
        return clean_path(value, project)
    if name in LIBRARIES:
        return value if _all_outside(value, project) else ""
    known = name.upper()  # npm takes its own in any case
    if _is_one_of(known, FILES):
        return value if value in NO_FILES or _is_outside(value, project) else ""
    if known == "NODE_OPTIONS" and not _loads_from_outside(value, project):
        return ""
    relative = _is_one_of(known, COMMANDS)
    words = _BETWEEN_PATHS.split(value)
    leads = any(_leads_in(word, project, relative=relative) for word in words)
    return "" if leads else value


def _is_one_of(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def _leads_in(word: str, project: str, *, relative: bool) -> bool:
    """Whether a word of a variable is a path into the project.

    It may begin in the middle of the word, behind an option.
    """
    start = word.find(os.sep)
    if start < 0:
        return word in (os.curdir, os.pardir)
    if word[:start].strip(".") == "" and start > 0:
        return True  # `./x`, `../x`
    if relative and start > 0 and not word.startswith("-"):
        return True
    return leads_through(word[start:], project)


def _all_outside(libraries: str, project: str) -> bool:
    names = libraries.replace(os.pathsep, " ").split()
    return all(_is_outside(name, project) for name in names if os.sep in name)


def _loads_from_outside(options: str, project: str) -> bool:
    try:
        words = [part for word in shlex.split(options) for part in word.split("=", 1)]
    except ValueError:  # a quotation mark without a partner
        return False
    loaded = [
        after
        for word, after in itertools.pairwise([*words, ""])
        if word.replace("_", "-") in LOADING
    ]
    return all(_is_outside(name, project) for name in loaded)


def _is_outside(path: str, project: str) -> bool:
    return os.path.isabs(path) and not leads_through(path, project)
