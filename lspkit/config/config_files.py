"""Which files hold configuration, and how they are read.

A file may be anything that a stranger has put there: it is opened only if it is a regular one, and
read only up to a limit. A project's file counts only if it is a part of the project: a link could
have the user's own files told as configuration. What a file says is understood in `normalize.py`.
"""

from __future__ import annotations

import functools
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lspkit.boundary import is_inside, work_tree
from lspkit.config.jsonc import NotJson, decode, positions
from lspkit.config.normalize import Style
from lspkit.config.problems import ConfigFault, Path, Problems, config_error
from lspkit.config.pyproject_toml import decode_toml, lines_of
from lspkit.edits.descriptor import open_fd
from lspkit.errors import ConfigError
from lspkit.late_imports import safe_imports
from lspkit.visible_text import one_line

#: Bytes. Far more than anybody writes, and nothing that would take time.
LARGEST = 2**18


class FileKind(msgspec.Struct, frozen=True):
    """A kind of file that may hold configuration."""

    #: From the workspace's root.
    name: str
    style: Style = Style()
    #: In a file of many things: the one key that counts.
    only: str = ""
    #: In a file of many things that cannot be decoded: how one knows that it was meant.
    mark: str = ""
    #: Its variables may be written in terms of others: `${NAME}`, `${NAME:-otherwise}`.
    expands: bool = False


_BARE = Style(foreign=True, bare=True)
_FOREIGN = Style(foreign=True)
_LSP = r'"lsp"\s*:'
#: Of one line: a blank that may be a line break would be tried from every line on.
_TABLE = r"^[ \t]*+\[++[ \t]*+tool[ \t]*+\.[ \t]*+[\"']?lspkit\b"

#: Of a project. The first that is found counts.
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
        """The line on which something stands, or else what holds it; None if nobody knows."""
        if self.file.endswith(".toml"):
            path = tuple(step for step in path if isinstance(step, str))
        lines = self._positions[0]
        holders = (path[:end] for end in range(len(path), -1, -1))
        return next((lines[one] for one in holders if one in lines), None)

    def problems(self) -> Problems:
        """A place for what will be found, with what was found so far."""
        found = Problems(self.file, self.line_of)
        if self._doubled:
            for path in self._positions[1]:
                found.warn(path, "it is there more than once, and the last one counts")
        return found


def read_source(file: str, kind: FileKind) -> Source | None:
    """A file, or None if there is none or it says nothing; `ConfigError` if it cannot be used."""
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


def find_project_files(root: str) -> Iterator[tuple[str, Source | ConfigError | None]]:
    """The project's files that are there, the one that counts first. Read as they are asked for.

    None stands for a file that lies outside of the project, and does not count.
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
    """Whether a file is, by a link, no part of the workspace nor of the work tree around it."""
    if not os.path.lexists(file):
        return False
    real, base = os.path.realpath(file), os.path.realpath(root)
    return not is_inside(real, base) and not is_inside(real, work_tree(base))


def global_file(environ: Mapping[str, str], home: str) -> str:
    """The file of the user: the one that is named, or the usual one, or else that of pi."""
    named = environ.get("LSPKIT_CONFIG")
    if named:
        return os.path.abspath(os.path.join(home, named[2:]) if named.startswith("~/") else named)
    usual = os.path.join(_config_folder(environ, home), "lsp.json")
    other = os.path.join(home, ".pi", "agent", "lsp.json")
    return other if not os.path.lexists(usual) and os.path.lexists(other) else usual


def kind_of_file(file: str) -> FileKind:
    """How a file is written, by its name."""
    whole = os.path.abspath(file).replace(os.sep, "/")
    known = (*PROJECT_FILES, *_OTHERS)
    return next((kind for kind in known if whole.endswith("/" + kind.name)), _PLAIN)


def _config_folder(environ: Mapping[str, str], home: str) -> str:
    if sys.platform in ("win32", "darwin"):
        with safe_imports():
            import platformdirs  # here: only where it knows more than the two lines below

        return platformdirs.user_config_dir("lspkit", appauthor=False)
    base = environ.get("XDG_CONFIG_HOME", "")
    # A relative one would let the current folder decide what is trusted.
    return os.path.join(base if os.path.isabs(base) else os.path.join(home, ".config"), "lspkit")


def _read(file: str) -> str | None:
    """The text of a file, None if there is none."""
    try:
        # Looked at first, since to open a device may do something.
        _refuse_special(file, os.stat(file))
        flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)
        with open_fd(file, flags) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            # And once more, since it may be another file by now.
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
        why = f"is not valid {_format_name(file)}: it has bytes that are no UTF-8"
        raise _file_error(file, why, line) from None


def _format_name(file: str) -> str:
    return "TOML" if file.endswith(".toml") else "JSON"


def _refuse_special(file: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _file_error(file, "cannot be read: it is no regular file")
    if status.st_size > LARGEST:
        raise _too_large_error(file)


def _too_large_error(file: str) -> ConfigError:
    return _file_error(file, f"cannot be read: it has more than {LARGEST >> 10} KiB")


def _file_error(file: str, why: str, line: int | None = None) -> ConfigError:
    """The error of a file as a whole."""
    fault = ConfigFault(line, "", f"a file that can be used: it {why}")
    error = config_error(file, [fault])
    at = one_line(file) + (f":{line}" if line is not None else "")
    return ConfigError(f"{at} {why}", **error.fields)
