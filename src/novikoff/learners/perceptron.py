"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from novikoff.core.counts import Trace
from novikoff.core.linear_model import LinearModel
from novikoff.core.orders import BY_NAME, MaxDistance, MaxResidual, Order, named
from novikoff.core.rows import Vector
from novikoff.core.runs import Run
from novikoff.core.schemes import Scheme, scheme_for
from novikoff.core.stops import Limits, Stop
from novikoff.core.training import Plan, Training, load_kernels, train
from novikoff.core.updates import perceptron
from novikoff.core.voting import votes_of
from novikoff.learners.inputs import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT_OR_NONE,
    JOBS,
    MARGIN,
    RANDOM_STATE,
    SECONDS,
    STEP,
    VERBOSE,
    Labels,
    MatrixLike,
    Rule,
    check_classes,
    check_parameters,
    check_reference,
    check_start,
    check_weights,
    pose_unsigned,
    threads_of,
    wants_trace,
    words,
)
from novikoff.learners.streaming import StreamLearner

# So many votes are put together well within a second, after Ctrl-C.
_MOST_VOTES = 4_000_000


class Perceptron(StreamLearner):
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
    order : str or object of `novikoff.orders`, default="permuted"
        Which row comes next (A4): "cyclic", "fixed" (one random cycle), "permuted" (a fresh
        one each epoch), "blocks" (blocks of neighbouring rows; the same for large data,
        several times faster), "random" (independent draws), "max_distance",
        "max_residual" (the worst row).
    average : {False, "averaged", "voted"}, default=False
        Predict with the last weights, their average over all steps, or the vote of all
        (A9; Freund and Schapire 1999). The last weights end best on separable data, the
        others on data that is not.
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
        the training rows. False once more has been learned from a stream.
    update_counts_ : array of shape (n_samples,), or CSR array of shape (n_rules, n_samples)
        Updates on each row: the dual variables k_i of w = w₀ + μ·Σ k_i·a_i (A8). Gone
        once more has been learned from a stream.
    trace_ : Trace, or list of Trace for more than two classes
        With ``trace``: one entry per update.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import novikoff as nv
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, [0, 0, 0, 1])  # AND
    >>> clf.predict(X), clf.converged_, clf.n_mistakes_
    (array([0, 0, 0, 1]), True, 18)
    """

    update_counts_: npt.NDArray[np.int32] | sp.csr_array
    trace_: Trace | list[Trace]

    _rules: ClassVar[Mapping[str, Rule]] = {
        "fit_intercept": BOOLEAN,
        "margin": MARGIN,
        "step": STEP,
        "order": Rule(
            lambda order: (
                (isinstance(order, str) and order in BY_NAME)
                or isinstance(order, MaxDistance | MaxResidual)
                or (hasattr(order, "epochs") and not isinstance(order, type))
            ),
            f"one of {', '.join(BY_NAME)}, or an object of novikoff.orders",
        ),
        "average": Rule(
            lambda average: average is False or average in ("averaged", "voted"),
            "False, 'averaged' or 'voted'",
        ),
        "max_epochs": COUNT_OR_NONE,
        "max_updates": COUNT_OR_NONE,
        "max_seconds": SECONDS,
        "multi_class": words("ovr", "ovo"),
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOLEAN,
        "trace": Rule(
            lambda trace: isinstance(trace, bool | np.bool_) or hasattr(trace, "__len__"),
            "True, False or a reference w*",
        ),
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        margin: float = 0.0,
        step: float = 1.0,
        order: str | Order = "permuted",
        average: Literal[False, "averaged", "voted"] = False,
        max_epochs: int | None = 1000,
        max_updates: int | None = None,
        max_seconds: float | None = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
        class_weight: Mapping[Hashable, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        trace: bool | npt.ArrayLike = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.margin = margin
        self.step = step
        self.order = order
        self.average = average
        self.max_epochs = max_epochs
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.trace = trace
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
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
            too, are read in place.
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
            On Ctrl-C, within a second; the estimator then holds what it has learned (after some
            millions of updates that is the last weights, not their votes). As after any other
            exception it is what it was before if the training had not begun.
        """
        with self._all_or_nothing():
            check_parameters(self, self._rules)
            before = self._model if self.warm_start and "_held" in self.__dict__ else None
            rows, classes, codes = check_classes(self, X, y)
            scheme = scheme_for(len(classes), self.multi_class)
            shape = scheme.sides.shape[1], rows.shape[1]
            start = check_start(coef_init, intercept_init, *shape, self.fit_intercept)
            if start is None and before is not None:
                start = _resumed(before, classes, scheme, rows.shape[1], self.fit_intercept)
            weights = check_weights(sample_weight, self.class_weight, classes, codes)
            if weights is not None and not weights.any():
                raise ValueError("All weights are zero: no row takes part.")
            reference = check_reference(self.trace, *shape[::-1], self.fit_intercept)
            problem = pose_unsigned(self, rows, self.fit_intercept)
            order = named(self.order)
            load_kernels(problem, scheme, order)
            limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
            plan = Plan(
                update=perceptron(self.margin, self.step),
                order=order,
                limits=limits,
                seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
                average=self.average == "averaged",
                trace=wants_trace(self.trace) or self.average == "voted",
                reference=reference,
                threads=threads_of(self.n_jobs),
                after_epoch=self._print_epoch if self.verbose else None,
            )
            training = train(problem, codes, scheme, plan, start=start, weights=weights)
            model = LinearModel.trained(
                training, classes, bool(self.fit_intercept), self.multi_class
            )
            hurried = limits.interrupted and model.n_updates > _MOST_VOTES
            if self.average == "voted" and not hurried:
                begin = np.zeros_like(model.W) if start is None else start
                model.votes = [
                    votes_of(trace, int(visited), w, rows, codes, sides, model.fit_intercept)
                    for trace, visited, w, sides in zip(
                        training.traces, model.totals[0], begin.T, model.sides.T, strict=True
                    )
                ]
            self._hold(model)
            self._open = False
            self._describe(training)
        if limits.interrupted:
            raise KeyboardInterrupt
        if not self.converged_:
            _warn(training.stops)
        return self

    def _describe(self, training: Training) -> None:
        """What a fit says of itself beside its model."""
        binary = training.W.shape[1] == 1
        self.n_iter_, self.converged_ = training.epochs, training.converged
        self.update_counts_ = training.counts.toarray()[0] if binary else training.counts
        self.__dict__.pop("trace_", None)
        if wants_trace(self.trace):
            self.trace_ = training.traces[0] if binary else training.traces

    def _print_epoch(self, run: Run) -> bool:
        if run.epochs % self.verbose == 0:
            print(f"epoch {run.epochs:,}: {run.updates:,} updates so far")
        return False


def _resumed(
    before: LinearModel, classes: Labels, scheme: Scheme, n_features: int, fit_intercept: bool
) -> Vector:
    """The weights of the last fit, to go on from."""
    if before.n_features != n_features or not np.array_equal(before.classes, classes):
        raise ValueError(
            "warm_start needs the classes and the number of features of the last fit: "
            f"{before.classes.tolist()} and {before.n_features}."
        )
    if before.scheme != scheme:
        raise ValueError("warm_start needs the multi_class of the last fit: its rules are others.")
    start = before.decisive()
    if not fit_intercept and start[-1].any():
        raise ValueError("warm_start needs an intercept of zero if fit_intercept=False.")
    return start


def _warn(stops: Sequence[Stop | None]) -> None:
    reasons = sorted({str(stop) for stop in stops if stop is not Stop.CLEAN})
    warnings.warn(
        f"The perceptron ended by {' and '.join(reasons)}, without a clean cycle: the data "
        "may not be linearly separable, or need more epochs (max_epochs). novikoff.separate tells "
        "which, with proof. Scaling the features to unit variance often helps; if no rule is "
        "perfect, novikoff.Pocket or average='averaged' give a better one than the last weights.",
        ConvergenceWarning,
        stacklevel=3,
    )
