"""Which files hold configuration, and how they are read.

The files are untrusted: only regular files are opened, and read only up to a limit. A project's
file is used only if its real path is in the project: a link could expose the user's own files in
messages about the configuration. `normalize.py` interprets the content.
"""

from __future__ import annotations

import functools
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from lspkit.config.file_syntax import NotJson, decode, decode_toml, lines_of, positions
from lspkit.config.normalize import Style
from lspkit.config.problems import ConfigFault, Path, Problems, config_error
from lspkit.edits.descriptor import open_fd
from lspkit.errors import ConfigError
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import is_inside, own_home, work_tree

#: Bytes of a file: far more than a configuration has.
LARGEST = 2**18


class FileKind(msgspec.Struct, frozen=True):
    """A kind of file that may hold configuration."""

    #: Relative to the workspace's root.
    name: str
    style: Style = Style()
    #: In a file with other content: the one key that is read.
    only: str = ""
    #: In a file with other content that cannot be decoded: a pattern that shows that it is meant.
    mark: str = ""
    #: Whether values of `env` may refer to variables: `${NAME}`, `${NAME:-default}`.
    expands: bool = False


_BARE = Style(foreign=True, bare=True)
_FOREIGN = Style(foreign=True)
_LSP = r'"lsp"\s*:'
#: Within one line: with blanks that match line breaks, the search would be quadratic.
_TABLE = r"^[ \t]*+\[++[ \t]*+tool[ \t]*+\.[ \t]*+[\"']?lspkit\b"

#: Configuration files of a project. The first that exists is used.
PROJECT_FILES: tuple[FileKind, ...] = (
    FileKind(".lspkit/lsp.json"),
    FileKind("pyproject.toml", Style(top=("tool", "lspkit")), mark=_TABLE),
    FileKind(".pi/lsp.json", _FOREIGN),
    FileKind(".dispatch/lsp.json", _FOREIGN),
    FileKind("opencode.json", _FOREIGN, only="lsp", mark=_LSP),
    FileKind("opencode.jsonc", _FOREIGN, only="lsp", mark=_LSP),
    FileKind(".github/lsp.json", _BARE, expands=True),
    FileKind(".lsp.json", _BARE, expands=True),
)
_OTHERS = (FileKind(".pi/agent/lsp.json", _FOREIGN),)
_PLAIN = FileKind("")


class Source:
    """A file that was read and decoded."""

    def __init__(self, file: str, text: str, kind: FileKind, value: Any, doubled: bool) -> None:
        self.file = file
        self.kind = kind
        self.value = value
        self._text = text
        self._doubled = doubled

    @functools.cached_property
    def _positions(self) -> tuple[dict[Path, int], list[Path]]:
        if self.file.endswith(".toml"):
            return lines_of(self._text), []
        return positions(self._text)

    def line_of(self, path: Path) -> int | None:
        """The line of a key, or of the innermost parent with a known line; None if not known."""
        if self.file.endswith(".toml"):
            path = tuple(step for step in path if isinstance(step, str))
        lines = self._positions[0]
        holders = (path[:end] for end in range(len(path), -1, -1))
        return next((lines[holder] for holder in holders if holder in lines), None)

    def problems(self) -> Problems:
        """A new list of problems, with a warning for each duplicate key."""
        findings = Problems(self.file, self.line_of)
        if self._doubled:
            for path in self._positions[1]:
                findings.warn(path, "the key occurs more than once; the last one is used")
        return findings


def read_source(file: str, kind: FileKind) -> Source | None:
    """The decoded file, None if it is missing or has no configuration.

    Raises `ConfigError` if the file cannot be used.
    """
    text = _read(file)
    if text is None or (kind.style.top and kind.style.top[-1] not in text):
        return None
    try:
        is_toml = file.endswith(".toml")
        value, doubled = (decode_toml(text), False) if is_toml else decode(text)
    except NotJson as problem:
        if kind.mark and not re.search(kind.mark, text, re.MULTILINE):
            return None
        raise _file_error(
            file, f"is not valid {_format_name(file)}: {problem}", problem.line
        ) from None
    for step in kind.style.top:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    if kind.only:
        if not isinstance(value, dict) or kind.only not in value:
            return None
        value = {kind.only: value[kind.only]}
    return Source(file, text, kind, value, doubled)


def own_kinds() -> tuple[FileKind, ...]:
    """The project files that belong to lspkit, not to another program."""
    return tuple(kind for kind in PROJECT_FILES if not kind.style.foreign)


def find_project_files(root: str) -> Iterator[tuple[str, Source | ConfigError | None]]:
    """The project's existing configuration files, the one that is used first. Read lazily.

    None stands for a file whose real path is outside the project; it is not used.
    """
    for kind in PROJECT_FILES:
        file = os.path.join(root, *kind.name.split("/"))
        outside = _leads_out(file, root)
        if outside and not (kind.style.top or kind.only):
            yield file, None
            continue
        try:
            source = read_source(file, kind)
        except ConfigError as problem:
            yield file, None if outside else problem
            continue
        if source is not None:
            yield file, None if outside else source


def _leads_out(file: str, root: str) -> bool:
    """Whether a link leads to a file outside the workspace and the work tree around it."""
    if not os.path.lexists(file):
        return False
    real, base = os.path.realpath(file), os.path.realpath(root)
    return not is_inside(real, base) and not is_inside(real, work_tree(base))


def global_file(environ: Mapping[str, str], home: str) -> str:
    """The user's file: the one that `LSPKIT_CONFIG` names, the default one, or that of pi."""
    files = global_files(environ, home)
    return next((file for file in files if os.path.lexists(file)), files[0])


def global_files(environ: Mapping[str, str], home: str) -> list[str]:
    """Where the user's file may be: the first one that exists is used."""
    named = environ.get("LSPKIT_CONFIG")
    if named:
        return [os.path.abspath(os.path.join(home, named[2:]) if named.startswith("~/") else named)]
    usual = os.path.join(user_folder("config", environ, home), "lsp.json")
    return [usual, os.path.join(home, ".pi", "agent", "lsp.json")]


def kind_of_file(file: str) -> FileKind:
    """The kind of a file, by its name."""
    whole = os.path.abspath(file).replace(os.sep, "/")
    known = (*PROJECT_FILES, *_OTHERS)
    return next((kind for kind in known if whole.endswith("/" + kind.name)), _PLAIN)


def user_home(environ: Mapping[str, str]) -> str:
    """The user's home. A relative `HOME` is ignored: it would depend on the current folder."""
    named = environ.get("HOME", "")
    return named if os.path.isabs(named) else own_home() or os.path.expanduser("~")


def user_folder(kind: Literal["config", "state"], environ: Mapping[str, str], home: str) -> str:
    """The user's folder for lspkit's configuration or state.

    Unlike platformdirs, this ignores a relative XDG variable: the current folder, which may be a
    project's, must not decide what is trusted.
    """
    if sys.platform == "darwin":
        import platformdirs  # here: only on this system

        folder = platformdirs.user_config_dir if kind == "config" else platformdirs.user_state_dir
        return folder("lspkit", appauthor=False)
    base = environ.get(f"XDG_{kind.upper()}_HOME", "")
    usual = os.path.join(home, ".config" if kind == "config" else ".local/state")
    return os.path.join(base if os.path.isabs(base) else usual, "lspkit")


def _read(file: str) -> str | None:
    """The text of a file, None if it does not exist."""
    try:
        # Checked before it is opened, since opening a device can have effects.
        _refuse_special(file, os.stat(file))
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        with open_fd(file, flags) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            # Checked again, since the file may have been replaced.
            _refuse_special(file, os.fstat(descriptor))
            content = stream.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise _file_error(file, f"cannot be read: {problem.strerror}") from None
    except ValueError:  # a NUL in the path
        return None
    if len(content) > LARGEST:
        raise _too_large_error(file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        why = f"is not valid {_format_name(file)}: it has bytes that are not UTF-8"
        raise _file_error(file, why, line) from None


def _format_name(file: str) -> str:
    return "TOML" if file.endswith(".toml") else "JSON"


def _refuse_special(file: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _file_error(file, "cannot be read: it is not a regular file")
    if status.st_size > LARGEST:
        raise _too_large_error(file)


def _too_large_error(file: str) -> ConfigError:
    return _file_error(file, f"cannot be read: it has more than {LARGEST >> 10} KiB")


def _file_error(file: str, why: str, line: int | None = None) -> ConfigError:
    """An error about the whole file."""
    fault = ConfigFault(line, "", f"a file that can be used: it {why}")
    error = config_error(file, [fault])
    at = one_line(file) + (f":{line}" if line is not None else "")
    return ConfigError(f"{at} {why}", **error.fields)
