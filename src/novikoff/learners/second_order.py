"""The second-order perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, cast

from novikoff.core.model import Model
from novikoff.core.rows import Vector
from novikoff.core.second_order import DiagonalModel, SecondOrderModel
from novikoff.learners.inputs import STEP, ClassWeight, Rule, words
from novikoff.learners.online import STRUCTURE
from novikoff.learners.stateful import StateLearner


@dataclass(eq=False, repr=False)
class SecondOrderPerceptron(StateLearner):
    """The second-order perceptron: for features whose spectrum is skewed.

    With A = a·I + Σ a_i·a_iᵀ and v = Σ a_i over the mistakes, a_i = y_i·[x_i, 1], it predicts by
    w = A⁻¹v (A9; Cesa-Bianchi, Conconi and Gentile 2005). A row that is right costs O(d), a mistake
    O(d²).

    Guarantee: for every u and γ > 0 the mistakes are at most (D + √(uᵀAu·G))/γ
    (`novikoff.bounds.second_order_bound`), where D is the sum of max(0, γ − ⟨a_i, u⟩) over them and
    G is ``potential_``, or ``log_det_`` above it. Float64 holds that while the scales of features
    differ by less than some 1e14.

    Parameters
    ----------
    a : float, default=1.0
        The weight of the identity; the larger, the nearer to the perceptron.
    matrix : {"full", "diagonal"}, default="full"
        Whether A has all its entries, or for wide data its diagonal only: then the current x counts
        in A when its score is taken, v·(A + diag x²)⁻¹·x, and there is no ``coef_``.
    fit_intercept, max_seconds, multi_class, random_state, verbose
        As in `Perceptron`.
    class_weight : dict, "balanced" or None, default=None
        Weights by class. A mistake of weight c counts c-fold in A and v. For the full matrix the
        bound then holds for the sum of the weights of the mistakes, with c·max(0, γ − ⟨a_i, u⟩) in
        D and ``potential_`` as G; for the diagonal nothing is proved.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, but no maximal rule.
    max_epochs : int or None, default=1000
        Limit on passes over the data; None for no limit.
    warm_start : bool, default=False
        Whether `fit` goes on from what the last fit has learned; counts go on too.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    coef_, intercept_ : arrays
        w of each rule, for the full matrix. Scores are ⟨w, x⟩ + b, not divided by
        1 + [x, 1]ᵀA⁻¹[x, 1] as in the paper, which changes no sign.
    log_det_ : array of shape (n_rules,)
        ln det(A/a), what the bound of the theorem contains.
    potential_ : array of shape (n_rules,)
        Σ a_iᵀA⁻¹a_i over the mistakes, A with the mistake: at most ``log_det_``. With weights,
        Σ c_i²·a_iᵀA⁻¹a_i.

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nv
    >>> X = np.random.default_rng(0).normal(size=(500, 20)) * np.append(np.full(19, 10.0), 1.0)
    >>> y = X[:, -1] > 0  # the smallest direction decides
    >>> [kind().partial_fit(X, y, classes=[False, True]).n_mistakes_
    ...  for kind in (nv.Perceptron, nv.SecondOrderPerceptron)]
    [250, 65]
    """

    a: float = 1.0
    _: KW_ONLY
    matrix: Literal["full", "diagonal"] = "full"
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    _of_update = attrgetter("a", "matrix", *STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        **StateLearner._rules,
        "a": STEP,
        "matrix": words("full", "diagonal"),
    }

    @property
    def log_det_(self) -> Vector:
        """Ln det(A/a) of each rule."""
        return self._growth("log_det_")[:, 0].copy()

    @property
    def potential_(self) -> Vector:
        """Σ a_iᵀA⁻¹a_i over the mistakes of each rule."""
        return self._growth("potential_")[:, 1].copy()

    def _growth(self, name: str) -> Vector:
        return cast("SecondOrderModel | DiagonalModel", self._fitted(name)).growth

    def _kind(self) -> type[Model]:
        return DiagonalModel if self.matrix == "diagonal" else SecondOrderModel

    def _settings(self, n_features: int) -> dict[str, Any]:
        return {"a": float(self.a), "matrix": self.matrix}
