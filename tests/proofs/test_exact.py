"""The arithmetic without rounding, compared with fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from novikoff.core.rows import Vector
from novikoff.proofs import exact
from tests.separability_oracle import inner, solve

Sums: TypeAlias = Callable[[Vector], list[int]]

floats = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-100.0, 100.0),
    st.integers(-(2**53), 2**53).map(float),
    st.builds(math.ldexp, st.floats(-1.0, 1.0), st.integers(-1070, 1000)),
)
rationals = st.one_of(
    st.fractions(),
    st.fractions(-5, 5, max_denominator=9),
    floats.map(Fraction),
    st.builds(lambda top, e: top * Fraction(10) ** e, st.integers(-9, 9), st.integers(-400, 400)),
)


@st.composite
def tables(draw: st.DrawFn) -> Vector:
    n, p = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    return np.array(draw(st.lists(floats, min_size=n * p, max_size=n * p))).reshape(n, p)


def fractions(A: Vector) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in A.tolist()]


def weights(data: st.DataObject, size: int) -> list[Fraction]:
    return data.draw(st.lists(rationals, min_size=size, max_size=size))


@given(tables())
def test_integers_are_the_floats(A: Vector) -> None:
    whole, e = exact.integers(A)
    found = [[Fraction(value) * Fraction(2) ** e for value in row] for row in whole.tolist()]
    assert found == fractions(A)
    assert not A.any() or any(value % 2 for value in whole.ravel().tolist())  # the smallest


def sums_of_entries(A: Vector) -> list[int]:
    """The sums of the columns by the function for sparse matrices."""
    at = np.tile(np.arange(A.shape[1]), len(A))
    return exact.sums_by_column(at, A.ravel(), A.shape[1])


both_sums = pytest.mark.parametrize("sums", [exact.column_sums, sums_of_entries])


@both_sums
@given(A=tables())
@example(A=np.array([[1e308], [1e308], [-1e308], [5e-324]]))
def test_column_sums_are_exact(sums: Sums, A: Vector) -> None:
    columns = list(zip(*fractions(A), strict=True)) or [()] * A.shape[1]
    expected = [sum(column, Fraction(0)) for column in columns]
    assert exact.as_fractions(sums(A)) == expected


@both_sums
def test_column_sums_of_many_rows_are_exact(sums: Sums) -> None:
    """The numbers have all sizes, and there is more than one block of rows."""
    rng = np.random.default_rng(0)
    A = np.ldexp(rng.normal(size=(20_000, 2)), rng.integers(-60, 60, size=(20_000, 2)))
    A[::2, 1] = np.nextafter(2.0, 0.0)
    expected = [sum(map(Fraction, A[:, j].tolist()), Fraction(0)) for j in range(2)]
    assert exact.as_fractions(sums(A)) == expected
    many = np.full((1_100_000, 1), np.nextafter(1.0, 0.0))
    total = len(many) * Fraction(float(many[0, 0]))
    assert exact.as_fractions(sums(many)) == [total]
    assert exact.as_fractions(sums(-many)) == [-total]


@both_sums
def test_column_sums_of_neighbouring_exponents_are_exact(sums: Sums) -> None:
    """Full mantissas fill the sums for every grouping of exponents; one row is far away."""
    n, full = 4095, float(np.nextafter(1.0, 0.0))
    pairs = [(e, k) for e in range(30) for k in range(30)]
    A = np.ldexp(full, np.array([[e for e, _ in pairs]] * n))
    A[0] = np.ldexp(full, np.array([e - k for e, k in pairs]))
    expected = [
        Fraction(full) * ((n - 1) * Fraction(2) ** e + Fraction(2) ** (e - k)) for e, k in pairs
    ]
    assert exact.as_fractions(sums(A)) == expected
    assert exact.as_fractions(sums(-A)) == [-value for value in expected]


@given(st.lists(rationals, max_size=6))
def test_numbers_have_one_unit_and_near_floats(values: list[Fraction]) -> None:
    found = exact.numbers(values)
    assert [Fraction(value) * found.unit for value in found.whole.tolist()] == values
    largest = max(map(abs, values), default=Fraction(0))
    if largest:
        power = next(
            Fraction(near) / value
            for near, value in zip(found.near.tolist(), values, strict=True)
            if abs(value) == largest
        )
        assert 0.5 <= np.abs(found.near).max() <= 1.0
        for near, value in zip(found.near.tolist(), values, strict=True):
            slack = abs(value * power) * Fraction(2) ** -51 + Fraction(2) ** -1073
            assert abs(Fraction(near) - value * power) <= slack


@given(st.lists(floats, max_size=6))
def test_floats_are_the_numbers_they_are(values: list[float]) -> None:
    found = exact.floats(np.array(values))
    assert [value * found.unit for value in found.whole.tolist()] == [Fraction(v) for v in values]
    for near, whole in zip(found.near.tolist(), found.whole.tolist(), strict=True):
        shift = max(abs(value).bit_length() for value in found.whole.tolist())
        assert near == float(Fraction(whole, 1 << shift))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_floats_that_are_no_numbers_are_rejected(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        exact.floats(np.array([1.0, value]))


@pytest.mark.parametrize("most", [1, 3, 8])
def test_products_and_combinations_in_stretches_are_exact(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_INTEGERS_AT_ONCE", most)
    rng = np.random.default_rng(0)
    A = np.ldexp(rng.normal(size=(5, 4)), rng.integers(-80, 80, size=(5, 4)))
    A[1], A[:, 2] = 0.0, 0.0
    w, c = rng.normal(size=(1, 4)), rng.normal(size=(1, 5))
    rows, (v,), (u,) = fractions(A), fractions(w), fractions(c)
    whole, unit = exact.exact_products(A, exact.floats(w[0]))
    assert [value * unit for value in whole.tolist()] == [inner(row, v) for row in rows]
    whole, unit = exact.combine(A, exact.floats(c[0]))
    columns = zip(*rows, strict=True)
    assert [value * unit for value in whole.tolist()] == [inner(u, column) for column in columns]


@given(tables(), st.data())
def test_products_and_their_signs_are_exact(A: Vector, data: st.DataObject) -> None:
    w = weights(data, A.shape[1])
    expected = [inner(row, w) for row in fractions(A)]
    whole, unit = exact.exact_products(A, exact.numbers(w))
    assert [value * unit for value in whole.tolist()] == expected
    signs = exact.product_signs(A, exact.numbers(w)).tolist()
    assert signs == [(value > 0) - (value < 0) for value in expected]


@pytest.mark.parametrize("shift", [-1000, -400, 0, 300, 960])
def test_signs_of_products_that_nearly_vanish(shift: int) -> None:
    """⟨a, w⟩ is 0 up to the last bits, which have either sign, for numbers of every size."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=5)
    A = rng.normal(size=(300, 5))
    A[:, 4] = -(A[:, :4] @ w[:4]) / w[4]
    A[::3, 1:] = 0.0
    A[::3, 0] = 0.0
    A = np.ldexp(A, shift)
    exactly = [Fraction(value) for value in w.tolist()]
    expected = [inner(row, exactly) for row in fractions(A)]
    signs = exact.product_signs(A, exact.numbers(exactly)).tolist()
    assert signs == [(value > 0) - (value < 0) for value in expected]
    assert set(signs) == {-1, 0, 1}


@given(tables(), st.data())
def test_bounds_hold_the_products(A: Vector, data: st.DataObject) -> None:
    w = data.draw(st.lists(floats, min_size=A.shape[1], max_size=A.shape[1]))
    found, bound = exact.product_bounds(A, np.array(w))
    for row, value, error in zip(fractions(A), found.tolist(), bound.tolist(), strict=True):
        truth = inner(row, [Fraction(x) for x in w])
        assert math.isinf(error) or abs(Fraction(value) - truth) <= Fraction(error)


@pytest.mark.parametrize("p", [127, 128, 129, 700, 17_000])
def test_products_of_wide_rows_are_bounded_row_by_row(p: int) -> None:
    """The bound grows with √p, not with p, and no row affects the bits of another row."""
    rng = np.random.default_rng(p)
    A = np.ldexp(rng.normal(size=(3, p)), rng.integers(-40, 40, size=(3, p)))
    w = rng.normal(size=p)
    w[-1] = -float(A[0, :-1] @ w[:-1]) / A[0, -1]  # a product that nearly vanishes
    found, bound = exact.product_bounds(A, w)
    for row, value, error in zip(fractions(A), found.tolist(), bound.tolist(), strict=True):
        truth = inner(row, [Fraction(x) for x in w.tolist()])
        assert abs(Fraction(value) - truth) <= Fraction(error)
    sizes = np.abs(A) @ np.abs(w)
    assert (bound <= (128 + 2 * math.sqrt(p) + 8) * 2.0**-52 * sizes).all()
    alone = [exact.product_bounds(A[i : i + 1], w) for i in range(3)]
    assert found.tolist() == [float(value[0]) for value, _ in alone]
    assert bound.tolist() == [float(error[0]) for _, error in alone]


@given(tables(), st.data())
def test_the_norm_of_a_sum_is_not_less_than_it_is(A: Vector, data: st.DataObject) -> None:
    c = [abs(value) for value in weights(data, len(A))]
    multipliers = exact.numbers(c)
    bound = exact.norm_of_sum(A, multipliers)
    total = [inner(c, column) for column in zip(*fractions(A), strict=True)]
    square = sum(value * value for value in total)
    assert math.isinf(bound) or square <= (Fraction(bound) * multipliers.scale) ** 2


@pytest.mark.parametrize(
    "rows",
    [
        [2.0**60, 1.0, -(2.0**60)],
        [1e-300, 5e-324],
        [2.0**60] * 500 + [1.0] + [-(2.0**60)] * 500,
    ],
    ids=["cancelling", "subnormal", "1,001 rows"],
)
def test_the_norm_of_a_sum_that_floats_lose_is_held(rows: list[float]) -> None:
    multipliers = exact.floats(np.ones(len(rows)))
    bound = Fraction(exact.norm_of_sum(np.array(rows)[:, None], multipliers))
    truth = sum((Fraction(value) for value in rows), Fraction(0))
    assert abs(truth) <= bound * multipliers.scale


def test_the_norm_of_a_sum_of_many_rows_is_near() -> None:
    rng = np.random.default_rng(0)
    A, c = rng.normal(size=(1000, 7)), rng.uniform(size=1000)
    multipliers = exact.floats(c)
    whole, unit = exact.combine(A, multipliers)
    truth = exact.square_root_up(exact.sum_of_squares(whole, unit))
    bound = exact.norm_of_sum(A, multipliers) * float(multipliers.scale)
    assert truth <= bound <= truth * (1.0 + 1e-11)


@given(tables(), st.data())
def test_combinations_are_exact(A: Vector, data: st.DataObject) -> None:
    c = weights(data, len(A))
    if not c:
        return
    whole, unit = exact.combine(A, exact.numbers(c))
    expected = [inner(c, column) for column in zip(*fractions(A), strict=True)]
    assert [value * unit for value in whole.tolist()] == expected


def check_enclosure(M: Vector, b: list[Fraction]) -> bool:
    """Whether an answer was given; if so, it must hold the solution."""
    found = exact.enclose(M, b)
    if found is None:
        return False
    truth = solve(fractions(M), b)
    assert truth is not None, "a singular matrix was taken for regular"
    for x, near, radius in zip(truth, found[0].tolist(), found[1].tolist(), strict=True):
        assert abs(x - Fraction(near)) <= Fraction(radius), (M.tolist(), b)
    return True


@given(st.integers(1, 4), st.data())
def test_an_enclosure_holds_the_solution(k: int, data: st.DataObject) -> None:
    entries = st.one_of(floats, st.integers(-3, 3).map(float))
    M = np.array(data.draw(st.lists(entries, min_size=k * k, max_size=k * k))).reshape(k, k)
    check_enclosure(M, weights(data, k))


@pytest.mark.parametrize("k", [1, 2, 5, 8])
@pytest.mark.parametrize("spread", [0, 12, 150])
def test_badly_scaled_systems_are_enclosed(k: int, spread: int) -> None:
    rng = np.random.default_rng(k)
    answers = 0
    for _ in range(10):
        M = rng.normal(size=(k, k)) * 10.0 ** rng.integers(-spread, spread + 1, size=(k, 1))
        M *= 10.0 ** rng.integers(-spread, spread + 1, size=k)
        answers += check_enclosure(M, [Fraction(float(value)) for value in rng.normal(size=k)])
    assert answers >= 8


@pytest.mark.parametrize("eps", [1e-3, 1e-8, 1e-12, 1e-14, 1e-15, 2.0**-52, 0.0])
def test_ill_conditioned_systems_are_enclosed_or_rejected(eps: float) -> None:
    rng = np.random.default_rng(1)
    answers = 0
    for _ in range(20):
        M = rng.normal(size=(4, 4))
        M[3] = M[:3].sum(axis=0) + eps * rng.normal(size=4)
        answers += check_enclosure(M, [Fraction(1)] * 4)
    assert answers == 20 or eps < 1e-11
    assert answers == 0 or eps > 1e-17


@pytest.mark.parametrize("k", range(2, 13))
def test_hilbert_matrices_are_enclosed_or_rejected(k: int) -> None:
    M = 1.0 / (np.arange(k)[:, None] + np.arange(1, k + 1))
    assert check_enclosure(M, [Fraction(1)] * k) or k > 9


@pytest.mark.parametrize(
    "M", [[[0.0]], [[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]], [[1 / 3] * 3] * 3], ids=str
)
def test_singular_matrices_are_rejected(M: list[list[float]]) -> None:
    assert exact.enclose(np.array(M), [Fraction(1)] * len(M)) is None


def test_nearly_singular_matrices_are_rejected() -> None:
    """‖I − CM‖ is 1 for the computed inverse C of this matrix."""
    M = np.array([[1.0 + 12 * 2.0**-52, 1.0 - 12 * 2.0**-52], [1.0, 1.0]])
    assert exact.enclose(M, [Fraction(-1) - Fraction(1, 2**50), Fraction(-1)]) is None


def test_a_system_of_no_rows_is_rejected() -> None:
    assert exact.enclose(np.empty((0, 0)), []) is None


@given(rationals.map(abs))
@example(Fraction(0))
@example(Fraction(2))
@example(Fraction(1, 4))
@example(Fraction(5e-324) ** 2)
@example(Fraction(5e-324) ** 2 / 3)
@example(Fraction(1.7976931348623157e308) ** 2)
@example(Fraction(10) ** 700)
def test_square_roots_are_rounded_as_they_say(value: Fraction) -> None:
    up, down = exact.square_root_up(value), exact.square_root_down(value)
    assert 0.0 <= down < math.inf
    assert Fraction(down) ** 2 <= value
    if math.isinf(up):
        assert value > Fraction(1.7976931348623157e308) ** 2
        assert down == 1.7976931348623157e308
        return
    assert Fraction(up) ** 2 >= value
    if Fraction(up) ** 2 == value:
        assert down == up
    else:
        assert math.nextafter(down, math.inf) == up
