"""What compilers say on the command line about all files of a folder, read from their output."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import real_servers

#: Seconds for one run, on a busy machine.
TIMEOUT = 300


@dataclass(frozen=True, order=True)
class Finding:
    #: Relative to the folder.
    file: str
    #: From 1.
    line: int
    #: Any run of white space is one blank.
    message: str


@dataclass(frozen=True)
class Said:
    """The output of one run."""

    findings: set[Finding]
    #: Notes that are printed with a place in the source under them.
    placed_notes: set[str] = field(default_factory=set)
    #: Whether a file does not follow the grammar, and the compiler looked no further.
    gave_up: bool = False


def folded(message: str) -> str:
    return " ".join(message.split())


@dataclass(frozen=True)
class Run:
    """Where and on what a compiler runs."""

    folder: Path
    files: Sequence[Path]
    environment: Mapping[str, str]

    def __call__(self, program: str, *arguments: str) -> str:
        """What it prints. That it has found something is no failure."""
        done = subprocess.run(
            [real_servers.PROGRAMS / program, *arguments],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
        )
        assert done.returncode in (0, 1, 2), f"{program}: {done.returncode}\n{done.stderr}"
        return done.stdout or done.stderr

    def finding(self, file: str, line: int, message: str) -> Finding:
        path = self.folder / file
        return Finding(str(path.relative_to(self.folder)), line, folded(message))


def pyright(run: Run) -> Said:
    found = json.loads(run("pyright", "--outputjson"))["generalDiagnostics"]
    return Said(
        {
            run.finding(one["file"], one["range"]["start"]["line"] + 1, one["message"])
            for one in found
        }
    )


def ty(run: Run) -> Said:
    text = run("ty", "check", "--color", "never", "--output-format", "full")
    return _from_blocks(run, text, r"\w+\[[\w-]+\]: ")


def ruff(run: Run) -> Said:
    text = run("ruff", "check", "--no-cache", "--output-format", "full")
    return _from_blocks(run, text, r"(?:[A-Z]+\d+ (?:\[\*\] )?|invalid-syntax: )")


def _from_blocks(run: Run, text: str, before_message: str) -> Said:
    """What ty and ruff print for people: no other output of theirs has all of a message.

    A block has the message, its place, the lines of the source with something written beside what
    is underlined, and notes, of which some have a place and lines of their own.
    """
    findings: set[Finding] = set()
    placed: set[str] = set()
    found, counted = 0, None
    for block in re.split(r"\n\n(?=\S)", text):
        head = re.match(rf"{before_message}(.*)\n *--> (.*?):(\d+):\d+(?:\n|$)", block)
        if head is None:
            said = re.fullmatch(r"(?:Found (\d+) \w+|All checks passed!)\W[\s\S]*", block)
            assert said, f"not understood:\n{block}"
            counted = int(said[1] or 0)
            continue
        found += 1
        lines, *notes = re.split(r"\n(?=(?:info|help|note): )", block[head.end() :])
        message = head[1] + _beside(lines.partition(":::")[0])
        for note in notes:
            first, _, below = note.partition("\n")
            if re.match(r" *--> ", below):
                placed.add(folded(first))
            elif not first.startswith("note: "):
                message = f"{message} {first}"
        findings.add(run.finding(head[2], int(head[3]), message))
    assert found == counted
    return Said(findings, placed)


def _beside(lines: str) -> str:
    """What is written beside `^^^`, or below it, where something else is underlined behind it."""
    if beside := re.search(r"^ *\| .*\^ (\S.*)$", lines, re.MULTILINE):
        return f": {beside[1]}"
    rows = [line for line in lines.splitlines() if re.match(r" *\| ", line)]
    column = next((row.index("^") for row in rows if "^" in row), 0)
    below = (row[column:] for row in rows if not row[:column].strip(" |"))
    return next((f": {text}" for text in below if text[:1].isalnum()), "")


def tsc_5(run: Run) -> Said:
    return _tsc(run, "tsc-5")


def tsc_7(run: Run) -> Said:
    return _tsc(run, "tsc")


def _tsc(run: Run, program: str) -> Said:
    text = run(program, "--noEmit", "--pretty", "false", "-p", ".")
    # What a message has besides its first line is indented.
    one = re.compile(r"^(\S.*?)\((\d+),\d+\): \w+ TS\d+: (.*(?:\n +.*)*)\n", re.MULTILINE)
    rest = one.sub("", text)
    assert not rest, f"tsc says what is no finding:\n{rest}"
    gave_up = re.search(r": error TS1\d\d\d: ", text) is not None
    found = {run.finding(at[1], int(at[2]), at[3]) for at in one.finditer(text)}
    return Said(found, gave_up=gave_up)


def clang(run: Run) -> Said:
    """What it says about each file, be it a header, when it compiles that file.

    What is wrong in a header is told where the header itself is compiled. Where another file
    includes it, only the first error is told, at the line that includes it: so does clangd, and a
    header may have other faults for each file that it is put into.
    """
    options = ("-fsyntax-only", "-fno-color-diagnostics", "-fno-caret-diagnostics")
    found: set[Finding] = set()
    for path in run.files:
        file = str(path.relative_to(run.folder))
        text = run("clang++-22", *options, "@compile_flags.txt", file)
        found |= {run.finding(file, *one) for one in _told_of(file, text)}
    return Said(found)


def _told_of(file: str, text: str) -> Iterator[tuple[int, str]]:
    included_at = 0
    already: set[int] = set()
    for line in text.splitlines():
        # Printed outermost first, and not again for the next finding in the same header.
        if at := re.match(rf"In file included from {re.escape(file)}:(\d+):$", line):
            included_at = int(at[1])
        elif at := re.match(r"(.*?):(\d+):\d+: (warning|(?:fatal )?error): (.*)$", line):
            message = re.sub(r" \[-W[\w-]+\]$", "", at[4])
            if at[1] == file:
                yield int(at[2]), message
            elif at[3] != "warning" and included_at not in already:
                already.add(included_at)
                yield included_at, f"In included file: {message}"
