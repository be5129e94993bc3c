"""How a project is compiled, as far as it is safe to tell clangd.

A compilation database is a list of commands, and clangd trusts it: an option can name a program
that it runs to find a graphics card, and next to the compiler it looks for other programs. So in an
untrusted project clangd reads neither the database nor `.clangd`. It gets what is derived from the
database here: folders, macros and the standard, which only say how to read the sources. Every other
option is left out, known or not.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from lspkit.limits import LONGEST_COMMAND, LONGEST_PATH, MOST_COMPILE_STEPS
from lspkit.msgspec_types import make_decoder
from lspkit.regular_files import read_regular_text
from lspkit.workspace_boundary import is_inside

#: Databases, relative to a server's root. The first that exists counts.
DATABASES = ("compile_commands.json", os.path.join("build", "compile_commands.json"))

#: Options for all files, one per line.
FLAGS = "compile_flags.txt"

#: Bytes. A larger file is not read.
LARGEST = 2**25

#: Where a system keeps its headers; and how many other folders are watched for one project.
SYSTEM = ("/usr/", "/lib/", "/opt/", "/nix/", "/System/", "/Library/", "/Applications/")
MOST_FOLDERS = 32

#: Options with a value, in one word or in two.
VALUED = re.compile(
    r"(-isystem|-iquote|-idirafter|-isysroot|-include|-imacros|-I|-D|-U|-x)(.*)", re.S
)

#: Options that are whole words. A warning option with a comma passes words to other programs.
PLAIN = re.compile(
    r"-std=[\w+:]+|--sysroot=.+|-W[\w+=-]*|-w|-O[0-3sgz]?|-m(32|64)|-p(edantic|edantic-errors|thread)"
    r"|-ansi|-undef|-nostdinc(\+\+)?|-f(no-)?(exceptions|rtti|char8_t|short-enums|short-wchar"
    r"|signed-char|unsigned-char|freestanding|hosted|ms-extensions|coroutines|blocks|PIC|PIE|pic)"
)

#: Characters that make a command more than words with spaces in between.
QUOTES = "\\'\""
#: A word of a shell command, which may have quoted parts; these parts; a whole command.
WORD = re.compile(r"""(?:[^ \t\r\n'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.)++""", re.S)
PART = re.compile(r"""'([^']*+)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.S)
COMMAND = re.compile(rf"(?:[ \t\r\n]++|{WORD.pattern})*+", re.S)
#: In double quotes a backslash escapes only these two.
DOUBLE = re.compile(r'\\(["\\])')

#: Values of `-x`, without code for graphics cards.
LANGUAGES = frozenset(
    {"c", "c++", "objective-c", "objective-c++", "c-header", "c++-header", "c++-module"}
)


class CompileEntry(msgspec.Struct):
    """One command of a database."""

    directory: str = ""
    file: str = ""
    arguments: list[str] = []
    command: str = ""


_entries: msgspec.json.Decoder[list[CompileEntry]] = make_decoder(list[CompileEntry])


class CompileFlags(msgspec.Struct, frozen=True):
    """What a server is told."""

    #: By path: clangd's `compilationDatabaseChanges`.
    commands: dict[str, Any] = {}
    #: For files without a command of their own, such as headers.
    flags: list[str] = []


def compiling(root: str) -> CompileFlags:
    """How the project at this root is compiled. Files that cannot be read are ignored."""
    for name in (*DATABASES, FLAGS):
        file = os.path.join(root, name)
        try:
            status = os.stat(file)
        except (OSError, ValueError):
            continue
        # Opening a FIFO would wait forever.
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
            return _read(file, status.st_mtime_ns, status.st_size)
    return CompileFlags()


def header_folders(root: str, workspace: str) -> list[str]:
    """Folders outside of a workspace in which the project at this root looks for headers.

    System folders, which change only when something is installed, are left out, and so are
    folders above the workspace.
    """
    folders: dict[str, None] = {}
    for word in compiling(root).flags:
        match = VALUED.fullmatch(word)
        if match is None or match[1] not in ("-I", "-isystem", "-iquote", "-idirafter"):
            continue
        folder = os.path.realpath(os.path.join(root, match[2]))
        if (
            folder.startswith(SYSTEM)
            or is_inside(folder, workspace)
            or is_inside(workspace, folder)
        ):
            continue
        folders[folder] = None
    return list(folders)[:MOST_FOLDERS]


@functools.lru_cache(maxsize=4)
def _read(file: str, _: int, __: int) -> CompileFlags:
    """The flags of a file, cached by its time and size: a large one is read once."""
    # A path may have any bytes. If it is not UTF-8, its file has no command of its own.
    content = read_regular_text(file, LARGEST)
    if file.endswith(FLAGS):
        words = [line.strip() for line in content.splitlines()]
        return CompileFlags(flags=list(dict.fromkeys(_based(safe(words), os.path.dirname(file)))))
    try:
        entries = _entries.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return CompileFlags()
    if sum(map(_steps, entries)) > MOST_COMPILE_STEPS:
        return CompileFlags()
    return _understood(entries, os.path.dirname(file))


def _understood(entries: list[CompileEntry], folder: str) -> CompileFlags:
    real = functools.cache(os.path.realpath)
    commands: dict[str, Any] = {}
    flags: dict[str, None] = {}
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        words = entry.arguments or words_of(entry.command)
        if "\0" in entry.directory + entry.file or not entry.file or not words:
            continue
        directory = os.path.join(folder, entry.directory)
        if len(directory) + len(entry.file) > LONGEST_PATH:
            continue
        path = os.path.normpath(os.path.join(directory, entry.file))
        # As in the URIs that lspkit sends to servers.
        path = os.path.join(real(os.path.dirname(path)), os.path.basename(path))
        kept = list(safe(words[1:]))
        compiler = "clang++" if "++" in os.path.basename(words[0]) else "clang"
        commands[path] = {
            "workingDirectory": directory,
            "compilationCommand": [compiler, *kept, path],
        }
        # The language and the forced includes of one file do not apply to another.
        new = [word for word in dict.fromkeys(kept) if (directory, word) not in seen]
        seen.update((directory, word) for word in new)
        shared = (word for word in new if not word.startswith(("-x", "-include", "-imacros")))
        flags |= dict.fromkeys(_based(shared, directory))
    standards = [word for word in flags if word.startswith("-std=")]
    if len(standards) > 1:  # for several languages or files
        flags = {word: None for word in flags if word not in standards}
    return CompileFlags(commands, list(flags))


def _steps(entry: CompileEntry) -> int:
    """An estimate of the work for an entry."""
    folders = entry.directory.count("/") + entry.file.count("/")
    marks = sum(map(entry.command.count, QUOTES)) + entry.command.count(" ")
    return 20 + 2 * folders + len(entry.arguments) + marks


def words_of(command: str) -> list[str]:
    """The words of a command, split as by a shell; none if it cannot be a command.

    >>> words_of("cc -DA='x y' a.c")
    ['cc', '-DA=x y', 'a.c']
    """
    if len(command) > LONGEST_COMMAND:
        return []
    if not any(mark in command for mark in QUOTES):
        return command.split()  # most commands are like that
    if not COMMAND.fullmatch(command):  # an unclosed quotation mark
        return []
    return [
        PART.sub(_unquoted, word) if any(mark in word for mark in QUOTES) else word
        for word in WORD.findall(command)
    ]


def _unquoted(part: re.Match[str]) -> str:
    single, double, escaped = part.groups()
    if double is not None:
        return DOUBLE.sub(r"\1", double)
    return single if single is not None else escaped


def safe(words: Iterable[str]) -> Iterator[str]:
    """The options that only say how sources are read, each as one word.

    >>> list(safe(["-I", "include", "-fplugin=./evil.so", "-c", "main.cpp"]))
    ['-Iinclude']
    """
    rest = iter(words)
    for word in rest:
        option, value = _option(word)
        if option:
            value = value or next(rest, "")
            # One word, so that the value cannot be taken for an option, or for a file of options;
            # and no value that makes another option of it, such as `-include-pch`.
            fits = value in LANGUAGES if option == "-x" else value and not value.startswith("-")
            if fits:
                yield option + value
        elif value:
            yield word


@functools.lru_cache(2**14)  # most commands have these words in common
def _option(word: str) -> tuple[str, str]:
    """An option and its value, if this word has it; "" and a plain option; or two empty strings."""
    if not word.startswith("-"):
        return "", ""
    if match := VALUED.fullmatch(word):
        return match[1], match[2]
    return "", word if PLAIN.fullmatch(word) else ""


def _based(words: Iterable[str], directory: str) -> Iterator[str]:
    """The options with absolute paths."""
    for word in words:
        option, value = _option(word)
        if option and option not in ("-D", "-U", "-x"):
            yield option + os.path.join(directory, value)
        else:
            yield word
