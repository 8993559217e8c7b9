"""The limiting model, which any fitter fits to find the finite part of an estimate.

`novikoff.models.likelihoods` says what it is for each family.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy.typing as npt

from novikoff.core.class_labels import Labels
from novikoff.core.rows import Indices, Matrix


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
    groups: Indices | None
    strata: Indices | None
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
