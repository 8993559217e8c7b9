"""Which observations are separated, and what is left of each likelihood without them.

Let d be a direction that is positive on all rows of A that can be separated. Along d the likelihood
tends to the likelihood of the limiting model (Geyer 2009), in which every separated inequality is
left out. Its finite estimates are those of the whole model. What this is depends on the family:

- binomial, Poisson, negative binomial: the observations that are not separated.
- multinomial, adjacent categories: a discrete choice. Each observation chooses among the classes
  whose score along d equals the score of the observed class.
- sequential: a binomial model of the stages that are not separated.
- Cox, conditional logit, choice, rank-ordered: the same model, in which each stratum or group is
  divided into rows of equal x·d. At each event, the subject with the event has the largest x·d
  among those at risk. Those with a smaller x·d vanish from the sum over the risk set.
- cumulative: an observation of class j has the probability G(θ_j − x·β) − G(θ_{j−1} − x·β). The
  first term tends to 1, or the second to 0, if its inequality is separated. If all observations
  that are left have both terms, this is a cumulative model. If none has both terms of a class in
  the middle, it is a binomial model. Otherwise some observations are only known to be in one of
  several neighbouring classes.
- Bradley–Terry: the games between players whose skills along d are equal.

References
----------
Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession.
*Electronic Journal of Statistics* 3, 259-289.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Mask, Matrix, Vector, as_dense, side_by_side
from novikoff.models.comparisons import Comparisons, Survival
from novikoff.models.exact_rows import in_block, scaled
from novikoff.proofs.exact import exact_products, numbers


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is left of the likelihood of a model.

    Attributes
    ----------
    observations : array of int
        The observation of each row of the fit.
    design : callable
        A function that returns some of the columns of the fit, given the numbers of coefficients.
    family : str or None
        The family of the fit; None if it is the family of the model.
    y, groups, strata, weights : array or None
        As in `novikoff.models.limiting.LimitingModel`.
    """

    observations: Indices
    design: Callable[[Indices], Matrix]
    family: str | None = None
    y: npt.NDArray[Any] | None = None
    groups: Indices | None = None
    strata: Indices | None = None
    weights: npt.NDArray[Any] | None = None


class Likelihood(ABC):
    """The likelihood of a model, at the limits of infinite estimates."""

    def separated_observations(self, owners: Mask, direction: Sequence[Fraction]) -> Mask:
        """Return the separated observations.

        ``owners`` are the observations that separated rows of A belong to, and ``direction`` is a
        direction of the coefficients that is positive on these rows.
        """
        return owners

    @abstractmethod
    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return what is left without the separated rows of A, on which a direction is positive."""


@dataclass(frozen=True, eq=False)
class Observations(Likelihood):
    """A product of one factor for each observation; ``weak`` have a row of A, ``equal`` of E."""

    X: Matrix
    weak: Indices
    equal: Indices

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return the observations that are not separated."""
        return _of_observations(self.X, np.sort(np.append(self.weak[~separated], self.equal)))


@dataclass(frozen=True, eq=False)
class Classes(Likelihood):
    """A choice among classes, of which ``counts`` says how often each was observed.

    Each row of A compares an observation, its ``owner``, with a class that it does not show, its
    ``other``.
    """

    X: Matrix
    counts: npt.NDArray[Any]
    owner: Indices
    other: Indices

    @abstractmethod
    def utilities(self, rows: Indices, classes: Indices) -> Matrix:
        """Return f_k(x) for some observations x and classes k, whose score is f_k(x)·β."""

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return a choice among the classes that are observed or not separated from them.

        A group of the choice is an observation with one of the classes it shows.
        """
        allowed = self.counts > 0
        allowed[self.owner[~separated], self.other[~separated]] = True
        several = np.count_nonzero(allowed, axis=1) > 1
        observations, shown = np.nonzero((self.counts > 0) & several[:, None])
        group, alternative = np.nonzero(allowed[observations])
        rows = observations[group]
        weights = self.counts[observations, shown]
        return Remainder(
            rows,
            lambda columns: self.utilities(rows, alternative)[:, columns],
            family="choice",
            y=(alternative == shown[group]).astype(np.int64),
            groups=group.astype(np.int64),
            weights=None if bool((weights == 1).all()) else weights[group],
        )


@dataclass(frozen=True, eq=False)
class Multinomial(Classes):
    """A multinomial logit; ``block_of`` has the block of columns of each class, −1 for baseline."""

    block_of: Indices

    def utilities(self, rows: Indices, classes: Indices) -> Matrix:
        """Return the rows x ⊗ e_k."""
        found = in_block(self.X, rows, self.block_of[classes], len(self.block_of) - 1)
        return found.toarray() if isinstance(self.X, np.ndarray) else found


@dataclass(frozen=True, eq=False)
class Adjacent(Classes):
    """An adjacent-category logit."""

    def utilities(self, rows: Indices, classes: Indices) -> Matrix:
        """Return the rows (1 up to k, k·x)."""
        n_thresholds = self.counts.shape[1] - 1
        passed = (np.arange(n_thresholds) < classes[:, None]).astype(np.float64)
        return side_by_side(passed, scaled(self.X[rows], classes.astype(np.float64)))


@dataclass(frozen=True, eq=False)
class Stages(Likelihood):
    """A sequence of binomial models, with a row of A for each stage of each observation.

    Rows with the sign + are successes.
    """

    A: Matrix
    owner: Indices
    signs: Vector

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return the stages that are not separated, as a binomial model."""
        rows = np.flatnonzero(~separated)
        signs = self.signs[rows]
        y = (signs > 0).astype(np.int64)
        return Remainder(
            self.owner[rows],
            lambda columns: scaled(self.A[rows][:, columns], signs),
            family="binomial",
            y=y,
        )


@dataclass(frozen=True, eq=False)
class Cumulative(Likelihood):
    """A cumulative model of classes from 0 to ``highest``.

    A has a row for each observation of ``below``, whose class is not the highest, and then a row
    for each observation of ``above``, whose class is not 0. ``slopes`` are the coefficients of X.
    """

    X: Matrix
    A: Matrix
    codes: Indices
    highest: int
    below: Indices
    above: Indices
    slopes: Indices

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return a cumulative model, or a binomial model if no observation has two sides."""
        k, n_below = self.highest, len(self.below)
        has_upper, has_lower = np.zeros((2, len(self.codes)), dtype=np.bool_)
        has_upper[self.below] = ~separated[:n_below]
        has_lower[self.above] = ~separated[n_below:]
        used = np.flatnonzero(has_upper | has_lower)
        is_complete = (has_upper | (self.codes == k)) & (has_lower | (self.codes == 0))
        if not (has_upper & has_lower).any() and not is_complete[used].all():
            signs = np.append(np.ones(n_below), -np.ones(len(self.above)))
            owner = np.append(self.below, self.above)
            return Stages(self.A, owner, signs).remaining(separated, direction)

        def covariates(columns: Indices) -> Matrix:
            chosen = columns[np.isin(columns, self.slopes)]
            return self.X[used][:, chosen - self.slopes[0] if len(self.slopes) else chosen]

        lowest = np.where(has_lower, self.codes, 0)[used]
        highest = np.where(has_upper, self.codes, k)[used]
        y = None if is_complete[used].all() else np.stack([lowest, highest], axis=1)
        return Remainder(used, covariates, y=y)


@dataclass(frozen=True, eq=False)
class Partial(Likelihood):
    """The partial likelihood of a Cox model."""

    X: Matrix
    times: Survival
    pairs: Comparisons

    def separated_observations(self, owners: Mask, direction: Sequence[Fraction]) -> Mask:
        """Return the separated events.

        Without entry times, an event is separated if a row at the same time or later in the same
        stratum is separated.
        """
        times, separated = self.times, owners.copy()
        if times.entry is not None:  # risk sets are not nested
            if owners.any():
                scores, _ = _scores_of(self.X, direction)
                for stratum in np.unique(times.strata[owners]).tolist():
                    separated[times.events_above_the_least(stratum, scores)] = True
            return separated
        if owners.any():
            last = np.full(int(times.strata.max()) + 1, -np.inf)  # the last separated row
            np.maximum.at(last, times.strata[owners], times.duration[owners])
            separated |= times.event & (times.duration < last[times.strata])
        if not times.exact:
            # Tied events have the same rows.
            tied, other = self.pairs.tied, self.pairs.other
            np.logical_or.at(separated, tied, separated[other])
            separated[other] = separated[tied]
        return separated

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return the same model, with strata of equal x·d."""
        rows, parts = _divided(self.X, direction, self.times.strata, self._has_contrast)
        return replace(_of_observations(self.X, rows), strata=parts)

    def _has_contrast(self, parts: Indices) -> Mask:
        """The parts with an event and another row."""
        counts, events = np.bincount(parts), np.bincount(parts, weights=self.times.event)
        return np.asarray((counts > 1) & (events > 0))


@dataclass(frozen=True, eq=False)
class Grouped(Likelihood):
    """A conditional logit, which compares the rows of each group that have different outcomes."""

    X: Matrix
    outcome: Vector
    groups: Indices

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return the same model, with groups of equal x·d."""
        rows, parts = _divided(self.X, direction, self.groups, self._has_contrast)
        return replace(_of_observations(self.X, rows), groups=parts)

    def _has_contrast(self, parts: Indices) -> Mask:
        """The parts with different outcomes."""
        n = int(parts.max(initial=-1)) + 1
        least, most = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(least, parts, self.outcome)
        np.maximum.at(most, parts, self.outcome)
        return np.asarray(least < most)


@dataclass(frozen=True, eq=False)
class GroupedWithIntercepts(Grouped):
    """A conditional logit whose rows of A have an intercept for each group in place of pairs."""

    pairs: list[tuple[Indices, Indices]]  # the successes and the failures of each group

    def separated_observations(self, owners: Mask, direction: Sequence[Fraction]) -> Mask:
        """Return the successes with a larger score than a failure of their group, as with pairs."""
        scores, _ = _scores_of(self.X, direction)
        separated = np.zeros(len(owners), dtype=np.bool_)
        for successes, failures in self.pairs:
            separated[successes] = scores[successes] > scores[failures].min()
        return separated


@dataclass(frozen=True, eq=False)
class Ranked(Grouped):
    """An exploded logit, whose outcomes are ranks."""

    def separated_observations(self, owners: Mask, direction: Sequence[Fraction]) -> Mask:
        """Return all alternatives down to the last that is separated from the next in its group."""
        last = np.full(int(self.groups.max()) + 1, -np.inf)
        np.maximum.at(last, self.groups[owners], self.outcome[owners])
        return np.asarray(self.outcome <= last[self.groups])


@dataclass(frozen=True, eq=False)
class Games(Likelihood):
    """A table of wins, and the players whose skills are coefficients."""

    wins: npt.NDArray[Any]
    players: list[int]

    def remaining(self, separated: Mask, direction: Sequence[Fraction]) -> Remainder:
        """Return the games between players of equal skill along d, as a binomial model."""
        n = len(self.wins)
        skills = [Fraction(0)] * n
        for player, value in zip(self.players, direction, strict=True):
            skills[player] = value
        met = np.argwhere(np.triu(self.wins + self.wins.T) > 0).tolist()
        equal = [(a, b) for a, b in met if skills[a] == skills[b]]
        one, other = np.array(equal, dtype=np.int64).reshape(-1, 2).T
        games = (np.eye(n)[one] - np.eye(n)[other])[:, self.players]
        y = np.stack([self.wins[one, other], self.wins[other, one]], axis=1)
        return Remainder(one, lambda columns: games[:, columns], family="binomial", y=y)


def _of_observations(X: Matrix, observations: Indices) -> Remainder:
    """Some observations of the same model."""
    return Remainder(observations, lambda columns: X[observations][:, columns])


def _divided(
    X: Matrix,
    direction: Sequence[Fraction],
    cells: Indices,
    has_contrast: Callable[[Indices], Mask],
) -> tuple[Indices, Indices]:
    """The rows of cells that are divided by x·d, and the number of the part of each row.

    ``has_contrast`` says of numbered parts whether the likelihood compares rows within them; the
    rows of all other parts are left out.
    """
    scores, _ = _scores_of(X, direction)
    number: dict[tuple[int, int], int] = {}
    pairs = zip(cells.tolist(), scores.tolist(), strict=True)
    parts = np.array([number.setdefault(pair, len(number)) for pair in pairs], dtype=np.int64)
    rows = np.flatnonzero(has_contrast(parts)[parts])
    return rows, np.unique(parts[rows], return_inverse=True)[1].reshape(-1).astype(np.int64)


def _scores_of(X: Matrix, direction: Sequence[Fraction]) -> tuple[Any, Fraction]:
    """The exact products ⟨x_i, d⟩, as integers and their common unit."""
    used = np.array([j for j, value in enumerate(direction) if value], dtype=np.int64)
    return exact_products(
        as_dense(X[:, used], np.float64), numbers([direction[j] for j in used.tolist()])
    )
