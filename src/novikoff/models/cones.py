"""For each model, the inequalities that decide whether a finite estimate exists.

The log-likelihood of each model here does not decrease along a direction d if and only if A d ≥ 0
and E d = 0. It is constant along d if and only if, in addition, A d = 0. Each function below turns
data into A and E. A maximum-likelihood estimate exists if and only if every d with A d ≥ 0 and
E d = 0 has A d = 0 (`novikoff.geometry.cone`).

This holds if some coefficients have a likelihood above 0. All models have such coefficients, except
for the log link without an intercept, where x·β ≤ 0 on all rows and x·β < 0 on rows with failures
may be impossible. `rows_of_mean_one` decides this first.

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

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.core.rows import Indices, Mask, Matrix, Vector, side_by_side, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.cone import Cone, find_face
from novikoff.models import likelihoods
from novikoff.models.comparisons import Comparisons, Survival, all_pairs
from novikoff.models.designs import Design
from novikoff.models.exact_rows import differences, in_block, scaled, summed, units
from novikoff.models.likelihoods import Likelihood

# A conditional logit compares pairs of rows, if there are at most this many pairs.
_MAX_PAIRS = 5_000_000


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
    likelihood : Likelihood
        Tells which observations are separated, and what is left of the likelihood without them.
    equal : array of int
        The observation that each equality belongs to. If E also has rows which say that copies of
        the coefficients are equal, these are the last rows of E and have no entry here.
    thresholds : sequence of int
        The coefficients that are thresholds of a cumulative model.
    """

    inequalities: Cone
    names: list[Hashable]
    terms: Mapping[Hashable, list[int]]
    owner: Indices
    n: int
    likelihood: Likelihood
    equal: Indices = field(default_factory=lambda: np.arange(0))
    thresholds: Sequence[int] = ()

    def observations(self, separated: Mask, direction: Sequence[Fraction]) -> Mask:
        """The observations of the separated rows, on which the direction is positive."""
        owners = np.zeros(self.n, dtype=np.bool_)
        owners[self.owner[separated]] = True
        return self.likelihood.separated_observations(owners, self.coefficients_of(direction))

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


def rows_of_mean_one(design: Design, limits: Limits) -> Mask | None:
    """The rows with x·β = 0 for all β that have x·β ≤ 0 on all rows; None if it is not decided.

    Some β has x·β ≤ 0 on all rows and x·β < 0 on all other rows. Therefore a model with the log
    link has coefficients whose likelihood is not 0 if and only if all these rows are successes.
    """
    face = find_face(Cone(scaled(design.X, -1.0), design.X[:0]), limits)
    return ~face.separated if face.complete or face.separated.all() else None


def poisson(design: Design, y: Vector) -> ModelCone:
    """A model of counts, or other numbers ≥ 0, with mean exp(x·β).

    See Haberman (1974) and Correia et al. (2019). A negative binomial model with any dispersion
    has the same cone. So has an exponential or piecewise-exponential hazard, where y counts events.
    """
    return _by_observation(design, y == 0, np.full(len(y), -1.0))


def _by_observation(design: Design, weak: Mask, signs: Vector) -> ModelCone:
    """Rows of A for the observations ``weak``, with signs, and equalities for all others."""
    above, equal = np.flatnonzero(weak), np.flatnonzero(~weak)
    cone = Cone(scaled(design.X[above], signs[above]), design.X[equal])
    likelihood = likelihoods.Observations(design.X, above, equal)
    return ModelCone(cone, design.names, design.terms, above, len(signs), likelihood, equal=equal)


def multinomial(
    design: Design, counts: Matrix, levels: Sequence[Hashable], baseline: int
) -> ModelCone:
    """A multinomial logit: the classes that each observation shows, out of K (Albert and Anderson).

    ``counts[i, k]`` says how often class k was observed at x_i. The coefficients of the baseline
    class are 0. The names of the coefficients are "column:class".
    """
    table = np.asarray(counts)
    shows = table > 0
    n, K = shows.shape
    p = int(design.X.shape[1])
    others = [k for k in range(K) if k != baseline]
    block_of = np.full(K, -1)
    block_of[others] = np.arange(K - 1)
    first = np.argmax(shows, axis=1)
    compared = np.count_nonzero(shows, axis=1)[:, None] > 0
    compared = compared & (np.arange(K) != first[:, None])
    owner, other = _by_classes(first, *np.nonzero(compared & ~shows))
    equal, equal_other = _by_classes(first, *np.nonzero(compared & shows))

    def contrasts(rows: Indices, classes: Indices) -> Any:
        """The rows x ⊗ (e_c − e_k) of observations, where c is the first class that is observed."""
        shown = in_block(design.X, rows, block_of[first[rows]], K - 1)
        return shown - in_block(design.X, rows, block_of[classes], K - 1)

    return ModelCone(
        Cone(contrasts(owner, other), contrasts(equal, equal_other)),
        [f"{name}:{levels[k]}" for k in others for name in design.names],
        {
            name: [block * p + j for block in range(K - 1) for j in columns]
            for name, columns in design.terms.items()
        },
        owner,
        n,
        likelihoods.Multinomial(design.X, table, owner, other, block_of),
        equal=equal,
    )


def _by_classes(first: Indices, rows: Indices, other: Indices) -> tuple[Indices, Indices]:
    """Pairs of observations and classes, sorted by the observed class and the other class.

    A sample with a row of each block of rows then has rows of all classes.
    """
    order = np.lexsort((rows, other, first[rows]))
    return rows[order], other[order]


def cumulative(
    design: Design, codes: Indices, levels: Sequence[Hashable], *, increments: bool = False
) -> ModelCone:
    """Ordered classes with P(y ≤ j) = G(θ_j − x·β): proportional odds and the like (Kaufmann 1988).

    G has a log-concave density: logit, probit, cloglog, loglog. The thresholds are named "j|j+1".

    With ``increments``, the parameters are those of statsmodels' OrderedModel. The thresholds come
    last: θ_1, and then the increments θ_j − θ_{j−1}, whose logarithms are the parameters of
    OrderedModel. Every class has observations. Therefore an increment is infinite if and only if
    its logarithm is infinite, and both then have the sign +.
    """
    k, p = len(levels) - 1, int(design.X.shape[1])
    below, above = np.flatnonzero(codes < k), np.flatnonzero(codes > 0)
    A = stacked(
        side_by_side(units(codes[below], k), scaled(design.X[below], -1.0)),
        side_by_side(-units(codes[above] - 1, k), design.X[above]),
    )
    names: list[Hashable] = [*_thresholds(levels), *design.names]
    terms, slopes = _shifted(design.terms, k), np.arange(k, k + p)
    if increments:
        # θ_j is the sum of the first j parameters.
        A = side_by_side(A[:, k:], A[:, :k] @ np.tril(np.ones((k, k))))
        names = [*design.names, *(f"{a}/{b}" for a, b in pairwise(levels))]
        terms, slopes = {**design.terms}, np.arange(p)
    return ModelCone(
        Cone(A, A[:0]),
        names,
        terms,
        np.append(below, above),
        len(codes),
        likelihoods.Cumulative(design.X, A, codes, k, below, above, slopes),
        thresholds=[j for j in range(k + p) if j not in slopes],
    )


def sequential(design: Design, codes: Indices, levels: Sequence[Hashable]) -> ModelCone:
    """Ordered classes by stages: P(y > j | y ≥ j) = G(a_j + x·β), a sequence of binomial models."""
    K = len(levels)
    parts, owners, all_signs = [], [], []
    for m in range(K - 1):
        for sign, side in ((1.0, codes > m), (-1.0, codes == m)):
            rows = np.flatnonzero(side)
            stage = units(np.full(len(rows), m), K - 1)
            parts.append(scaled(side_by_side(stage, design.X[rows]), sign))
            owners.append(rows)
            all_signs.append(np.full(len(rows), sign))
    A, owner, signs = stacked(*parts), np.concatenate(owners), np.concatenate(all_signs)
    return ModelCone(
        Cone(A, A[:0]),
        [*_thresholds(levels), *design.names],
        _shifted(design.terms, K - 1),
        owner,
        len(codes),
        likelihoods.Stages(A, owner, signs),
    )


def adjacent(design: Design, codes: Indices, levels: Sequence[Hashable]) -> ModelCone:
    """Adjacent categories: log P(y = j + 1)/P(y = j) = a_j + x·β."""
    K, p = len(levels), int(design.X.shape[1])
    heads, parts, owners, others = [], [], [], []
    for j in range(K):
        rows = np.flatnonzero(codes == j)
        for k in range(K):
            if k == j or len(rows) == 0:
                continue
            lowest, highest, sign = (k, j, 1.0) if j > k else (j, k, -1.0)
            head = np.zeros((len(rows), K - 1))
            head[:, lowest:highest] = sign
            heads.append(head)
            times = highest - lowest
            bits = [1 << b for b in range(times.bit_length()) if times >> b & 1]
            parts.append([scaled(design.X[rows], sign * bit) for bit in bits])
            owners.append(rows)
            others.append(np.full(len(rows), k))
    cone, n_copies = summed(parts, p)
    copies = (n_copies - 1) * p
    # The columns are: copies, thresholds, coefficients.
    A = side_by_side(cone.A[:, :copies], np.concatenate(heads), cone.A[:, copies:])
    empty = np.zeros((cone.E.shape[0], K - 1))
    E = side_by_side(cone.E[:, :copies], empty, cone.E[:, copies:])
    owner, other = np.concatenate(owners), np.concatenate(others)
    return ModelCone(
        Cone(A, E),
        [*_thresholds(levels), *design.names],
        _shifted(design.terms, K - 1),
        owner,
        len(codes),
        likelihoods.Adjacent(design.X, np.eye(K)[codes], owner, other),
    )


def _thresholds(levels: Sequence[Hashable]) -> list[Hashable]:
    return [f"{a}|{b}" for a, b in pairwise(levels)]


def _shifted(terms: Mapping[Hashable, list[int]], by: int) -> dict[Hashable, list[int]]:
    return {name: [j + by for j in columns] for name, columns in terms.items()}


def cox(
    design: Design,
    duration: Vector,
    event: Mask,
    entry: Vector | None,
    strata: Indices,
    ties: str,
) -> ModelCone:
    """The partial likelihood of a proportional hazards model (Bryson and Johnson 1981).

    The subject with an event is compared with the others at risk, except that transitivity makes
    most comparisons redundant (`novikoff.models.comparisons`).
    """
    times = Survival(duration, event, entry, strata, exact=ties == "exact")
    pairs = times.comparisons()
    return _of_pairs(design, pairs, likelihoods.Partial(design.X, times, pairs))


def conditional_logit(design: Design, chosen: Mask, groups: Indices) -> ModelCone:
    """A logit conditional on the number of successes in each group: the fixed-effects logit.

    Successes are compared with failures of the same group (Jacobsen 1989). If there are too many
    pairs, each group gets an intercept instead, which leads to the same cone of the coefficients.
    """
    order = np.argsort(groups, kind="stable")
    _, begins = np.unique(groups[order], return_index=True)
    parts = np.split(order, begins[1:])
    informative = [part for part in parts if 0 < np.count_nonzero(chosen[part]) < len(part)]
    sides = [(part[chosen[part]], part[~chosen[part]]) for part in informative]
    outcome = chosen.astype(np.float64)
    if sum(len(successes) * len(failures) for successes, failures in sides) <= _MAX_PAIRS:
        return _within_groups(design, sides, likelihoods.Grouped(design.X, outcome, groups))
    import scipy.sparse as sp

    rows = np.concatenate(informative)
    group = np.repeat(np.arange(len(informative)), [len(part) for part in informative])
    shape = (len(rows), len(informative))
    dummies = sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), group)), shape=shape)
    A = scaled(side_by_side(dummies, design.X[rows]), np.where(chosen[rows], 1.0, -1.0))
    likelihood = likelihoods.GroupedWithIntercepts(design.X, outcome, groups, sides)
    return ModelCone(Cone(A, A[:0]), design.names, design.terms, rows, len(chosen), likelihood)


def rank_ordered(design: Design, ranks: Vector, groups: Indices) -> ModelCone:
    """Alternatives in order of preference, best first; a choice has the ranks 1 and 2.

    This is the exploded logit of Plackett and Luce. The last rank of a group may have several
    alternatives. Each alternative is compared with the alternatives of the next rank of its group.
    """
    neighbours: list[tuple[Indices, Indices]] = []
    for g in np.unique(groups).tolist():
        members = np.flatnonzero(groups == g)
        parts = [members[ranks[members] == rank] for rank in np.unique(ranks[members])]
        neighbours += pairwise(parts)
    return _within_groups(design, neighbours, likelihoods.Ranked(design.X, ranks, groups))


def bradley_terry(wins: Matrix, names: Sequence[Hashable], reference: int) -> ModelCone:
    """Paired comparisons with P(i beats j) = G(β_i − β_j) (Ford 1957); the reference has β = 0."""
    table, k = np.asarray(wins), len(names)
    winners, losers = np.nonzero(table > 0)
    players = [j for j in range(k) if j != reference]
    A = np.ascontiguousarray((units(winners, k) - units(losers, k))[:, players])
    likelihood = likelihoods.Games(table, players)
    return ModelCone(Cone(A, A[:0]), [names[j] for j in players], {}, winners, k, likelihood)


def _within_groups(
    design: Design, sides: Sequence[tuple[Indices, Indices]], likelihood: Likelihood
) -> ModelCone:
    """The comparison of all rows of one side with all rows of the other side beside it."""
    better, worse = all_pairs([side for side, _ in sides], [side for _, side in sides])
    none = np.arange(0)
    return _of_pairs(design, Comparisons(better, worse, none, none), likelihood)


def _of_pairs(design: Design, pairs: Comparisons, likelihood: Likelihood) -> ModelCone:
    """The comparison of pairs of rows; an equality belongs to its row ``other``."""
    n = int(design.X.shape[0])
    cone = differences(design.X, pairs)
    return ModelCone(
        cone, design.names, design.terms, pairs.better, n, likelihood, equal=pairs.other
    )
