"""Breaking files of a package, and mending them: faults that a compiler finds, at random places.

The places come from a seed, so every run breaks the same lines of the same sources. Besides lines
that are wrong in themselves, definitions get another name: what is wrong then is in other files,
which did not change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.real.same.packages import Language

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
