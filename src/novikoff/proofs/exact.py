"""Arithmetic that does not round, and bounds on arithmetic that does.

Floats are rationals: a matrix of them is a matrix of integers times a power of two. Signs
and sums are found in floats with a rigorous bound on the error, and where the bound does
not suffice, in integers. Nothing here is compiled or shares code with the solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.object_]
Signs: TypeAlias = npt.NDArray[np.int8]

_U = 2.0**-53
_TINY = 2.0**-1060  # what underflow may do to a product or a sum, many times over
_CHUNK = 128  # columns, at least, whose products are summed apart
_MAX_SUMMED = 1 << 20  # entries at a time
_HUGE = 2.0**512  # and more is summed by itself
_MAX_ENTRIES = 1 << 16  # are integers at a time: each is an object of its own
_LOWEST = -1126  # no float64 has a bit of its 53 below 2**_LOWEST


def check_arithmetic() -> None:
    """Raise ArithmeticError unless floats round to nearest, and underflow gradually (IEEE 754).

    Bounds and exact sums rest on that, and some libraries change it for a whole process: the Parma
    Polyhedra Library rounds upwards, what is compiled for speed may take small numbers for zero.
    """
    one = np.ones(1)
    to_nearest = one + _U == one and one + 1.5 * _U == one + 2.0 * _U
    if not (to_nearest and one * 2.0**-1074 > 0.0):
        raise ArithmeticError(
            "Floats are not rounded to nearest in this process, as a library has changed that, so "
            "nothing can be proved here: ask in a process that does not import it."
        )


class Block(NamedTuple):
    """Signed rows in float64, of some of p columns; all others hold zeros only."""

    A: Vector
    columns: npt.NDArray[np.int64]
    p: int

    def of(self, w: Numbers) -> Numbers:
        """The weights of its columns."""
        return w.at(self.columns)

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values for its columns as values for all of them, the others zero."""
        out = np.zeros((*values.shape[:-1], self.p), dtype=values.dtype)
        out[..., self.columns] = values
        return out


def dense_block(X: npt.NDArray[Any], signs: Signs, padded: bool) -> Block:
    """The rows y_i·[x_i, 1] of a dense matrix, copied."""
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
    """The same for rows with so many entries each, their columns and values; d columns in all."""
    used, place = used_columns(columns, d)
    A = np.zeros((len(counts), len(used) + int(padded)))
    A[:, len(used) :] = 1.0
    A[np.repeat(np.arange(len(counts)), counts), place] = values
    A *= signs.astype(np.float64)[:, None]
    return Block(A, np.append(used, d) if padded else used, d + int(padded))


def used_columns(
    columns: npt.NDArray[Any], d: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The columns that entries have, of d, each once and in order; and the place of each entry's.

    Examples
    --------
    >>> used_columns(np.array([4, 2, 4]), 9)
    (array([2, 4]), array([1, 0, 1]))
    """
    if d > 4 * len(columns):  # a table of all columns would be longer
        return np.unique(columns.astype(np.int64), return_inverse=True)
    filled = np.bincount(columns, minlength=d) > 0
    return np.flatnonzero(filled), (np.cumsum(filled) - 1)[columns]


class Numbers(NamedTuple):
    """Exact numbers: ``whole``·``unit``, and the same as floats in another unit.

    ``near`` are the nearest floats in units of ``scale``, chosen so that the largest is about
    one: each is within 2⁻⁵³ of itself, or 2⁻¹⁰⁷⁴.
    """

    whole: Integers
    unit: Fraction
    near: Vector
    scale: Fraction

    def at(self, columns: npt.NDArray[np.int64]) -> Numbers:
        """Some of them."""
        return self._replace(whole=self.whole[columns], near=self.near[columns])

    def square_norm(self) -> Fraction:
        """The sum of their squares."""
        return sum_of_squares(self.whole, self.unit)


def numbers(values: Sequence[Fraction]) -> Numbers:
    """Rationals over one denominator.

    Examples
    --------
    >>> found = numbers([Fraction(1, 2), Fraction(1, 3)])
    >>> found.whole.tolist(), found.unit
    ([3, 2], Fraction(1, 6))
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [value.numerator * (denominator // value.denominator) for value in values]
    return _numbers(whole, Fraction(1, denominator))


def floats(values: Vector) -> Numbers:
    """Floats, exactly what they are; ValueError if one is not finite."""
    if not np.isfinite(values).all():
        raise ValueError("Only finite numbers are exact.")
    whole, e = integers(values)
    return _numbers(whole.tolist(), Fraction(2) ** e)


def _numbers(whole: list[int], unit: Fraction) -> Numbers:
    shift = max((abs(value).bit_length() for value in whole), default=0)
    near = np.array([value / (1 << shift) for value in whole], dtype=np.float64)
    return Numbers(_objects(whole), unit, near, unit * (1 << shift))


def sum_of_squares(whole: npt.NDArray[Any], unit: Fraction) -> Fraction:
    """The sum of the squares of integers, in units of their unit."""
    return Fraction(sum(int(value) ** 2 for value in whole)) * unit**2


def integers(values: Vector) -> tuple[Integers, int]:
    """N and e with values = N·2^e exactly, the integers as small as one e allows."""
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
    """Σ_i A[i, j] for every column j, exactly, in units of 2⁻¹¹²⁶.

    With all |a_i| < 2^e, n < 2^M and σ = 2^(e+M), the h_i = (σ + a_i) − σ and a_i − h_i are exact
    in floats. The h_i are multiples of σ·2⁻⁵³, and so are all sums of them, which stay below σ:
    they are exact too, in any order. The a_i − h_i, far smaller, are added up likewise (Rump,
    Ogita and Oishi 2008, Accurate floating-point summation).
    """
    totals = [0] * A.shape[1]
    peak = float(np.abs(A).max(initial=0.0))
    if not peak < math.inf:
        raise ValueError("Only finite numbers are exact.")
    if peak >= _HUGE:  # σ might be beyond all floats
        large = np.where(np.abs(A) > 1.0, A, 0.0)
        parts = column_sums(large / _HUGE), column_sums(A - large)
        return [a * int(_HUGE) + b for a, b in zip(*parts, strict=True)]
    stride = _MAX_SUMMED // max(1, A.shape[1]) + 1
    for first in range(0, len(A), stride):
        rest = A[first : first + stride]
        for sums in _exact_sums(rest):
            for j in np.flatnonzero(sums).tolist():
                top, bottom = float(sums[j]).as_integer_ratio()
                totals[j] += (top << -_LOWEST) // bottom  # which is a power of two
    return totals


def _exact_sums(rest: Vector) -> Iterator[Vector]:
    """Sums of the columns, bits by bits, that are exact as they are."""
    while True:
        largest = np.maximum(rest.max(axis=0, initial=0.0), -rest.min(axis=0, initial=0.0))
        if not largest.any():
            return
        sigma = np.ldexp(1.0, np.frexp(largest)[1] + len(rest).bit_length())
        high = (sigma + rest) - sigma
        yield high.sum(axis=0)
        rest = rest - high


def as_fractions(totals: Sequence[int]) -> list[Fraction]:
    """What `column_sums` found, as rationals."""
    zeros = [min((total & -total).bit_length() - 1, -_LOWEST) if total else 0 for total in totals]
    return [
        Fraction(total >> k, 1 << (-_LOWEST - k)) for total, k in zip(totals, zeros, strict=True)
    ]


def product_bounds(A: Vector, w: Vector) -> tuple[Vector, Vector]:
    """⟨a_i, w⟩ in floats, and a bound on their error.

    Chunks of b columns are summed, then the k sums of the chunks: whatever the order within either,
    each term is rounded b + k times at most. w may itself be off by 2⁻⁵³ of each entry (Higham,
    §3.1 and §4.2; every constant rounded up). Of a product, no other row changes a bit.
    """
    b = max(_CHUNK, math.isqrt(len(w)))
    roundings = min(b, len(w)) + len(w) // b
    with np.errstate(all="ignore"):
        sizes = np.abs(A)
        found = _chunked_products(A, w, b)
        bound = (roundings + 6) * 2.0 * _U * _chunked_products(sizes, np.abs(w), b)
        bound += _TINY * (sizes.sum(axis=1) + len(w))
    return found, np.where(np.isfinite(found) & np.isfinite(bound), bound, np.inf)


def _chunked_products(A: Vector, w: Vector, b: int) -> Vector:
    """⟨a_i, w⟩ by chunks of b columns, and those that are left over."""
    k = len(w) // b
    chunks = np.vecdot(A[:, : k * b].reshape(len(A), k, b), w[: k * b].reshape(k, b))
    left_over = np.vecdot(A[:, k * b :], w[k * b :])
    return np.asarray(np.vecdot(chunks, np.ones(k)) + left_over)


def product_signs(A: Vector, w: Numbers) -> Signs:
    """The signs of ⟨a_i, w⟩, exactly."""
    found, bound = product_bounds(A, w.near)
    signs = np.where(np.abs(found) > bound, np.sign(found), 0.0).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(found) > bound))
    whole, _ = exact_products(A[doubtful], w)
    signs[doubtful] = [(value > 0) - (value < 0) for value in whole]
    return signs


def least_product(A: Vector, w: Numbers) -> Fraction:
    """Not more than min_i ⟨a_i, w⟩, and within 2⁻³⁵ of it, if that is positive.

    Floats do for a row whose bounds are close, whatever rows are looked at with it: of several
    such minima the least is that of all their rows, bit for bit.
    """
    found, bound = product_bounds(A, w.near)
    with np.errstate(all="ignore"):
        low = found - bound
        near = ~(low > np.min(found + bound, initial=np.inf))
        close = near & (bound <= 2.0**-37 * low)
    least = []
    if close.any():
        least.append(Fraction(float(low[close].min())) * w.scale * (1 - Fraction(1, 1 << 52)))
    if (near & ~close).any():
        whole, unit = exact_products(A[near & ~close], w)
        least.append(min(map(int, whole)) * unit)
    return min(least)


def exact_products(A: Vector, w: Numbers) -> tuple[Integers, Fraction]:
    """⟨a_i, w⟩ as integers and their common unit."""
    found: list[Integers] = []
    exponents: list[int] = []
    for _, used, piece in _pieces(A):
        whole, e = integers(piece)
        found.append(_objects(whole.dot(w.whole[used])))
        exponents.append(e)
    lowest = min(exponents, default=0)
    shifted = [part << (e - lowest) for part, e in zip(found, exponents, strict=True)]
    return np.concatenate([_objects([]), *shifted]), w.unit * Fraction(2) ** lowest


def combine(A: Vector, multipliers: Numbers) -> tuple[Integers, Fraction]:
    """Σ_i λ_i a_i as integers and their common unit."""
    total, lowest = _objects([0] * A.shape[1]), 0
    for rows, used, piece in _pieces(A):
        whole, e = integers(piece)
        total, lowest = total << max(0, lowest - e), min(lowest, e)
        total[used] += multipliers.whole[rows].dot(whole) << (e - lowest)
    return total, multipliers.unit * Fraction(2) ** lowest


def norm_of_sum(A: Vector, multipliers: Numbers) -> float:
    """Not less than ‖Σ_i λ_i a_i‖, in units of ``multipliers.scale``, for λ ≥ 0; perhaps infinite.

    Chunks of b rows are added up, then their k sums: each term is rounded b + k times at most.
    """
    weights, b = multipliers.near, max(_CHUNK, math.isqrt(len(A)))
    total, sizes = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    roundings = min(b, len(A)) + len(A) // b
    with np.errstate(all="ignore"):
        for first in range(0, len(A), b):
            part, own = A[first : first + b], weights[first : first + b]
            total += own @ part
            sizes += own @ np.abs(part)
        largest = np.abs(total) + (roundings + 6) * 2.0 * _U * sizes
        largest += _TINY * (np.abs(A).sum() + len(A))
        peak = float(largest.max(initial=_TINY))
        length = peak * math.sqrt(float(np.square(largest / peak).sum()))
        bound = length * (1.0 + (len(total) + 8) * 2.0 * _U)
    return bound if math.isfinite(bound) else math.inf


def enclose(M: Vector, b: Sequence[Fraction]) -> tuple[Vector, Vector] | None:
    """Solve Mx = b with proof: x̃ and ρ with |x − x̃| ≤ ρ, or None.

    With C near M⁻¹ and α = ‖I − CM‖_∞ < 1, M is regular and |x − x̃| ≤ e + α/(1−α)·max e,
    e = |C|·|b − Mx̃| (Rump 2010, Verification methods, §10). All errors of rounding are
    added; rows and columns are first scaled by powers of two, which is exact.
    """
    k = len(M)
    S, up, across = _balanced(M)
    if k == 0 or S is None:
        return None
    right = np.array([_scaled(value, int(e)) for value, e in zip(b, up, strict=True)])
    try:
        with np.errstate(all="ignore"):
            C: Vector = np.asarray(np.linalg.inv(S), dtype=np.float64)
            slop = (k + 4) * 2.0 * _U
            defect = np.abs(C @ S - np.eye(k)) + slop * (np.abs(C) @ np.abs(S)) + _TINY
            alpha = float(defect.sum(axis=1).max()) * (1.0 + slop)
            x = C @ right
            x = x + C @ (right - S @ x)
            rest = np.abs(right - S @ x)
            rest = rest + slop * (np.abs(S) @ np.abs(x) + np.abs(right)) + _TINY
            e = (np.abs(C) @ rest) * (1.0 + slop) + _TINY
            radius = (e + alpha / (1.0 - alpha) * float(e.max())) * (1.0 + 2.0 * slop) + _TINY
            x, radius = np.ldexp(x, across), np.ldexp(radius, across) * (1.0 + 2.0 * _U) + _TINY
    except np.linalg.LinAlgError:
        return None
    if not (alpha < 0.5 and np.isfinite(x).all() and np.isfinite(radius).all()):
        return None
    # ldexp may round an x̃ that is subnormal in its own unit: _TINY covers it.
    return x, radius


def nearest_float(value: Fraction | float) -> float:
    """The nearest float, infinite beyond all floats.

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
    """The largest float that is not above the number.

    Examples
    --------
    >>> rounded_down(Fraction(1, 10)) < 0.1 == rounded_up(Fraction(1, 10))
    True
    """
    near = nearest_float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def rounded_up(value: Fraction | float) -> float:
    """The smallest float that is not below the number."""
    return -rounded_down(-value)


def square_root_up(value: Fraction) -> float:
    """The smallest float that is not below √value."""
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
    """The largest float that is not above √value."""
    up = square_root_up(value)
    return up if math.isfinite(up) and Fraction(up) ** 2 == value else math.nextafter(up, 0.0)


def python_integers(values: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """Objects, NumPy's integers among them as Python's, which are compared with floats exactly.

    Examples
    --------
    >>> bool(np.int64(2**53 + 1) == 2.0**53)
    True
    >>> python_integers(np.array([np.int64(2**53 + 1)], dtype=object)) == 2.0**53
    array([False])
    """
    whole: Any = np.frompyfunc(lambda v: int(v) if isinstance(v, np.integer) else v, 1, 1)
    return np.asarray(whole(values), dtype=object)


def _objects(values: object) -> Integers:
    return np.asarray(values, dtype=object)


def _pieces(A: Vector) -> Iterator[tuple[slice, npt.NDArray[np.int64], Vector]]:
    """Some rows at a time, without the columns in which they are zero."""
    stride = max(1, _MAX_ENTRIES // max(1, A.shape[1]))
    for first in range(0, len(A), stride):
        piece = A[first : first + stride]
        used = np.flatnonzero(piece.any(axis=0))
        yield slice(first, first + stride), used, piece[:, used]


def _balanced(M: Vector) -> tuple[Vector | None, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """M with rows and columns near one, and the powers of two applied; None if inexact."""
    up = -np.frexp(np.abs(M).max(axis=1, initial=0.0))[1]
    with np.errstate(all="ignore"):
        S = np.ldexp(M, up[:, None])
        across = -np.frexp(np.abs(S).max(axis=0, initial=0.0))[1]
        S = np.ldexp(S, across)
        same = np.array_equal(np.ldexp(np.ldexp(S, -across), -up[:, None]), M)
    return (S if same else None), up, across


def _scaled(value: Fraction, e: int) -> float:
    """Value·2^e, rounded to the nearest float."""
    top, bottom = value.as_integer_ratio()
    try:
        return (top << max(e, 0)) / (bottom << max(-e, 0))
    except OverflowError:
        return math.inf
