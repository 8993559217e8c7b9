"""A lower bound on the cost of the mistakes of every rule, by branch and bound over boxes of rules.

Objective
    Minimise Σ c_i over the rows with ⟨a_i, w⟩ ≤ 0, over all w.
Input
    Signed rows a_i, a cost c_i ≥ 0 for each row, and a target.
Output
    A lower bound on the cost of every w; it is the target if the proof is complete.

A positive factor of w changes no sign, so the rules are the surface of a cube. The search divides
its faces into boxes. On a box with centre z and half-widths h, a row with
⟨a_i, z⟩ + Σ_j h_j·|a_ij| < 0 is misclassified by every rule. If these rows cost as much as the
target, no rule of the box is better, and the box is done. Otherwise the box is halved. The search
takes exponential time in the number of weights, and is short for a few weights.

*Rounding.* The rows are first multiplied by a matrix that makes their columns nearly orthogonal
(w = Bz, where B is regular). This product is computed in integers, so that its entries are rounded
once. A bound on all rounding errors is then added to the half-width of every product.

*Rows in special position.* Parallel rows are merged first. Every rule classifies the rows of one
direction correctly and misclassifies the rows of the opposite direction. So every rule pays at
least the smaller cost of the two directions. Near a rule that has ⟨a_i, z⟩ = 0 on more rows than
necessary, halving does not decide. There, the rows that change their sign on a box are a smaller
problem of their own, often with fewer weights. The least cost of this problem is found in the same
way, and is added to the cost of the other rows. A problem with two weights is solved exactly: its
rows are sorted by their angles. Rows that are in special position up to 2⁻⁴⁰ or so, but not
exactly, may leave boxes that floats do not resolve. The bound is then the least cost that is proved
on these boxes.

References
----------
Johnson, D. S. and Preparata, F. P. (1978). The densest hemisphere problem. *Theoretical Computer
Science* 6(1), 93-107.

Land, A. H. and Doig, A. G. (1960). An automatic method of solving discrete programming problems.
*Econometrica* 28(3), 497-520.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.proofs import exact
from novikoff.proofs.exact import Integers, Mask, Vector

# A search has at most this many entries of rows and this many operations.
MOST_ENTRIES, MOST_OPERATIONS = 1 << 17, 1 << 34
# A batch of boxes has products with about this many pairs of a box and a row.
_AT_ONCE = 1 << 18
# Matrix products have at most this many factors at a time. BLAS libraries compute so small a
# product on one thread; several threads wait for each other when other programs use the cores.
_FACTORS = 1 << 18
# Costs are added up in digits of this many bits: sums of them are exact in float64.
_DIGIT = 32
# Boxes that were halved this many times for each of their dimensions are looked at as problems of
# their own, if their rows span fewer dimensions, or at the second number in any case.
_SPECIAL, _ANY = 4, 24
# A half-width of _SMALLEST is not halved any more. The centres of all boxes are then multiples of
# _SMALLEST, and exact in float64.
_SMALLEST = 2.0**-48
# Singular values below this one suggest that rows span fewer dimensions.
_FLAT = 1e-7
# A row whose sign is decided by less than this belongs to the smaller problem too. Its hyperplane
# may meet the others just outside of the box.
_NEAR = 2.0**-30

# A function of the weights of a rule that may cost less than the target; it returns a new target.
Improve: TypeAlias = Callable[[Vector], Fraction]


@dataclass
class BoxSearch:
    """A search of all rules for a rule that costs less than a target.

    Parameters
    ----------
    A : array of shape (n, p)
        The signed rows.
    costs : sequence of Fraction, optional
        The cost of a mistake on each row; 1 by default.
    most : int
        The largest number of operations: pairs of a box and an entry of a row.
    stop : callable, optional
        A function that says whether to end the search early.

    Examples
    --------
    Of the four corners of a square with alternating labels, every rule misclassifies one.

    >>> A = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [-1.0, -1.0, -1.0]])
    >>> BoxSearch(A).prove(Fraction(1)), BoxSearch(A).prove(Fraction(2))
    (Fraction(1, 1), Fraction(0, 1))
    """

    A: Vector
    costs: Sequence[Fraction] | None = None
    most: int = MOST_OPERATIONS
    stop: Callable[[], bool] | None = None
    operations: int = field(init=False, default=0)
    _lines: list[list[int]] = field(init=False)
    _prices: list[int] = field(init=False)
    _known: dict[tuple[int, ...], tuple[int, float]] = field(init=False)

    def prove(self, target: Fraction, improve: Improve | None = None) -> Fraction:
        """Return a proved lower bound on the cost of every rule; it is at most ``target``.

        With ``improve``, the search calls this function with each rule that seems to cost less. The
        target is lowered to the number that the function returns.
        """
        self.operations, self._lines, self._prices, self._known = 0, [], [], {}
        base, unit = self._merge()

        def whole(cost: Fraction) -> int:
            return math.ceil(cost / unit) - base

        def lowered(w: Vector, improve: Improve) -> int:
            nonlocal target
            target = min(target, improve(w))
            return whole(target)

        everything = tuple(range(len(self._lines)))
        lower = None if improve is None else partial(lowered, improve=improve)
        least = self._bound(everything, whole(target), lower)
        return target if least >= whole(target) else (least + base) * unit

    def _merge(self) -> tuple[int, Fraction]:
        """Merge parallel rows; return the cost that every rule pays, and the unit of all costs."""
        n = len(self.A)
        costs = [Fraction(1)] * n if self.costs is None else self.costs
        denominator = math.lcm(*(cost.denominator for cost in costs))
        wholes = [cost.numerator * (denominator // cost.denominator) for cost in costs]
        common = math.gcd(*wholes) or 1
        pairs: dict[tuple[int, ...], list[int]] = {}
        base, (rows, _) = 0, exact.integers(self.A)
        for row, cost in zip(rows.tolist(), wholes, strict=True):
            paid, divisor = cost // common, math.gcd(*row)
            if divisor == 0:
                base += paid
                continue
            first = next(value for value in row if value)
            divisor = divisor if first > 0 else -divisor
            pair = pairs.setdefault(tuple(value // divisor for value in row), [0, 0])
            pair[first < 0] += paid
        for line, (ahead, behind) in pairs.items():
            base += min(ahead, behind)
            if ahead != behind:
                self._lines.append([*line] if ahead > behind else [-value for value in line])
                self._prices.append(abs(ahead - behind))
        return base, Fraction(common, denominator)

    def _bound(
        self, lines: tuple[int, ...], target: int, lower: Callable[[Vector], int] | None = None
    ) -> int:
        """Return a proved bound on the cost of the mistakes on some lines.

        The bound is at least ``target`` if that can be proved.
        """
        least, failed = self._known.get(lines, (0, math.inf))
        most = sum(self._prices[k] for k in lines) // 2  # w or −w costs no more
        if lower is None and (target <= least or target >= failed or target > most):
            return least
        rows = [self._lines[k] for k in lines]
        columns = pivot_columns(rows)
        if len(columns) == len(lines):  # independent rows can have any signs
            return 0
        if len(columns) == 2:
            pairs = [(row[columns[0]], row[columns[1]]) for row in rows]
            least = least_in_the_plane(pairs, [self._prices[k] for k in lines])
            self._known[lines] = least, least + 1
            return least
        G, B = _whitened(rows, columns)
        boxes = _Boxes(self, lines, G, target)
        if lower is not None:
            boxes.lower = lambda z: lower(_weights(B, z, columns, self.A.shape[1]))
        least = max(least, boxes.bound())
        self._known[lines] = least, failed if least >= target else target
        return least


@dataclass
class _Boxes:
    """The boxes of a problem with at least three weights; ``G`` has its rows."""

    search: BoxSearch
    lines: tuple[int, ...]
    G: Vector
    target: int
    lower: Callable[[Vector], int] | None = None

    def __post_init__(self) -> None:
        self.m, self.r = self.G.shape
        self.sizes = np.abs(self.G)
        # Products, sums, and the entries of G have relative errors of at most 2⁻⁵³ each. Every box
        # has a last half-width of 1 for the sum of all errors.
        slack = (4 * self.r + 16) * exact.UNIT_ROUNDOFF * self.sizes.sum(axis=1)
        self.reach = np.column_stack([self.sizes, slack])
        prices = [self.search._prices[k] for k in self.lines]
        same = len({*prices}) == 1 and sum(prices) < 1 << 62
        self.unit = prices[0] if same else None
        n_digits = -(-sum(prices).bit_length() // _DIGIT)
        self.digits = np.array(
            [
                [price >> _DIGIT * k & (1 << _DIGIT) - 1 for k in range(n_digits)]
                for price in prices
            ],
            dtype=np.float64,
        )

    def bound(self) -> int:
        """The least cost that is proved on a box: the target, unless the search was incomplete."""
        r, search = self.r, self.search
        faces = np.repeat(np.eye(r), 2, axis=0)
        sides = np.tile([1.0, -1.0], r)[:, None]
        waiting = [(faces * sides, np.column_stack([1.0 - faces, np.ones(2 * r)]), 0)]
        stride = max(16, _AT_ONCE // self.m)
        while waiting:
            C, H, depth = waiting.pop()
            if len(C) > stride:
                waiting.append((C[stride:], H[stride:], depth))
                C, H = C[:stride], H[:stride]
            search.operations += len(C) * self.m * r
            if search.operations > search.most or (search.stop is not None and search.stop()):
                return 0
            products, widths = _times(C, self.G.T), _times(H, self.reach.T)
            costs = self._costs(products + widths < 0.0)
            (open_boxes,) = np.nonzero(costs < self.target)
            if len(open_boxes) == 0:
                continue
            C, H, costs = C[open_boxes], H[open_boxes], costs[open_boxes]
            products, widths = products[open_boxes], widths[open_boxes]
            at_centre = self._costs(products <= 0.0)
            best = int(np.argmin(at_centre))
            if at_centre[best] < self.target:
                if self.lower is None:
                    return 0
                self.target = min(self.target, self.lower(C[best]))
            crossing = np.abs(products) <= widths
            if depth % (r - 1) == 0 and depth >= _SPECIAL * (r - 1):
                near = np.abs(products) <= widths + _NEAR
                left = self._special(near, self._costs((products < 0.0) & ~near), depth)
                C, H, costs, crossing = C[left], H[left], costs[left], crossing[left]
                if len(C) == 0:
                    continue
            wide = (H[:, :-1] > _SMALLEST).any(axis=1)
            if not wide.all():
                self.target = min(self.target, int(min(costs[~wide])))
                C, H, crossing = C[wide], H[wide], crossing[wide]
            waiting.append((*_halved(C, H, _times(crossing, self.sizes)), depth + 1))
        return self.target

    def _costs(self, wrong: Mask) -> npt.NDArray[Any]:
        """The cost of the misclassified rows of each box, exactly."""
        if self.unit is not None:
            return np.count_nonzero(wrong, axis=1) * self.unit
        sums = _times(wrong, self.digits)
        if sums.shape[1] == 1:
            return np.asarray(sums[:, 0])
        total = np.zeros(len(sums), dtype=object)
        for k, part in enumerate(sums.T):
            total += part.astype(np.int64).astype(object) << _DIGIT * k
        return total

    def _special(self, near: Mask, costs: npt.NDArray[Any], depth: int) -> Mask:
        """Whether each box is still open if its ``near`` rows are a problem of their own.

        ``costs`` has the cost of the other rows.
        """
        left, groups = np.ones(len(costs), dtype=np.bool_), dict[bytes, list[int]]()
        for k, name in enumerate(map(bytes, np.packbits(near, axis=1))):
            groups.setdefault(name, []).append(k)
        for boxes in groups.values():
            (rows,) = np.nonzero(near[boxes[0]])
            target = self.target - int(min(costs[boxes]))
            if len(rows) < 3 or len(rows) == self.m:
                continue
            flat = depth >= _ANY * (self.r - 1) or len(rows) < self.r
            if not flat:
                flat = np.linalg.svd(self.G[rows], compute_uv=False)[-1] < _FLAT * len(rows)
            if flat:
                known = self.search._bound(tuple(self.lines[k] for k in rows.tolist()), target)
                left[boxes] = costs[boxes] + known < self.target
        return left


def _times(A: npt.NDArray[Any], B: Vector) -> Vector:
    """The matrix product AB, computed for some rows of A after the other."""
    out, step = np.empty((len(A), B.shape[1])), max(1, _FACTORS // B.size)
    for first in range(0, len(A), step):
        part = slice(first, first + step)
        np.matmul(A[part].astype(np.float64, copy=False), B, out=out[part])
    return out


def _halved(C: Vector, H: Vector, influence: Vector) -> tuple[Vector, Vector]:
    """Both halves of each box, divided where this changes its products most."""
    every = np.arange(len(C))
    widths = H[:, :-1]
    j = np.argmax(np.where(widths > _SMALLEST, widths * influence, -1.0), axis=1)
    H = H.copy()
    H[every, j] *= 0.5
    low, high = C.copy(), C.copy()
    low[every, j] -= H[every, j]
    high[every, j] += H[every, j]
    return np.concatenate([low, high]), np.concatenate([H, H])


def pivot_columns(rows: Sequence[Sequence[int]]) -> list[int]:
    """Independent columns of a matrix of integers, of which all other columns are combinations.

    >>> pivot_columns([[0, 1, 1], [0, 2, 2], [0, 1, 3]])
    [1, 2]
    """
    basis: list[tuple[int, list[int]]] = []
    for row in rows:
        rest = [*row]
        for j, other in basis:
            if rest[j]:
                a, b = other[j], rest[j]
                rest = [a * x - b * y for x, y in zip(rest, other, strict=True)]
        divisor = math.gcd(*rest)
        if divisor:
            first = next(j for j, value in enumerate(rest) if value)
            basis.append((first, [value // divisor for value in rest]))
        if len(basis) == len(row):
            break
    return sorted(j for j, _ in basis)


def least_in_the_plane(rows: Sequence[tuple[int, int]], costs: Sequence[int]) -> int:
    """The least cost of the mistakes on rows of two columns, of which no two are parallel.

    The rows are turned into the upper half-plane and sorted by their angles. A rule has its
    positive products on one side of a place in this order, and its negative products on the other.

    >>> least_in_the_plane([(1, 0), (0, 1), (-1, -1)], [1, 1, 1])
    1
    """

    def angle(k: int) -> Fraction | float:
        x, y = rows[k]
        return -math.inf if y == 0 else Fraction(-x, y)

    def upward(k: int) -> bool:
        x, y = rows[k]
        return y > 0 or (y == 0 and x > 0)

    total = sum(costs)
    cost = sum(cost for k, cost in enumerate(costs) if not upward(k))
    least = min(cost, total - cost)
    for k in sorted(range(len(rows)), key=angle):
        cost += costs[k] if upward(k) else -costs[k]
        least = min(least, cost, total - cost)
    return least


def _whitened(rows: Sequence[Sequence[int]], columns: Sequence[int]) -> tuple[Vector, Integers]:
    """The rows in coordinates in which their columns are nearly orthogonal, in floats.

    Returns G, whose rows are those of A·B up to positive factors, each entry rounded once relative
    to the largest of its row, and the regular integer matrix B. The second round is for rows that
    nearly span fewer dimensions.
    """
    r = len(columns)
    A = np.array([[row[j] for j in columns] for row in rows], dtype=object)
    B = np.array([[int(i == j) for j in range(r)] for i in range(r)], dtype=object)
    for _ in range(2):
        near, shifts = _scaled(A.T)
        heights = np.frexp(np.abs(near).max(axis=0))[1]
        R = np.linalg.qr(np.ldexp(near, -heights).T, mode="r")
        T = np.triu(np.linalg.inv(R)) if np.abs(np.diag(R)).min() > 1e-300 else np.eye(r)
        if not np.isfinite(T).all() or not np.diag(T).all():
            T = np.eye(r)
        T, _ = exact.integers(T)
        T = np.array(T, dtype=object) << (max(shifts) - np.array(shifts, dtype=object))[:, None]
        A, B = A.dot(T), B.dot(T)
    return _scaled(A)[0], B


def _scaled(rows: Integers) -> tuple[Vector, list[int]]:
    """Each row divided by a power of two, so that its entries are at most 1, and the exponents."""
    shifts = [max(abs(value).bit_length() for value in row) for row in rows.tolist()]
    near = [
        [value / (1 << shift) for value in row]
        for row, shift in zip(rows.tolist(), shifts, strict=True)
    ]
    return np.array(near, dtype=np.float64), shifts


def _weights(B: Integers, z: Vector, columns: Sequence[int], p: int) -> Vector:
    """The weights Bz of a rule, up to a positive factor."""
    whole, _ = exact.integers(z)
    near, _ = _scaled(B.dot(whole)[None, :])
    w = np.zeros(p)
    w[list(columns)] = near[0]
    return w
