"""The benchmark of growth tells a cost that is worse than linear from one that is not."""

from __future__ import annotations

import pytest

from benchmarks.growth import COURSES, TOLERANCE, exponent


@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_exponent_is_that_of_the_growth(power):
    assert exponent({scale: 3.0 * scale**power for scale in (1, 10, 100)}) == pytest.approx(power)
    assert exponent({scale: 3.0 * scale**power for scale in (1, 8, 64)}) == pytest.approx(power)


def test_a_fixed_share_does_not_hide_a_square():
    assert exponent({scale: 100 + scale**2 for scale in (1, 10, 100)}) > 1 + TOLERANCE
    assert exponent({scale: 100 + scale for scale in (1, 10, 100)}) < 1


def test_each_course_has_three_scales_and_a_limit():
    for name, course in COURSES.items():
        assert len(course.scales) == 3, name
        assert course.allowed in (0, 1), name
        assert course.clock in ("own", "wall"), name
