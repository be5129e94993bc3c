"""`check_all` says what compilers and linters say on the command line, about real packages.

pyright has a module of its own, since it takes as long as all others together.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.real.same import command_line
from tests.real.same.agreeing import Checker, agree
from tests.real.same.comparing import (
    CAPITAL,
    FIX,
    HINTS,
    INCLUDES,
    PLACED_NOTES,
    SYNTAX_FIRST,
    UNION_ORDER,
)
from tests.real.same.packages import (
    DOCUTILS,
    OWN,
    PENDULUM,
    RETURNS,
    RXJS,
    RXJS_SYNTAX,
    SNAPPY,
    Package,
)

pytestmark = [pytest.mark.server, pytest.mark.timeout(900)]

TY = Checker("ty", "ty", command_line.ty, (HINTS,))
TY_WITH_NOTES = Checker("ty", "ty", command_line.ty, (HINTS, PLACED_NOTES))
RUFF = Checker("ruff", "ruff", command_line.ruff)
TSC = Checker("typescript", "tsc-5", command_line.tsc_5, (HINTS, UNION_ORDER))
TSC_7 = Checker("typescript-7", "tsc", command_line.tsc_7, (HINTS,))
# The server of TypeScript 5 puts what is wrong at the end of a text on the line before it.
TSC_7_SYNTAX = Checker("typescript-7", "tsc", command_line.tsc_7, (HINTS, SYNTAX_FIRST))
CLANG = Checker("clangd", "clang++-22", command_line.clang, (CAPITAL, FIX, INCLUDES))

#: Most findings of TypeScript 5 are in these files. Its server takes longest for each file.
RXJS_SAMPLE = dataclasses.replace(
    RXJS,
    sample=(
        "src/internal/Subscriber.ts",
        "src/internal/ajax",
        "src/internal/observable",
        "src/internal/scheduler",
        "src/internal/testing",
    ),
)
#: Not its tests, which take as long as all the rest.
SNAPPY_SAMPLE = dataclasses.replace(
    SNAPPY,
    sample=(
        "include",
        "snappy-c.cc",
        "snappy-c.h",
        "snappy-internal.h",
        "snappy-sinksource.cc",
        "snappy-sinksource.h",
        "snappy-stubs-internal.cc",
        "snappy-stubs-internal.h",
        "snappy.cc",
        "snappy.h",
    ),
)

CASES = (
    *((TY, package) for package in (PENDULUM, RETURNS)),
    *((TY_WITH_NOTES, package) for package in (DOCUTILS, OWN)),
    *((RUFF, package) for package in (DOCUTILS, PENDULUM, RETURNS, OWN)),
    (TSC, RXJS_SAMPLE),
    (TSC_7, RXJS),
    (TSC_7_SYNTAX, RXJS_SYNTAX),
    (CLANG, SNAPPY_SAMPLE),
)


@pytest.mark.parametrize(
    ("checker", "package"),
    [
        pytest.param(checker, package, id=f"{checker.server}-{package.name}")
        for checker, package in CASES
    ],
)
def test_every_file_has_the_findings_of_the_command_line_also_when_lines_were_broken_and_mended(
    checker: Checker, package: Package, tmp_path: Path
) -> None:
    agree(checker, package, tmp_path / package.name)
