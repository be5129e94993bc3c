"""The files of a git revision in a temporary folder, which is always removed.

The contents of the objects are written by lspkit itself: a checkout by git would run the filters
that a repository's configuration names. Names from the repository are checked. All folders and
files are made before the first link, and a link replaces nothing, so nothing is written through a
link, and nothing outside the folder. Packages and environments, which git does not know, are links
to those of the work tree: without them the servers would find other errors. Links from the
repository lead to places in the folder and in these packages only.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import IO

import msgspec

from lspkit.cli.command_parser import UsageError
from lspkit.cli.failure import ending_by_signals
from lspkit.servers.project.project_files import ENVIRONMENT, PASSED_OVER
from lspkit.servers.selection.program_lookup import find_program, search_folders
from lspkit.visible_text import fold_lines
from lspkit.workspace_boundary import work_tree

#: Bytes that are read at once.
READ_SIZE = 1 << 20
#: Seconds for the first command, which only reads the configuration. That may include a FIFO, and
#: git would wait for ever.
FIRST_SECONDS = 10.0
#: Settings that override those of the repository.
SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat"),
    *("core.untrackedCache=false", "protocol.allow=never", "gc.auto=0", "maintenance.auto=false"),
    *("core.attributesFile=/dev/null", "submodule.recurse=false"),
)
#: Variables that are set: no prompt, no lock, no network, no other objects.
VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
#: Prefixes of git's variables that are kept: those of the user's own configuration.
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


class Git(msgspec.Struct, frozen=True):
    """git in one work tree, which may be anybody's.

    Only commands that read objects and the index are run. What the configuration of a repository
    could make git run is switched off: hooks, a file-system monitor, a pager. Filters and text
    conversions are not reached, since no file of the work tree is read or written by git. Objects
    that are missing are not fetched. A repository of another user is refused by git itself, unless
    the machine's or the user's own configuration, which is read, says otherwise.
    """

    program: str
    tree: str

    @classmethod
    def at(cls, tree: str, environ: Mapping[str, str] = os.environ) -> Git:
        """git for a work tree. A program inside the work tree is not used."""
        program = find_program("git", search_folders(tree, environ=environ))
        if program is None:
            raise UsageError("--new-since needs git, which was not found in PATH")
        return cls(program, tree)

    def command(self, *words: str) -> list[str]:
        """The command line with all that is switched off."""
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        return [
            self.program,
            "--no-pager",
            "--literal-pathspecs",
            *settings,
            "-C",
            self.tree,
            *words,
        ]

    def run(self, *words: str, timeout: float | None = None) -> bytes:
        """The output of a command."""
        try:
            done = subprocess.run(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                env=environment(os.environ),
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"git {words[0]} has not ended within {timeout:g} s in {self.tree}: see whether "
                ".git/config includes a file that cannot be read"
            ) from None
        except OSError as problem:
            raise UsageError(f"git cannot be run: {problem.strerror}") from None
        if done.returncode:
            raise UsageError(_complaint(done.stderr, words))
        return done.stdout

    def records(self, *words: str) -> Generator[bytes]:
        """What a command prints between zero bytes, while it runs: the output may have any size."""
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(os.environ),
            ) as process,
        ):
            try:
                rest = b""
                while process.stdout is not None and (data := process.stdout.read(READ_SIZE)):
                    *whole, rest = (rest + data).split(b"\0")
                    yield from whole
            except BaseException:
                process.kill()  # the caller has seen enough, or was interrupted
                raise
            if process.wait():
                errors.seek(0)
                raise UsageError(_complaint(errors.read(), words))


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for git: none that name another repository, index or program."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name.startswith(KEPT)
    }
    return {**kept, **VARIABLES}


def _complaint(stderr: bytes, words: Sequence[str]) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    complaint = fold_lines(lines[0].removeprefix("fatal: ")) if lines else "it failed"
    return f"git {words[0]}: {complaint}"


#: Larger files are not sources, and are left out.
LARGEST = 16_000_000
#: Bytes that a revision may take in the temporary folder. A small repository can name much more:
#: its trees may list the same object any number of times.
LARGEST_REVISION = 2_000_000_000
#: Bytes that a folder, a link or a small file takes on disk. Others take a multiple of it.
BLOCK = 4096
#: Bytes of a name, and folders in a path. What is longer or deeper is left out.
LONGEST_NAME, DEEPEST = 255, 200
MISSING = "--new-since: an object of the revision is missing in the repository"
#: Folders of packages that are linked, besides virtual environments.
PACKAGES = frozenset({"node_modules", "vendor", ".venv", "venv"})


class Revision(msgspec.Struct, frozen=True):
    """A revision whose files are in a folder."""

    #: As the user wrote it.
    name: str
    #: The work tree, and the folder with the files of the revision. Both are real paths.
    tree: str
    folder: str
    #: The regular files, relative to the work tree.
    files: frozenset[str]
    #: The earlier names of renamed files.
    renamed: dict[str, str]

    def before(self, path: str) -> str:
        """The path in the folder of a file of the work tree; empty if the file is new."""
        relative = os.path.relpath(path, self.tree)
        name = self.renamed.get(relative, relative)
        return os.path.join(self.folder, name) if name in self.files else ""


class _Entry(msgspec.Struct, frozen=True):
    mode: str
    object: str
    name: str


class Commit(msgspec.Struct, frozen=True):
    """A revision that exists."""

    git: Git
    #: As the user wrote it.
    name: str
    object: str


def find_revision(name: str, root: str) -> Commit:
    """The revision of the repository around a folder."""
    tree = work_tree(root)
    if not os.path.exists(os.path.join(tree, ".git")):
        raise UsageError(f"--new-since needs a git repository, and {root} is not in one")
    git = Git.at(tree)
    return Commit(git, name, _commit(git, name))


@contextmanager
def export_revision(commit: Commit) -> Iterator[Revision]:
    """The files of a revision, until the block ends."""
    git, tree = commit.git, commit.git.tree
    with ending_by_signals():
        entries = _entries(commit)  # first: a revision that is too large is refused
        renamed = _renamed_files(git, commit.object)
        # Named before it is made, so that it is removed also if an interrupt comes right then.
        temporary = os.path.realpath(tempfile.gettempdir())
        folder = os.path.join(temporary, f"lspkit-revision-{secrets.token_hex(16)}")
        try:
            os.mkdir(folder, 0o700)
            try:
                files = _write_files(git, entries, folder)
                _link_packages(tree, folder)
            except OSError as problem:
                why = f"the files of {commit.name} cannot be written to {temporary}"
                raise UsageError(f"--new-since: {why}: {problem.strerror}") from problem
            yield Revision(commit.name, tree, folder, files, renamed)
        finally:
            _remove(folder)


def _remove(folder: str) -> None:
    """Remove the folder, also if an interrupt comes meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _commit(git: Git, name: str) -> str:
    # First: another fault than an unknown revision.
    git.run("rev-parse", "--git-dir", timeout=FIRST_SECONDS)
    try:
        commit = git.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
    except UsageError:
        raise UsageError(f"--new-since: there is no revision {name!r} in {git.tree}") from None
    return commit.decode().strip()


def _renamed_files(git: Git, commit: str) -> dict[str, str]:
    """The earlier name of each file that was renamed since, as far as the index knows it."""
    output = git.run(
        *("diff-index", "--cached", "-M", "-z", "--name-status", "--no-ext-diff", "--no-textconv"),
        *("--no-relative", "--ignore-submodules=all", "--diff-filter=R", commit, "--"),
    )
    words = os.fsdecode(output).split("\0")
    return {words[at + 2]: words[at + 1] for at in range(0, len(words) - 2, 3)}


def _write_files(git: Git, entries: list[_Entry], folder: str) -> frozenset[str]:
    """Make the folders, then the files, then the links; returns the names of the files.

    A tree that was not made by git may hold a name twice, for example as a link and as a folder.
    The order decides then: what comes later is left out.
    """
    files = [entry for entry in entries if entry.mode in ("100644", "100755")]
    links = [entry for entry in entries if entry.mode == "120000"]
    # So that the servers' roots are searched for in the same folders.
    os.mkdir(os.path.join(folder, ".git"))
    for parent in {os.path.dirname(entry.name) for entry in (*files, *links)}:
        os.makedirs(os.path.join(folder, parent), exist_ok=True)
    with _objects(git) as (given, answers):
        for entry in (*files, *links):
            given.write(f"{entry.object}\n".encode())
            given.flush()
            content = _read_object(answers)
            if entry.mode == "120000":
                _make_link(folder, entry.name, content)
            else:
                _make_file(os.path.join(folder, entry.name), content)
    return frozenset(
        entry.name for entry in files if os.path.isfile(os.path.join(folder, entry.name))
    )


def _entries(commit: Commit) -> list[_Entry]:
    """The files and links of a revision. Raises a `UsageError` if they take too much space."""
    entries: list[_Entry] = []
    size, folder = 0, ""
    words = ("ls-tree", "-r", "-z", "--long", "--full-tree", commit.object)
    with closing(commit.git.records(*words)) as lines:
        for line in lines:
            facts, _, raw_name = line.partition(b"\t")
            mode, kind, object, length = facts.decode().split()
            name = os.fsdecode(raw_name)
            if kind == "blob" and not length.isdecimal():
                raise UsageError(MISSING)
            if kind != "blob" or int(length) > LARGEST or not _is_safe(name):
                continue
            before, folder = folder, name[: name.rfind("/") + 1]
            blocks = max(1, -(-int(length) // BLOCK)) + _new_folders(before, folder)
            size += BLOCK * blocks + len(raw_name)
            if size > LARGEST_REVISION:
                raise UsageError(_too_large(commit))
            entries.append(_Entry(mode, object, name))
    return entries


def _new_folders(before: str, folder: str) -> int:
    """How many folders are in a path, and not in that of the entry before."""
    ends = (at + 1 for at, letter in enumerate(folder) if letter == "/")
    return sum(not before.startswith(folder[:end]) for end in ends)


def _too_large(commit: Commit) -> str:
    limit = LARGEST_REVISION // 1_000_000
    return (
        f"--new-since: the files of {commit.name} in {commit.git.tree} would take more than "
        f"{limit} MB in {tempfile.gettempdir()}, so nothing was compared; check without --new-since"
    )


def _is_safe(name: str) -> bool:
    """Whether a name leads to a place in the folder that is not git's own, and can be there."""
    parts = name.split("/")
    if len(parts) > DEEPEST or any(len(os.fsencode(part)) > LONGEST_NAME for part in parts):
        return False
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)


@contextmanager
def _objects(git: Git) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A process that answers names of objects with their contents."""
    with subprocess.Popen(
        git.command("cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(os.environ),
        start_new_session=True,
    ) as process:
        try:
            if process.stdin is not None and process.stdout is not None:
                yield process.stdin, process.stdout
        finally:
            process.kill()


def _read_object(answers: IO[bytes]) -> bytes:
    words = answers.readline().split()
    if len(words) != 3:
        raise UsageError(MISSING)
    content = answers.read(int(words[2]) + 1)
    return content[:-1]


def _make_file(path: str, content: bytes) -> None:
    """A file, unless something has its name."""
    with suppress(FileExistsError), open(path, "xb") as stream:
        stream.write(content)


def _make_link(folder: str, name: str, content: bytes) -> None:
    """A link, unless something has its name, or it would lead elsewhere than in the work tree."""
    target = os.fsdecode(content)
    if _stays_inside(target, os.path.dirname(name)):
        with suppress(OSError):
            os.symlink(target, os.path.join(folder, name))


def _stays_inside(target: str, parent: str) -> bool:
    """Whether the target of a link leads to a place in the folder that is not git's own.

    It may go up from the folder that the link is in, but not after a name: if that is the name of
    another link, the folder above is not the one that the path tells.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    if os.path.isabs(target) or "\0" in target or ".." in parts[ups:]:
        return False
    end = os.path.normpath(os.path.join(parent, target))
    return end.split(os.sep)[0] not in ("..", ".git")


def _link_packages(tree: str, folder: str) -> None:
    """Link packages and environments of the work tree to the same places."""
    for here, inner, _ in os.walk(tree):
        there = os.path.join(folder, os.path.relpath(here, tree))
        if not os.path.isdir(there) or os.path.islink(there):
            inner.clear()
            continue
        for name in inner:
            path = os.path.join(here, name)
            is_linked = name in PACKAGES or os.path.exists(os.path.join(path, ENVIRONMENT))
            if is_linked and not os.path.lexists(os.path.join(there, name)):
                os.symlink(path, os.path.join(there, name))
        inner[:] = [name for name in inner if name not in PASSED_OVER and name not in PACKAGES]
