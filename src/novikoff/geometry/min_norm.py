"""The point of a hull nearest to the origin, over many rows (C4; Wolfe 1976).

Few rows carry the answer. The active set of `corral` runs on a *working set* of rows that is held
in memory; a pass over all rows then finds the most violated, and these join. Most steps touch the
working set only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import qr
from threadpoolctl import threadpool_limits

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.corral import Corral, Ending, WorkingSet, pivot, products
from novikoff.geometry.exact import Block
from novikoff.geometry.passes import (
    Lengths,
    LocalPasses,
    Mask,
    MostViolated,
    OutOfTimeError,
    Part,
    Passes,
    RowSet,
    Sizes,
)

if TYPE_CHECKING:
    import scipy.sparse as sp
    from scipy.optimize import OptimizeResult

# The most entries of a corral's factors, and of a dense working set.
_MOST_FACTORS = 1 << 27
_MOST_WORKING = 1 << 23
# The most entries of rows, no more than there are columns, that are all looked at from the start.
_MOST_AT_ONCE = 1 << 24
# Working sets of more entries are rotated into the space of their rows where that is small.
_WIDE = 1 << 20
# Rows that are always taken into either.
_LEAST_ROWS = 64
# Columns, or rows, whose sizes differ by more than this power of two are balanced.
_BALANCED = 6
# Columns whose mean is this power of two times their deviation are far from the origin.
_FAR = 7
# Rows that are looked at to find out.
_SAMPLE = 4096


@dataclass(frozen=True)
class View:
    """Rows as the engine sees them: less a centre, columns times factors, of length one.

    A centre, which needs a bias, changes neither the kind of a problem nor the widest gap between
    the classes; factors and lengths do not change the kind. Weights w and λ are always those of
    the rows themselves. All that keeps the engine's numbers near one.
    """

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
        return found.toarray() if 8 * found.nnz > size <= _MOST_WORKING else found

    def seen_sum(self, total: Sequence[Fraction]) -> Vector:
        """Σ a_i over some rows as seen, whatever their lengths, from the sum of the rows."""
        seen = list(total)
        if self.centre is not None:  # the last of the sum is that of the signs
            centre = [Fraction(value) for value in self.centre.tolist()]
            seen = [a - total[-1] * c for a, c in zip(total, [*centre, Fraction(0)], strict=True)]
        factors = [Fraction(value) for value in self.columns.tolist()]
        return np.array([exact.nearest_float(a * c) for a, c in zip(seen, factors, strict=True)])

    def weights(self, v: Vector) -> Vector:
        """W for the rows themselves, with the products that v has with the rows as seen."""
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
    if passes.n > 2 * _SAMPLE and centre is None:  # the sample tells whether to look at all rows
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
    return passes.block(np.arange(0, passes.n, max(1, passes.n // _sample_size(passes))))


def _sample_size(passes: Passes) -> int:
    return max(_LEAST_ROWS, min(_SAMPLE, _MOST_WORKING // (2 * passes.p)))


def _centre(passes: Passes, sample: Block) -> Vector | None:
    """The middle of dense rows, where they are far from the origin for their distances."""
    if passes.sparse or not passes.fit_intercept:
        return None
    X = sample.A[:, :-1] * sample.A[:, -1:]  # the padding has the sign
    low, high = X.min(axis=0), X.max(axis=0)
    middle = low / 2.0 + high / 2.0
    far = (np.abs(middle) > 2.0**_FAR * (high - low)) & (high > low)
    return np.asarray(middle) if far.any() and np.isfinite(middle).all() else None


def _alike(sizes: Vector) -> bool:
    """Whether numbers are of about one size; zeros do not count."""
    used = sizes[sizes > 0.0]
    return len(used) == 0 or bool(used.max() <= used.min() * 2.0**_BALANCED)


@dataclass(frozen=True)
class Question:
    """Minimise ‖b − Σ u_j g_j‖ over u ≥ 0, g_j = (lift, a_j as seen); u is free on some rows."""

    view: View
    b: Vector
    lift: float
    pairs: bool = False
    within: RowSet | None = None  # the rows that take part; all by default
    free: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass
class Answer:
    """Where a search is, or ended; rows, λ and w are those of the rows themselves."""

    rows: Indices
    weights: Vector  # λ > 0 on the rows
    w: Vector  # a direction: the nearest point, or minus the residual
    seen: MostViolated  # what a pass with w found, and the proof that w separates
    ending: Ending | None  # None while it goes on
    working: Indices
    vertices: tuple[Indices, Indices, Vector]  # the corral: rows, partners or −1, and u
    plain: bool  # whether the rows were seen as they are: then it is about their margin


Watcher = Callable[[Answer], bool]


def nearest_point(view: View, pairs: bool = False, within: RowSet | None = None) -> Question:
    """Ask for the point nearest to 0 of the hull of the rows, or of P − Q for the two hulls."""
    b = np.zeros(view.passes.p + 1)
    b[0] = 1.0
    return Question(view, b, 0.5 if pairs else 1.0, pairs, within)


def affordable(passes: Passes) -> bool:
    """Whether a corral may become as large as the problem can ask for."""
    return capacity(passes) >= min(passes.p + 1, passes.n)


def batch_of(passes: Passes) -> int:
    """How many rows join the working set at a time, a fifth of the most it holds."""
    return max(_LEAST_ROWS, min(2 * passes.p, _MOST_WORKING // (5 * (passes.p + 1))))


def capacity(passes: Passes) -> int:
    """The most rows that a corral may hold: most·(most + q) entries are allowed."""
    q = passes.p + 1
    most = (math.isqrt(q * q + 4 * _MOST_FACTORS) - q) // 2
    return min(q, passes.n, max(_LEAST_ROWS, most))


def start_rows(view: View, within: Mask | None = None) -> Indices:
    """Rows to begin with: all, if there are few; else of a sample, those least along its mean."""
    passes = view.passes
    rows = np.arange(passes.n) if within is None else np.flatnonzero(within)
    if len(rows) <= passes.p and len(rows) * passes.p <= _MOST_AT_ONCE:
        return rows
    rows = rows[:: max(1, len(rows) // _sample_size(passes))]
    G = view.gather(rows)
    mean = np.asarray(G.mean(axis=0)).ravel()
    order = np.lexsort((rows, products(G, mean)))[: batch_of(passes)]
    return np.sort(rows[order])


def descend(passes: LocalPasses, limits: Limits) -> Vector:
    """Weights that may separate, where a corral would be too large: they are to be proved.

    L-BFGS minimises Σ max(0, 1 − ⟨a_i, w⟩)²; below 1 no row is on the wrong side.
    """
    from scipy.optimize import minimize

    X, signs = passes.X, passes.signs / passes.unit
    padding = 1.0 if passes.fit_intercept else 0.0

    def loss(w: Vector) -> tuple[float, Vector]:
        if limits.reached() is not None:
            raise OutOfTimeError
        short = np.maximum(1.0 - (X @ w[:-1] + padding * w[-1]) * signs, 0.0)
        pull = -2.0 * short * signs
        return float(short @ short), np.append(X.T @ pull, padding * float(pull.sum()))

    def stop(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun < 1.0:
            raise StopIteration

    found = minimize(loss, np.zeros(passes.d + 1), jac=True, method="L-BFGS-B", callback=stop)
    return np.asarray(found.x[: passes.p])


def search(
    question: Question, start: Indices, tol: float, limits: Limits, watch: Watcher
) -> Answer:
    """Find the nearest point, from a working set that holds ``start``.

    It ends when ⟨g, r⟩ ≤ tol·‖r‖² for all rows, r the residual; for the nearest point z
    that is ⟨a_i, z⟩ ≥ (1 − tol)·‖z‖², so that γ is known to a relative tol.
    """
    passes = question.view.passes
    batch, most = batch_of(passes), capacity(passes)
    working = np.union1d(start, question.free)
    answer: Answer | None = None
    while True:
        try:
            corral = _corral(question, working, most, answer, limits)
            ending = pivot(corral, tol / 8.0, limits)
            answer = _answer(question, corral, working, batch, tol, limits)
        except OutOfTimeError:
            if answer is None:
                raise
            ending = Ending.LIMITED
        if ending is not Ending.LIMITED and watch(answer) and ending is not Ending.FITTED:
            ending = Ending.WATCHED
        answer.ending = ending
        if ending in (Ending.LIMITED, Ending.FITTED, Ending.WATCHED):
            return answer
        fresh = np.setdiff1d(answer.seen.rows, working)
        full = ending is Ending.STALLED and len(corral.members) == most < len(question.b)
        if len(fresh) == 0 or full:  # then no other row can join either
            return answer
        working = _next_working_set(question, corral, answer, fresh, 4 * batch)


def _corral(
    question: Question, working: Indices, most: int, before: Answer | None, limits: Limits
) -> Corral:
    """The engine on the working set, with the vertices that it had before."""
    b, vectors, frame = question.b, question.view.gather(working, question.lift), None
    if len(b) > 2 * len(working) and len(b) * len(working) > _WIDE:  # few rows span little
        rows = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
        with threadpool_limits(1):  # other cores may be busy
            frame, R = qr(np.vstack([rows, b]).T, mode="economic", overwrite_a=True)
        vectors, b = np.ascontiguousarray(R[:, :-1].T), R[:, -1].copy()
    free = question.free
    members: list[tuple[int, int]] | None
    members = [(i, -1) for i in np.searchsorted(working, free).tolist()]
    if before is None and len(free) == 0 and len(working) <= min(most, question.view.passes.p):
        members = None  # so few rows are independent, as a rule
    elif before is not None:
        first, second, _ = before.vertices
        old = ~np.isin(first, free)
        partners = np.where(second >= 0, np.searchsorted(working, second), -1)[old].tolist()
        members += zip(np.searchsorted(working, first[old]).tolist(), partners, strict=True)
    sides = question.view.passes.fetch(working).signs if question.pairs else None
    return Corral(b, most, WorkingSet(vectors, sides), members, len(free), frame, limits)


def _answer(
    question: Question, corral: Corral, working: Indices, batch: int, tol: float, limits: Limits
) -> Answer:
    """What the corral says, in terms of all rows."""
    view = question.view
    first, second = np.array(corral.members, dtype=np.int64).reshape(-1, 2).T
    weights = corral.row_weights()
    used = np.flatnonzero(weights)
    rows = working[used]
    lengths = 1.0 if view.lengths is None else view.lengths_of(view.passes.fetch(rows), rows)
    v = -corral.full_residual[1:]
    aim, w = view.aim(v), view.weights(v)
    visit = MostViolated(
        aim,
        exact.floats(w) if np.isfinite(w).all() else None,
        view.passes.doubt(aim, view.radius),
        batch,
        _levels(question, corral, working, tol),
        view.centre,
        view.lengths,
        question.within,
        question.pairs,
    )
    return Answer(
        rows=rows,
        weights=weights[used] / lengths,
        w=w,
        seen=view.passes.over(visit, limits),
        ending=None,
        working=working,
        vertices=(working[first], np.where(second >= 0, working[second], -1), corral.u),
        plain=view.plain,
    )


def _levels(
    question: Question, corral: Corral, working: Indices, tol: float
) -> tuple[float, float]:
    """Rows below these levels would improve the answer: ⟨g, r⟩ > tol/4·‖r‖²."""
    r = corral.full_residual
    level = question.lift * float(r[0]) - tol / 4.0 * float(r @ r)
    if not question.pairs:
        return level, level
    levels = [level, level]  # each hull has its own, that of its members
    for k, members in enumerate(zip(*corral.members, strict=True)):
        prices = products(question.view.gather(working[list(members)], question.lift), r)
        levels[k] -= float(prices.max())
    return levels[0], levels[1]


def _next_working_set(
    question: Question, corral: Corral, answer: Answer, fresh: Indices, most: int
) -> Indices:
    """The members, the best of the others, and the new."""
    members = np.union1d(answer.rows, question.free)
    others = np.setdiff1d(answer.working, members)
    if len(others) > most:
        prices = products(question.view.gather(others), corral.full_residual[1:])
        others = others[np.lexsort((others, -prices))[:most]]
    return np.sort(np.concatenate([members, others, fresh]))


def _power(e: int) -> float:
    return math.ldexp(1.0, max(-1000, min(1000, e)))
