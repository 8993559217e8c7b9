"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

from novikoff.core import updates
from novikoff.core.blocks import Blocks
from novikoff.core.ledger import Run
from novikoff.core.orders import BY_NAME, MaxDistance, MaxResidual, Order, named
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits, Stop
from novikoff.learners.blockwise import Passes, classes_of, meet, refuse_beside_blocks
from novikoff.learners.inputs import (
    Labels,
    MatrixLike,
    check_classes,
    check_reference,
    check_start,
    check_weights,
    pose_unsigned,
    wants_trace,
)
from novikoff.learners.linear import MOST
from novikoff.learners.online import Rules
from novikoff.learners.progress import Progress, print_epoch
from novikoff.learners.schemes import scheme_for
from novikoff.learners.streaming import StreamLearner, all_or_nothing
from novikoff.learners.threads import effective_threads
from novikoff.learners.training import Plan, train
from novikoff.learners.voting import votes_of

# So many votes are put together well within a second, after Ctrl-C.
_MOST_VOTES = 4_000_000


class Perceptron(CallbackSupportMixin, StreamLearner):
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
        With 2 or more, a second thread reads rows ahead, and separate binary problems
        run in parallel; the result is the same.
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

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "fit_intercept": ["boolean"],
        "margin": [Interval(Real, 0, MOST, closed="both")],
        "step": [Interval(Real, 0, MOST, closed="right")],
        "order": [StrOptions(set(BY_NAME)), HasMethods("epochs"), MaxDistance, MaxResidual],
        "average": [StrOptions({"averaged", "voted"}), Options(bool, {False})],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "max_updates": [Interval(Integral, 1, None, closed="left"), None],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "trace": ["boolean", "array-like"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
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

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike | Blocks,
        y: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or blocks
            The rows. Float32 and float64 arrays in C order and CSR matrices are read in
            place. Blocks, such as `novikoff.data.blocks` makes, are gone through as often
            as there are epochs, one in memory at a time; the order is that within a block.
        y : array-like of shape (n_samples,)
            The labels; blocks have their own.
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
        limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
        with all_or_nothing(self):
            if isinstance(X, Blocks):
                refuse_beside_blocks(
                    y=y,
                    coef_init=coef_init,
                    intercept_init=intercept_init,
                    sample_weight=sample_weight,
                    class_weight=self.class_weight,
                    warm_start=self.warm_start,
                    trace=wants_trace(self.trace),
                )
                stops = self._fit_blocks(X, limits)
            else:
                stops = self._fit(X, y, coef_init, intercept_init, sample_weight, limits)
        if limits.interrupted:
            raise KeyboardInterrupt
        if not self.converged_:
            _warn(stops)
        return self

    def _fit_blocks(self, blocks: Blocks, limits: Limits) -> Sequence[Stop | None]:
        if self.average == "voted":
            raise ValueError(
                "The voted perceptron keeps the rows of all its updates, which blocks cannot: "
                "use average='averaged'."
            )
        classes = classes_of(blocks)
        if len(classes) < 2:
            raise ValueError(f"y contains one class only, {classes.tolist()[0]!r}: two are needed.")
        scheme = scheme_for(len(classes), self.multi_class)
        rules = Rules(
            scheme, meet(blocks, self), self.average == "averaged", bool(self.fit_intercept)
        )
        plan = Plan(
            update=updates.Perceptron(float(self.margin), float(self.step)),
            order=named(self.order),
            limits=limits,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            counts=False,
            average=rules.averages,
            threads=effective_threads(self.n_jobs),
        )
        passes, stop = Passes(blocks, self, classes, scheme, plan), None
        while stop is None:
            before = rules.tally[1].copy()
            stop = passes.make(rules)
            if stop is None and np.array_equal(before, rules.tally[1]):
                stop = Stop.CLEAN
            stop = stop or limits.reached(passes.begun)
            if self.verbose and passes.begun % self.verbose == 0:
                print_epoch(passes.begun, int(rules.tally[1].sum()))
        self._rules, self._votes, self._vocabulary, self._open = rules, [], None, False
        self._name_classes(classes)
        self.n_iter_, self.converged_, self._vouched = passes.begun, stop is Stop.CLEAN, True
        self.__dict__.pop("update_counts_", None)
        self.__dict__.pop("trace_", None)
        return [stop]

    def _fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
        limits: Limits,
    ) -> Sequence[Stop | None]:
        before: Rules | None = self.__dict__.get("_rules") if self.warm_start else None
        old_classes = self.classes_ if before is not None else None
        X, classes, codes = check_classes(self, X, y)
        y = np.asarray(y)
        scheme = scheme_for(len(classes), self.multi_class)
        rules = Rules(scheme, X.shape[1], self.average == "averaged", self.fit_intercept)
        start = check_start(coef_init, intercept_init, *rules.shape, self.fit_intercept)
        if start is None and before is not None and old_classes is not None:
            start = _resumed(before, old_classes, rules, classes)
            if not self.fit_intercept and start[-1].any():
                raise ValueError("warm_start needs an intercept of zero if fit_intercept=False.")
        weights = check_weights(sample_weight, self.class_weight, X, classes, codes)
        threads = effective_threads(self.n_jobs)
        problem = pose_unsigned(self, X, self.fit_intercept, threads)
        context = self._init_callback_context(max_subtasks=self.max_epochs)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def snapshot(run: Run) -> dict[str, object]:
            so_far = Rules(scheme, X.shape[1], rules.averages, self.fit_intercept)
            so_far.adopt(run.W.copy(), run.ledger.lazy.copy(), run.ledger.tally())
            return {"_rules": so_far, "_votes": [], "classes_": classes}

        listens = self.verbose or hasattr(self, "_skl_callbacks")
        plan = Plan(
            update=updates.Perceptron(float(self.margin), float(self.step)),
            order=named(self.order),
            limits=limits,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            average=rules.averages,
            trace=wants_trace(self.trace) or self.average == "voted",
            reference=check_reference(self.trace, *rules.shape[::-1], self.fit_intercept),
            threads=threads,
            after_epoch=Progress(self, context, X, y, snapshot, rules.shape[0], self.verbose)
            if listens
            else None,
        )
        training = train(problem, codes, scheme, plan, start=start, weights=weights)

        rules.adopt(training.W, training.lazy, training.tally)
        self._rules, self._votes, self._vocabulary, self._open = rules, [], None, False
        self._name_classes(classes)
        hurried = limits.interrupted and training.tally[1].sum() > _MOST_VOTES
        if self.average == "voted" and not hurried:
            rules.plain = False
            begin = np.zeros_like(rules.W) if start is None else start
            self._votes = [
                votes_of(
                    trace,
                    int(training.tally[0, rule]),
                    begin[:, rule],
                    X,
                    codes,
                    rules.sides[:, rule],
                    self.fit_intercept,
                )
                for rule, trace in enumerate(training.traces)
            ]
        self.n_iter_ = training.epochs
        self.converged_ = training.converged
        self._vouched = True
        counts = training.counts
        self.update_counts_ = counts.toarray()[0] if len(classes) == 2 else counts
        self.__dict__.pop("trace_", None)
        if wants_trace(self.trace):
            self.trace_ = training.traces[0] if len(classes) == 2 else training.traces
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return training.stops


def _resumed(before: Rules, old_classes: Labels, rules: Rules, classes: Labels) -> Vector:
    if before.n_features != rules.n_features or not np.array_equal(old_classes, classes):
        raise ValueError(
            "warm_start needs the classes and the number of features of the last fit: "
            f"{old_classes.tolist()} and {before.n_features}."
        )
    if before.scheme != rules.scheme:
        raise ValueError("warm_start needs the multi_class of the last fit: its rules are others.")
    return before.decisive()


def _warn(stops: Sequence[Stop | None]) -> None:
    reasons = sorted({str(stop) for stop in stops if stop is not Stop.CLEAN})
    warnings.warn(
        f"The perceptron ended by {' and '.join(reasons)}, without a clean cycle: the data "
        "may not be linearly separable, or need more epochs (max_epochs). novikoff.separate tells "
        "which, with proof. Scaling the features to unit variance often helps; if no rule is "
        "perfect, novikoff.Pocket or average='averaged' give a better one than the last weights.",
        ConvergenceWarning,
        stacklevel=5,
    )
