"""The homogeneous form of a system, on which the projection works.

A row a·w ≤ c becomes the vector [−a, c]. A vector (w, t) with t > 0 stands for the point w/t, which
satisfies the row if and only if ⟨[−a, c], (w, t)⟩ ≥ 0. The last row, e = (0, …, 0, 1), asks for t >
0. The rows of a `LinearSystem` are multiplied by positive factors that make their numbers whole.
The rows of arrays are not changed. A number that does not fit into one float64 is stored as a sum
of several floats, each in its own column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, signed_problem
from novikoff.core.rows import Indices, Mask, Matrix, Signs, Vector, side_by_side, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.parts import RowSet
from novikoff.geometry.passes import LocalPasses, OutOfTimeError
from novikoff.geometry.visits import ExactSigns, in_row_order
from novikoff.proofs import exact
from novikoff.proofs.exact import Integers, Numbers
from novikoff.proofs.system_certificate import Multipliers
from novikoff.proofs.system_statement import Arrays, LinearSystem, Statement
from novikoff.systems.matrices import dense

# Systems with at most this many numbers are stored as dense matrices, which is faster.
_MAX_DENSE = 1 << 20
# The clock is checked after this many rows.
_ROWS_PER_CHECK = 500
# The largest number of bits of a whole number that float64 holds without a power of two as its
# unit, and with a power of two.
_MAX_BITS, _MORE_BITS = 900, 1800


class FoldedPasses(LocalPasses):
    """Passes over rows whose numbers are sums of floats.

    Column k of ``parts`` is a summand of column fold[k]. Computations in floats use the first
    summand of each number alone; exact computations use all of them.
    """

    def __init__(self, near: Problem, parts: Problem, fold: Indices) -> None:
        super().__init__(near)
        self.parts, self.fold = LocalPasses(parts), fold

    def as_integers(self, rows: Indices) -> tuple[Integers, int]:
        """These rows as integers N and an exponent e: the rows are N·2^e exactly."""
        parts, e = self.parts.as_integers(rows)
        return self._folded(parts.T).T, e

    def exact_sum(self, within: RowSet, limits: Limits) -> list[Fraction]:
        """Σ a_i over a set of rows, exactly."""
        sums = np.array(self.parts.exact_sum(within, limits), dtype=object)
        return [Fraction(value) for value in self._folded(sums)]

    def exact_signs(self, w: Numbers, within: RowSet | None, limits: Limits) -> ExactSigns:
        """The exact signs of ⟨a_i, w⟩ on a set of rows, and the row with the least product."""
        return self.parts.exact_signs(w.at(self.fold), within, limits)

    def _folded(self, parts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        total = np.zeros((self.p, *parts.shape[1:]), dtype=object)
        for k, j in enumerate(self.fold.tolist()):
            total[j] += parts[k]
        return total


@dataclass(frozen=True, eq=False)
class System:
    """The homogeneous rows [−a, c] of a system, with e as the last row, and their statement.

    In the statement, the rows have the first numbers, then (for arrays) the equalities, then the
    upper bounds and the lower bounds of the variables. Only `stated_number` and
    `stated_multipliers` translate from homogeneous rows to these numbers. A variable whose bounds
    are equal has one homogeneous row for both bounds: an equality, which has the number of the
    upper bound.

    Attributes
    ----------
    stated : Statement
        The system as it was stated.
    passes : LocalPasses
        The homogeneous rows; e is the last row.
    equalities : mask of shape (n,)
        The equalities, whose multipliers may have any sign.
    strict : mask of shape (n,)
        The rows with < instead of ≤.
    numbers : array of int of shape (n,)
        The number of each row in the statement; −1 for e.
    factors : sequence of Fraction, or None
        Each row is its factor times the stated row; None if all factors are 1.
    coefficients : matrix of shape (n, ≥ p)
        −a, in several columns if a number does not fit into one float.
    fold : array of int
        Column k of ``coefficients`` is a summand of column fold[k].
    columns : sequence of arrays of shape (n,)
        Summands of c/unit.
    unit : Fraction
        The unit of the last column.
    """

    stated: Statement
    passes: LocalPasses
    equalities: Mask
    strict: Mask
    numbers: Indices
    factors: Sequence[Fraction] | None
    coefficients: Matrix
    fold: Indices
    columns: Sequence[Vector]
    unit: Fraction = Fraction(1)

    @property
    def p(self) -> int:
        """The number of variables."""
        return self.passes.p - 1

    @property
    def homogenising_row(self) -> int:
        """The index of the row t > 0, which is the last row."""
        return self.passes.n - 1

    @property
    def mask_of_e(self) -> Mask:
        """A mask of all rows in which only e is marked."""
        return self.passes.row_set(np.array([self.homogenising_row]))

    def homogeneous(self, w: Iterable[Fraction | float]) -> list[Fraction]:
        """The vector (w, t) that stands for a point w."""
        # A fraction is kept: converting it again takes time.
        v = [value if type(value) is Fraction else Fraction(value) for value in w]
        return [*v, self.unit]

    def certificate_vector(self, v: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Convert (w, t) to the units of the statement, in which certificates are written."""
        if self.unit == 1:
            return tuple(v)
        return (*(value * self.unit for value in v[:-1]), v[-1])

    def point(self, v: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """The point that (w, t) stands for; t must be positive."""
        return dehomogenised(self.certificate_vector(v))

    @property
    def fixed(self) -> Mask:
        """The rows that stand for both bounds of a variable."""
        return self.equalities & (self.numbers >= self.stated.m)

    def stated_multipliers(
        self, rows: Iterable[int], multipliers: Iterable[Fraction]
    ) -> Multipliers:
        """Translate multipliers of homogeneous rows into multipliers of the stated rows."""
        stated: dict[int, Fraction] = {}
        for i, mu in zip(rows, multipliers, strict=True):
            multiplier, is_bound = mu * self.factor(i), self.numbers[i] >= self.stated.m
            stated[self.stated_number(i, mu)] = abs(multiplier) if is_bound else multiplier
        return sorted_multipliers(stated)

    def stated_number(self, i: int, multiplier: Fraction) -> int:
        """The number of the stated row that a multiplier of a homogeneous row belongs to.

        The row of a variable whose bounds are equal stands for both bounds: a positive multiplier
        belongs to the upper bound, a negative multiplier to the lower bound.
        """
        number = int(self.numbers[i])
        is_lower = number >= self.stated.m and multiplier * self.factor(i) < 0
        return number + self.p if is_lower else number

    def factor(self, i: int) -> Fraction:
        """The factor by which the stated row was multiplied."""
        return Fraction(1) if self.factors is None else self.factors[i]

    def signs(self, v: Sequence[Fraction], limits: Limits, within: Mask | None = None) -> Signs:
        """The exact signs of the products of all rows with (w, t); 0 for rows not ``within``."""
        return in_row_order(self.passes.exact_signs(exact.numbers(v), within, limits).signs)

    def holds(self, v: Sequence[Fraction], limits: Limits, within: Mask | None = None) -> bool:
        """Whether (w, t) satisfies every row, or every row ``within`` a set, exactly."""
        if not v[-1] > 0:
            return False
        signs = self.signs(v, limits, within)
        strict = self.strict if within is None else self.strict & within
        return bool(
            (signs >= 0).all() and (signs[strict] > 0).all() and not signs[self.equalities].any()
        )

    def right(self) -> list[Fraction]:
        """The right side c of every row except e."""
        right = [Fraction(value) for value in self.columns[0][:-1].tolist()]
        for column in self.columns[1:]:
            for i in np.flatnonzero(column[:-1]).tolist():
                right[i] += Fraction(float(column[i]))
        return right if self.unit == 1 else [value * self.unit for value in right]

    def slack(
        self, w: Sequence[Fraction], limits: Limits, among: Indices | None = None
    ) -> list[Fraction]:
        """The slack c − ⟨a, w⟩ of every row except e, or of the rows ``among``."""
        at = exact.numbers(self.homogeneous(w))
        slacks: list[Fraction] = []
        among = np.arange(self.homogenising_row) if among is None else among
        if not isinstance(self.passes.X, np.ndarray):
            if limits.reached() is not None:
                raise OutOfTimeError
            entries, sparse_unit = self.sparse_rows_in_unit(among)
            unit, values = at.unit * sparse_unit, at.whole.tolist()
            return [sum(value * values[j] for j, value in row.items()) * unit for row in entries]
        for rows in np.array_split(among, 1 + len(among) // _ROWS_PER_CHECK):
            if limits.reached() is not None:
                raise OutOfTimeError
            whole, e = self.passes.as_integers(rows)
            unit = at.unit * Fraction(2) ** e
            slacks += [int(value) * unit for value in whole.dot(at.whole)]
        return slacks

    def sparse_rows(self, rows: Indices) -> list[dict[int, int]]:
        """Some homogeneous rows as integers in a common unit, by column; c is in column p.

        The unit is a power of two, and the last column is in units of ``unit``.
        """
        return self.sparse_rows_in_unit(rows)[0]

    def sparse_rows_in_unit(self, rows: Indices) -> tuple[list[dict[int, int]], Fraction]:
        """`sparse_rows`, and their unit: the rows are the integers times this number."""
        picked: Any = self.coefficients[rows]
        if isinstance(picked, np.ndarray):
            at, across = np.nonzero(picked)
            values = picked[at, across]
        else:
            picked = picked.tocsr()
            at = np.repeat(np.arange(len(rows)), np.diff(picked.indptr))
            across, values = picked.indices, picked.data
        at = np.concatenate([at, *(np.arange(len(rows)) for _ in self.columns)])
        across = np.append(self.fold[across], np.full(len(rows) * len(self.columns), self.p))
        values = np.concatenate([values, *(column[rows] for column in self.columns)])
        used = np.flatnonzero(values)
        whole, e = exact.integers(values[used])
        sparse: list[dict[int, int]] = [{} for _ in range(len(rows))]
        for i, j, value in zip(at[used].tolist(), across[used].tolist(), whole, strict=True):
            sparse[i][j] = sparse[i].get(j, 0) + int(value)
        sparse = [{j: value for j, value in row.items() if value} for row in sparse]
        return sparse, Fraction(2) ** e

    def part(self, rows: Indices) -> System:
        """The system of some rows, sorted, and e, without the variables of other rows."""
        rows = np.append(np.unique(rows), self.homogenising_row)
        picked: Any = self.coefficients[rows]
        filled = (
            np.flatnonzero(np.asarray(abs(picked).max(axis=0)).ravel() > 0.0)
            if isinstance(picked, np.ndarray)
            else np.unique(picked.indices)
        )
        variables = np.unique(self.fold[filled]) if len(filled) > 0 else np.zeros(1, dtype=np.int64)
        columns = np.concatenate([variables, np.setdiff1d(filled, variables)])
        picked = dense(picked[:, columns])
        fold = np.searchsorted(variables, self.fold[columns])
        right = [column[rows] for column in self.columns]
        return replace(
            self,
            passes=_passes_of_system(picked, fold, right),
            coefficients=picked,
            fold=fold,
            columns=right,
            equalities=self.equalities[rows],
            strict=self.strict[rows],
            numbers=self.numbers[rows],
            factors=None if self.factors is None else [self.factors[i] for i in rows.tolist()],
        )

    def with_right(self, right: Sequence[Fraction]) -> System:
        """The same rows with other right sides, one for each row except e."""
        numbers = exact.numbers(right)
        return self.with_whole(numbers.whole, numbers.unit)

    def with_whole(self, right: Integers, unit: Fraction) -> System:
        """The same rows with right sides that are whole numbers times a unit."""
        common = math.gcd(*right) or 1
        columns, shift = _summands([*(right // common), 0])
        columns[0][-1] = 1.0
        passes = _passes_of_system(self.coefficients, self.fold, columns)
        return replace(self, passes=passes, columns=columns, unit=unit * common * 2**shift)


def system_of(stated: LinearSystem | Arrays) -> System:
    """The homogeneous form of a model, or of arrays that were checked."""
    if not stated.variables:
        raise ValueError("The system has no variables.")
    return (
        _system_of_model(stated) if isinstance(stated, LinearSystem) else _system_of_arrays(stated)
    )


def _system_of_arrays(given: Arrays) -> System:
    m, p = given.m, given.d
    stated = np.concatenate([-given.c if given.greater else given.c, given.c_eq])
    rows = np.flatnonzero(stated < np.inf)
    fixed = np.isfinite(given.upper) & (given.upper == given.lower)
    upper = np.flatnonzero(np.isfinite(given.upper))
    lower = np.flatnonzero(np.isfinite(given.lower) & ~fixed)
    numbers = np.concatenate([rows, m + upper, m + p + lower, [-1]])
    free = (numbers >= len(given.c)) & (numbers < m)
    free |= np.isin(numbers, m + np.flatnonzero(fixed))
    strict = np.zeros(len(numbers), dtype=np.bool_)
    of_A = rows[rows < len(given.c)]
    strict[: len(of_A)] = given.strict[of_A]

    turned: Any = -1.0 * given.A if given.greater else given.A
    above = -stacked(turned, given.A_eq)[rows]
    # Bounds and e are rows with one number each. Many of them would take much memory in a dense
    # matrix.
    columns = np.concatenate([upper, lower, [0]])
    values = np.repeat([-1.0, 1.0, 0.0], [len(upper), len(lower), 1])
    fits_dense = len(numbers) * p <= max(2 * (len(rows) + 1) * p, _MAX_DENSE)
    if isinstance(given.A, np.ndarray) and fits_dense:
        below: Any = np.zeros((len(columns), p))
        below[np.arange(len(columns)), columns] = values
    else:
        import scipy.sparse as sp

        places = np.arange(len(columns)), columns
        below = sp.csr_array((values, places), shape=(len(columns), p))
    coefficients = stacked(above, below)
    right = np.concatenate([stated[rows], given.upper[upper], -given.lower[lower], [1.0]])
    passes, fold = _passes_of_system(coefficients, np.arange(p), [right]), np.arange(p)
    return System(given, passes, free, strict, numbers, None, coefficients, fold, [right])


def _system_of_model(model: LinearSystem) -> System:
    rows = [(number, model.constraint(number)) for number in range(model.m)]
    for j in range(model.d):
        numbers = model.m + j, model.m + model.d + j
        upper, lower = map(model.row, numbers)
        if upper is not None and lower is not None and upper.right == lower.right:
            upper, lower = upper._replace(relation="="), None
        pairs = zip(numbers, (upper, lower), strict=True)
        rows += [(number, row) for number, row in pairs if row is not None]
    counts, columns, values, right, factors = [], [], [], [], []
    for _, row in rows:
        fractions = sorted((j, *value.as_integer_ratio()) for j, value in row.terms.items())
        over = math.lcm(row.right.denominator, *[bottom for *_, bottom in fractions])
        whole = [top * (over // bottom) for _, top, bottom in fractions]
        whole.append(row.right.numerator * (over // row.right.denominator))
        common = math.gcd(*whole) or 1
        whole = [-row.sign * value // common for value in whole]
        if max(map(int.bit_length, whole)) > _MAX_BITS:
            raise ValueError(
                f"The numbers of row {row.name!r} differ by more than 270 digits: write them in "
                "other units."
            )
        counts.append(len(fractions))
        columns += [j for j, *_ in fractions]
        values += whole[:-1]
        right.append(-whole[-1])
        factors.append(Fraction(over, common))
    coefficients, fold = _float_matrix([*counts, 0], columns, values, model.d)
    parts, _ = _summands([*right, 0])
    parts[0][-1] = 1.0
    relations = [*(row.relation for _, row in rows), ""]
    return System(
        model,
        _passes_of_system(coefficients, fold, parts),
        np.array([relation == "=" for relation in relations]),
        np.array([relation in ("<", ">") for relation in relations]),
        np.array([*(number for number, _ in rows), -1]),
        [*factors, Fraction(1)],
        coefficients,
        fold,
        parts,
    )


def _float_matrix(
    counts: list[int], columns: list[int], values: list[int], p: int
) -> tuple[Any, Indices]:
    """Convert whole numbers, given row by row, to a matrix of floats.

    If a number needs several floats, all but the first are in additional columns.

    Returns
    -------
    matrix, fold
        Column k of the matrix is a summand of column fold[k].
    """
    first, *others = _summands(values)[0]
    at = np.repeat(np.arange(len(counts)), counts)
    across = np.array(columns, dtype=np.int64)
    fold = np.arange(p)
    triplets = [(at, across, first)]
    for part in others:
        wide = part != 0.0
        used, place = np.unique(across[wide], return_inverse=True)
        triplets.append((at[wide], len(fold) + place, part[wide]))
        fold = np.concatenate([fold, used])
    i, j, data = (np.concatenate(pieces) for pieces in zip(*triplets, strict=True))
    shape = len(counts), len(fold)
    if shape[0] * shape[1] <= _MAX_DENSE:
        X = np.zeros(shape)
        X[i, j] = data
        return X, fold
    import scipy.sparse as sp

    return sp.csr_array(sp.coo_array((data, (i, j)), shape=shape)), fold


def _summands(values: Iterable[int]) -> tuple[list[Vector], int]:
    """Split each whole number into summands, which are floats times a common power of two.

    Returns
    -------
    summands, power : list of arrays, int
        The sum of the arrays, times 2^power, is the array of whole numbers.
    """
    rest = list(values)
    bits = max(map(int.bit_length, rest), default=0)
    if bits <= 53:
        return [np.array(rest, dtype=np.float64)], 0
    shift = max(0, bits - _MAX_BITS)
    if bits > _MORE_BITS:
        raise OverflowError("A number is beyond what several floats hold.")
    parts: list[Vector] = []
    while any(rest) or not parts:
        part = [value / (1 << shift) for value in rest]
        ratios = zip(rest, map(float.as_integer_ratio, part), strict=True)
        rest = [value - (top << shift) // bottom for value, (top, bottom) in ratios]
        parts.append(np.array(part, dtype=np.float64))
    return parts, shift


def _passes_of_system(coefficients: Any, fold: Indices, right: Sequence[Vector]) -> LocalPasses:
    """Passes over the rows [left, right], where the last column is a sum of several columns."""
    p = int(fold.max(initial=-1)) + 1
    ones = np.ones(coefficients.shape[0], dtype=np.int8)
    near = signed_problem(side_by_side(coefficients[:, :p], right[0][:, None]), ones, False)
    if len(right) == 1 and coefficients.shape[1] == p:
        return LocalPasses(near)
    parts = signed_problem(side_by_side(coefficients, np.array(right).T), ones, False)
    return FoldedPasses(near, parts, np.append(fold, np.full(len(right), p)))


def sorted_multipliers(multipliers: dict[int, Fraction]) -> Multipliers:
    """Sort multipliers by the numbers of their stated rows."""
    order = sorted(multipliers)
    return Multipliers(tuple(order), tuple(multipliers[number] for number in order))


def dehomogenised(v: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The point w/t that a vector (w, t) stands for."""
    t = v[-1]
    return tuple(v[:-1]) if t == 1 else tuple(value / t for value in v[:-1])


def nearest_floats(w: Sequence[Fraction]) -> Vector:
    """Round an exact point to the nearest floats; a number beyond float64 becomes infinite."""
    return np.array([exact.nearest_float(value) for value in w])


def split_equalities(system: System, equalities: Mask) -> System:
    """The same system, in which each of these equalities becomes two rows, one for each side."""
    both = np.flatnonzero(equalities)
    if len(both) == 0:
        return system
    coefficients: Any = system.coefficients
    coefficients = stacked(
        coefficients[: system.homogenising_row],
        -coefficients[both],
        coefficients[system.homogenising_row :],
    )
    order = np.concatenate([np.arange(system.homogenising_row), both, [system.homogenising_row]])
    factors_of_equalities = [system.factor(i) for i in range(system.homogenising_row)]
    factors = [
        *factors_of_equalities,
        *(-factors_of_equalities[i] for i in both.tolist()),
        Fraction(1),
    ]
    signs = np.repeat([1.0, -1.0, 1.0], [system.homogenising_row, len(both), 1])
    columns = [signs * column[order] for column in system.columns]
    return replace(
        system,
        passes=_passes_of_system(coefficients, system.fold, columns),
        coefficients=coefficients,
        equalities=(system.equalities & ~equalities)[order],
        strict=system.strict[order],
        numbers=system.numbers[order],
        factors=factors,
        columns=columns,
    )
