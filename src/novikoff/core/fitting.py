"""Fit a model: run the loop on the original or on standardised features, then check its rules.

Every estimator and `novikoff fit` call `fit_model`, so that the same data, plan and seed give the
same weights, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np

from novikoff.core.linear_model import LinearModel
from novikoff.core.model import Model
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Plan, Run
from novikoff.core.scaling import standardise

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, eq=False)
class Fit(Generic[M]):
    """A fitted model and the run that fitted it.

    Attributes
    ----------
    model : Model
        The model, for the original features.
    run : Run
        What the run counted, and why it ended.
    rows : Rows
        The rows that the run visited: the standardised rows if the run was on them.
    clean : bool
        Whether the run ended with a clean cycle and the model classifies every original row
        correctly, computed as `predict` computes it.
    """

    model: M
    run: Run
    rows: Rows
    clean: bool


def fit_model(
    model: M,
    rows: Rows,
    codes: Indices,
    plan: Plan,
    *,
    standardised: bool = False,
    sample_weight: Vector | None = None,
) -> Fit[M]:
    """Run the loop from the weights of a model until a cycle is clean or a limit is reached.

    Parameters
    ----------
    model : Model
        The model to start from. It is trained in place, unless ``standardised``.
    rows, codes
        The original rows and the class of each row.
    plan : Plan
        Update rule, order, limits and seed.
    standardised : bool
        Whether the run sees features of mean 0 and variance 1. Its rules are then mapped back to
        the original features. Only a `LinearModel` can be mapped back.
    sample_weight : array of shape (n,), optional
        A factor on the steps of each row; rows of weight 0 are not visited.

    Examples
    --------
    >>> from novikoff.core.orders import Cyclic
    >>> from novikoff.core.stops import Limits
    >>> from novikoff.core.updates import perceptron
    >>> rows = Rows.of(np.array([[0.0], [1.0], [3.0]]), fit_intercept=True)
    >>> plan = Plan(perceptron(), Cyclic(), Limits(epochs=100))
    >>> fit = fit_model(LinearModel(np.array([0, 1]), 1), rows, np.array([0, 0, 1]), plan)
    >>> fit.clean, fit.run.mistakes
    (True, 8)
    """
    if not standardised:
        run = model.train(rows, codes, plan, sample_weight)
        clean = run.converged and is_clean(model, rows, codes, sample_weight)
        return Fit(model, run, rows, clean)
    if not isinstance(model, LinearModel):
        raise TypeError(f"A {type(model).__name__} cannot be mapped back from scaled features.")
    scaled, scaling = standardise(rows)
    inner = model.copy()
    inner.W = scaling.forth(model.W)
    run = inner.train(scaled, codes, plan, sample_weight)
    back = scaling.back_model(inner)
    threshold = plan.update.threshold
    clean = run.converged and is_clean(back, rows, codes, sample_weight, threshold)
    return Fit(cast(M, back), run, scaled, clean)


def is_clean(
    model: Model,
    rows: Rows,
    codes: Indices,
    sample_weight: Vector | None = None,
    threshold: float = 0.0,
) -> bool:
    """Whether y·f(x) of the last weights exceeds the threshold on every row of positive weight.

    The scores are the scores that `predict` uses. A run adds the same terms in a different order,
    or works on scaled features, so that its scores may differ where rounding matters.
    """
    with np.errstate(all="ignore"):
        margins = model.last_scores(rows.X) * model.sides[codes]
    taking = model.sides[codes] != 0
    if sample_weight is not None:
        taking &= (sample_weight > 0.0)[:, None]
    return bool(np.isfinite(margins).all() and (margins[taking] > threshold).all())
