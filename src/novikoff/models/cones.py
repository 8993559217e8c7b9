"""For each model, the inequalities that decide whether a finite estimate exists (H1).

The log-likelihood of each model here does not decrease along a direction d if and only if A d ≥ 0
and E d = 0. It is constant along d if and only if, in addition, A d = 0. Each function below turns
data into A and E. A maximum-likelihood estimate exists if and only if every d with A d ≥ 0 and
E d = 0 has A d = 0 (`novikoff.geometry.cone`).

======================== ============================================ =========================
model                    A d ≥ 0                                      E d = 0
======================== ============================================ =========================
binomial, s of m         x if s = m, −x if s = 0                      x if 0 < s < m
binomial, log link       −x if s = 0                                  x if s > 0
Poisson, log link        −x if y = 0                                  x if y > 0
multinomial, class c     x⊗(e_c − e_k) for k not observed at x        x⊗(e_c − e_k) for k observed
cumulative, y = j of K   (e_j, −x) if j < K; (−e_{j−1}, x) if j > 1
adjacent categories      f_j(x) − f_k(x), f_j(x) = (1 up to j, j·x)
sequential               (e_m, x) for m < j; −(e_j, x) if j < K
Cox, Breslow or Efron    x_i − x_l, l at risk at the event of i       x_i − x_i' for tied events
Cox, exact ties          x_i − x_l, l at risk and without the event
conditional logit        x_i − x_l, y_i = 1, y_l = 0, same group
choice, rank-ordered     x_i − x_l, i preferred to l, same group
Bradley–Terry            e_i − e_j if i beat j
======================== ============================================ =========================

Every entry is exact. If a difference of two rows is not exact in float64, A and E get two copies of
the coefficients, and rows of E say that the copies are equal.

References
----------
Silvapulle, M. J. (1981). On the existence of maximum likelihood estimators for the binomial
response models. *Journal of the Royal Statistical Society B* 43(3), 310-313.

Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in logistic
regression models. *Biometrika* 71(1), 1-10.

Haberman, S. J. (1974). *The Analysis of Frequency Data*. University of Chicago Press.

Santos Silva, J. M. C. and Tenreyro, S. (2010). On the existence of the maximum likelihood estimates
in Poisson regression. *Economics Letters* 107(2), 310-312.

Correia, S., Guimarães, P. and Zylkin, T. (2019). Verifying the existence of maximum likelihood
estimates for generalized linear models. arXiv:1903.01633.

Schwendinger, F., Grün, B. and Hornik, K. (2021). A comparison of optimization solvers for log
binomial regression including conic programming. *Computational Statistics* 36, 1721-1754.

Kaufmann, H. (1988). On existence and uniqueness of maximum likelihood estimates in quantal and
ordinal response models. *Metrika* 35, 291-313.

Bryson, M. C. and Johnson, M. E. (1981). The incidence of monotone likelihood in the Cox model.
*Technometrics* 23(4), 381-383.

Jacobsen, M. (1989). Existence and unicity of MLEs in discrete exponential family distributions.
*Scandinavian Journal of Statistics* 16, 335-349.

Ford, L. R. (1957). Solution of a ranking problem from binary comparisons. *American Mathematical
Monthly* 64(8), 28-33.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Matrix, Vector, side_by_side, stacked
from novikoff.geometry.cone import Cone
from novikoff.geometry.visits import Mask
from novikoff.models.limiting import (
    Remainder,
    Remaining,
    Whole,
    differing,
    of_alternatives,
    of_levels,
    of_observations,
    of_stages,
    scores_of,
)

# A conditional logit compares pairs of rows, if there are at most this many pairs.
_MAX_PAIRS = 5_000_000


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a model as numbers, with their names.

    Attributes
    ----------
    X : matrix of shape (n, p)
        All columns, including the intercept, in float64.
    names : list
        The name of each column.
    terms : mapping
        For each column or factor of the user, the numbers of its columns; not for the intercept.
    """

    X: Matrix
    names: list[Hashable]
    terms: Mapping[Hashable, list[int]]


@dataclass(frozen=True, eq=False)
class ModelCone:
    """The inequalities of a model, and what their columns and rows stand for.

    Attributes
    ----------
    inequalities : Cone
        The weak rows A and the equalities E. The last columns are the coefficients.
    names : list
        The names of the coefficients.
    terms : mapping
        For each column or factor of the user, the numbers of its coefficients.
    owner : array of int
        The observation that each row of A belongs to.
    n : int
        The number of observations.
    equal : array of int
        The observation that each equality belongs to. If E also has rows which say that copies of
        the coefficients are equal, these are the last rows of E and have no entry here.
    remaining : callable
        A function that returns what is left of the likelihood, given the separated rows and a
        direction of the coefficients that is positive on them.
    thresholds : sequence of int
        The coefficients that are thresholds of a cumulative model.
    separated_observations : callable or None
        A function that returns the separated observations, given the separated rows and a direction
        that is positive on them. None if they are the owners of the separated rows.
    """

    inequalities: Cone
    names: list[Hashable]
    terms: Mapping[Hashable, list[int]]
    owner: Indices
    n: int
    remaining: Remaining
    equal: Indices = field(default_factory=lambda: np.arange(0))
    thresholds: Sequence[int] = ()
    separated_observations: Callable[[Mask, Sequence[Fraction]], Mask] | None = None

    def observations(self, separated: Mask, direction: Sequence[Fraction]) -> Mask:
        """The observations of the separated rows, on which the direction is positive."""
        if self.separated_observations is not None:
            return self.separated_observations(separated, self.coefficients_of(direction))
        observations = np.zeros(self.n, dtype=np.bool_)
        observations[self.owner[separated]] = True
        return observations

    def coefficients_of(self, direction: Sequence[Fraction]) -> Sequence[Fraction]:
        """The part of a vector of the cone that belongs to the coefficients: its last entries."""
        return direction[len(direction) - len(self.names) :]

    def rows(self) -> Matrix:
        """The rows A, E and −E below each other, which the certificate is about."""
        return stacked(self.inequalities.A, self.inequalities.E, -self.inequalities.E)


def binomial(design: Design, successes: Vector, trials: Vector, link: str) -> ModelCone:
    """A binomial model, with an increasing link G that has 0 < G < 1, or with the log link.

    Logit, probit, cloglog, loglog and cauchit have the same cone (Silvapulle 1981). With the log
    link, exp(x·β) is at most 1, and a likelihood with successes falls to 0 along −x
    (Schwendinger, Grün and Hornik 2021).
    """
    none, every = successes == 0, successes == trials
    weak = none if link == "log" else none | every
    signs = np.where(none, -1.0, 1.0)
    return _by_observation(design, weak, signs)


def poisson(design: Design, y: Vector) -> ModelCone:
    """A model of counts, or other numbers ≥ 0, with mean exp(x·β).

    See Haberman (1974) and Correia et al. (2019). A negative binomial model with any dispersion
    has the same cone. So has an exponential or piecewise-exponential hazard, where y counts events.
    """
    return _by_observation(design, y == 0, np.full(len(y), -1.0))


def _by_observation(design: Design, weak: Mask, signs: Vector) -> ModelCone:
    """Rows of A for the observations ``weak``, with signs, and equalities for all others."""
    above, equal = np.flatnonzero(weak), np.flatnonzero(~weak)
    A = _scaled(design.X[above], signs[above])
    cone = Cone(A, design.X[equal])

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """The observations that are not separated."""
        return of_observations(design.X, np.sort(np.append(above[~separated], equal)))

    return ModelCone(cone, design.names, design.terms, above, len(signs), remaining, equal=equal)


def multinomial(
    design: Design, counts: Matrix, levels: Sequence[Hashable], baseline: int
) -> ModelCone:
    """A multinomial logit: the classes that each observation shows, out of K (Albert and Anderson).

    ``counts[i, k]`` says how often class k was observed at x_i. The coefficients of the baseline
    class are 0. The names of the coefficients are "column:class".
    """
    table = np.asarray(counts)
    chosen_at_all = table > 0
    n, K = chosen_at_all.shape
    p = int(design.X.shape[1])
    others = [k for k in range(K) if k != baseline]
    block_of = np.array([others.index(k) if k in others else -1 for k in range(K)])
    first = np.argmax(chosen_at_all, axis=1)
    shown: Mask = np.asarray(chosen_at_all.any(axis=1))
    compared = shown[:, None] & (np.arange(K) != first[:, None])
    owner, other = _by_classes(first, *np.nonzero(compared & np.logical_not(chosen_at_all)))
    equal, equal_other = _by_classes(first, *np.nonzero(compared & chosen_at_all))

    def contrasts(at: Indices, k: Indices) -> Any:
        """The rows x ⊗ (e_c − e_k) of observations, where c is the first class that is observed."""
        above = _in_block(design.X, at, block_of[first[at]], K - 1)
        return above - _in_block(design.X, at, block_of[k], K - 1)

    def utilities(at: Indices, alternative: Indices) -> Matrix:
        """The rows x ⊗ e_k of observations and classes."""
        rows = _in_block(design.X, at, block_of[alternative], K - 1)
        return rows.toarray() if isinstance(design.X, np.ndarray) else rows

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """A choice among the classes that are observed or not separated from them."""
        allowed = chosen_at_all.copy()
        allowed[owner[~separated], other[~separated]] = True
        return of_alternatives(allowed, table, utilities)

    names: list[Hashable] = [f"{name}:{levels[k]}" for k in others for name in design.names]
    terms = {
        name: [at * p + j for at in range(K - 1) for j in columns]
        for name, columns in design.terms.items()
    }
    return ModelCone(
        Cone(contrasts(owner, other), contrasts(equal, equal_other)),
        names,
        terms,
        owner,
        n,
        remaining,
        equal=equal,
    )


def _by_classes(first: Indices, at: Indices, other: Indices) -> tuple[Indices, Indices]:
    """Pairs of observations and classes, sorted by the observed class and the other class.

    A sample with a row of each block of rows then has rows of all classes.
    """
    order = np.lexsort((at, other, first[at]))
    return at[order], other[order]


def _in_block(X: Matrix, at: Indices, block: Indices, n_blocks: int) -> Any:
    """Some rows of X, each in one of several blocks of columns; a row of block −1 is 0."""
    import scipy.sparse as sp

    p = int(X.shape[1])
    in_some = np.flatnonzero(block >= 0)
    rows: Any = sp.csr_array(sp.csr_array(X)[at[in_some]])
    counts = np.zeros(len(at), dtype=np.int64)
    counts[in_some] = np.diff(rows.indptr)
    shifts = np.repeat(block[in_some] * p, counts[in_some])
    indptr = np.append(0, np.cumsum(counts))
    shape = (len(at), p * n_blocks)
    return sp.csr_array((rows.data, rows.indices.astype(np.int64) + shifts, indptr), shape=shape)


def cumulative(
    design: Design, codes: Whole, levels: Sequence[Hashable], *, increments: bool = False
) -> ModelCone:
    """Ordered classes with P(y ≤ j) = G(θ_j − x·β): proportional odds and the like (Kaufmann 1988).

    G has a log-concave density: logit, probit, cloglog. The thresholds are named "j|j+1".

    With ``increments``, the parameters are those of statsmodels' OrderedModel. The thresholds come
    last: θ_1, and then the increments θ_j − θ_{j−1}, whose logarithms are the parameters of
    OrderedModel. Every class has observations. Therefore an increment is infinite if and only if
    its logarithm is infinite, and both then have the sign +.
    """
    k, p = len(levels) - 1, int(design.X.shape[1])
    below, above = np.flatnonzero(codes < k), np.flatnonzero(codes > 0)
    upper = side_by_side(_units(codes[below], k), _scaled(design.X[below], -1.0))
    lower = side_by_side(-_units(codes[above] - 1, k), design.X[above])
    A, owner = stacked(upper, lower), np.append(below, above)
    names: list[Hashable] = [*_thresholds(levels), *design.names]
    terms, slopes = _shifted(design.terms, k), np.arange(k, k + p)
    if increments:
        # θ_j is the sum of the first j parameters.
        A = side_by_side(A[:, k:], A[:, :k] @ np.tril(np.ones((k, k))))
        names = [*design.names, *(f"{a}/{b}" for a, b in pairwise(levels))]
        terms, slopes = {**design.terms}, np.arange(p)
    signs = np.append(np.ones(len(below)), -np.ones(len(above)))

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """A cumulative model, or a binomial model if no observation has two sides."""
        sides = np.zeros((2, len(codes)), dtype=np.bool_)
        sides[0, below], sides[1, above] = ~separated[: len(below)], ~separated[len(below) :]
        used = np.flatnonzero(sides.any(axis=0))
        whole = (sides[0] | (codes == k)) & (sides[1] | (codes == 0))
        if not (sides[0] & sides[1]).any() and not whole[used].all():
            return of_stages(A, owner, signs, ~separated)

        def covariates(columns: Indices) -> Matrix:
            own = columns[np.isin(columns, slopes)] - slopes[0] if p else columns[:0]
            return design.X[used][:, own]

        lowest, highest = np.where(sides[1], codes, 0), np.where(sides[0], codes, k)
        y = None if whole[used].all() else np.stack([lowest[used], highest[used]], axis=1)
        return Remainder(used, covariates, y=y)

    thresholds = [j for j in range(k + p) if j not in slopes]
    return ModelCone(
        Cone(A, A[:0]), names, terms, owner, len(codes), remaining, thresholds=thresholds
    )


def sequential(design: Design, codes: Whole, levels: Sequence[Hashable]) -> ModelCone:
    """Ordered classes by stages: P(y > j | y ≥ j) = G(a_j + x·β), a sequence of binomial models."""
    K = len(levels)
    parts, owners, signs = [], [], []
    for m in range(K - 1):
        for sign, side in ((1.0, codes > m), (-1.0, codes == m)):
            chosen = np.flatnonzero(side)
            stage = _units(np.full(len(chosen), m), K - 1)
            parts.append(_scaled(side_by_side(stage, design.X[chosen]), sign))
            owners.append(chosen)
            signs.append(np.full(len(chosen), sign))
    A, owner = stacked(*parts), _joined(owners)

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """The stages that are not separated."""
        return of_stages(A, owner, np.concatenate(signs), ~separated)

    names, terms = [*_thresholds(levels), *design.names], _shifted(design.terms, K - 1)
    return ModelCone(Cone(A, A[:0]), names, terms, owner, len(codes), remaining)


def adjacent(design: Design, codes: Whole, levels: Sequence[Hashable]) -> ModelCone:
    """Adjacent categories: log P(y = j + 1)/P(y = j) = a_j + x·β."""
    K = len(levels)
    heads, parts, owners, others_of = [], [], [], []
    for j in range(K):
        rows = np.flatnonzero(codes == j)
        for k in range(K):
            if k == j or len(rows) == 0:
                continue
            lo, hi, sign = (k, j, 1.0) if j > k else (j, k, -1.0)
            head = np.zeros((len(rows), K - 1))
            head[:, lo:hi] = sign
            heads.append(head)
            times = hi - lo
            bits = [1 << b for b in range(times.bit_length()) if times >> b & 1]
            parts.append([_scaled(design.X[rows], sign * bit) for bit in bits])
            owners.append(rows)
            others_of.append(np.full(len(rows), k))
    cone, n_copies = _summed(parts, int(design.X.shape[1]))
    head = np.concatenate(heads)
    copies = (n_copies - 1) * int(design.X.shape[1])
    # The columns are: copies, thresholds, coefficients.
    A = side_by_side(cone.A[:, :copies], head, cone.A[:, copies:])
    empty = np.zeros((cone.E.shape[0], K - 1))
    E = side_by_side(cone.E[:, :copies], empty, cone.E[:, copies:])
    names, terms = [*_thresholds(levels), *design.names], _shifted(design.terms, K - 1)
    owner, observed = _joined(owners), np.eye(K)[codes]

    def utilities(at: Indices, alternative: Indices) -> Matrix:
        """The rows f_k(x) of observations and classes."""
        passed = (np.arange(K - 1) < alternative[:, None]).astype(np.float64)
        return side_by_side(passed, _scaled(design.X[at], alternative.astype(np.float64)))

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """A choice among the categories that are not separated from the observed one."""
        allowed = observed > 0
        allowed[owner[~separated], _joined(others_of)[~separated]] = True
        return of_alternatives(allowed, observed, utilities)

    return ModelCone(Cone(A, E), names, terms, owner, len(codes), remaining)


def _thresholds(levels: Sequence[Hashable]) -> list[Hashable]:
    return [f"{a}|{b}" for a, b in pairwise(levels)]


def cox(
    design: Design,
    duration: Vector,
    event: Mask,
    entry: Vector | None,
    strata: Whole,
    ties: str,
) -> ModelCone:
    """The partial likelihood of a proportional hazards model (Bryson and Johnson 1981).

    At the time t of an event, everyone with entry < t ≤ duration in the same stratum is at risk.
    The inequalities are transitive, which makes most of them redundant. Suppose that a subject with
    a later event at t' was already at risk at t. The subjects who are at risk at t and leave at t'
    or later are compared at t'. So the event at t is compared only with the first such later event,
    and with the subjects who leave before t'. Without entry times these are at most n rows.

    Without entry times, an event is separated if a row at the same time or later in the same
    stratum is separated.
    """
    exact = ties == "exact"
    if entry is None and not exact:
        first, second, pairs = _nested_pairs(duration, event, strata)
    else:
        first, second, pairs = _risk_pairs(duration, event, entry, strata, exact)
    cone = _differences(design.X, first, second, pairs[:, 0], pairs[:, 1])

    def separated_observations(separated: Mask, direction: Sequence[Fraction]) -> Mask:
        """The events with a separated row, and the events before them in their stratum."""
        separated_subjects = np.zeros(len(duration), dtype=np.bool_)
        separated_subjects[first[separated]] = True
        if entry is not None:  # risk sets are not nested
            if separated.any():
                scores, _ = scores_of(design.X, direction)
                for s in np.unique(strata[first[separated]]).tolist():
                    own = np.flatnonzero(strata == s)
                    own = own[np.argsort(duration[own], kind="stable")]
                    separated_subjects[_above_the_least(own, scores, duration, event, entry)] = True
            return separated_subjects
        if separated.any():
            last = np.full(int(strata.max()) + 1, -np.inf)  # the last separated row
            np.maximum.at(last, strata[first[separated]], duration[first[separated]])
            separated_subjects |= event & (duration < last[strata])
        if not exact:
            # Tied events have the same rows.
            np.logical_or.at(separated_subjects, pairs[:, 0], separated_subjects[pairs[:, 1]])
            separated_subjects[pairs[:, 1]] = separated_subjects[pairs[:, 0]]
        return separated_subjects

    def has_contrast(parts: Whole) -> Mask:
        """The parts with an event and another row."""
        counts, events = np.bincount(parts), np.bincount(parts, weights=event)
        return np.asarray((counts > 1) & (events > 0))

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """The same model, with strata of equal x·d."""
        rows, parts = of_levels(design.X, direction, strata, has_contrast)
        return replace(of_observations(design.X, rows), strata=parts)

    return ModelCone(
        cone,
        design.names,
        design.terms,
        first,
        len(duration),
        remaining,
        equal=pairs[:, 1],
        separated_observations=separated_observations,
    )


def _nested_pairs(duration: Vector, event: Mask, strata: Whole) -> tuple[Indices, Indices, Indices]:
    """The pairs of `_risk_pairs` without entry times, for Breslow's and Efron's ties.

    Each subject is compared with the last event that is not later than its end, and each event with
    the event before.
    """
    order = np.lexsort((~event, duration, strata))  # events are first among equal times
    ends, of, happened = duration[order], strata[order], event[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ends[1:] != ends[:-1]) | (of[1:] != of[:-1])
    leads = new & happened  # the first of the events at a time
    positions = np.arange(len(order))
    last = np.maximum.accumulate(np.where(leads, positions, -1))  # at this time or before
    before = np.append(-1, last[:-1])
    source = np.where(leads, before, last)
    known = (source >= 0) & (of[np.maximum(source, 0)] == of)
    tied = happened & ~leads
    compared = np.flatnonzero(known & ~tied)
    pairs = np.stack([order[last[tied]], order[tied]], axis=1)
    return order[source[compared]], order[compared], pairs


def _risk_pairs(
    duration: Vector, event: Mask, entry: Vector | None, strata: Whole, exact: bool
) -> tuple[Indices, Indices, Indices]:
    """Those who are compared: events, others at risk; and pairs of tied events, unless exact."""
    sources: list[Indices] = []
    targets: list[Indices] = []
    tied: list[Indices] = [np.zeros((0, 2), dtype=np.int64)]
    entry = np.full(len(duration), -np.inf) if entry is None else entry
    for s in np.unique(strata).tolist():
        subjects = np.flatnonzero(strata == s)
        subjects = subjects[np.argsort(duration[subjects], kind="stable")]
        for events, others in _risk_sets(subjects, duration, event, entry, exact):
            if not exact:
                tied.append(np.stack([np.full(len(events) - 1, events[0]), events[1:]], axis=1))
                events = events[:1]
            sources.append(events)
            targets.append(others)
    first, second, _ = _pairs(sources, targets)
    return first, second, np.concatenate(tied)


def _above_the_least(
    own: Indices, scores: Any, duration: Vector, event: Mask, entry: Vector
) -> list[int]:
    """The events with a larger score than someone at risk who has no event at the same time.

    ``own`` are the members of a stratum, sorted by duration.
    """
    found: list[int] = []
    ends = duration[own]
    at_risk: list[tuple[int, float, int]] = []  # a heap: score, entry, number
    stop = len(own)
    while stop > 0:  # backwards through the times
        t = ends[stop - 1]
        start = int(np.searchsorted(ends, t, side="left"))
        now, stop = own[start:stop], start
        happened = event[now]
        for i in now[~happened].tolist():
            heappush(at_risk, (scores[i], entry[i], i))
        while happened.any() and at_risk and at_risk[0][1] >= t:
            heappop(at_risk)
        if at_risk:
            found += [i for i in now[happened].tolist() if scores[i] > at_risk[0][0]]
        for i in now[happened].tolist():
            heappush(at_risk, (scores[i], entry[i], i))
    return found


def _risk_sets(
    subjects: Indices, duration: Vector, event: Mask, entry: Vector, exact: bool
) -> Iterator[tuple[Indices, Indices]]:
    """For each time of an event: the events, and those they are compared with.

    ``subjects`` are the members of a stratum, sorted by duration.
    """
    ends, happened = duration[subjects], event[subjects]
    times = np.unique(ends[happened])
    starts = np.searchsorted(ends, times, side="left")
    after = np.searchsorted(ends, times, side="right")
    events = [subjects[a:b][happened[a:b]] for a, b in zip(starts, after, strict=True)]
    for k, t in enumerate(times.tolist()):
        j, later = k + 1, subjects[:0]
        while j < len(times) and len(later) == 0:
            later = events[j][entry[events[j]] < t]
            j += 1
        stop = starts[j - 1] if len(later) > 0 else len(subjects)
        segment = slice(starts[k], stop)
        others = subjects[segment]
        gone = happened[segment] & (ends[segment] == t)
        others = others[~gone & (entry[others] < t)]
        if len(later) > 0:
            others = np.append(others, later if exact else later[:1])
        yield events[k], others


def conditional_logit(design: Design, chosen: Mask, groups: Whole) -> ModelCone:
    """A logit conditional on the number of successes in each group: the fixed-effects logit.

    Successes are compared with failures of the same group (Jacobsen 1989). If there are too many
    pairs, each group gets an intercept instead, which leads to the same cone of the coefficients.
    """
    order = np.argsort(groups, kind="stable")
    _, begins = np.unique(groups[order], return_index=True)
    parts = np.split(order, begins[1:])
    informative = [part for part in parts if 0 < np.count_nonzero(chosen[part]) < len(part)]
    sources = [part[chosen[part]] for part in informative]
    targets = [part[~chosen[part]] for part in informative]
    n_pairs = sum(len(a) * len(b) for a, b in zip(sources, targets, strict=True))
    remaining = _in_groups(design.X, chosen.astype(np.float64), groups)
    if n_pairs <= _MAX_PAIRS:
        return _comparisons(design, sources, targets, remaining)
    import scipy.sparse as sp

    rows = np.concatenate(informative)
    at = np.repeat(np.arange(len(informative)), [len(part) for part in informative])
    shape = (len(rows), len(informative))
    dummies = sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), at)), shape=shape)
    A = _scaled(side_by_side(dummies, design.X[rows]), np.where(chosen[rows], 1.0, -1.0))

    def separated_observations(separated: Mask, direction: Sequence[Fraction]) -> Mask:
        """The successes with a larger score than a failure of their group, as with pairs."""
        scores, _ = scores_of(design.X, direction)
        found = np.zeros(len(chosen), dtype=np.bool_)
        for better, worse in zip(sources, targets, strict=True):
            found[better] = scores[better] > scores[worse].min()
        return found

    return ModelCone(
        Cone(A, A[:0]),
        design.names,
        design.terms,
        rows,
        len(chosen),
        remaining,
        separated_observations=separated_observations,
    )


def rank_ordered(design: Design, ranks: Vector, groups: Whole) -> ModelCone:
    """Alternatives in order of preference, best first; a choice has the ranks 1 and 2.

    This is the exploded logit of Plackett and Luce. The last rank of a group may have several
    alternatives. Each alternative is compared with the alternatives of the next rank of its group.
    """
    sources, targets = [], []
    for g in np.unique(groups).tolist():
        members = np.flatnonzero(groups == g)
        levels = np.unique(ranks[members])
        parts = [members[ranks[members] == level] for level in levels]
        for better, worse in pairwise(parts):
            sources.append(better)
            targets.append(worse)
    compared = _comparisons(design, sources, targets, _in_groups(design.X, ranks, groups))

    def separated_observations(separated: Mask, direction: Sequence[Fraction]) -> Mask:
        """All alternatives down to the last that is separated from the next in its group."""
        last = np.full(int(groups.max()) + 1, -np.inf)
        members = compared.owner[separated]
        np.maximum.at(last, groups[members], ranks[members])
        return np.asarray(ranks <= last[groups])

    return replace(compared, separated_observations=separated_observations)


def bradley_terry(wins: Matrix, names: Sequence[Hashable], reference: int) -> ModelCone:
    """Paired comparisons with P(i beats j) = G(β_i − β_j) (Ford 1957); the reference has β = 0."""
    won = np.argwhere(np.asarray(wins) > 0)
    k = len(names)
    A = np.zeros((len(won), k))
    A[np.arange(len(won)), won[:, 0]] += 1.0
    A[np.arange(len(won)), won[:, 1]] -= 1.0
    columns = [j for j in range(k) if j != reference]
    A = np.ascontiguousarray(A[:, columns])
    compared = [names[j] for j in columns]

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """The games between players of equal skill along the direction, as a binomial model."""
        skills = [Fraction(0)] * k
        for j, value in zip(columns, direction, strict=True):
            skills[j] = value
        table = np.asarray(wins)
        met = np.argwhere(np.triu(table + table.T) > 0).tolist()
        equal = [(a, b) for a, b in met if skills[a] == skills[b]]
        one, other = np.array(equal, dtype=np.int64).reshape(-1, 2).T
        games = (np.eye(k)[one] - np.eye(k)[other])[:, columns]
        y = np.stack([table[one, other], table[other, one]], axis=1)
        return Remainder(one, lambda own: games[:, own], family="binomial", y=y)

    return ModelCone(Cone(A, A[:0]), compared, {}, won[:, 0], k, remaining)


def _comparisons(
    design: Design, sources: list[Indices], targets: list[Indices], remaining: Remaining
) -> ModelCone:
    first, second, _ = _pairs(sources, targets)
    none = np.arange(0)
    cone = _differences(design.X, first, second, none, none)
    return ModelCone(cone, design.names, design.terms, first, int(design.X.shape[0]), remaining)


def _in_groups(X: Matrix, outcome: Vector, groups: Whole) -> Remaining:
    """The remainder of a model that compares the rows of each group."""

    def remaining(separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """The same model, with groups of equal x·d."""
        rows, parts = of_levels(X, direction, groups, differing(outcome))
        return replace(of_observations(X, rows), groups=parts)

    return remaining


def _pairs(sources: list[Indices], targets: list[Indices]) -> tuple[Indices, Indices, Indices]:
    """All pairs of a source and a target with the same number, and this number."""
    a = np.array([len(part) for part in sources], dtype=np.int64)
    b = np.array([len(part) for part in targets], dtype=np.int64)
    number = np.repeat(np.arange(len(a)), a * b)
    within = np.arange(len(number)) - np.repeat(np.cumsum(a * b) - a * b, a * b)
    width = np.maximum(b[number], 1)
    first = _joined(sources)[(np.cumsum(a) - a)[number] + within // width]
    second = _joined(targets)[(np.cumsum(b) - b)[number] + within % width]
    return first, second, number


def _differences(
    X: Matrix, first: Indices, second: Indices, tied: Indices, others: Indices
) -> Cone:
    """The rows x_first − x_second, and the equalities x_tied − x_others."""
    parts = [[X[first], -X[second]], [X[tied], -X[others]]]
    cone, _ = _summed(parts, int(X.shape[1]))
    n, m = len(first), len(tied)
    return Cone(cone.A[:n], stacked(cone.A[n : n + m], cone.E))


def _summed(blocks: list[list[Matrix]], p: int) -> tuple[Cone, int]:
    """Return the rows of several blocks, each a sum of matrices, and the number of copies.

    If all sums are exact, there is one copy of the p columns. Otherwise each summand has its own
    copy of the columns, and E says that the copies are equal. The last p columns are the first
    copy.
    """
    sums = []
    for parts in blocks:
        total: Matrix | None = parts[0]
        for part in parts[1:]:
            total = None if total is None else _exact_sum(total, part)
        if total is None:
            break
        sums.append(total)
    if len(sums) == len(blocks):
        A = stacked(*sums)
        return Cone(A, A[:0]), 1
    copies = max(len(parts) for parts in blocks)
    wide = []
    for parts in blocks:
        n = parts[0].shape[0]
        empty = [np.zeros((n, p))] * (copies - len(parts))
        wide.append(side_by_side(*empty, *reversed(parts)))
    equal = np.zeros(((copies - 1) * p, copies * p))
    for c in range(copies - 1):
        rows = np.arange(p) + c * p
        equal[rows, rows] = -1.0
        equal[rows, np.arange(p) + (copies - 1) * p] = 1.0
    return Cone(stacked(*wide), equal), copies


def _exact_sum(a: Any, b: Any) -> Any:
    """Return a + b; None if a sum would be rounded, by Knuth's formula for the rounding error."""
    with np.errstate(all="ignore"):
        total = a + b
        back = total - a
        error = (a - (total - back)) + (b - back)
    exact = error == 0.0 if isinstance(error, np.ndarray) else error.data == 0.0
    return total if bool(np.all(exact)) else None


def _units(at: Indices, width: int) -> npt.NDArray[np.float64]:
    out = np.zeros((len(at), width))
    out[np.arange(len(at)), at] = 1.0
    return out


def _scaled(X: Any, factors: Vector | float) -> Matrix:
    """Rows multiplied by numbers."""
    column = np.broadcast_to(np.asarray(factors, dtype=np.float64), (X.shape[0],))
    if isinstance(X, np.ndarray):
        return np.asarray(X * column[:, None])
    import scipy.sparse as sp

    return sp.csr_array(sp.diags_array(column) @ X) if X.shape[0] else sp.csr_array(X)


def _joined(parts: list[Indices]) -> Indices:
    return np.concatenate(parts) if parts else np.arange(0)


def _shifted(terms: Mapping[Hashable, list[int]], by: int) -> dict[Hashable, list[int]]:
    return {name: [j + by for j in own] for name, own in terms.items()}
