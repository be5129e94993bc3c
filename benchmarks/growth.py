"""How costs grow with the work: python benchmarks/growth.py [NAME…]

Each cost at 1, 10 and 100 times the work (`growth_courses.py`). The scales of a course take turns,
so that what else the machine does falls on all of them, and the median counts. The exponent is that
of the last step: 1 means that ten times the work costs ten times as much. One that is clearly above
what the course allows is a defect, and the program then ends with status 1.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

from benchmarks.growth_courses import COURSES, Course, Work  # noqa: E402
from benchmarks.page import growth_table  # noqa: E402
from benchmarks.sections import median, write_section  # noqa: E402

#: Rounds at most, and at least; in between the time decides, in seconds.
ROUNDS, FEWEST, LONG = 15, 3, 20.0
#: Above the allowed exponent by this much: caches of the processor and of the allocator work less
#: well for more data, and medians differ between runs.
TOLERANCE = 0.2
#: Work that takes less than this, in seconds, is repeated within one measurement.
SHORTEST = 0.02


def exponent(costs: Mapping[int, float]) -> float:
    """How the cost grows with the work from the second largest scale to the largest.

    At smaller scales a fixed share would hide a growth that is worse than linear.
    """
    (less, before), (more, after) = sorted(costs.items())[-2:]
    return math.log(after / before) / math.log(more / less)


def spend(work: Work, clock: str, repeat: int) -> float:
    """Milliseconds of one piece of work."""
    now = time.process_time if clock == "own" else time.perf_counter
    began = now()
    for _ in range(repeat):
        work()
    return (now() - began) * 1000 / repeat


def measure(course: Course, scratch: Path) -> dict[int, list[float]]:
    """Milliseconds by scale, of rounds in which the scales take turns."""
    times: dict[int, list[float]] = {scale: [] for scale in course.scales}
    with ExitStack() as stack:
        works, repeats = {}, {}
        for scale in course.scales:
            folder = scratch / str(scale)
            folder.mkdir(parents=True)
            works[scale] = stack.enter_context(course.prepare(scale, folder))
            spend(works[scale], course.clock, 1)
            took = spend(works[scale], course.clock, 1) / 1000
            repeats[scale] = max(1, math.ceil(SHORTEST / max(took, SHORTEST / 50)))
        until = time.monotonic() + LONG
        for number in range(ROUNDS):
            if number >= FEWEST and time.monotonic() > until:
                break
            for scale in course.scales if number % 2 else reversed(course.scales):
                times[scale].append(spend(works[scale], course.clock, repeats[scale]))
    return times


def measured(course: Course) -> dict[str, Any]:
    """What is kept of a course."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        times = measure(course, Path(scratch).resolve())
    costs = {scale: median(values) for scale, values in times.items()}
    found = exponent(costs)
    return {
        "grows": course.grows,
        "cost": course.cost,
        "clock": course.clock,
        "rounds": len(times[course.scales[0]]),
        "milliseconds": {str(scale): value for scale, value in costs.items()},
        "exponent": found,
        "allowed": course.allowed,
        "ok": found <= course.allowed + TOLERANCE,
    }


def main(chosen: list[str]) -> int:
    """Measure, print, and keep the numbers."""
    results = {}
    for name in chosen or COURSES:
        results[name] = measured(COURSES[name])
        print(f"{name}: exponent {results[name]['exponent']:.2f}", file=sys.stderr, flush=True)
    print(growth_table(results))
    if not chosen:
        write_section("growth", {"tolerance": TOLERANCE, "results": results})
    return 0 if all(one["ok"] for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
