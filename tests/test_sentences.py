"""What is printed is true as printed: bounds are rounded to the safe side."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from novikoff.geometry.margin import Interval
from novikoff.sentences import digits_down, digits_up, interval, large

POSITIVE = st.floats(min_value=1e-300, max_value=1e300)


@given(POSITIVE, st.integers(1, 9))
@example(1683.99, 4)
@example(99999.5, 4)
@example(5e-324, 4)
@example(3.3e-310, 9)
def test_bounds_are_rounded_to_the_safe_side(value: float, digits: int) -> None:
    assert (
        Decimal(digits_down(value, digits)) <= Decimal(value) <= Decimal(digits_up(value, digits))
    )
    assert (
        Decimal(digits_down(-value, digits))
        <= -Decimal(value)
        <= Decimal(digits_up(-value, digits))
    )
    assert Decimal(digits_up(value, digits)) - Decimal(digits_down(value, digits)) <= (
        Decimal(value) * Decimal(10) ** (2 - digits)
    )


@given(st.integers(0, 10**40))
@example(10**15 - 1)
@example(10**15)
@example(999 * 10**15)
def test_a_large_bound_is_not_below_itself(bound: int) -> None:
    head, _, power = large(bound).partition("·10^")
    shown = Decimal(head.replace(",", "")) * 10 ** int(power or 0)
    assert bound <= shown <= Decimal(bound) * Decimal("1.11")


@given(POSITIVE, st.floats(0.0, 1e-3))
@example(0.0830467427, 7e-11)
@example(1 / 3, 0.0)
@example(0.1, 0.0)
@example(0.99999999999, 2e-11)
def test_an_interval_is_true_as_printed(lo: float, width: float) -> None:
    hi = lo * (1.0 + width)
    said = interval(Interval(lo, hi))
    low, high = Decimal(lo), Decimal(hi)
    found = re.fullmatch(r"= ([^…\s]+)(…?) \((exactly|proved)(?: to (\S+))?\)", said)
    if found is None:
        both = re.fullmatch(r"≥ (\S+) \(and ≤ (\S+)\)", said)
        assert both is not None
        assert Decimal(both[1]) <= low <= high <= Decimal(both[2])
        return
    shown = Decimal(found[1])
    if found[3] == "exactly":
        assert low == shown == high
        return
    known = Decimal(found[4] or 0)
    assert high - low <= known
    if found[2]:  # the first digits
        unit = Decimal(10) ** int(shown.as_tuple().exponent)
        assert shown <= low <= high < shown + unit
    else:
        assert max(abs(shown - low), abs(high - shown)) <= known


@pytest.mark.parametrize(
    ("bounds", "said"), [((0.5, math.inf), "≥ 0.5"), ((0.0, 1 / 3), "≤ 0.3334")]
)
def test_half_known(bounds: tuple[float, float], said: str) -> None:
    assert interval(Interval(*bounds)) == said
