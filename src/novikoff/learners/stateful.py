"""Learners whose model has its own loop: the p-norm and the second-order perceptron.

Each learner consists of its parameters, the class of its model (`_model_class`), and the settings
of the model (`_settings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self, cast

import numpy.typing as npt

from novikoff.core.model import Model
from novikoff.core.orders import Greedy, Order
from novikoff.core.p_norm import PNormModel
from novikoff.core.rows import Vector
from novikoff.core.second_order import SecondOrderModel
from novikoff.core.updates import Update, perceptron
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.online import (
    STRUCTURE,
    OnlineLearner,
    Start,
    check_can_stream,
    check_resumable,
    check_unchanged,
)
from novikoff.learners.parameters import (
    ABOVE_ZERO,
    Allowed,
    ClassWeight,
    OrderLike,
    RandomState,
    is_real,
)


@dataclass(kw_only=True, eq=False, repr=False)
class StateLearner(OnlineLearner):
    """A learner whose model contains more than weights."""

    order: OrderLike = "permuted"
    max_epochs: int | None = 1000
    max_seconds: float | None = None
    multi_class: Literal["ovr", "ovo"] = "ovr"
    warm_start: bool = False
    random_state: RandomState = None
    verbose: int = 0

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        name: OnlineLearner._allowed[name]
        for name in (
            *("fit_intercept", "order", "max_epochs", "max_seconds", "multi_class"),
            *("class_weight", "warm_start", "random_state", "verbose"),
        )
    }

    def _update(self) -> Update:
        return perceptron()  # a mistake is m ≤ 0

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle makes no update, or until a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            A factor for each row, by which its steps are multiplied. Rows of weight 0 are not
            visited.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C. The estimator then has the model that it has learned so far. After any other
            exception the estimator is unchanged.
        """
        return self._fit(X, y, sample_weight)

    def _order(self) -> Order:
        order = super()._order()
        if isinstance(order, Greedy):
            raise ValueError(
                f"A {type(self).__name__} cannot look for the worst row: the order must be one of "
                "cyclic, fixed, permuted, blocks and random, a list of row numbers, or an object "
                "of novikoff.orders for one of these."
            )
        return order

    def _first_model(self, blank: Model, before: Model | None, start: Start) -> Model:
        """A blank model, or with warm_start the model of the last fit."""
        if before is None:
            return blank
        try:
            check_can_stream(self)
        except AttributeError as error:
            raise ValueError(f"warm_start continues as a stream does. {error}") from None
        check_resumable(before, blank)
        check_unchanged(self, before)
        return before


@dataclass(eq=False, repr=False)
class PNormPerceptron(StateLearner):
    """The p-norm perceptron, for data in which few of many features decide the class.

    A mistake causes the update θ ← θ + y·[x, 1]. The weights are w = ∇½‖θ‖_p², that is
    ``w_j = sign(θ_j)·|θ_j|^(p−1)/‖θ‖_p^(p−2)`` (Grove, Littlestone and Schuurmans 2001;
    Gentile 2003).

    Guarantee: if y·⟨u, [x, 1]⟩ ≥ γ > 0 for all rows, the learner without ``class_weight`` and
    ``sample_weight`` makes at most (p − 1)·(X_p·‖u‖_q/γ)² mistakes, where X_p = max‖[x, 1]‖_p and
    1/p + 1/q = 1 (`novikoff.bounds.p_norm_bound`). With p = 2 the learner makes the same mistakes
    as the `Perceptron`. With p = 2·ln d the bound grows with ‖u‖₁² and ln d only.

    Parameters
    ----------
    p : float, default=2.0
        The exponent, from 2 to 500; larger powers exceed the range of float64. If few features
        decide the class, a good value is about 2·ln(n_features).
    fit_intercept, max_seconds, multi_class, class_weight, random_state, verbose
        As in `Perceptron`. A row of weight c is learned as c·[x, 1].
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, except "max_distance" and "max_residual".
    max_epochs : int or None, default=1000
        A limit on the passes over the data; None for no limit.
    warm_start : bool, default=False
        Whether `fit` starts from the model of the last fit. Counts continue too.

    Attributes
    ----------
    classes_, coef_, intercept_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, \
period_, random_state_
        As in `Perceptron`; ``coef_`` and ``intercept_`` are w.

    See Also
    --------
    Perceptron : The case p = 2.

    References
    ----------
    Grove, A. J., Littlestone, N. and Schuurmans, D. (2001). General convergence results for linear
    discriminant updates. *Machine Learning* 43(3), 173-210.

    Gentile, C. (2003). The robustness of the p-norm algorithms. *Machine Learning* 53(3), 265-299.

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

    _model_class = PNormModel
    _rule_parameters = attrgetter("p", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        "p": Allowed(lambda p: is_real(p) and 2 <= p <= 500, "a number from 2 to 500"),
    }

    def _settings(self, n_features: int) -> dict[str, Any]:
        return {"p": float(self.p)}


@dataclass(eq=False, repr=False)
class SecondOrderPerceptron(StateLearner):
    """The second-order perceptron, for features that are strongly correlated or unevenly scaled.

    With A = a·I + Σ a_i·a_iᵀ and v = Σ a_i over the mistakes, where a_i = y_i·[x_i, 1], the weights
    are w = A⁻¹v (Cesa-Bianchi, Conconi and Gentile 2005). A row that is classified correctly
    takes time O(d), a mistake takes O(d²).

    Guarantee: for every u and γ > 0 the learner makes at most (D + √(uᵀAu·G))/γ mistakes
    (`novikoff.bounds.second_order_bound`). Here D is the sum of max(0, γ − ⟨a_i, u⟩) over the
    mistakes, and G is ``potential_``, which is at most ``log_det_``. In float64 the guarantee holds
    while the scales of the features differ by a factor of less than about 1e14.

    Parameters
    ----------
    a : float, default=1.0
        The factor of the identity matrix in A. The larger a is, the more the learner behaves like
        the perceptron.
    fit_intercept, max_seconds, multi_class, random_state, verbose
        As in `Perceptron`.
    class_weight : dict, "balanced" or None, default=None
        A weight c for each class. The terms of a mistake in A and v are multiplied by c. The bound
        then holds for the sum of the weights of the mistakes, with c·max(0, γ − ⟨a_i, u⟩) in D and
        ``potential_`` as G.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, except "max_distance" and "max_residual".
    max_epochs : int or None, default=1000
        A limit on the passes over the data; None for no limit.
    warm_start : bool, default=False
        Whether `fit` starts from the model of the last fit. Counts continue too.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    coef_, intercept_ : arrays
        The weights w and the bias b of each rule. Scores are ⟨w, x⟩ + b. The paper divides them by
        1 + [x, 1]ᵀA⁻¹[x, 1], which changes no sign.
    log_det_ : array of shape (n_rules,)
        ln det(A/a), a term of the bound.
    potential_ : array of shape (n_rules,)
        The sum of a_iᵀA⁻¹a_i over the mistakes, where A includes the mistake. It is at most
        ``log_det_``. With weights it is the sum of c_i²·a_iᵀA⁻¹a_i.

    See Also
    --------
    Perceptron : A learner that does not rescale the features.

    References
    ----------
    Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2005). A second-order perceptron algorithm.
    *SIAM Journal on Computing* 34(3), 640-668.

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
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    _model_class = SecondOrderModel
    _rule_parameters = attrgetter("a", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        "a": ABOVE_ZERO,
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
        return cast("SecondOrderModel", self._fitted(name)).growth

    def _settings(self, n_features: int) -> dict[str, Any]:
        return {"a": float(self.a)}
