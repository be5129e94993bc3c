"""A package under `check_all` and on the command line: as it is, broken, and mended.

Files are broken by faults that a compiler finds, at random places, and mended on disk while the
server runs. The compiler begins anew each time; its server has to find out what it may keep.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING, environment
from tests.real.same.command_line import Run, Said
from tests.real.same.comparing import Comparison, Explanation, unknown
from tests.real.same.packages import Language, Package

#: How many files get each of the faults, and how many definitions get another name.
EACH_FAULT = 2
RENAMES = 3


@contextmanager
def broken(files: Sequence[Path], language: Language, seed: int) -> Iterator[set[Path]]:
    """The files that are broken meanwhile. They are as before afterwards."""
    before = {path: path.read_bytes() for path in files}
    texts = {path: before[path].decode() for path in files}
    chance = random.Random(seed)
    changed = _put_in_faults(texts, language, chance)
    changed |= _rename_definitions(texts, language, chance)
    for path in changed:
        path.write_bytes(texts[path].encode())
    try:
        yield changed
    finally:
        for path in changed:
            path.write_bytes(before[path])


def _put_in_faults(texts: dict[Path, str], language: Language, chance: random.Random) -> set[Path]:
    top_level = re.compile(f"^(?={language.top_level})", re.MULTILINE)
    candidates = [path for path in texts if top_level.search(texts[path])]
    faults = [fault for fault in language.faults for _ in range(EACH_FAULT)]
    chosen = chance.sample(candidates, min(len(faults), len(candidates)))
    for n, (path, fault) in enumerate(zip(chosen, faults, strict=False)):
        text = texts[path]
        at = chance.choice(list(top_level.finditer(text))).start()
        texts[path] = f"{text[:at]}{fault.format(n=n)}\n{text[at:]}"
    return set(chosen)


def _rename_definitions(
    texts: dict[Path, str], language: Language, chance: random.Random
) -> set[Path]:
    # What ends there is a mere declaration.
    definition = re.compile(rf"({language.definition})(\w+)\b(?!;)", re.MULTILINE)
    defined = [(path, match) for path in texts for match in definition.finditer(texts[path])]
    chance.shuffle(defined)
    changed: set[Path] = set()
    for path, match in defined:
        if len(changed) == RENAMES:
            break
        name = match[2]
        used = any(re.search(rf"\b{name}\b", texts[other]) for other in texts if other != path)
        if used and path not in changed:
            new = f"{match[1]}{name}Gone"
            texts[path] = texts[path].replace(match[0], new, 1)
            changed.add(path)
    return changed


#: Seconds for all files of a package, on a busy machine.
TIMEOUT = 300.0
#: So many findings at least come from what is broken.
LEAST = 5


@dataclass(frozen=True)
class Checker:
    #: The server that lspkit runs.
    server: str
    #: The same on the command line: its name in `.servers/bin`, and how it is asked.
    program: str
    asked: Callable[[Run], Said]
    explanations: tuple[Explanation, ...] = ()


def agree(checker: Checker, package: Package, folder: Path, *, also_broken: bool = True) -> None:
    """Both sides say the same about every file of the package, however often it changes."""
    real_servers.require(checker.server)
    real_servers.require_program(checker.program)
    files = package.copy_to(folder)
    run = Run(folder, files, _environment(checker.server, package, folder))
    comparison = Comparison(checker.explanations)

    def compared(known: Said | None = None) -> Said:
        # The server first: it has no time to get ready meanwhile.
        reports = ws.check_all(files, timeout=TIMEOUT)
        assert unknown(reports) == []
        said = known or package.about_sample(checker.asked(run))
        differences = comparison.differences(folder, reports, said)
        assert not differences, "\n".join(f"{who}: {what}" for who, what in differences)
        return said

    with _workspace(run, checker.server) as ws:
        as_it_is = compared()
        if also_broken:
            with broken(files, package.language, seed=1):
                worse = compared()
            assert len(worse.findings - as_it_is.findings) >= LEAST
            compared(as_it_is)
    assert not package.pinned or comparison.unused() == set()


def _environment(server: str, package: Package, folder: Path) -> dict[str, str]:
    return {**environment(folder, server), "VIRTUAL_ENV": str(package.environment)}


def _workspace(run: Run, server: str) -> lspkit.Workspace:
    """A workspace in which this server runs as its compiler does, and no other."""
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    said = {
        "command": real_servers.command(server),
        "env": dict(run.environment),
        "disabled": False,
        # Not lspkit's own choice: the command line has none either.
        "settings": {},
    }
    config = {"lsp": {**others, server: said}, "timing": TIMING}
    return lspkit.Workspace(run.folder, config=config, trusted=True)
