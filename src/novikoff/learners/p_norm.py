"""The p-norm perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar

from novikoff.core.model import Model
from novikoff.core.p_norm import PNormModel
from novikoff.learners.inputs import ClassWeight, Rule, is_number
from novikoff.learners.online import STRUCTURE
from novikoff.learners.stateful import StateLearner


@dataclass(eq=False, repr=False)
class PNormPerceptron(StateLearner):
    """The p-norm perceptron: for targets that few of many features decide.

    On a mistake θ ← θ + y·[x, 1]; it predicts by w = ∇½‖θ‖_p², that is
    ``w_j = sign(θ_j)·|θ_j|^(p−1)/‖θ‖_p^(p−2)`` (A9; Grove, Littlestone and Schuurmans 2001;
    Gentile 2003).

    Guarantee: if y·⟨u, [x, 1]⟩ ≥ γ > 0 for all rows, at most (p − 1)·(X_p·‖u‖_q/γ)² mistakes, where
    X_p = max‖[x, 1]‖_p and 1/p + 1/q = 1 (`novikoff.bounds.p_norm_bound`). With p = 2 it is the
    `Perceptron`, mistake for mistake; with p = 2·ln d the bound grows with ‖u‖₁² and ln d only.

    Parameters
    ----------
    p : float, default=2.0
        From 2 to 500, as larger powers leave float64; about 2·ln(n_features) where few features
        decide.
    fit_intercept, max_seconds, multi_class, class_weight, random_state, verbose
        As in `Perceptron`; a weight c makes it the run on c·[x, 1].
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, but no maximal rule.
    max_epochs : int or None, default=1000
        Limit on passes over the data; None for no limit.
    warm_start : bool, default=False
        Whether `fit` goes on from what the last fit has learned; counts go on too.

    Attributes
    ----------
    classes_, coef_, intercept_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, \
period_, random_state_
        As in `Perceptron`; ``coef_`` and ``intercept_`` are w.

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nv
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 200))
    >>> y = X[:, 0] + X[:, 1] + X[:, 2] > 0  # three features of two hundred
    >>> [nv.PNormPerceptron(p=p, order="cyclic").fit(X, y).n_mistakes_ for p in (2.0, 10.0)]
    [219, 26]
    """

    p: float = 2.0
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    _of_update = attrgetter("p", *STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        **StateLearner._rules,
        "p": Rule(lambda p: is_number(p) and 2 <= p <= 500, "a number from 2 to 500"),
    }

    def _kind(self) -> type[Model]:
        return PNormModel

    def _settings(self, n_features: int) -> dict[str, Any]:
        return {"p": float(self.p)}
