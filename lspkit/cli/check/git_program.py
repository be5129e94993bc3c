"""Runs git in a repository that may be anybody's.

Only commands that read objects and the index are run. What the configuration of a repository could
make git run is switched off: hooks, a file-system monitor, a pager. Filters and text conversions
are not reached, since no file of the work tree is read or written by git. Objects that are missing
are not fetched. A repository of another user is refused by git itself, unless the machine's or the
user's own configuration, which is read, says otherwise.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence

import msgspec

from lspkit.cli.argument_types import UsageError
from lspkit.servers.selection.program_lookup import find_program, search_folders
from lspkit.visible_text import fold_lines

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
    """git in one work tree."""

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
        settings = [word for one in SETTINGS for word in ("-c", one)]
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
    said = fold_lines(lines[0].removeprefix("fatal: ")) if lines else "it failed"
    return f"git {words[0]}: {said}"
