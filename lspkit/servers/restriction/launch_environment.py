"""The user's environment variables without what would load or run parts of a project.

A server runs in the project's folder: relative paths lead there, and the work tree around the
workspace is the project's as well, whoever has set a variable to it. A package manager adds
`node_modules/.bin` to `PATH`, and an activated environment its `bin`.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
import shlex
from collections.abc import Mapping

from lspkit.workspace_boundary import leads_through, own_home

#: Variables with lists of folders in which programs, modules and libraries are looked for.
FOLDERS = (
    "PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "RUBYLIB",
    "GEM_PATH",
    "PERL5LIB",
    "PERLLIB",
    "CLASSPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
)
#: Variables, or globs of them, that name one file or folder each: startup files, interpreters,
#: compilers or caches.
FILES = (
    *("BASH_ENV", "ENV", "ZDOTDIR", "GCONV_PATH", "LOCPATH", "OPENSSL_CONF", "OPENSSL_MODULES"),
    *("OPENSSL_ENGINES", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSTARTUP", "PYTHONPYCACHEPREFIX"),
    *("GOROOT", "GOENV", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTOOLDIR", "GOWORK"),
    *("XDG_*_HOME", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "DENO_DIR", "NODE_V8_COVERAGE"),
    *("GIT_DIR", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL"),
    *("GIT_CONFIG_SYSTEM", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "RUFF_CONFIG"),
    *("TY_CONFIG_FILE", "UV_CONFIG_FILE", "PHPRC", "DEVELOPER_DIR", "SDKROOT"),
)
#: Values that stand for no file.
NO_FILES = frozenset({"off", "auto", "none"})
#: Variables that name libraries; those without a path are looked for in the folders above.
LIBRARIES = ("LD_AUDIT", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES")
#: Variables with commands and options: a word with a slash is a path.
COMMANDS = (
    *("GOFLAGS", "NODE_OPTIONS", "CC", "CXX", "CPP", "AR", "LD", "FC", "SHELL", "EDITOR", "PAGER"),
    *("VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_*", "NPM_CONFIG_*", "RUSTC*", "RUSTFLAGS"),
    *("CARGO_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "PERL5*", "RUBY*"),
    *("LUA_*", "PKG_CONFIG*", "CLANGD_*", "SHELLCHECK_OPTS", "CGO_*", "*FLAGS", "PHP_*"),
)
#: Options of Node that load or use a file. Node accepts `_` for `-` in them.
LOADING = frozenset(
    {"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"}
    | {"--env-file-if-exists", "--experimental-config-file", "--openssl-config", "--icu-data-dir"}
    | {"--snapshot-blob", "--experimental-sea-config", "--build-snapshot-config"}
)
#: Variables that say where something is, and from which nothing is run.
TOLD = frozenset({"PWD", "OLDPWD", "INIT_CWD", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME"})
#: The home of a user whose home is the project.
NOWHERE = "/nonexistent"

_BETWEEN_PATHS = re.compile(r"[\s:;,='\"@]+")


def clean_environment(environ: Mapping[str, str], project: str) -> dict[str, str]:
    """The variables that would load or run parts of the project, with harmless values."""
    made = {
        name: _cleaned(name, value, project) for name, value in environ.items() if name not in TOLD
    }
    home = environ.get("HOME", "")
    if home and home != own_home() and not _is_outside(home, project):
        made["HOME"] = own_home() if _is_outside(own_home(), project) else NOWHERE
    made["PATH"] = made.get("PATH") or os.defpath  # an empty one means the current folder
    return {name: value for name, value in made.items() if environ.get(name) != value}


def clean_path(variable: str, project: str) -> str:
    """A list of folders, such as `PATH`, without relative ones and those in the project."""
    kept = [folder for folder in variable.split(os.pathsep) if _is_outside(folder, project)]
    return os.pathsep.join(kept)


def _cleaned(name: str, value: str, project: str) -> str:
    """The harmless part of a value."""
    if name in FOLDERS:
        return clean_path(value, project)
    if name in LIBRARIES:
        return value if _all_outside(value, project) else ""
    known = name.upper()  # npm ignores case in its own
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

    The path may begin in the middle of the word, after an option.
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
    except ValueError:  # an unclosed quotation mark
        return False
    loaded = [
        after
        for word, after in itertools.pairwise([*words, ""])
        if word.replace("_", "-") in LOADING
    ]
    return all(_is_outside(name, project) for name in loaded)


def _is_outside(path: str, project: str) -> bool:
    return os.path.isabs(path) and not leads_through(path, project)
