"""Rows as the engine sees them: moved and scaled so that its numbers stay near one.

A centre, which needs a bias, changes neither the kind of a problem nor the widest gap between the
classes; factors for columns and lengths of rows do not change the kind. All are exact to undo:
weights w and λ are always those of the rows themselves.
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
from novikoff.geometry.passes import Passes
from novikoff.geometry.visits import Lengths, Part, Sizes
from novikoff.proofs import exact
from novikoff.proofs.exact import Block

if TYPE_CHECKING:
    import scipy.sparse as sp

# The most entries of rows that are held as a dense array.
MAX_DENSE_ENTRIES = 1 << 23
# Columns, or rows, whose sizes differ by more than this power of two are balanced.
_MAX_EXPONENT_RANGE = 6
# Columns whose middle is beyond this power of two times their range are far from the origin.
_FAR_EXPONENT = 7
# Rows that are looked at to find out, at most and at least.
_MAX_SAMPLE, _MIN_SAMPLE = 4096, 64


@dataclass(frozen=True)
class View:
    """The rows less a centre, their columns times factors, then divided by their lengths."""

    passes: Passes
    columns: Vector
    centre: Vector | None = None
    lengths: Lengths | None = None
    radius: float | None = None  # max‖a_i‖ of rows less the centre, rounded up

    @property
    def plain(self) -> bool:
        """Whether the rows are seen as they are, but for one factor."""
        even = bool((self.columns == self.columns[0]).all())
        return self.lengths is None and self.centre is None and even

    def of(self, passes: Passes, rows: Indices) -> View:
        """The same view of some of the rows, whose passes are given."""
        lengths = None if self.lengths is None else self.lengths_of(self.passes.fetch(rows), rows)
        return View(passes, self.columns, self.centre, lengths, self.radius)

    def lengths_of(self, few: Part, rows: Indices) -> Vector:
        """The lengths of a few rows that were fetched, by their numbers; of rows not 0."""
        if self.lengths is None:
            return np.ones(len(rows))
        return self.lengths[rows] if isinstance(self.lengths, np.ndarray) else few.of(self.lengths)

    def gather(self, rows: Indices, lift: float | None = None) -> Vector | sp.csr_array:
        """The rows of the numbers given as seen, dense or sparse; after a first column if given."""
        few = self.passes.fetch(rows)
        first = np.full((len(rows), 0 if lift is None else 1), lift or 0.0)
        signs = few.signs.astype(np.float64)
        if not few.sparse:
            A = few.block().A
            if self.centre is not None:
                A[:, :-1] = (A[:, :-1] * signs[:, None] - self.centre) * signs[:, None]
            A *= self.columns
            if self.lengths is not None:
                A /= self.lengths_of(few, rows)[:, None]
            return np.concatenate([first, A], axis=1)
        import scipy.sparse as sp

        X: Any = few.X.astype(np.float64)
        last: Any = np.ones((len(rows), int(few.fit_intercept)))
        G: Any = sp.csr_array(sp.hstack([X, last], format="csr"))
        factors = signs if self.lengths is None else signs / self.lengths_of(few, rows)
        G.data *= self.columns[G.indices] * np.repeat(factors, np.diff(G.indptr))
        before: Any = first
        found: sp.csr_array = sp.csr_array(sp.hstack([before, G], format="csr"))
        size = found.shape[0] * found.shape[1]
        return found.toarray() if 8 * found.nnz > size <= MAX_DENSE_ENTRIES else found

    def seen_sum(self, total: Sequence[Fraction]) -> Vector:
        """Σ a_i over some rows as seen, whatever their lengths, from the sum of the rows."""
        seen = list(total)
        if self.centre is not None:  # the last of the sum is that of the signs
            centre = [Fraction(value) for value in self.centre.tolist()]
            seen = [a - total[-1] * c for a, c in zip(total, [*centre, Fraction(0)], strict=True)]
        factors = [Fraction(value) for value in self.columns.tolist()]
        return np.array([exact.nearest_float(a * c) for a, c in zip(seen, factors, strict=True)])

    def weights(self, v: Vector) -> Vector:
        """The w whose products with the rows themselves are those of v with the rows as seen."""
        w = self.aim(v)
        if self.centre is not None:
            w[-1] = math.fsum([float(w[-1]), *(-w[:-1] * self.centre).tolist()])
        return w

    def aim(self, v: Vector) -> Vector:
        """The same for rows less the centre."""
        return np.asarray(v * self.columns)


def plain_view(passes: Passes) -> View:
    """The rows as they are, in a unit near their length."""
    return View(passes, np.full(passes.p, _power(-math.frexp(passes.unit)[1])))


def gap_view(passes: Passes, limits: Limits) -> View:
    """The rows as they are, but less a centre if they are far from the origin."""
    centre = _centre(passes, _sample(passes))
    if centre is None:
        return plain_view(passes)
    sizes = passes.over(Sizes(np.ones(passes.p), centre), limits)
    return View(passes, _even(sizes.peaks[:-1], passes.p), centre, None, _radius(sizes))


def balanced_view(passes: Passes, limits: Limits) -> View:
    """The rows as they are, or balanced where columns or rows differ much in size."""
    plain, sample = plain_view(passes), _sample(passes)
    columns, centre = plain.columns, _centre(passes, sample)
    if passes.n > 2 * _MAX_SAMPLE and centre is None:  # the sample tells whether all are looked at
        seen = np.abs(sample.A) * columns[0]
        longest = passes.radius * columns[0]
        if _alike(seen.max(axis=0)) and _alike(np.append(np.linalg.norm(seen, axis=1), longest)):
            return plain
    sizes = passes.over(Sizes(np.ones(passes.p), centre), limits)
    radius = None if centre is None else _radius(sizes)
    if not _alike(sizes.peaks):
        exponents = np.where(sizes.peaks > 0.0, np.frexp(sizes.peaks)[1], 0)
        columns = np.array([_power(-int(e)) for e in exponents])
        sizes = passes.over(Sizes(columns, centre), limits)
    elif centre is not None:
        columns = _even(sizes.peaks, passes.p)
    if _alike(np.array([sizes.shortest, sizes.longest])):
        return View(passes, columns, centre, None, radius)
    return View(passes, columns, centre, passes.lengths(columns, centre, limits), radius)


def _even(peaks: Vector, p: int) -> Vector:
    """One factor for all columns that brings the largest number near one."""
    return np.full(p, _power(-math.frexp(float(peaks.max()))[1]))


def _radius(sizes: Sizes) -> float:
    """max‖a_i‖, rounded up, for sizes that were measured without factors."""
    longest, p = sizes.longest, len(sizes.peaks)
    if not 2.0**-400 < longest < 2.0**400:  # its square may not be a float
        longest = math.sqrt(p) * float(sizes.peaks.max())
    return longest * (1.0 + (p + 8) * 2.0**-51)


def _sample(passes: Passes) -> Block:
    """Rows at even distances."""
    return passes.block(np.arange(0, passes.n, max(1, passes.n // sample_size(passes))))


def sample_size(passes: Passes) -> int:
    """The number of rows that are looked at to find out about all, where there are more."""
    return max(_MIN_SAMPLE, min(_MAX_SAMPLE, MAX_DENSE_ENTRIES // (2 * passes.p)))


def _centre(passes: Passes, sample: Block) -> Vector | None:
    """The middle of dense rows, where they are far from the origin for their distances."""
    if passes.sparse or not passes.fit_intercept:
        return None
    X = sample.A[:, :-1] * sample.A[:, -1:]  # the padding has the sign
    low, high = X.min(axis=0), X.max(axis=0)
    middle = low / 2.0 + high / 2.0
    far = (np.abs(middle) > 2.0**_FAR_EXPONENT * (high - low)) & (high > low)
    return np.asarray(middle) if far.any() and np.isfinite(middle).all() else None


def _alike(sizes: Vector) -> bool:
    """Whether numbers are of about one size; zeros do not count."""
    used = sizes[sizes > 0.0]
    return len(used) == 0 or bool(used.max() <= used.min() * 2.0**_MAX_EXPONENT_RANGE)


def _power(e: int) -> float:
    return math.ldexp(1.0, max(-1000, min(1000, e)))
