"""The limiting model: what is left of a likelihood at the limits of infinite estimates (H1).

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

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import Labels
from novikoff.core.rows import Indices, Matrix, as_dense
from novikoff.geometry.visits import Mask
from novikoff.proofs.exact import exact_products, numbers

Whole: TypeAlias = npt.NDArray[np.int64]


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
        As in `LimitingModel`.
    """

    observations: Indices
    design: Callable[[Indices], Matrix]
    family: str | None = None
    y: npt.NDArray[Any] | None = None
    groups: Whole | None = None
    strata: Whole | None = None
    weights: npt.NDArray[Any] | None = None


# The remainder of a likelihood, given the separated rows of A and a direction that separates them.
Remaining: TypeAlias = Callable[[Mask, Sequence[Fraction]], Remainder]


@dataclass(frozen=True, eq=False, repr=False)
class LimitingModel:
    """A model whose fit, by any fitter, has the finite part of an estimate.

    A fit of ``X`` without a further intercept, with the outcomes of the observations ``rows``, has
    the estimates and the standard errors of the coefficients ``finite``. Weights, offsets and
    durations of the observations are kept.

    Attributes
    ----------
    family : str
        The family of the fit, by the names of `detect_separation`; its link is that of the model.
    columns : list
        The names of the coefficients of the fit. Other coefficients depend on these, and are 0.
    finite : list
        The coefficients whose estimates in this fit are those of the whole model.
    positions : array of int
        The position, in the data that were given, of the observation of each row of the fit.
        Multinomial, adjacent-category, sequential and Bradley–Terry models can have several rows
        for an observation.
    y : array or None
        The outcomes of the fit; None if they are the outcomes of the observations. For "choice",
        the chosen row of each group is 1. For "binomial", 0 and 1, or successes and failures. For
        "cumulative", the numbers of the lowest and of the highest class that an observation may
        have: the outcome is censored to this interval.
    groups : array or None
        The group of each row, for "choice", "conditional-logit" and "rank-ordered".
    strata : array or None
        The stratum of each row, for "cox".
    weights : array or None
        How often the outcome of each row was observed, for multinomial models of counts.
    """

    family: str
    columns: list[Hashable]
    finite: list[Hashable]
    positions: Indices
    y: npt.NDArray[Any] | None
    groups: Whole | None
    strata: Whole | None
    weights: npt.NDArray[Any] | None
    _labels: Labels
    _at: Indices
    _design: Callable[[Indices], Matrix]

    @property
    def rows(self) -> Labels:
        """The label of the observation of each row of the fit.

        Raises
        ------
        ValueError
            If several observations have the same label, so that labels do not name them. Use
            ``positions`` then.
        """
        if len({*self._labels.tolist()}) < len(self._labels):
            raise ValueError(
                "Several rows have the same index label, so that labels do not name the rows to "
                "refit. Use positions in the place of rows, as in X.iloc[model.positions], or "
                "X.reset_index(drop=True) first."
            )
        return self._labels[self.positions]

    @cached_property
    def X(self) -> Matrix:  # noqa: N802
        """The covariates of the fit, with one column for each of ``columns``, and the intercept.

        The thresholds of a cumulative model are no columns of X.
        """
        return self._design(self._at)

    def __repr__(self) -> str:
        return (
            f"<LimitingModel: {self.family}, {len(self.positions):,} rows, "
            f"columns {', '.join(map(str, self.columns)) or 'none'}>"
        )


def of_observations(X: Matrix, observations: Indices) -> Remainder:
    """Some observations of the same model."""
    return Remainder(observations, lambda columns: X[observations][:, columns])


def of_alternatives(
    allowed: Mask,
    counts: npt.NDArray[Any],
    utilities: Callable[[Indices, Indices], Matrix],
) -> Remainder:
    """A discrete choice among the allowed classes of each observation.

    ``utilities`` returns the rows of given observations and classes. A group is an observation with
    one of the classes it shows.
    """
    several = np.count_nonzero(allowed, axis=1) > 1
    observations, shown = np.nonzero((counts > 0) & several[:, None])
    group, alternative = np.nonzero(allowed[observations])
    at = observations[group]
    weights = counts[observations, shown]
    return Remainder(
        at,
        lambda columns: utilities(at, alternative)[:, columns],
        family="choice",
        y=(alternative == shown[group]).astype(np.int64),
        groups=group.astype(np.int64),
        weights=None if bool((weights == 1).all()) else weights[group],
    )


def of_stages(A: Matrix, owner: Indices, signs: npt.NDArray[Any], left: Mask) -> Remainder:
    """A binomial model whose rows are some rows of A; those with the sign + are successes."""
    at = np.flatnonzero(left)

    def design(columns: Indices) -> Matrix:
        rows: Any = A[at][:, columns]
        if isinstance(rows, np.ndarray):
            return np.asarray(rows * signs[at][:, None])
        import scipy.sparse as sp

        return sp.csr_array(sp.diags_array(signs[at]) @ rows)

    y = (signs[at] > 0).astype(np.int64)
    return Remainder(owner[at], design, family="binomial", y=y)


def of_levels(
    X: Matrix, direction: Sequence[Fraction], cells: Whole, has_contrast: Callable[[Whole], Mask]
) -> tuple[Indices, Whole]:
    """The rows of cells that are divided by x·d, and the number of the part of each row.

    ``has_contrast`` says of numbered parts whether the likelihood compares rows within them; the
    rows of all other parts are left out.
    """
    scores, _ = scores_of(X, direction)
    place: dict[tuple[int, int], int] = {}
    pairs = zip(cells.tolist(), scores.tolist(), strict=True)
    parts = np.array([place.setdefault(pair, len(place)) for pair in pairs], dtype=np.int64)
    rows = np.flatnonzero(has_contrast(parts)[parts])
    return rows, np.unique(parts[rows], return_inverse=True)[1].reshape(-1).astype(np.int64)


def scores_of(X: Matrix, direction: Sequence[Fraction]) -> tuple[Any, Fraction]:
    """The exact products ⟨x_i, d⟩, as integers and their common unit."""
    used = np.array([j for j, value in enumerate(direction) if value], dtype=np.int64)
    return exact_products(
        as_dense(X[:, used], np.float64), numbers([direction[j] for j in used.tolist()])
    )


def differing(outcome: npt.NDArray[Any]) -> Callable[[Whole], Mask]:
    """A function that says which parts have different outcomes."""

    def has_contrast(parts: Whole) -> Mask:
        n = int(parts.max(initial=-1)) + 1
        least, most = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(least, parts, outcome)
        np.maximum.at(most, parts, outcome)
        return np.asarray(least < most)

    return has_contrast
