"""Views: the rows in translated and scaled coordinates, in which float64 is accurate.

Purpose
    The active-set method (`corral`) loses accuracy if rows are far from the origin, or if columns
    or rows differ much in size. A `View` changes the coordinates so that entries are near one.
Input
    The rows a_i of a problem, through `Passes`.
Output
    The rows a_i of the view: a centre is subtracted from the features, each column is multiplied
    by a power of two, and each row is divided by a length.

None of these steps changes the kind of a problem. To subtract a centre requires a bias, and does
not change the widest gap between the two classes. `View.weights` and the lengths convert w and the
multipliers λ back, so that w and λ always refer to the original rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.parts import Lengths, Part
from novikoff.geometry.passes import Passes
from novikoff.geometry.visits import Sizes
from novikoff.proofs import exact
from novikoff.proofs.exact import Block

if TYPE_CHECKING:
    import scipy.sparse as sp

# Rows are held as a dense array up to this many entries.
MAX_DENSE_ENTRIES = 1 << 23
# Columns are scaled if their sizes differ by more than this power of two; so are rows.
_MAX_EXPONENT_RANGE = 6
# A column is far from the origin if its middle exceeds its range times this power of two.
_FAR_EXPONENT = 7
# The largest and the smallest size of the sample of rows that is measured first.
_MAX_SAMPLE, _MIN_SAMPLE = 4096, 64


@dataclass(frozen=True)
class View:
    """The rows of a problem in other coordinates.

    First ``centre`` is subtracted from the features of each row. Then each column is multiplied by
    its factor in ``columns``. Then each row is divided by its entry in ``lengths``.
    """

    passes: Passes
    columns: Vector
    centre: Vector | None = None
    lengths: Lengths | None = None
    radius: float | None = None  # max‖a_i‖ after subtracting the centre, rounded up

    @property
    def is_unscaled(self) -> bool:
        """Whether the view only multiplies all rows by one common factor."""
        even = bool((self.columns == self.columns[0]).all())
        return self.lengths is None and self.centre is None and even

    def restricted_to(self, passes: Passes, rows: Indices) -> View:
        """Return this view of some of the rows; ``passes`` reads these rows."""
        lengths = None if self.lengths is None else self.lengths_of(self.passes.fetch(rows), rows)
        return View(passes, self.columns, self.centre, lengths, self.radius)

    def lengths_of(self, part: Part, rows: Indices) -> Vector:
        """Return the lengths of some rows that are not 0; ``part`` has their entries."""
        if self.lengths is None:
            return np.ones(len(rows))
        return (
            self.lengths[rows]
            if isinstance(self.lengths, np.ndarray)
            else part.values_of(self.lengths)
        )

    def gather(self, rows: Indices, lift: float | None = None) -> Vector | sp.csr_array:
        """Return some rows in the coordinates of the view, as a dense or sparse array.

        If ``lift`` is given, a first column with this value is added.
        """
        part = self.passes.fetch(rows)
        first = np.full((len(rows), 0 if lift is None else 1), lift or 0.0)
        signs = part.signs.astype(np.float64)
        if not part.sparse:
            A = part.block().A
            if self.centre is not None:
                A[:, :-1] = (A[:, :-1] * signs[:, None] - self.centre) * signs[:, None]
            A *= self.columns
            if self.lengths is not None:
                A /= self.lengths_of(part, rows)[:, None]
            return np.concatenate([first, A], axis=1)
        import scipy.sparse as sp

        X: Any = part.X.astype(np.float64)
        last: Any = np.ones((len(rows), int(part.fit_intercept)))
        G: Any = sp.csr_array(sp.hstack([X, last], format="csr"))
        factors = signs if self.lengths is None else signs / self.lengths_of(part, rows)
        G.data *= self.columns[G.indices] * np.repeat(factors, np.diff(G.indptr))
        before: Any = first
        gathered: sp.csr_array = sp.csr_array(sp.hstack([before, G], format="csr"))
        size = gathered.shape[0] * gathered.shape[1]
        return gathered.toarray() if 8 * gathered.nnz > size <= MAX_DENSE_ENTRIES else gathered

    def sum_in_view(self, total: Sequence[Fraction]) -> Vector:
        """Return Σ a_i in the coordinates of the view, from the sum Σ a_i of the original rows.

        The rows of this sum are not divided by their lengths.
        """
        centred = list(total)
        if self.centre is not None:  # the last entry is the sum of the signs
            centre = [Fraction(value) for value in self.centre.tolist()]
            centred = [
                a - total[-1] * c for a, c in zip(total, [*centre, Fraction(0)], strict=True)
            ]
        factors = [Fraction(value) for value in self.columns.tolist()]
        return np.array([exact.nearest_float(a * c) for a, c in zip(centred, factors, strict=True)])

    def weights(self, v: Vector) -> Vector:
        """Convert weights v for the rows of the view to weights w for the original rows.

        ⟨a_i, w⟩ for an original row is ⟨a_i, v⟩ for the row of the view times its length.
        """
        w = self.aim(v)
        if self.centre is not None:
            w[-1] = math.fsum([float(w[-1]), *(-w[:-1] * self.centre).tolist()])
        return w

    def aim(self, v: Vector) -> Vector:
        """Convert weights v for the rows of the view to weights for the rows less the centre."""
        return np.asarray(v * self.columns)


def plain_view(passes: Passes) -> View:
    """Return a view that multiplies all rows by one power of two, so that the longest is near 1."""
    return View(passes, np.full(passes.p, _power(-math.frexp(passes.unit)[1])))


def gap_view(passes: Passes, limits: Limits) -> View:
    """Return a view in which the gap between the classes can be measured.

    It subtracts a centre if the rows are far from the origin, and does not change the ratios of
    distances between rows.
    """
    centre = _centre(passes, _every_kth_row(passes))
    if centre is None:
        return plain_view(passes)
    sizes = passes.over(Sizes(np.ones(passes.p), centre), limits)
    return View(passes, _even(sizes.peaks[:-1], passes.p), centre, None, _radius(sizes))


def balanced_view(passes: Passes, limits: Limits) -> View:
    """Return a view with columns of similar size and rows of similar length.

    It is the plain view if the sizes are similar already and the rows are near the origin.
    """
    plain, sample = plain_view(passes), _every_kth_row(passes)
    columns, centre = plain.columns, _centre(passes, sample)
    # All rows of a large problem are measured only if the sizes in the sample differ.
    if passes.n > 2 * _MAX_SAMPLE and centre is None:
        entries = np.abs(sample.A) * columns[0]
        lengths = np.append(np.linalg.norm(entries, axis=1), passes.radius * columns[0])
        if _similar(entries.max(axis=0)) and _similar(lengths):
            return plain
    sizes = passes.over(Sizes(np.ones(passes.p), centre), limits)
    radius = None if centre is None else _radius(sizes)
    if not _similar(sizes.peaks):
        exponents = np.where(sizes.peaks > 0.0, np.frexp(sizes.peaks)[1], 0)
        columns = np.array([_power(-int(e)) for e in exponents])
        sizes = passes.over(Sizes(columns, centre), limits)
    elif centre is not None:
        columns = _even(sizes.peaks, passes.p)
    if _similar(np.array([sizes.shortest, sizes.longest])):
        return View(passes, columns, centre, None, radius)
    return View(passes, columns, centre, passes.lengths(columns, centre, limits), radius)


def _even(peaks: Vector, p: int) -> Vector:
    """Return a common factor for all columns that brings the largest entry near one."""
    return np.full(p, _power(-math.frexp(float(peaks.max()))[1]))


def _radius(sizes: Sizes) -> float:
    """Return max‖a_i‖, rounded up, from sizes that were measured without factors."""
    longest, p = sizes.longest, len(sizes.peaks)
    if not 2.0**-400 < longest < 2.0**400:  # the square may be outside the range of floats
        longest = math.sqrt(p) * float(sizes.peaks.max())
    return longest * (1.0 + (p + 8) * 2.0**-51)


def _every_kth_row(passes: Passes) -> Block:
    """Return a sample of the rows: every k-th row."""
    return passes.block(np.arange(0, passes.n, max(1, passes.n // sample_size(passes))))


def sample_size(passes: Passes) -> int:
    """Return how many rows a sample of a large problem has."""
    return max(_MIN_SAMPLE, min(_MAX_SAMPLE, MAX_DENSE_ENTRIES // (2 * passes.p)))


def _centre(passes: Passes, sample: Block) -> Vector | None:
    """Return the midpoint of each column, or None if no column is far from the origin.

    Sparse rows are never centred, because that would make them dense.
    """
    if passes.sparse or not passes.fit_intercept:
        return None
    X = sample.A[:, :-1] * sample.A[:, -1:]  # the last column is the sign of the row
    low, high = X.min(axis=0), X.max(axis=0)
    middle = low / 2.0 + high / 2.0
    far = (np.abs(middle) > 2.0**_FAR_EXPONENT * (high - low)) & (high > low)
    return np.asarray(middle) if far.any() and np.isfinite(middle).all() else None


def _similar(sizes: Vector) -> bool:
    """Whether all numbers that are not zero are of similar size."""
    used = sizes[sizes > 0.0]
    return len(used) == 0 or bool(used.max() <= used.min() * 2.0**_MAX_EXPONENT_RANGE)


def _power(e: int) -> float:
    return math.ldexp(1.0, max(-1000, min(1000, e)))
