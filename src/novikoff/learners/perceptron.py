"""Learners of weights alone: the perceptron, and those with another update rule.

Each is its parameters and its `_update`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from novikoff.core.model import Model
from novikoff.core.orders import Greedy, named
from novikoff.core.runs import Plan
from novikoff.core.stops import Limits
from novikoff.core.updates import Update, passive_aggressive, perceptron
from novikoff.learners.base import linear
from novikoff.learners.inputs import (
    MARGIN,
    STEP,
    Allowed,
    ClassWeight,
    MatrixLike,
    OrderLike,
    RandomState,
    check_parameters,
    check_remote,
    check_start,
    seed_of,
    words,
)
from novikoff.learners.online import (
    LIMITS_BY_STOP,
    STRUCTURE,
    OnlineLearner,
    Start,
    check_resumable,
)
from novikoff.proofs.remote import RemoteRows


@dataclass(kw_only=True, eq=False, repr=False)
class WeightLearner(OnlineLearner):
    """A learner that keeps weights alone, with the parameters of all such."""

    fit_intercept: bool = True
    order: OrderLike = "permuted"
    average: bool | Literal["averaged"] = False
    scale: Literal["standard"] | None = None
    max_epochs: int | None = 1000
    max_updates: int | None = None
    max_seconds: float | None = None
    multi_class: Literal["ovr", "ovo"] = "ovr"
    class_weight: ClassWeight = None
    warm_start: bool = False
    trace: bool | npt.ArrayLike = False
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: int = 0

    _mixes: ClassVar[bool] = False  # whether it learns by parameter mixing from a cluster

    def fit(
        self,
        X: MatrixLike | RemoteRows,
        y: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Float32 and float64 arrays in C order and CSR matrices, memory-mapped ones
            too, are read in place. Or the rows of a cluster, which have their labels with them
            (`novikoff.cluster.rows`): then the run is one of iterative parameter mixing (B11),
            ``mixed_updates_`` is ΣΣ μ_i·k_i ≤ R²/γ² of each rule, and rows are not counted.
        y : array-like of shape (n_samples,)
            The labels.
        coef_init, intercept_init : array-like, optional
            The weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the steps; a row of weight 0 does not take part.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, within a second; the estimator then holds what it has learned. As after any
            other exception it is what it was before if the training had not begun.
        """
        if isinstance(X, RemoteRows):
            return self._fit_remote(X, y, coef_init, intercept_init, sample_weight)
        return self._fit(X, y, sample_weight, (coef_init, intercept_init))

    def _first_model(self, blank: Model, before: Model | None, start: Start) -> Model:
        """Blank weights, those given, or those that predict after the fit before."""
        model = linear(blank)
        W = check_start(*start, model.n_rules, model.n_features, self.fit_intercept)
        if W is None and before is not None:
            check_resumable(before, blank)
            W = before.prediction_weights()
            if not model.fit_intercept and W[-1].any():
                raise ValueError("warm_start needs an intercept of zero if fit_intercept=False.")
        if W is not None:
            model.W[:] = W
        return model

    def _fit_remote(self, rows: RemoteRows, *others: object) -> Self:
        """Learn from rows on a cluster."""
        with self._all_or_nothing():
            check_parameters(self, self._allowed)
            if not self._mixes:
                name = type(self).__name__
                raise TypeError(f"{name} does not learn from rows of a cluster; Perceptron does.")
            plain = {"average": False, "scale": None, "class_weight": None, "warm_start": False}
            labels = check_remote(self, rows, {**plain, "trace": False}, *others)
            if self.verbose:
                raise ValueError("verbose is not known on a cluster: its rows have a progress=.")
            if not isinstance(self.order, str) or isinstance(named(self.order), Greedy):
                raise ValueError("On a cluster the order is one by name that looks at each row.")
            model, seed = linear(self._blank(labels, rows.d)), seed_of(self.random_state)
            limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
            plan = Plan(self._update(), self._order(), limits, seed)
            run = rows.fit(plan, model.scheme, model.classes.tolist(), self.fit_intercept)
            model.W, model.totals = run.W, run.totals
            self._take(model, [str(name) for name in rows.names] if rows.named else None)
            self._open = False
            self.n_iter_ = run.epochs
            self.converged_ = run.converged
            self.mixed_updates_ = np.array([float(value) for value in run.mixed_updates])
            self.random_state_ = seed
            self._forget("trace_", "update_counts_", "period_")
        if limits.interrupted:
            raise KeyboardInterrupt
        if not self.converged_:
            why = LIMITS_BY_STOP.get(run.stops[0], str(run.stops[0]))
            warnings.warn(
                f"The run ended at {why} without an epoch that has every row right; "
                "novikoff.separate tells whether there can be one.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(WeightLearner):
    """Rosenblatt's perceptron: on a mistake y·f(x) ≤ δ, w ← w + μ·y·x and b ← b + μ·y.

    On separable data it ends with a clean cycle after at most R²/γ² updates (from zero
    weights with δ = 0), whatever the order of the rows: Novikoff's theorem (A2, B1).
    It never stops early on a loss; a fit that ends without a clean cycle warns.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b. It is learned like the weight of a column of ones (A3).
    margin : float, default=0.0
        The threshold δ ≥ 0 of a mistake.
    step : float, default=1.0
        The step μ > 0. From zero weights with ``margin=0`` it changes no prediction (B6).
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        Which row comes next (A4): "cyclic", "fixed" (one random cycle), "permuted" (a fresh
        one each epoch), "blocks" (blocks of neighbouring rows; the same for large data,
        several times faster), "random" (independent draws), "max_distance",
        "max_residual" (the worst row). A list such as [3, 1, 0, 2] is one cycle, repeated;
        every row must be in it.
    average : bool or "averaged", default=False
        Predict with the average of the weights over all steps (A9; Freund and Schapire 1999)
        instead of the last weights; "averaged" means True. The last weights are best on separable
        data, the average is often better on other data.
    scale : "standard" or None, default=None
        Whether the run sees features of mean 0 and variance 1 (sparse ones, and those of a fit
        without intercept, are only divided), which often needs far fewer updates: R²/γ² depends
        on scale and translation (B6). ``coef_`` and ``intercept_`` are for the features as
        given; counts, ``margin``, and the trace with its w* are those of the run. Not for streams.
    max_epochs : int or None, default=1000
        Limit on passes over the data; None for no limit.
    max_updates : int or None, default=None
        Limit on updates, of each binary problem.
    max_seconds : float or None, default=None
        Limit on time, not counting a first compilation.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One rule for each class against the rest, or for each pair of classes (A7).
    class_weight : dict, "balanced" or None, default=None
        Factors on the steps by class.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the last fit.
    trace : bool or array-like, default=False
        Record every update in ``trace_``. Given a reference w*, of n_features entries, or
        one more for its bias if there is an intercept, ⟨w*, w⟩ and the angle too (B3).
    random_state : int, RandomState or None, default=None
        The seed of the order.
    n_jobs : int or None, default=None
        Threads for rules that are trained each for itself: those of one-vs-one, of a trace, of
        a maximal rule. The result is the same.
    verbose : int, default=0
        Print a line every so many epochs.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_rules, n_features)
        The weights: one rule for two classes, else one for each class or pair.
    intercept_ : array of shape (n_rules,)
        The biases.
    n_updates_ : int
        Updates made, summed over the binary problems: what the theorem counts.
    n_mistakes_ : int
        Those made on a row that was on the wrong side, y·f(x) ≤ 0; all of them if
        ``margin`` is 0.
    n_iter_ : int
        Epochs begun, the most of any rule; for streams, calls of `partial_fit`.
    converged_ : bool
        Whether the fit ended with a clean cycle: for the last weights, every y·f(x) > δ on
        the training rows, as given too if they were scaled. False once more has been learned
        from a stream.
    update_counts_ : array of shape (n_samples,), or CSR array of shape (n_rules, n_samples)
        Updates on each row: the dual variables k_i of w = w₀ + μ·Σ k_i·a_i (A8). Gone
        once more has been learned from a stream.
    trace_ : Trace, or list of Trace for more than two classes
        With ``trace``: one entry per update; ``trace_.weights(t)`` is w_t, the bias last, and
        ``trace_.average(t)`` the running average.
    period_ : int or None, or list of them for more than two classes
        The epochs after which the weights repeat for ever, found where it is exact (B8): rows and
        weights are integers and each epoch is the same cycle, or takes the worst row. It proves
        that no hyperplane has every row of the rule's classes strictly on its side.
    random_state_ : int
        The random_state that repeats this fit.
    mixed_updates_ : array of shape (n_rules,)
        After a fit on a cluster: the updates as mixing counts them, at most R²/γ² of each rule.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import novikoff as nv
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, [0, 0, 0, 1])  # AND
    >>> clf.predict(X), clf.converged_, clf.n_mistakes_
    (array([0, 0, 0, 1]), True, 18)
    >>> far = [[1000.0, 0.1], [1001.0, 0.2], [1002.0, 0.1]]
    >>> clf = nv.Perceptron(scale="standard", order="cyclic").fit(far, [0, 0, 1])
    >>> clf.predict(far), clf.converged_
    (array([0, 0, 1]), True)
    """

    margin: float = 0.0
    step: float = 1.0

    _mixes = True
    _of_update = attrgetter("margin", "step", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **WeightLearner._allowed,
        "margin": MARGIN,
        "step": STEP,
    }

    def _update(self) -> Update:
        return perceptron(self.margin, self.step)


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(WeightLearner):
    """Passive-aggressive: on a margin y·f(x) < 1, the nearest weights that make it 1.

    With the loss ℓ = max(0, 1 − y·f(x)) and a = y·[x, 1], w ← w + τ·a with (A9; Crammer et al.
    2006)

    * PA: τ = ℓ/‖a‖²
    * PA-I: τ = min(C, ℓ/‖a‖²)
    * PA-II: τ = ℓ/(‖a‖² + 1/(2C))

    Guarantees for one pass from zero weights, any u, R = max‖a‖ and the losses ℓ* of u on the rows:
    PA has Σℓ² ≤ R²‖u‖² if all ℓ* = 0; PA-I makes at most max(R², 1/C)·(‖u‖² + 2C·Σℓ*) mistakes;
    PA-II has Σℓ² ≤ (R² + 1/(2C))·(‖u‖² + 2C·Σℓ*²) (`novikoff.bounds`).

    It learns from every row within the margin, so that a fit rarely ends with a clean cycle: that
    would need every y·f(x) ≥ 1 to the last bit. Rows whose ‖a‖² is beyond float64 are refused; PA
    and PA-I do not move along one whose ‖a‖² is 0 there (no intercept, entries below 1e-162).

    Parameters
    ----------
    variant : {"PA-I", "PA", "PA-II"}, default="PA-I"
        Whether steps are bounded by C, not at all, or made smaller throughout.
    C : float, default=1.0
        The larger, the more a single row may move the weights; PA does not use it.
    fit_intercept, order, average, scale, max_updates, max_seconds, multi_class, class_weight, \
warm_start, trace, random_state, n_jobs, verbose
        As in `Perceptron`.
    max_epochs : int or None, default=100
        Limit on passes over the data; None for no limit.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, converged_, update_counts_, trace_, random_state_
        As in `Perceptron`; ``converged_`` means y·f(x) ≥ 1 for all rows.
    n_updates_ : int
        Updates made, summed over the binary problems.
    n_mistakes_ : int
        Those made on a row that was on the wrong side, y·f(x) ≤ 0.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0.0, 2.0], [1.0, 0.0], [3.0, 1.0]], ["left", "right", "right"]
    >>> clf = nv.PassiveAggressive().partial_fit(X, y, classes=["left", "right"])
    >>> clf.predict(X).tolist(), clf.n_updates_, clf.n_mistakes_
    (['left', 'right', 'right'], 2, 2)
    """

    variant: Literal["PA-I", "PA", "PA-II"] = "PA-I"
    C: float = 1.0
    max_epochs: int | None = 100

    _of_update = attrgetter("variant", "C", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **WeightLearner._allowed,
        "variant": words("PA-I", "PA", "PA-II"),
        "C": STEP,
    }

    def _update(self) -> Update:
        if self.variant == "PA-I":
            return passive_aggressive(cap=self.C)
        if self.variant == "PA-II":
            return passive_aggressive(slack=1.0 / (2.0 * float(self.C)))
        return passive_aggressive()
