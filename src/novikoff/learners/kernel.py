"""Learners in the feature space of a kernel: the kernel perceptron and the Forgetron."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from novikoff.core.forgetron import DAMAGE, SIZE, ForgetronModel
from novikoff.core.kernel_perceptron import KernelModel
from novikoff.core.kernels import KERNEL_NAMES, Function, seems_semidefinite
from novikoff.core.model import Model
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, Vector, as_dense
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.base import one_or_each
from novikoff.learners.online import STRUCTURE, OnlineLearner, check_can_stream
from novikoff.learners.parameters import (
    ABOVE_ZERO,
    BOOLEAN,
    COUNT,
    NOT_NEGATIVE,
    Allowed,
    ClassWeight,
    optional,
)
from novikoff.learners.stateful import StateLearner


def allowed_kernels(*names: str) -> Allowed:
    """Return the condition that a kernel is one of these names or a function."""
    listed = ", ".join(map(repr, names))
    return Allowed(
        lambda kernel: kernel in names if isinstance(kernel, str) else callable(kernel),
        f"{listed} or a function of two matrices",
    )


KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")
ALLOWED_NUMBERS: Mapping[str, Allowed] = {
    "gamma": optional(ABOVE_ZERO),
    "degree": COUNT,
    "coef0": NOT_NEGATIVE,
}


def kernel_settings(learner: Any, n_features: int) -> dict[str, Any]:
    """Return the settings of a kernel from the parameters of a learner."""
    if learner.gamma is None and n_features == 0 and learner.kernel in ("rbf", "poly"):
        raise ValueError(
            "gamma=None means 1/n_features, but a stream of dicts has no fixed number of features: "
            "set gamma to a number."
        )
    gamma = 1.0 / max(1, n_features) if learner.gamma is None else float(learner.gamma)
    numbers = {"degree": int(learner.degree), "coef0": float(learner.coef0)}
    return {"kernel": learner.kernel, "gamma": gamma, **numbers}


@dataclass(eq=False, repr=False)
class KernelPerceptron(StateLearner):
    """The perceptron in the feature space of a kernel: f(x) = Σ k_i·y_i·K(x_i, x) (+ Σ k_i·y_i).

    This is the run of `Perceptron` with ⟨x, z⟩ replaced by K(x, z). The model consists of the
    number k_i of mistakes on each row (Aizerman, Braverman and Rozonoer 1964). With the linear
    kernel it makes the same mistakes as `Perceptron`.

    Guarantee: if two classes are separable in the feature space with margin γ, the learner without
    ``class_weight`` and ``sample_weight`` makes at most R²/γ² mistakes. Here R² = max K(x_i, x_i),
    plus 1 with an intercept. With "rbf" and different rows, the classes are always separable,
    unless K of two rows rounds to 1. A fit on random labels therefore ends too: the model then has
    learned the rows by heart.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or function, default="rbf"
        "rbf" is exp(−γ·‖x − z‖²), "linear" is ⟨x, z⟩, "poly" is (γ·⟨x, z⟩ + coef0)^degree. With
        "precomputed", the X of ``fit`` is the matrix of all K(x_i, x_j), and the X of ``predict``
        has the kernel values of each new row with each row of the fit. A function takes two
        matrices, like the functions of ``sklearn.metrics.pairwise``. A kernel that is not positive
        semidefinite has no feature space, and no bound holds. A precomputed kernel causes a warning
        if K(x, z)² > K(x, x)·K(z, z) for two rows, or if a sample of 500 rows and columns has a
        negative eigenvalue.
    gamma : float or None, default=None
        γ of "rbf" and "poly"; None means 1/n_features.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1.0
        The constant of "poly".
    fit_intercept : bool, default=True
        Whether 1 is added to the kernel, which gives the rules a bias.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, except "max_distance" and "max_residual".
    average : bool, default=False
        Whether to predict with the average of the coefficients over all steps instead of the last
        coefficients.
    max_epochs : int or None, default=1000
        A limit on the passes over the data; None for no limit.
    max_seconds, multi_class, class_weight
        As in `Perceptron`.
    warm_start : bool, default=False
        Whether `fit` starts from the model of the last fit. Counts continue too. Not available with
        a precomputed kernel.
    cache_mb : float, default=200.0
        Memory for rows of the kernel matrix, in megabytes. The run needs the row of the kernel
        matrix for each mistake. Rows that do not fit into this memory are computed again.
    trace : bool, default=False
        Whether to record every update in ``trace_``.
    random_state, verbose
        As in `Perceptron`.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    n_support_ : int
        The number of support vectors: rows on which a rule was updated.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        The support vectors. The attribute is absent for a precomputed kernel, whose support vectors
        are the rows with positive ``update_counts_``.
    dual_coef_ : array of shape (n_rules, n_support)
        y_i·k_i for each support vector. These are integers, unless ``average=True`` or rows have
        weights.
    trace_ : Trace, or list of Trace for more than two classes
        One entry for each update; ``squared_norm`` is ‖w‖² in the feature space.

    See Also
    --------
    Perceptron : A linear rule in the original features.
    Forgetron : A kernel perceptron with a limited number of support vectors.

    References
    ----------
    Aizerman, M. A., Braverman, E. M. and Rozonoer, L. I. (1964). Theoretical foundations of the
    potential function method in pattern recognition learning. *Automation and Remote Control* 25,
    821-837.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # XOR
    >>> clf = nv.KernelPerceptron(order="cyclic").fit(X, y)
    >>> clf.predict(X), clf.n_mistakes_, clf.dual_coef_
    (array([0, 1, 1, 0]), 4, array([[-1.,  1.,  1., -1.]]))
    """

    kernel: str | Function = "rbf"
    _: KW_ONLY
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    fit_intercept: bool = True
    average: bool = False
    class_weight: ClassWeight = None
    cache_mb: float = 200.0
    trace: bool = False

    _model_class = KernelModel
    _rule_parameters = attrgetter("cache_mb", *KERNEL_PARAMETERS, *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        **ALLOWED_NUMBERS,
        "kernel": allowed_kernels(*KERNEL_NAMES, "precomputed"),
        "average": OnlineLearner._allowed["average"],
        "cache_mb": ABOVE_ZERO,
        "trace": BOOLEAN,
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @property
    def n_support_(self) -> int:
        """The number of support vectors."""
        return int(self._own_model("n_support_").coef.shape[1])

    @property
    def dual_coef_(self) -> Vector:
        """y_i·k_i of every rule and support vector, or its average."""
        return self._own_model("dual_coef_").dual_coef()

    @property
    def support_vectors_(self) -> Matrix:
        """The support vectors."""
        model = self._own_model("support_vectors_")
        if model.precomputed or model.support is None:
            raise AttributeError("A precomputed kernel has no rows: see update_counts_.")
        return model.support.copy()

    def _own_model(self, name: str) -> KernelModel:
        return cast(KernelModel, self._fitted(name))

    def _settings(self, n_features: int) -> dict[str, Any]:
        return kernel_settings(self, n_features) | {"cache_bytes": 1e6 * float(self.cache_mb)}

    def _prepare(self, X: MatrixLike, y: npt.ArrayLike | None) -> tuple[Rows, Model, Indices]:
        rows, model, codes = super()._prepare(X, y)
        if self.kernel == "precomputed":
            given = rows.X
            if given.shape[0] != given.shape[1]:
                raise ValueError(
                    f"X has shape {given.shape}: a precomputed kernel is a square matrix, with an "
                    "entry for each pair of rows."
                )
            gram = as_dense(given, np.float64)
            if not seems_semidefinite(gram):
                warnings.warn(
                    "The precomputed kernel is not symmetric and positive semidefinite. It belongs "
                    "to no feature space, and no bound on the mistakes holds.",
                    stacklevel=3,
                )
        return rows, model, codes

    def _unclean(self, given: Rows) -> str:
        averaged = "" if self.average else " Try average=True."
        return f"The classes may not be separable in the feature space.{averaged}"


@dataclass(eq=False, repr=False)
class Forgetron(StateLearner):
    """A kernel perceptron with bounded memory: at most ``budget`` support vectors per rule.

    On a mistake the row becomes a support vector. If there are then more than ``budget`` support
    vectors, all coefficients are multiplied by a factor, which is as near to 1 as the bound allows,
    and the oldest support vector is removed (the self-tuned Forgetron of Dekel, Shalev-Shwartz
    and Singer 2008). Memory and time per row are constant, so that a stream may be endless.

    Guarantee: let the budget B be at least 83, and let g be any function in the feature space with
    ‖g‖ ≤ ¼·√((B + 1)/ln(B + 1)). Then the learner makes at most 2‖g‖² + 4·Σℓ mistakes, where
    ℓ = max(0, 1 − y·g(x)) is summed over the mistakes (`novikoff.bounds.forgetron_bound`). For
    smaller budgets no guarantee is known. Rows and classes cannot have weights, because the proof
    needs every support vector to begin with the coefficient 1 or −1.

    Parameters
    ----------
    budget : int, default=100
        The largest number of support vectors of a rule.
    kernel : {"rbf", "linear", "poly"} or function, default="rbf"
        As in `KernelPerceptron`. Kernels other than "rbf" are normalised to K(x, x) = 1. There is
        no intercept.
    gamma, degree, coef0
        As in `KernelPerceptron`.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, except "max_distance" and "max_residual".
    max_epochs : int or None, default=10
        A limit on the passes over the data; None for no limit. A clean cycle is rare as soon as
        support vectors are removed.
    max_seconds, multi_class, random_state, verbose
        As in `Perceptron`.
    warm_start : bool, default=False
        Whether `fit` starts from the model of the last fit. Counts continue too.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    n_support_ : array of shape (n_rules,)
        The number of support vectors of each rule.
    support_vectors_ : array of shape (n_support, n_features), or list of them
        The support vectors, the oldest first.
    dual_coef_ : array of shape (n_support,), or list of them
        The coefficients of the support vectors, y·σ with 0 < σ ≤ 1.
    damage_ : array of shape (n_rules,)
        Q, which measures by how much the removal of support vectors has changed the rule. It is at
        most 15/32 of the number of mistakes.

    See Also
    --------
    KernelPerceptron : A learner that keeps every row on which it makes a mistake.

    References
    ----------
    Dekel, O., Shalev-Shwartz, S. and Singer, Y. (2008). The Forgetron: a kernel-based perceptron on
    a budget. *SIAM Journal on Computing* 37(5), 1342-1372.

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

    _model_class = ForgetronModel
    _rule_parameters = attrgetter("budget", *KERNEL_PARAMETERS, *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        **ALLOWED_NUMBERS,
        "budget": COUNT,
        "kernel": allowed_kernels(*KERNEL_NAMES),
    }

    def fit(self, X: MatrixLike, y: npt.ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Learn from rows until a cycle makes no update, or until a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
            The fitted estimator. After an exception other than Ctrl-C it is unchanged.
        """
        return self._fit(X, y)

    @available_if(check_can_stream)
    def partial_fit(
        self, X: MatrixLike, y: npt.ArrayLike | None = None, classes: npt.ArrayLike | None = None
    ) -> Self:
        """Learn from each row once, in the given order: a piece of a stream.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            The labels of these rows.
        classes : array-like, optional
            All labels that the stream will have. The first call needs them.

        Returns
        -------
        self
            The estimator. After an exception it is unchanged.
        """
        return self._partial_fit(X, y, classes)

    @property
    def n_support_(self) -> Indices:
        """The number of support vectors of each rule."""
        return self._own_model("n_support_").ring[:, SIZE].astype(np.int64)

    @property
    def damage_(self) -> Vector:
        """Q of each rule: by how much the removal of support vectors has changed the rule."""
        return self._own_model("damage_").ring[:, DAMAGE].copy()

    @property
    def support_vectors_(self) -> Vector | list[Vector]:
        """The support vectors of each rule, the oldest first."""
        model = self._own_model("support_vectors_")
        return one_or_each([model.support_of(rule)[0] for rule in range(model.n_rules)])

    @property
    def dual_coef_(self) -> Vector | list[Vector]:
        """The coefficients of the support vectors of each rule."""
        model = self._own_model("dual_coef_")
        return one_or_each([model.support_of(rule)[1] for rule in range(model.n_rules)])

    def _own_model(self, name: str) -> ForgetronModel:
        return cast(ForgetronModel, self._fitted(name))

    def _settings(self, n_features: int) -> dict[str, Any]:
        return kernel_settings(self, n_features) | {"budget": int(self.budget)}

    def _unclean(self, given: Rows) -> str:
        return "A full budget rarely ends with one; novikoff.KernelPerceptron keeps all rows."
