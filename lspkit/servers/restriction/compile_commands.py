"""How a project is compiled, as far as it is safe to tell clangd.

A compilation database is a list of commands, and clangd believes it: an option can name a program
that it runs to ask for a graphics card, and the name of the compiler is where it looks for others.
So in a project that is not trusted clangd does not read the database, nor `.clangd`. It is told
what follows from the database here: folders, macros and the standard, all of which only say how to
read the sources. Every other option is left out, known or not.
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
from lspkit.msgspec_types import prepare_struct
from lspkit.servers.selection.npm_package import without_waiting
from lspkit.workspace_boundary import is_inside

#: Databases, seen from a server's root. The first that is there counts.
DATABASES = ("compile_commands.json", os.path.join("build", "compile_commands.json"))

#: Options for all files, one to a line.
FLAGS = "compile_flags.txt"

#: Bytes. A larger file is not read, and the server does without.
LARGEST = 2**25

#: Where a system keeps its headers, and how many other folders are watched for one project.
SYSTEM = ("/usr/", "/lib/", "/opt/", "/nix/", "/System/", "/Library/", "/Applications/")
MOST_FOLDERS = 32

#: Options with a value, in the same word or in the next.
VALUED = re.compile(
    r"(-isystem|-iquote|-idirafter|-isysroot|-include|-imacros|-I|-D|-U|-x)(.*)", re.S
)

#: Options that are whole words. A warning option with a comma hands words to other programs.
PLAIN = re.compile(
    r"-std=[\w+:]+|--sysroot=.+|-W[\w+=-]*|-w|-O[0-3sgz]?|-m(32|64)|-p(edantic|edantic-errors|thread)"
    r"|-ansi|-undef|-nostdinc(\+\+)?|-f(no-)?(exceptions|rtti|char8_t|short-enums|short-wchar"
    r"|signed-char|unsigned-char|freestanding|hosted|ms-extensions|coroutines|blocks|PIC|PIE|pic)"
)

#: What makes a command more than words with spaces in between.
QUOTES = "\\'\""
#: A word of a command for a shell, which may have quoted parts; these parts; a whole command.
WORD = re.compile(r"""(?:[^ \t\r\n'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.)++""", re.S)
PART = re.compile(r"""'([^']*+)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.S)
COMMAND = re.compile(rf"(?:[ \t\r\n]++|{WORD.pattern})*+", re.S)
#: In double quotes a backslash means something only before these two.
DOUBLE = re.compile(r'\\(["\\])')

#: Values of `-x`. Code for graphics cards is not among them.
LANGUAGES = frozenset(
    {"c", "c++", "objective-c", "objective-c++", "c-header", "c++-header", "c++-module"}
)


@prepare_struct
class CompileEntry(msgspec.Struct):
    """One command of a database."""

    directory: str = ""
    file: str = ""
    arguments: list[str] = []
    command: str = ""


class CompileFlags(msgspec.Struct, frozen=True):
    """What a server may be told."""

    #: By path: what clangd calls `compilationDatabaseChanges`.
    commands: dict[str, Any] = {}
    #: For files that have no command of their own, such as headers.
    flags: list[str] = []


def compiling(root: str) -> CompileFlags:
    """How the project at this root is compiled. What cannot be read says nothing."""
    for name in (*DATABASES, FLAGS):
        file = os.path.join(root, name)
        try:
            found = os.stat(file)
        except (OSError, ValueError):
            continue
        # To open a FIFO would wait for ever.
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST:
            return _read(file, found.st_mtime_ns, found.st_size)
    return CompileFlags()


def header_folders(root: str, workspace: str) -> list[str]:
    """Folders outside of a workspace in which the project at this root looks for headers.

    Those of the system, which only change when something is installed, are left out, and so is
    what lies around the workspace.
    """
    found: dict[str, None] = {}
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
        found[folder] = None
    return list(found)[:MOST_FOLDERS]


@functools.lru_cache(maxsize=4)
def _read(file: str, _: int, __: int) -> CompileFlags:
    """The file as it is at this time and of this size: a large one is read once."""
    try:
        with open(file, "rb", opener=without_waiting) as stream:
            content = stream.read(LARGEST)
    except OSError:
        return CompileFlags()
    if file.endswith(FLAGS):
        words = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
        return CompileFlags(flags=list(dict.fromkeys(_based(safe(words), os.path.dirname(file)))))
    try:
        entries = msgspec.json.decode(content, type=list[CompileEntry])
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
        # As lspkit names files to servers.
        path = os.path.join(real(os.path.dirname(path)), os.path.basename(path))
        kept = list(safe(words[1:]))
        compiler = "clang++" if "++" in os.path.basename(words[0]) else "clang"
        commands[path] = {
            "workingDirectory": directory,
            "compilationCommand": [compiler, *kept, path],
        }
        # What one file is read as, or stands before all of it, says nothing about another.
        new = [word for word in dict.fromkeys(kept) if (directory, word) not in seen]
        seen.update((directory, word) for word in new)
        shared = (word for word in new if not word.startswith(("-x", "-include", "-imacros")))
        flags |= dict.fromkeys(_based(shared, directory))
    standards = [word for word in flags if word.startswith("-std=")]
    if len(standards) > 1:  # of several languages, or for different files
        flags = {word: None for word in flags if word not in standards}
    return CompileFlags(commands, list(flags))


def _steps(entry: CompileEntry) -> int:
    """About how much there is to do for an entry, told without doing it."""
    folders = entry.directory.count("/") + entry.file.count("/")
    marks = sum(map(entry.command.count, QUOTES)) + entry.command.count(" ")
    return 20 + 2 * folders + len(entry.arguments) + marks


def words_of(command: str) -> list[str]:
    """The words of a command as a shell would cut it; none if it cannot be a command.

    >>> words_of("cc -DA='x y' a.c")
    ['cc', '-DA=x y', 'a.c']
    """
    if len(command) > LONGEST_COMMAND:
        return []
    if not any(mark in command for mark in QUOTES):
        return command.split()  # most commands are like that
    if not COMMAND.fullmatch(command):  # a quotation mark without a partner
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
            # and none that would make a longer option of it, such as `-include-pch`.
            fits = value in LANGUAGES if option == "-x" else value and not value.startswith("-")
            if fits:
                yield option + value
        elif value:
            yield word


@functools.lru_cache(2**14)  # the same few words come with every command
def _option(word: str) -> tuple[str, str]:
    """An option with its value, so far as this word has it; one without; or nothing to be kept."""
    if not word.startswith("-"):
        return "", ""
    if match := VALUED.fullmatch(word):
        return match[1], match[2]
    return "", word if PLAIN.fullmatch(word) else ""


def _based(words: Iterable[str], directory: str) -> Iterator[str]:
    """The same with paths that do not depend on where they are read."""
    for word in words:
        option, value = _option(word)
        if option and option not in ("-D", "-U", "-x"):
            yield option + os.path.join(directory, value)
        else:
            yield word
