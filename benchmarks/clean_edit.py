"""A clean TypeScript file that stays clean, edit to verdict: python benchmarks/clean_edit.py

typescript-language-server publishes nothing then. A client that waits for a push, and for 150 ms
without another one, waits in vain until its own limit of 5 s: that is OpenCode's rule, played here
by a bare loop on a second copy of the same server. lspkit asks TypeScript itself. Edits that break
and mend the file are measured as well. Both sides take turns.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

from benchmarks.overlap import running  # noqa: E402
from benchmarks.overlap_floor import Floor  # noqa: E402
from benchmarks.overlap_projects import COURSES, Text  # noqa: E402
from benchmarks.sections import QUICK, median, percentile, table, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import environment  # noqa: E402

SERVER = "typescript"
#: Edits of each kind: those that leave the file clean cost the rule its whole limit.
CLEAN, CHANGING = (2, 6) if QUICK else (12, 24)
#: Seconds of OpenCode's rule.
LIMIT, DEBOUNCE = 5.0, 0.15


class PushRule(Floor):
    """Any push about the file after the change, and then none for a while."""

    def _looked(self, uri: str, path: Path, before: int) -> list[Any]:
        until = time.monotonic() + LIMIT
        self.wait_until(lambda: self._fresh(uri, before), LIMIT)
        while self._fresh(uri, before):
            before = self._pushes[uri][2]
            left = min(DEBOUNCE, until - time.monotonic())
            if left <= 0 or not self._another(uri, before, left):
                break
        return self._pushes.get(uri, (None, [], 0))[1]

    def _another(self, uri: str, before: int, timeout: float) -> bool:
        return self.wait_until(lambda: self._fresh(uri, before), timeout)

    def _fresh(self, uri: str, before: int) -> bool:
        return uri in self._pushes and self._pushes[uri][2] > before


def texts() -> list[tuple[str, Text]]:
    """Edits that stay clean, then edits that break and mend."""
    template = COURSES[SERVER].alone
    edits = [("stays clean", template.make(100 + one, broken=False)) for one in range(CLEAN)]
    for number in range(CHANGING):
        text = template.make(200 + number, broken=number % 2 == 0)
        edits.append(("breaks" if text.broken else "mends", text))
    return edits


def main() -> None:
    """Measure, print, and keep the numbers."""
    course = COURSES[SERVER]
    times: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder, beside = Path(scratch) / "own", Path(scratch) / "beside"
        for one in (folder, beside):
            course.write(one, real_servers.NODE_MODULES)
        name = course.alone.name
        definition = next(one for one in BUILT_IN if one.id == SERVER)
        argv, variables = real_servers.command(SERVER), environment(beside, SERVER)
        with running(SERVER, folder, Path(scratch) / "sent") as ws:
            rule = PushRule(argv, beside, variables, definition)
            try:
                rule.begin()
                rule.warm_up(beside / name, course.alone, course.language)
                ws.write(folder / name, course.alone.make(1, broken=False).content)
                for kind, text in texts():
                    sides = times.setdefault(kind, {"lspkit": [], "rule": []})
                    began = time.perf_counter()
                    ws.write(folder / name, text.content)
                    sides["lspkit"].append((time.perf_counter() - began) * 1000)
                    took, _ = rule.edit(beside / name, text, course.language)
                    sides["rule"].append(took * 1000)
            finally:
                rule.close()
    rows = []
    for kind, sides in times.items():
        middle = {side: median(values) for side, values in sides.items()}
        most = {side: percentile(values, 0.95) for side, values in sides.items()}
        ratio = middle["rule"] / middle["lspkit"]
        rows.append([kind, middle["lspkit"], most["lspkit"], middle["rule"], most["rule"], ratio])
    headings = ["the edit", "lspkit p50 ms", "p95", "the rule p50 ms", "p95", "times as fast"]
    print(table(headings, rows))
    names = ["lspkit_p50_ms", "lspkit_p95_ms", "rule_p50_ms", "rule_p95_ms", "times_as_fast"]
    kept = {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}
    write_section("clean_edit", {"server": SERVER, "results": kept})


if __name__ == "__main__":
    main()
