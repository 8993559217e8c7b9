"""The Forgetron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from novikoff.core.forgetron import DAMAGE, SIZE, ForgetronModel
from novikoff.core.kernels import BY_NAME, Function
from novikoff.core.model import Model
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector
from novikoff.learners.base import one_or_each
from novikoff.learners.inputs import COUNT, MatrixLike, Rule
from novikoff.learners.kernel import KERNEL_PARAMETERS, KERNEL_RULES, kernel_rule, kernel_settings
from novikoff.learners.online import STRUCTURE, streams
from novikoff.learners.stateful import StateLearner


@dataclass(eq=False, repr=False)
class Forgetron(StateLearner):
    """A kernel perceptron for streams without end: it keeps ``budget`` points for each rule.

    On a mistake the point joins. Beyond the budget all weights are shrunk, as little as the
    mistakes so far allow, and the oldest point is forgotten (A9; Dekel, Shalev-Shwartz and Singer
    2008, self-tuned). Memory and time per row are constant.

    Guarantee: for a budget B ≥ 83 and every g in the kernel's space with
    ‖g‖ ≤ ¼·√((B + 1)/ln(B + 1)), at most 2‖g‖² + 4·Σℓ mistakes, ℓ = max(0, 1 − y·g(x)) summed over
    them (`novikoff.bounds.forgetron_bound`). For smaller budgets it runs and nothing is proved.
    Rows and classes have no weights: the proof needs every point to join with the weight 1.

    Parameters
    ----------
    budget : int, default=100
        The points that a rule keeps.
    kernel : {"rbf", "linear", "poly"} or function, default="rbf"
        As in `KernelPerceptron`; other kernels than "rbf" are normalised to K(x, x) = 1. There is
        no intercept.
    gamma, degree, coef0
        As in `KernelPerceptron`.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, but no maximal rule.
    max_epochs : int or None, default=10
        Limit on passes over the data; None for no limit. With a full budget a clean cycle is rare.
    max_seconds, multi_class, random_state, verbose
        As in `Perceptron`.
    warm_start : bool, default=False
        Whether `fit` goes on from what the last fit has learned; counts go on too.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    n_support_ : array of shape (n_rules,)
        The points that each rule keeps now.
    support_vectors_ : array of shape (n_support, n_features), or list of them
        Those points, the oldest first.
    dual_coef_ : array of shape (n_support,), or list of them
        Their weights, y·σ with 0 < σ ≤ 1.
    damage_ : array of shape (n_rules,)
        Q, what forgetting has cost: at most 15/32 of the mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = (X**2).sum(axis=1) > 1.4
    >>> clf = nv.Forgetron(budget=100, gamma=1.0).partial_fit(X, y, classes=[False, True])
    >>> clf.n_support_, clf.score(X, y) > 0.9
    (array([100]), True)
    """

    budget: int = 100
    _: KW_ONLY
    kernel: str | Function = "rbf"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    max_epochs: int | None = 10

    fit_intercept = False

    _of_update = attrgetter("budget", *KERNEL_PARAMETERS, *STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        **StateLearner._rules,
        **KERNEL_RULES,
        "budget": COUNT,
        "kernel": kernel_rule(*BY_NAME),
    }

    def fit(self, X: MatrixLike, y: npt.ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X, y : array-like or sparse matrix of shape (n_samples, n_features), array-like
            The rows and their labels.

        Returns
        -------
        self
            After an exception but Ctrl-C it is what it was before.
        """
        return self._fit(X, y)

    @available_if(streams)
    def partial_fit(
        self, X: MatrixLike, y: npt.ArrayLike | None = None, classes: npt.ArrayLike | None = None
    ) -> Self:
        """Look at each row once, as the rows stand: a piece of a stream (A5).

        Parameters
        ----------
        X, y : array-like or sparse matrix of shape (n_samples, n_features), array-like
            The next rows and their labels.
        classes : array-like, optional
            All labels there will be; needed at the first call.

        Returns
        -------
        self
            After an exception it is what it was before.
        """
        return self._partial_fit(X, y, classes)

    @property
    def n_support_(self) -> Indices:
        """The points that each rule keeps now."""
        return self._own_model("n_support_").ring[:, SIZE].astype(np.int64)

    @property
    def damage_(self) -> Vector:
        """Q of each rule."""
        return self._own_model("damage_").ring[:, DAMAGE].copy()

    @property
    def support_vectors_(self) -> Vector | list[Vector]:
        """The points of each rule, the oldest first."""
        model = self._own_model("support_vectors_")
        return one_or_each([model.support_of(rule)[0] for rule in range(model.n_rules)])

    @property
    def dual_coef_(self) -> Vector | list[Vector]:
        """Their weights."""
        model = self._own_model("dual_coef_")
        return one_or_each([model.support_of(rule)[1] for rule in range(model.n_rules)])

    def _own_model(self, name: str) -> ForgetronModel:
        return cast(ForgetronModel, self._fitted(name))

    def _kind(self) -> type[Model]:
        return ForgetronModel

    def _settings(self, n_features: int) -> dict[str, Any]:
        return kernel_settings(self, n_features) | {"budget": int(self.budget)}

    def _unclean(self, advice: str, given: Problem) -> str:
        return (
            f"a rule that forgets rarely gets all rows right{advice}; novikoff.KernelPerceptron "
            "forgets nothing."
        )
