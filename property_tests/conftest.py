"""Profiles of hypothesis: how hard to look, chosen by the variable HYPOTHESIS_PROFILE.

`quick` is for `make check`, `default` for every other run, `ci` looks longer and the same way each
time, `fuzz` is for `make fuzz` and searches until it has tried very many inputs.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Also where only these tests are run, each has to leave nothing behind.
from tests.conftest import nothing_is_left_behind, pytest_configure

__all__ = ["nothing_is_left_behind", "pytest_configure"]

# A loaded machine makes single examples slow: that says nothing about the code, so no deadline.
settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    max_examples=20_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def _profile() -> str:
    if chosen := os.environ.get("HYPOTHESIS_PROFILE"):
        return chosen
    return "ci" if os.environ.get("CI") == "true" else "default"


settings.load_profile(_profile())
