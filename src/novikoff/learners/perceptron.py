"""The perceptron and the passive-aggressive learner, which differ in their update rules.

Each learner consists of its parameters and its update rule (`_update`).
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
from novikoff.learners.arrays import MatrixLike, check_remote, check_start
from novikoff.learners.base import check_parameters, linear, store_model
from novikoff.learners.online import (
    LIMITS_BY_STOP,
    STRUCTURE,
    OnlineLearner,
    Start,
    check_resumable,
)
from novikoff.learners.parameters import (
    ABOVE_ZERO,
    NOT_NEGATIVE,
    Allowed,
    ClassWeight,
    OrderLike,
    RandomState,
    one_of,
    seed_of,
)
from novikoff.proofs.remote import RemoteRows


@dataclass(kw_only=True, eq=False, repr=False)
class WeightLearner(OnlineLearner):
    """A learner whose model consists of weights, with the parameters of all such learners."""

    fit_intercept: bool = True
    order: OrderLike = "permuted"
    average: bool = False
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

    _learns_on_cluster: ClassVar[bool] = False  # whether rows of a cluster can be learned

    def fit(
        self,
        X: MatrixLike | RemoteRows,
        y: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle makes no update, or until a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Float32 and float64 arrays in C order and CSR matrices are read in place, even
            if they are memory-mapped. X may also be rows of a cluster, which contain their labels
            (`novikoff.cluster.rows`). The run is then iterative parameter mixing. In this
            case the estimator has ``mixed_updates_`` and does not have ``update_counts_``.
        y : array-like of shape (n_samples,)
            The labels.
        coef_init, intercept_init : array-like, optional
            Initial weights and biases, in the shapes of ``coef_`` and ``intercept_``.
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
            On Ctrl-C, within a second. The estimator then has the weights that it has learned so
            far. After any other exception the estimator is unchanged.
        """
        if isinstance(X, RemoteRows):
            return self._fit_remote(X, y, coef_init, intercept_init, sample_weight)
        return self._fit(X, y, sample_weight, (coef_init, intercept_init))

    def _first_model(self, blank: Model, before: Model | None, start: Start) -> Model:
        """The initial weights: zeros, the given weights, or the weights of the last fit."""
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
            check_parameters(self)
            if not self._learns_on_cluster:
                name = type(self).__name__
                raise TypeError(f"{name} does not learn from rows of a cluster; Perceptron does.")
            plain = {"average": False, "scale": None, "class_weight": None, "warm_start": False}
            labels = check_remote(self, rows, {**plain, "trace": False}, *others)
            if self.verbose:
                raise ValueError(
                    "verbose must be 0 for rows on a cluster: use progress= of "
                    "novikoff.cluster.rows."
                )
            if not isinstance(self.order, str) or isinstance(named(self.order), Greedy):
                raise ValueError(
                    "On a cluster the order must be a name: cyclic, fixed, permuted, blocks or "
                    "random."
                )
            model, seed = linear(self._blank(labels, rows.d)), seed_of(self.random_state)
            limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
            plan = Plan(self._update(), self._order(), limits, seed)
            run = rows.fit(plan, model.scheme, model.classes.tolist(), self.fit_intercept)
            model.W, model.totals = run.W, run.totals
            store_model(self, model, [str(name) for name in rows.names] if rows.named else None)
            self.n_iter_ = run.epochs
            self.converged_ = run.converged
            self.mixed_updates_ = np.array([float(value) for value in run.mixed_updates])
            self.random_state_ = seed
            self._forget("trace_", "update_counts_", "period_")
        limits.raise_if_interrupted()
        if not self.converged_:
            why = LIMITS_BY_STOP.get(run.stops[0], str(run.stops[0]))
            warnings.warn(
                f"The run ended at {why} without an epoch that classifies every row correctly. "
                "novikoff.separate decides whether a rule can do so.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(WeightLearner):
    """Rosenblatt's perceptron: on a mistake y·f(x) ≤ δ, w ← w + μ·y·x and b ← b + μ·y.

    On separable data a run from zero weights with δ = 0, ``class_weight=None`` and no
    ``sample_weight`` makes at most R²/γ² updates, in every order of the rows, and then classifies
    every row correctly (Novikoff 1962). Here R is the largest norm of a row [x, 1], and γ is the
    margin. For other initial weights and other δ see `novikoff.bounds.general_bound`. A fit never
    stops early because a loss no longer improves. It ends with a clean cycle, in which no row
    causes an update, or it warns that it reached a limit.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the rules have a bias b. The bias is learned like the weight of a column of ones.
    threshold : float, default=0.0
        The threshold δ ≥ 0: a row with y·f(x) ≤ δ causes an update.
    step_size : float, default=1.0
        The step size μ > 0. From zero weights with ``threshold=0`` it changes no prediction.
    order : str, list of row numbers or object of `novikoff.orders`, default="permuted"
        The order in which rows are visited: "cyclic", "fixed" (the same random order in every
        epoch), "permuted" (a new random order in every epoch), "blocks" (a random order of blocks
        of neighbouring rows, several times faster on large data), "random" (independent draws),
        "max_distance" or "max_residual" (always the worst row). A list such as [3, 1, 0, 2] is a
        cycle that is repeated; it must contain every row.
    average : bool, default=False
        Whether to predict with the average of the weights over all steps (Freund and Schapire
        1999) instead of the last weights. The last weights are best on separable data, the average
        is often better on other data.
    scale : "standard" or None, default=None
        "standard" runs on features that are scaled to mean 0 and variance 1. In a sparse matrix,
        and without an intercept, features are divided but not shifted. The mistake bound R²/γ²
        depends on scale and translation, and a run on standardised features often needs far
        fewer updates. ``coef_`` and ``intercept_`` are for the original features. Counts,
        ``threshold`` and the trace with its w* are about the standardised features. A stream cannot
        be scaled.
    max_epochs : int or None, default=1000
        A limit on the passes over the data; None for no limit.
    max_updates : int or None, default=None
        A limit on the updates of each rule.
    max_seconds : float or None, default=None
        A limit on the time, not counting the time to compile loops.
    multi_class : {"ovr", "ovo"}, default="ovr"
        For more than two classes: one rule for each class against the rest (one-vs-rest), or one
        rule for each pair of classes (one-vs-one).
    class_weight : dict, "balanced" or None, default=None
        A factor for each class, by which the steps on its rows are multiplied.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the last fit.
    trace : bool or array-like, default=False
        Whether to record every update in ``trace_``. If a reference w* is given instead of True,
        the trace also has ⟨w*, w⟩ and the angle between w* and w. w* has n_features entries,
        or one more for a bias.
    random_state : int, RandomState or None, default=None
        Random seed of the order.
    n_jobs : int or None, default=None
        The number of threads for rules that are trained one by one: one-vs-one rules, rules with a
        trace, and rules of the orders "max_distance" and "max_residual". The result does not depend
        on it.
    verbose : int, default=0
        Print a line after every ``verbose`` epochs; 0 prints nothing.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    coef_ : array of shape (n_rules, n_features)
        The weights of each rule. Two classes need one rule.
    intercept_ : array of shape (n_rules,)
        The bias of each rule.
    n_updates_ : int
        The number of updates, summed over the rules. Under the conditions above, the convergence
        theorem bounds the updates of each rule.
    n_mistakes_ : int
        The number of updates on misclassified rows, y·f(x) ≤ 0. If ``threshold`` is 0, every update
        corrects a mistake.
    n_iter_ : int
        The largest number of epochs that a rule needed; for streams, the number of calls of
        `partial_fit`.
    converged_ : bool
        Whether the fit ended with a clean cycle, and y·f(x) > δ for the last weights on all
        training rows (the original rows, if the run was on scaled rows). False after `partial_fit`
        or `learn_one`.
    update_counts_ : array of shape (n_samples,), or CSR array of shape (n_rules, n_samples)
        The number k_i of updates on each row: the dual variables in w = w₀ + μ·Σ k_i·a_i.
        Absent after `partial_fit` or `learn_one`.
    trace_ : Trace, or list of Trace for more than two classes
        A record with one entry for each update, if ``trace`` is not False. ``trace_.weights(t)`` is
        w_t with the bias as its last entry, ``trace_.average(t)`` is the running average.
    period_ : int or None, or list of them for more than two classes
        The number of epochs after which the weights repeat forever, or None. A period is found
        only if it is exact: rows and weights must be integers, and each epoch must visit the rows
        in the same order or take the worst row. A period proves that no hyperplane has every row of
        the rule's classes strictly on its side.
    random_state_ : int
        The integer ``random_state`` that repeats this fit.
    mixed_updates_ : array of shape (n_rules,)
        Σ μ_i·k_i over all epochs and shards, which is at most R²/γ² for each rule if δ = 0. The
        attribute exists only after a fit on a cluster.
    model_ : Model
        The model of `novikoff.core`, which contains all arrays and counts.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    separate : Decide whether any hyperplane classifies every row correctly.
    Pocket : A rule with few mistakes on inseparable data.
    MaxMargin : The hyperplane with the largest margin.
    PassiveAggressive : A learner with larger steps, for streams that drift.

    References
    ----------
    Rosenblatt, F. (1958). The perceptron: a probabilistic model for information storage and
    organization in the brain. *Psychological Review* 65(6), 386-408.

    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium
    on the Mathematical Theory of Automata* 12, 615-622.

    Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron
    algorithm. *Machine Learning* 37(3), 277-296.

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

    threshold: float = 0.0
    step_size: float = 1.0

    _learns_on_cluster = True
    _rule_parameters = attrgetter("threshold", "step_size", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **WeightLearner._allowed,
        "threshold": NOT_NEGATIVE,
        "step_size": ABOVE_ZERO,
    }

    def _update(self) -> Update:
        return perceptron(self.threshold, self.step_size)


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(WeightLearner):
    """The passive-aggressive learner, which gives each new row a margin of 1 by the least change.

    A row with y·f(x) < 1 causes an update w ← w + τ·a with a = y·[x, 1]. With the hinge loss
    ℓ = max(0, 1 − y·f(x)), the step sizes of its variants are (Crammer et al. 2006)

    * PA: τ = ℓ/‖a‖²
    * PA-I: τ = min(C, ℓ/‖a‖²)
    * PA-II: τ = ℓ/(‖a‖² + 1/(2C))

    Guarantees: consider one pass from zero weights, with ``class_weight=None`` and no
    ``sample_weight``. Let R = max‖a‖, let u be any weights, and let ℓ* be the losses of u on the
    rows (`novikoff.bounds`).

    * PA has Σℓ² ≤ R²‖u‖² if all ℓ* = 0.
    * PA-I makes at most max(R², 1/C)·(‖u‖² + 2C·Σℓ*) mistakes.
    * PA-II has Σℓ² ≤ (R² + 1/(2C))·(‖u‖² + 2C·Σℓ*²).

    A fit rarely ends with a clean cycle, because this needs y·f(x) ≥ 1 on all rows to the last bit.
    Rows whose ‖a‖² exceeds the range of float64 are rejected with an error. PA and PA-I make no
    step on a row whose ‖a‖² underflows to 0, which happens without an intercept if all entries are
    below 1e-162.

    Parameters
    ----------
    variant : {"PA-I", "PA", "PA-II"}, default="PA-I"
        The step size: bounded by C, without a bound, or reduced by C.
    C : float, default=1.0
        The larger C is, the more a single row may move the weights. PA does not use it.
    fit_intercept, order, average, scale, max_updates, max_seconds, multi_class, class_weight, \
warm_start, trace, random_state, n_jobs, verbose
        As in `Perceptron`.
    max_epochs : int or None, default=100
        A limit on the passes over the data; None for no limit.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, converged_, update_counts_, trace_, random_state_
        As in `Perceptron`; ``converged_`` means y·f(x) ≥ 1 for all rows.
    n_updates_ : int
        The number of updates, summed over the rules.
    n_mistakes_ : int
        The number of updates on misclassified rows, y·f(x) ≤ 0.

    See Also
    --------
    Perceptron : A learner whose step size is constant.
    regret : Compare the mistakes of a learner with the mistakes of the best fixed rule.

    References
    ----------
    Crammer, K., Dekel, O., Keshet, J., Shalev-Shwartz, S. and Singer, Y. (2006). Online
    passive-aggressive algorithms. *Journal of Machine Learning Research* 7, 551-585.

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

    _rule_parameters = attrgetter("variant", "C", *STRUCTURE)
    _allowed: ClassVar[Mapping[str, Allowed]] = {
        **WeightLearner._allowed,
        "variant": one_of("PA-I", "PA", "PA-II"),
        "C": ABOVE_ZERO,
    }

    def _update(self) -> Update:
        if self.variant == "PA-I":
            return passive_aggressive(cap=self.C)
        if self.variant == "PA-II":
            return passive_aggressive(slack=1.0 / (2.0 * float(self.C)))
        return passive_aggressive()
