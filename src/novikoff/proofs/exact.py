"""Exact arithmetic, and floating-point arithmetic with rigorous error bounds.

Floats are rational numbers: a matrix of floats is a matrix of integers times a power of two. Signs
and sums are computed in floats with a rigorous error bound, and in integers if the bound is not
sufficient. This module has no compiled code and imports nothing of the solver.

References
----------
Higham, N. J. (2002). *Accuracy and Stability of Numerical Algorithms*, 2nd edition. SIAM.

Rump, S. M., Ogita, T. and Oishi, S. (2008). Accurate floating-point summation, part I: faithful
rounding. *SIAM Journal on Scientific Computing* 31(1), 189-224.

Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. *Acta
Numerica* 19, 287-449.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.object_]
Signs: TypeAlias = npt.NDArray[np.int8]
Mask: TypeAlias = npt.NDArray[np.bool_]  # True for the rows of a set

# The unit roundoff of float64: a rounded result is off by at most this share of itself.
UNIT_ROUNDOFF = 2.0**-53
# An upper bound, with room to spare, on the errors of a product or a sum by underflow.
_UNDERFLOW_BOUND = 2.0**-1060
# Products are summed in chunks, each of at least this many columns.
_CHUNK = 128
# Columns are summed for at most this many entries at a time.
_MAX_SUMMED = 1 << 20
# Entries above this number are summed separately, so that no sum overflows.
_HUGE = 2.0**512
# The number of entries that are converted to Python integers at a time.
_INTEGERS_AT_ONCE = 1 << 16
# Every float64 is an integer multiple of 2**_LOWEST.
_LOWEST = -1126


def check_arithmetic() -> None:
    """Raise ArithmeticError unless floats round to nearest and underflow gradually (IEEE 754).

    Error bounds and exact sums depend on both. Some libraries change the mode of the whole process:
    the Parma Polyhedra Library rounds upwards, and code that is compiled with fast mathematics may
    replace subnormal numbers by zero.
    """
    one = np.ones(1)
    to_nearest = (
        one + UNIT_ROUNDOFF == one and one + 1.5 * UNIT_ROUNDOFF == one + 2.0 * UNIT_ROUNDOFF
    )
    if not (to_nearest and one * 2.0**-1074 > 0.0):
        raise ArithmeticError(
            "Floats are not rounded to nearest in this process, because a library has changed the "
            "rounding mode. Nothing can be proved here: use a process without that library."
        )


class Block(NamedTuple):
    """Signed rows in float64, with some of p columns; the other columns are zero."""

    A: Vector
    columns: npt.NDArray[np.int64]
    p: int

    def weights_of_columns(self, w: Numbers) -> Numbers:
        """Return the weights of the columns of the block."""
        return w.at(self.columns)

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values for all p columns, given values for the columns of the block."""
        out = np.zeros((*values.shape[:-1], self.p), dtype=values.dtype)
        out[..., self.columns] = values
        return out


def dense_block(X: npt.NDArray[Any], signs: Signs, padded: bool) -> Block:
    """Return the signed rows of a dense matrix, y_i·x_i, or y_i·[x_i, 1] if ``padded``."""
    p = X.shape[1] + int(padded)
    A = np.ones((len(X), p))
    A[:, : X.shape[1]] = X
    A *= signs.astype(np.float64)[:, None]
    return Block(A, np.arange(p), p)


def sparse_block(
    counts: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    values: npt.NDArray[Any],
    d: int,
    signs: Signs,
    padded: bool,
) -> Block:
    """Return the signed rows of a sparse matrix of d columns.

    ``counts`` has the number of entries in each row, ``columns`` and ``values`` the entries.
    """
    used, place = used_columns(columns, d)
    A = np.zeros((len(counts), len(used) + int(padded)))
    A[:, len(used) :] = 1.0
    A[np.repeat(np.arange(len(counts)), counts), place] = values
    A *= signs.astype(np.float64)[:, None]
    return Block(A, np.append(used, d) if padded else used, d + int(padded))


def used_columns(
    columns: npt.NDArray[Any], d: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct columns of some entries, in order, and the place of each among them.

    Examples
    --------
    >>> used_columns(np.array([4, 2, 4]), 9)
    (array([2, 4]), array([1, 0, 1]))
    """
    if d > 4 * len(columns):  # a table of all d columns would be longer than the entries
        return np.unique(columns.astype(np.int64), return_inverse=True)
    filled = np.bincount(columns, minlength=d) > 0
    return np.flatnonzero(filled), (np.cumsum(filled) - 1)[columns]


class Numbers(NamedTuple):
    """Exact numbers ``whole``·``unit``, together with approximations ``near``·``scale``.

    ``near`` has the floats nearest to the numbers divided by ``scale``, which is such that the
    largest of them is about one. Each float has a relative error of at most 2⁻⁵³, or an absolute
    error of at most 2⁻¹⁰⁷⁴.
    """

    whole: Integers
    unit: Fraction
    near: Vector
    scale: Fraction

    def at(self, columns: npt.NDArray[np.int64]) -> Numbers:
        """Return some of the numbers, by their places."""
        return self._replace(whole=self.whole[columns], near=self.near[columns])

    def square_norm(self) -> Fraction:
        """Return the sum of the squares."""
        return sum_of_squares(self.whole, self.unit)


def numbers(values: Sequence[Fraction]) -> Numbers:
    """Make exact numbers from rationals, over one denominator.

    Examples
    --------
    >>> fractions = numbers([Fraction(1, 2), Fraction(1, 3)])
    >>> fractions.whole.tolist(), fractions.unit
    ([3, 2], Fraction(1, 6))
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [value.numerator * (denominator // value.denominator) for value in values]
    return _numbers_from(whole, Fraction(1, denominator))


def floats(values: Vector) -> Numbers:
    """Make exact numbers from floats; ValueError if a float is not finite."""
    if not np.isfinite(values).all():
        raise ValueError("Only finite numbers are exact.")
    whole, e = integers(values)
    return _numbers_from(whole.tolist(), Fraction(2) ** e)


def _numbers_from(whole: list[int], unit: Fraction) -> Numbers:
    shift = max((abs(value).bit_length() for value in whole), default=0)
    near = np.array([value / (1 << shift) for value in whole], dtype=np.float64)
    return Numbers(np.asarray(whole, dtype=object), unit, near, unit * (1 << shift))


def sum_of_squares(whole: npt.NDArray[Any], unit: Fraction) -> Fraction:
    """Return the sum of the squares of ``whole``·``unit``."""
    return Fraction(sum(int(value) ** 2 for value in whole)) * unit**2


def integers(values: Vector) -> tuple[Integers, int]:
    """Return integers N and an exponent e with values = N·2^e exactly, e as large as possible."""
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    trailing = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    used = mantissa != 0
    trailing = np.where(used, trailing, 0)
    power = exponent - 53 + trailing
    lowest = int(power[used].min()) if used.any() else 0
    shift = np.where(used, power - lowest, 0)
    whole = (mantissa >> trailing).astype(object)
    return np.left_shift(whole, shift.astype(object)), lowest


def column_sums(A: Vector) -> list[int]:
    """Return Σ_i A[i, j] for every column j, exactly, in units of 2⁻¹¹²⁶.

    Let |a_i| < 2^e for all i, n < 2^M and σ = 2^(e+M). Then h_i = (σ + a_i) − σ and a_i − h_i are
    exact in floats. The h_i and all sums of them are multiples of σ·2⁻⁵³ below σ, so that their sum
    is exact in any order. The remainders a_i − h_i are much smaller, and are added up in the same
    way (Rump, Ogita and Oishi 2008).
    """
    if _is_huge(A):
        large = np.where(np.abs(A) > 1.0, A, 0.0)
        parts = column_sums(large / _HUGE), column_sums(A - large)
        return [a * int(_HUGE) + b for a, b in zip(*parts, strict=True)]
    totals = [0] * A.shape[1]
    stride = _MAX_SUMMED // max(1, A.shape[1]) + 1
    for first in range(0, len(A), stride):
        _add_sums(totals, _exact_sums(A[first : first + stride]))
    return totals


def sums_by_column(columns: npt.NDArray[Any], values: Vector, p: int) -> list[int]:
    """Return the exact sum of the values of each of p columns, in units of 2⁻¹¹²⁶.

    This is `column_sums` for a sparse matrix, whose entries ``values`` are in ``columns``.

    Examples
    --------
    >>> as_fractions(sums_by_column(np.array([1, 0, 1]), np.array([1.0, 2.0, 2.0**-60]), 2))
    [Fraction(2, 1), Fraction(1152921504606846977, 1152921504606846976)]
    """
    if _is_huge(values):
        large = np.where(np.abs(values) > 1.0, values, 0.0)
        above = sums_by_column(columns, large / _HUGE, p)
        below = sums_by_column(columns, values - large, p)
        return [a * int(_HUGE) + b for a, b in zip(above, below, strict=True)]
    totals = [0] * p
    _add_sums(totals, _exact_sums_by_column(columns, values, p))
    return totals


def _is_huge(values: Vector) -> bool:
    """Whether σ may overflow; ValueError if a number is not finite."""
    peak = float(np.abs(values).max(initial=0.0))
    if not peak < math.inf:
        raise ValueError("Only finite numbers are exact.")
    return peak >= _HUGE


def _add_sums(totals: list[int], parts: Iterator[Vector]) -> None:
    """Add exact sums in floats to totals in units of 2⁻¹¹²⁶."""
    for sums in parts:
        for j in np.flatnonzero(sums).tolist():
            top, bottom = float(sums[j]).as_integer_ratio()
            totals[j] += (top << -_LOWEST) // bottom  # which is a power of two


def _exact_sums(rest: Vector) -> Iterator[Vector]:
    """Yield exact sums of the columns: of leading parts, then of the next parts, and so on."""
    while True:
        largest = np.maximum(rest.max(axis=0, initial=0.0), -rest.min(axis=0, initial=0.0))
        if not largest.any():
            return
        sigma = np.ldexp(1.0, np.frexp(largest)[1] + len(rest).bit_length())
        high = (sigma + rest) - sigma
        yield high.sum(axis=0)
        rest = rest - high


def _exact_sums_by_column(columns: npt.NDArray[Any], values: Vector, p: int) -> Iterator[Vector]:
    """Yield exact sums by columns: of leading parts, then of the next parts, and so on."""
    while True:
        used = values != 0.0
        columns, values = columns[used], values[used]
        if len(values) == 0:
            return
        largest = float(np.abs(values).max())
        sigma = math.ldexp(1.0, math.frexp(largest)[1] + len(values).bit_length())
        high = (sigma + values) - sigma
        yield np.asarray(np.bincount(columns, weights=high, minlength=p), dtype=np.float64)
        values = values - high


def as_fractions(totals: Sequence[int]) -> list[Fraction]:
    """Convert the result of `column_sums` to rationals."""
    zeros = [min((total & -total).bit_length() - 1, -_LOWEST) if total else 0 for total in totals]
    return [
        Fraction(total >> k, 1 << (-_LOWEST - k)) for total, k in zip(totals, zeros, strict=True)
    ]


def product_bounds(A: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Return ⟨a_i, w⟩ in floats, and a bound on the error of each.

    Chunks of b columns are summed, then the k sums of the chunks. Each term is rounded at most
    b + k times, in whatever order the sums are computed. The entries of w may have a relative error
    of 2⁻⁵³ (Higham 2002, §3.1 and §4.2; every constant is rounded up). The product of one row does
    not depend on the other rows.
    """
    b = max(_CHUNK, math.isqrt(len(w)))
    roundings = min(b, len(w)) + len(w) // b
    with np.errstate(all="ignore"):
        sizes = np.abs(A)
        products = _chunked_products(A, w, b)
        bound = (roundings + 6) * 2.0 * UNIT_ROUNDOFF * _chunked_products(sizes, np.abs(w), b)
        bound += _UNDERFLOW_BOUND * (sizes.sum(axis=1) + len(w))
    return products, np.where(np.isfinite(products) & np.isfinite(bound), bound, np.inf)


def _chunked_products(A: Vector, w: Vector, b: int) -> Vector:
    """⟨a_i, w⟩, summed by chunks of b columns."""
    k = len(w) // b
    chunks = np.vecdot(A[:, : k * b].reshape(len(A), k, b), w[: k * b].reshape(k, b))
    left_over = np.vecdot(A[:, k * b :], w[k * b :])
    return np.asarray(np.vecdot(chunks, np.ones(k)) + left_over)


def product_signs(A: Vector, w: Numbers) -> Signs:
    """Return the exact signs of ⟨a_i, w⟩."""
    products, bound = product_bounds(A, w.near)
    signs = np.where(np.abs(products) > bound, np.sign(products), 0.0).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(products) > bound))
    whole, _ = exact_products(A[doubtful], w)
    signs[doubtful] = [(value > 0) - (value < 0) for value in whole]
    return signs


def sparse_product_signs(
    counts: npt.NDArray[Any], columns: npt.NDArray[Any], values: Vector, w: Numbers
) -> Signs:
    """Return the exact signs of ⟨a_i, w⟩ for sparse rows.

    ``counts`` has the number of entries of each row, ``columns`` and ``values`` the entries.

    Examples
    --------
    >>> w = floats(np.array([1.0, 2.0**60, 1.0]))
    >>> row = np.array([0, 1, 1]), np.array([1.0, 1.0, -1.0])
    >>> sparse_product_signs(np.array([3, 0]), *row, w)
    array([1, 0], dtype=int8)
    """
    signs = np.zeros(len(counts), dtype=np.int8)
    filled = np.flatnonzero(counts)
    if len(filled) > 0:
        whole, _ = integers(np.asarray(values, dtype=np.float64))
        starts = np.concatenate([[0], np.cumsum(counts[filled])[:-1]])
        sums = np.add.reduceat(np.asarray(whole, dtype=object) * w.whole[columns], starts)
        signs[filled] = [(value > 0) - (value < 0) for value in sums]
    return signs


def least_product(A: Vector, w: Numbers) -> Fraction:
    """Return a lower bound on min_i ⟨a_i, w⟩, with a relative error of at most 2⁻³⁵ if positive.

    Whether floats are sufficient for a row does not depend on the other rows. So the least of
    several such bounds has the same bits as the bound for all rows together.
    """
    products, bound = product_bounds(A, w.near)
    with np.errstate(all="ignore"):
        low = products - bound
        near = ~(low > np.min(products + bound, initial=np.inf))
        close = near & (bound <= 2.0**-37 * low)
    least = []
    if close.any():
        least.append(Fraction(float(low[close].min())) * w.scale * (1 - Fraction(1, 1 << 52)))
    if (near & ~close).any():
        whole, unit = exact_products(A[near & ~close], w)
        least.append(min(map(int, whole)) * unit)
    return min(least)


def exact_products(A: Vector, w: Numbers) -> tuple[Integers, Fraction]:
    """Return ⟨a_i, w⟩ exactly, as integers and their common unit."""
    parts: list[Integers] = []
    exponents: list[int] = []
    for _, used, piece in _pieces(A):
        whole, e = integers(piece)
        parts.append(np.asarray(whole.dot(w.whole[used]), dtype=object))
        exponents.append(e)
    lowest = min(exponents, default=0)
    shifted = [part << (e - lowest) for part, e in zip(parts, exponents, strict=True)]
    return np.concatenate([np.asarray([], dtype=object), *shifted]), w.unit * Fraction(2) ** lowest


def combine(A: Vector, multipliers: Numbers) -> tuple[Integers, Fraction]:
    """Return Σ_i λ_i·a_i exactly, as integers and their common unit."""
    total, lowest = np.asarray([0] * A.shape[1], dtype=object), 0
    for rows, used, piece in _pieces(A):
        whole, e = integers(piece)
        total, lowest = total << max(0, lowest - e), min(lowest, e)
        total[used] += multipliers.whole[rows].dot(whole) << (e - lowest)
    return total, multipliers.unit * Fraction(2) ** lowest


def norm_of_sum(A: Vector, multipliers: Numbers) -> float:
    """Return an upper bound on ‖Σ_i λ_i·a_i‖ for λ ≥ 0, in units of ``multipliers.scale``.

    Chunks of b rows are added up, then the k sums of the chunks: each term is rounded at most b + k
    times. The bound is infinite if floats overflow.
    """
    factors, b = multipliers.near, max(_CHUNK, math.isqrt(len(A)))
    total, sizes = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    roundings = min(b, len(A)) + len(A) // b
    with np.errstate(all="ignore"):
        for first in range(0, len(A), b):
            part, part_factors = A[first : first + b], factors[first : first + b]
            total += part_factors @ part
            sizes += part_factors @ np.abs(part)
        largest = np.abs(total) + (roundings + 6) * 2.0 * UNIT_ROUNDOFF * sizes
        largest += _UNDERFLOW_BOUND * (np.abs(A).sum() + len(A))
        peak = float(largest.max(initial=_UNDERFLOW_BOUND))
        length = peak * math.sqrt(float(np.square(largest / peak).sum()))
        bound = length * (1.0 + (len(total) + 8) * 2.0 * UNIT_ROUNDOFF)
    return bound if math.isfinite(bound) else math.inf


def enclose(M: Vector, b: Sequence[Fraction]) -> tuple[Vector, Vector] | None:
    """Solve Mx = b with proof: return x̃ and ρ with |x − x̃| ≤ ρ, or None without a proof.

    With C near M⁻¹ and α = ‖I − CM‖_∞ < 1, M is regular and |x − x̃| ≤ e + α/(1−α)·max e for
    e = |C|·|b − Mx̃| (Rump 2010, §10). Bounds on all rounding errors are added. Rows and columns are
    first scaled by powers of two, which is exact.
    """
    k = len(M)
    S, up, across = _scaled_to_one(M)
    if k == 0 or S is None:
        return None
    right = np.array([_times_power_of_two(value, int(e)) for value, e in zip(b, up, strict=True)])
    try:
        with np.errstate(all="ignore"):
            C: Vector = np.asarray(np.linalg.inv(S), dtype=np.float64)
            slop = (k + 4) * 2.0 * UNIT_ROUNDOFF
            defect = np.abs(C @ S - np.eye(k)) + slop * (np.abs(C) @ np.abs(S)) + _UNDERFLOW_BOUND
            alpha = float(defect.sum(axis=1).max()) * (1.0 + slop)
            if not alpha < 0.5:  # M is nearly singular
                return None
            x = C @ right
            x = x + C @ (right - S @ x)
            rest = np.abs(right - S @ x)
            rest = rest + slop * (np.abs(S) @ np.abs(x) + np.abs(right)) + _UNDERFLOW_BOUND
            e = (np.abs(C) @ rest) * (1.0 + slop) + _UNDERFLOW_BOUND
            radius = (e + alpha / (1.0 - alpha) * float(e.max())) * (
                1.0 + 2.0 * slop
            ) + _UNDERFLOW_BOUND
            x, radius = (
                np.ldexp(x, across),
                np.ldexp(radius, across) * (1.0 + 2.0 * UNIT_ROUNDOFF) + _UNDERFLOW_BOUND,
            )
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(x).all() and np.isfinite(radius).all()):
        return None
    # ldexp may round an x̃ that is subnormal in its own unit; _UNDERFLOW_BOUND covers this error.
    return x, radius


def nearest_float(value: Fraction | float) -> float:
    """Return the nearest float; infinity if the number is too large for float64.

    Examples
    --------
    >>> nearest_float(Fraction(1, 3)), nearest_float(-(Fraction(10) ** 400))
    (0.3333333333333333, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded_down(value: Fraction | float) -> float:
    """Return the largest float that is not above the number.

    Examples
    --------
    >>> rounded_down(Fraction(1, 10)) < 0.1 == rounded_up(Fraction(1, 10))
    True
    """
    near = nearest_float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def rounded_up(value: Fraction | float) -> float:
    """Return the smallest float that is not below the number."""
    return -rounded_down(-value)


def square_root_up(value: Fraction) -> float:
    """Return the smallest float that is not below √value."""
    if value == 0:
        return 0.0
    half = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    try:
        root = math.ldexp(math.sqrt(value / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf
    while math.isfinite(root) and Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    while root > 0.0 and Fraction(before := math.nextafter(root, 0.0)) ** 2 >= value:
        root = before
    return root


def square_root_down(value: Fraction) -> float:
    """Return the largest float that is not above √value."""
    up = square_root_up(value)
    return up if math.isfinite(up) and Fraction(up) ** 2 == value else math.nextafter(up, 0.0)


def python_integers(values: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """Convert NumPy integers in an array of objects to Python integers.

    Python compares its integers with floats exactly; NumPy rounds them.

    Examples
    --------
    >>> bool(np.int64(2**53 + 1) == 2.0**53)
    True
    >>> python_integers(np.array([np.int64(2**53 + 1)], dtype=object)) == 2.0**53
    array([False])
    """
    whole: Any = np.frompyfunc(lambda v: int(v) if isinstance(v, np.integer) else v, 1, 1)
    return np.asarray(whole(values), dtype=object)


def _pieces(A: Vector) -> Iterator[tuple[slice, npt.NDArray[np.int64], Vector]]:
    """Yield ranges of rows, the columns that are not zero in a range, and their entries."""
    stride = max(1, _INTEGERS_AT_ONCE // max(1, A.shape[1]))
    for first in range(0, len(A), stride):
        piece = A[first : first + stride]
        used = np.flatnonzero(piece.any(axis=0))
        yield slice(first, first + stride), used, piece[:, used]


def _scaled_to_one(M: Vector) -> tuple[Vector | None, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """M with rows and columns scaled to about one, and the exponents; None if inexact."""
    up = -np.frexp(np.abs(M).max(axis=1, initial=0.0))[1]
    with np.errstate(all="ignore"):
        S = np.ldexp(M, up[:, None])
        across = -np.frexp(np.abs(S).max(axis=0, initial=0.0))[1]
        S = np.ldexp(S, across)
        same = np.array_equal(np.ldexp(np.ldexp(S, -across), -up[:, None]), M)
    return (S if same else None), up, across


def _times_power_of_two(value: Fraction, e: int) -> float:
    """value·2^e, rounded to the nearest float."""
    top, bottom = value.as_integer_ratio()
    try:
        return (top << max(e, 0)) / (bottom << max(-e, 0))
    except OverflowError:
        return math.inf
