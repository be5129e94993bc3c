"""`check_all` says what pyright says on the command line, about real packages.

pyright is the slowest of the checkers, and runs twice on each side. So of each package a sample is
checked, in which pyright finds something by every rule by which it finds anything in all of it.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.real.same import command_line
from tests.real.same.agreeing import Checker, agree
from tests.real.same.comparing import HINTS
from tests.real.same.packages import OWN, PENDULUM, RETURNS, Package

pytestmark = [pytest.mark.server, pytest.mark.timeout(900)]

PYRIGHT = Checker("pyright", "pyright", command_line.pyright, (HINTS,))

#: Two tests, so that none takes a minute on a slow machine.
PENDULUM_SAMPLES = (
    dataclasses.replace(
        PENDULUM,
        sample=(
            "pendulum/datetime.py",
            "pendulum/formatting",
            "pendulum/helpers.py",
            "pendulum/interval.py",
            "pendulum/mixins",
        ),
    ),
    dataclasses.replace(
        PENDULUM,
        sample=(
            "pendulum/locales/de",
            "pendulum/locales/locale.py",
            "pendulum/parsing",
            "pendulum/testing",
            "pendulum/tz",
        ),
    ),
)
RETURNS_SAMPLE = dataclasses.replace(
    RETURNS,
    sample=(
        "returns/context",
        "returns/contrib/hypothesis/laws.py",
        "returns/contrib/mypy/_features",
        "returns/contrib/pytest",
        "returns/maybe.py",
        "returns/pointfree",
        "returns/primitives",
    ),
)

OWN_SAMPLE = dataclasses.replace(
    OWN,
    sample=(
        "lspkit/config",
        "lspkit/edits",
        "lspkit/operations",
        "lspkit/servers/selection/program_lookup.py",
    ),
)


@pytest.mark.parametrize(
    "package",
    [
        *(pytest.param(one, id=one.sample[0]) for one in PENDULUM_SAMPLES),
        pytest.param(RETURNS_SAMPLE, id=RETURNS.name),
    ],
)
def test_every_file_has_the_findings_of_the_command_line_also_when_lines_were_broken_and_mended(
    package: Package, tmp_path: Path
) -> None:
    agree(PYRIGHT, package, tmp_path / package.name)


def test_the_files_of_lspkit_have_the_findings_of_the_command_line(tmp_path: Path) -> None:
    # Not broken as well: that would double the time, which is the longest as it is.
    agree(PYRIGHT, OWN_SAMPLE, tmp_path / OWN.name, also_broken=False)
