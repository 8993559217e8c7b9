"""Learners in the space of a kernel: the kernel perceptron, and the Forgetron."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from novikoff.core.forgetron import DAMAGE, SIZE, ForgetronModel
from novikoff.core.kernel_perceptron import KernelModel
from novikoff.core.kernels import BY_NAME, Function, seems_semidefinite
from novikoff.core.model import Model
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.learners.base import one_or_each
from novikoff.learners.inputs import (
    BOOLEAN,
    COUNT,
    MARGIN,
    STEP,
    Allowed,
    ClassWeight,
    MatrixLike,
    optional,
)
from novikoff.learners.online import STRUCTURE, OnlineLearner, streams
from novikoff.learners.stateful import StateLearner


def allowed_kernels(*names: str) -> Allowed:
    """One of these kernels, or a function."""
    listed = ", ".join(map(repr, names))
    return Allowed(
        lambda kernel: kernel in names if isinstance(kernel, str) else callable(kernel),
        f"{listed} or a function of two matrices",
    )


KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")
ALLOWED_NUMBERS: Mapping[str, Allowed] = {"gamma": optional(STEP), "degree": COUNT, "coef0": MARGIN}


def kernel_settings(learner: Any, n_features: int) -> dict[str, Any]:
    """The kernel of a learner by its parameters."""
    if learner.gamma is None and n_features == 0 and learner.kernel in ("rbf", "poly"):
        raise ValueError(
            "gamma=None is 1/n_features, and a stream of dicts has no number of features: give a "
            "number."
        )
    gamma = 1.0 / max(1, n_features) if learner.gamma is None else float(learner.gamma)
    numbers = {"degree": int(learner.degree), "coef0": float(learner.coef0)}
    return {"kernel": learner.kernel, "gamma": gamma, **numbers}


@dataclass(eq=False, repr=False)
class KernelPerceptron(StateLearner):
    """The perceptron in the space of a kernel, f(x) = Σ k_i·y_i·K(x_i, x) (+ Σ k_i·y_i).

    It is the run of `Perceptron` with ⟨x, z⟩ replaced by K(x, z), told by the integer counts k_i of
    the mistakes on each row (A8). With the linear kernel it makes the same mistakes.

    Guarantee: if the classes are separable in the kernel's space with margin γ, at most R²/γ²
    mistakes, R² = max K(x_i, x_i), one more with an intercept. Two different rows never contradict
    each other for "rbf", unless their kernel is 1 in float64: a fit on noise still ends, by
    learning it by heart.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or function, default="rbf"
        exp(−γ·‖x − z‖²), ⟨x, z⟩, (γ·⟨x, z⟩ + coef0)^degree; the matrix of all K(x_i, x_j) in place
        of X (and of the kernels with the rows of the fit, to predict); or a function of two
        matrices, as those of ``sklearn.metrics.pairwise``. A kernel that is not positive
        semidefinite has no feature space, and no bound: of a precomputed one, a warning says so if
        two rows show it, K(x, z)² > K(x, x)·K(z, z), or the eigenvalues of 500 rows do.
    gamma : float or None, default=None
        γ of "rbf" and "poly"; None is 1/n_features.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    fit_intercept : bool, default=True
        Whether 1 is added to the kernel, which is a bias.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        As in `Perceptron`, but no maximal rule.
    average : bool or "averaged", default=False
        Predict with the average of the coefficients over all steps instead of the last
        coefficients; "averaged" means True.
    max_epochs : int or None, default=1000
        Limit on passes over the data; None for no limit.
    max_seconds, multi_class, class_weight
        As in `Perceptron`.
    warm_start : bool, default=False
        Whether `fit` goes on from what the last fit has learned; counts go on too. Not with
        a precomputed kernel.
    cache_mb : float, default=200.0
        Memory for rows of the kernel matrix. The run needs as many as there are mistaken rows; what
        does not fit is computed again.
    trace : bool, default=False
        Record every update in ``trace_``.
    random_state, verbose
        As in `Perceptron`.

    Attributes
    ----------
    classes_, n_updates_, n_mistakes_, n_iter_, converged_, update_counts_, random_state_
        As in `Perceptron`.
    n_support_ : int
        The number of support points: rows on which a rule was updated.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those points; none for a precomputed kernel, whose ``update_counts_`` tell them.
    dual_coef_ : array of shape (n_rules, n_support)
        y_i·k_i, integers but for ``average=True`` or weights.
    trace_ : Trace, or list of Trace for more than two classes
        One entry per update; ``squared_norm`` is ‖w‖² in the kernel's space.

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
    average: bool | Literal["averaged"] = False
    class_weight: ClassWeight = None
    cache_mb: float = 200.0
    trace: bool = False

    _of_update = attrgetter("cache_mb", *KERNEL_PARAMETERS, *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        **ALLOWED_NUMBERS,
        "kernel": allowed_kernels(*BY_NAME, "precomputed"),
        "average": OnlineLearner._allowed["average"],
        "cache_mb": STEP,
        "trace": BOOLEAN,
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @property
    def n_support_(self) -> int:
        """The number of support points."""
        return int(self._own_model("n_support_").coef.shape[1])

    @property
    def dual_coef_(self) -> Vector:
        """y_i·k_i of every rule and support point, or its average."""
        return self._own_model("dual_coef_").dual_coef()

    @property
    def support_vectors_(self) -> Matrix:
        """The support points."""
        model = self._own_model("support_vectors_")
        if model.precomputed or model.support is None:
            raise AttributeError("A precomputed kernel has no points: see update_counts_.")
        return model.support.copy()

    def _own_model(self, name: str) -> KernelModel:
        return cast(KernelModel, self._fitted(name))

    def _kind(self) -> type[Model]:
        return KernelModel

    def _settings(self, n_features: int) -> dict[str, Any]:
        return kernel_settings(self, n_features) | {"cache_bytes": 1e6 * float(self.cache_mb)}

    def _prepare(self, X: MatrixLike, y: npt.ArrayLike | None) -> tuple[Rows, Model, Indices]:
        rows, model, codes = super()._prepare(X, y)
        if self.kernel == "precomputed":
            given = rows.X
            if given.shape[0] != given.shape[1]:
                raise ValueError(
                    f"X has shape {given.shape}: a precomputed kernel is a square matrix, of the "
                    "rows of the fit with each other."
                )
            dense = given if isinstance(given, np.ndarray) else given.toarray()
            gram = dense.astype(np.float64, copy=False)
            if not seems_semidefinite(gram):
                warnings.warn(
                    "The precomputed kernel is not symmetric and positive semidefinite: it belongs "
                    "to no feature space, and no bound on the mistakes holds.",
                    stacklevel=3,
                )
        return rows, model, codes

    def _unclean(self, advice: str, given: Rows) -> str:
        averaged = "" if self.average else " Then average='averaged' often gives a better rule."
        return f"the classes may not be separable in the kernel's space{advice}.{averaged}"


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
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **StateLearner._allowed,
        **ALLOWED_NUMBERS,
        "budget": COUNT,
        "kernel": allowed_kernels(*BY_NAME),
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

    def _unclean(self, advice: str, given: Rows) -> str:
        return (
            f"a rule that forgets rarely gets all rows right{advice}; novikoff.KernelPerceptron "
            "forgets nothing."
        )
