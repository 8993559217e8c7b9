"""Online learners: they learn from all rows at once, from a stream, or from one example.

A subclass declares its parameters, its update rule and its model. This module does the rest. A fit
is `OnlineLearner._fit`: it checks the parameters and arrays, plans the run, runs the loop
(`novikoff.core.fitting.fit_model`), and stores the model.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from novikoff.core.fitting import Scaling, fit_model
from novikoff.core.model import Model
from novikoff.core.orders import Order, named
from novikoff.core.problem import Rows
from novikoff.core.rows import Vector
from novikoff.core.runs import Plan, Run
from novikoff.core.stops import Limits, Stop
from novikoff.core.trace import Trace
from novikoff.core.updates import Update, update_as_array
from novikoff.formats.fitted_state import read_run, write_run
from novikoff.formats.model_record import Body
from novikoff.learners.arrays import (
    Example,
    MatrixLike,
    check_example,
    check_reference,
    check_rows_and_labels,
    check_sample_weight,
    class_factor,
    codes_among,
    example_vector,
)
from novikoff.learners.base import (
    Learned,
    LinearLearner,
    check_parameters,
    one_or_each,
    store_model,
)
from novikoff.learners.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT_OR_NONE,
    JOBS,
    MULTI_CLASS,
    ORDER,
    RANDOM_STATE,
    SECONDS_OR_NONE,
    TRACE,
    VERBOSE,
    Allowed,
    ClassWeight,
    OrderLike,
    RandomState,
    one_of,
    optional,
    seed_of,
    threads_of,
)
from novikoff.sentences import cycle_clause, verdict_clause

Start: TypeAlias = tuple[npt.ArrayLike | None, npt.ArrayLike | None]  # coef_init, intercept_init
# These parameters, and those of the update rule, must not change while a stream is learned.
STRUCTURE = ("scale", "fit_intercept", "average", "multi_class")
# The parameter that sets each limit.
LIMITS_BY_STOP = {
    Stop.EPOCHS: "max_epochs",
    Stop.UPDATES: "max_updates",
    Stop.SECONDS: "max_seconds",
}

# The two warnings about a run that ended with a clean cycle.
_SCORES_DIFFER = (
    "The run ended with a clean cycle, but the scores of `predict`, which adds the same terms in a "
    "different order, are not beyond the threshold on every row: the numbers are too large, too "
    "small or too uneven for float64. Scale the columns."
)
_ROUNDED_RULE = (
    "The run on scaled features ended with all rows classified correctly, but its rule, rounded to "
    "floats, does not separate the original rows. Their numbers are large compared with their "
    "differences. Subtract a constant from each column."
)


def check_can_stream(learner: OnlineLearner) -> bool:
    """Return True if the learner can learn from a stream; AttributeError if it cannot."""
    if getattr(learner, "kernel", None) == "precomputed":
        raise AttributeError(
            "kernel='precomputed' is defined for the rows of one fit only. A stream needs a "
            "different kernel, for instance kernel='rbf'."
        )
    if learner.scale is not None:
        raise AttributeError(
            "scale='standard' needs all rows at once, because the mean and variance of a stream "
            "are unknown until it ends. Use scale=None and scale the features before."
        )
    return True


class OnlineLearner(LinearLearner, ABC):
    """A learner that updates its rules on rows on the wrong side of the hyperplane, or near it."""

    # A subclass that does not have one of these parameters uses the value given here.
    order: OrderLike
    average: bool = False
    scale: Literal["standard"] | None = None
    max_epochs: int | None
    max_updates: int | None = None
    max_seconds: float | None
    class_weight: ClassWeight = None
    warm_start: bool
    trace: bool | npt.ArrayLike = False
    random_state: RandomState
    n_jobs: int | None = None
    verbose: int

    n_iter_: int
    converged_: bool
    update_counts_: npt.NDArray[np.int32] | sp.csr_array
    trace_: Trace | list[Trace]
    period_: int | list[int | None] | None
    random_state_: int
    mixed_updates_: Vector

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "fit_intercept": BOOLEAN,
        "order": ORDER,
        "average": BOOLEAN,
        "scale": optional(one_of("standard")),
        "max_epochs": COUNT_OR_NONE,
        "max_updates": COUNT_OR_NONE,
        "max_seconds": SECONDS_OR_NONE,
        "multi_class": MULTI_CLASS,
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOLEAN,
        "trace": TRACE,
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
        "verbose": VERBOSE,
    }
    # A function that reads the parameters in `STRUCTURE` and the parameters on which `_update`
    # depends. `_step` checks the parameters again only when one of these has changed.
    _rule_parameters: ClassVar[attrgetter[object]]

    @abstractmethod
    def _update(self) -> Update:
        """The update rule that the learner's parameters define."""

    @property
    def n_updates_(self) -> int:
        """The number of updates, summed over the rules."""
        return self._fitted("n_updates_").n_updates

    @property
    def n_mistakes_(self) -> int:
        """The number of updates on misclassified rows, y·f(x) ≤ 0, summed over the rules."""
        return self._fitted("n_mistakes_").n_mistakes

    def _fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None = None,
        start: Start = (None, None),
    ) -> Self:
        """Learn from all rows until a cycle makes no update, or until a limit is reached.

        ``start`` are the initial weights and biases of a `WeightLearner`.
        """
        with self._all_or_nothing():
            limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
            before = self.model_ if self.warm_start and self._learned is not None else None
            given, blank, codes = self._prepare(X, y)
            model = self._first_model(blank, before, start)
            factors = check_sample_weight(sample_weight, self.class_weight, model.classes, codes)
            if factors is not None and not factors.any():
                raise ValueError("All sample weights are zero: there is no row to learn from.")
            shape = model.n_rules, model.n_features, self.fit_intercept
            wants_trace, reference = check_reference(self.trace, *shape)
            seed = seed_of(self.random_state)
            plan = Plan(
                update=self._update(),
                order=self._order(),
                limits=limits,
                seed=seed,
                average=model.averages,
                trace=wants_trace,
                reference=reference,
                threads=threads_of(self.n_jobs),
                after_epoch=self._print_epoch if self.verbose else None,
            )
            with limits.paused():
                model.load(given, plan.order, trace=plan.trace)
            fit = fit_model(
                model,
                given,
                codes,
                plan,
                standardised=self.scale is not None,
                sample_weight=factors,
            )
            run = fit.run
            self._conclude(fit.model, run, seed)
            self.converged_ = fit.separates_original
            if wants_trace:
                self.trace_ = one_or_each([trace.detached() for trace in run.traces])
        limits.raise_if_interrupted()
        if not self.converged_:
            warnings.warn(self._ending(run, given), ConvergenceWarning, stacklevel=3)
        return self

    @abstractmethod
    def _first_model(self, blank: Model, before: Model | None, start: Start) -> Model:
        """The model that a fit starts from: blank, or the model of the last fit."""

    def _order(self) -> Order:
        return named(self.order)

    def _conclude(self, model: Model, run: Run, seed: int) -> None:
        """Store the model of a run, and set the attributes that describe the run."""
        self._learned = Learned(model)
        self.n_iter_ = run.epochs
        self.converged_ = run.converged
        counts = run.update_counts
        self.update_counts_ = counts.toarray()[0] if model.n_rules == 1 else counts
        self.period_ = one_or_each(run.periods)
        self.random_state_ = seed
        self._forget("trace_", "mixed_updates_")

    @available_if(check_can_stream)
    def partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from each row once, in the given order: a piece of a stream.

        ``n_mistakes_`` and ``n_updates_`` count over all calls. The convergence theorem holds for
        streams: a new `Perceptron` for two classes with δ = 0, ``class_weight=None`` and no
        ``sample_weight`` makes at most R²/γ² mistakes on any separable stream (with other δ or
        initial weights: `novikoff.bounds.general_bound`). The limits on a fit, such as
        ``max_epochs``, do not apply.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            The labels of these rows.
        classes : array-like, optional
            All labels that the stream will have. The first call needs them.
        sample_weight : array-like of shape (n_samples,), optional
            A factor for each row, by which its steps are multiplied.

        Returns
        -------
        self
            The estimator. After an exception, including Ctrl-C, it is unchanged.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        classes: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        with self._all_or_nothing():
            check_parameters(self)
            first = self._learned is None
            X, y = check_rows_and_labels(self, X, y, reset=first)
            if first:
                if classes is None:
                    raise ValueError("classes must be passed on the first call to partial_fit.")
                if len(np.unique(np.asarray(classes))) < 2:
                    raise ValueError("classes must have two different labels or more.")
                self._begin(classes, X.shape[1])
            elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"classes={np.unique(classes).tolist()} differs from the classes of the first "
                    f"call, {self.classes_.tolist()}: pass the same classes, or None."
                )
            check_unchanged(self, self.model_)
            codes = codes_among(y, self.classes_)
            class_factor(self.class_weight, None)  # rejects 'balanced' with an error
            factors = check_sample_weight(sample_weight, self.class_weight, self.classes_, codes)
            self.model_.learn(X, codes, self._update(), sample_weight=factors)
            self._forget_fit()
            self.n_iter_ += 1
        return self

    def learn_one(self, x: Example, y: Hashable) -> Self:
        """Learn from one example: update on a mistake.

        The result is the same as that of `partial_fit` on one row, but the call is much faster. If
        the learner was not fitted before, new classes and new features of dicts are added when they
        appear, with weights of zero.

        Parameters
        ----------
        x : vector, or dict of feature → value
            The example.
        y : label
            Its class.

        Returns
        -------
        self
            The estimator. After an exception it is unchanged.

        Examples
        --------
        >>> import novikoff as nv
        >>> clf = nv.Perceptron()
        >>> clf.learn_one({"wings": 2, "legs": 2}, "bird").predict_one({"legs": 4})
        'bird'
        >>> clf.learn_one({"legs": 4}, "cat").predict_one({"legs": 4})
        'cat'
        """
        learn_example(self, x, y)
        return self

    def _step(self, learned: Learned, x: Example, y: Hashable) -> tuple[Vector, int]:
        """Learn one example; return its scores before the update, and the code of its class.

        New classes and features are added after the example has been learned, so that an exception
        leaves the learner unchanged.
        """
        new: dict[Hashable, int] = {}
        model, grows, checked = learned.model, learned.grows, learned.checked
        parameters = self._rule_parameters(self)
        if checked is None or checked[0] != parameters:
            check_parameters(self)
            check_can_stream(self)
            check_unchanged(self, model)
            checked = parameters, update_as_array(self._update(), model.fit_intercept)
        columns, values = self._locate(learned, x, new)
        if new and self.n_features_in_ + len(new) > model.n_features:
            model = model.with_features(self._capacity(self.n_features_in_ + len(new)))
        try:
            code = learned.codes[y]
        except (KeyError, TypeError):
            label = _single_label(y)
            if not grows:
                known = learned.labels
                raise ValueError(f"y={label!r} is not one of the classes {known}.") from None
            model = model.with_class(label)
            code = model.classes.tolist().index(label)
        factor = 1.0
        if self.class_weight is not None:
            factor = class_factor(self.class_weight, _single_label(y))
        try:
            if factor == 0.0:  # examples of a class of weight 0 are not learned
                check_example(x)
                scores, moved = model.score_one(columns, values), 0
            else:
                scores, moved = model.learn_one(columns, values, code, checked[1], factor)
        except ValueError:
            check_example(x)  # raises a clearer error if a value is not finite
            raise
        learned.checked = checked
        if model is not learned.model:
            learned = self._learned = replace(learned, model=model)
        if new:
            if self._names is None:
                self._names = list(range(self.n_features_in_))
            self._names.extend(new)
            self.n_features_in_ += len(new)
            if learned.columns is not None:
                learned.columns.update(new)
        if self.converged_ and (moved > 0 or model.averages):
            self._forget_fit()
        return scores, code

    def _capacity(self, n_features: int) -> int:
        """The number of columns to allocate for ``n_features`` features of dicts.

        There are twice as many columns as features, in reserve for new features. If the user gives
        a kernel function there is no reserve, because the function would see the empty columns.
        """
        function = callable(getattr(self, "kernel", None))
        return n_features if function else 2 * n_features

    def _begin(self, classes: npt.ArrayLike, n_features: int, *, grows: bool = False) -> Learned:
        """Begin a stream. If it ``grows``, new classes may appear."""
        self._learned = Learned(self._blank(classes, n_features), grows)
        self.n_features_in_ = n_features
        self.n_iter_ = 0
        self.converged_ = False
        return self._learned

    def _forget_fit(self) -> None:
        """Delete the attributes that describe a fit, which no longer hold after a stream."""
        self.converged_ = False
        self._forget("update_counts_", "trace_", "period_", "random_state_", "mixed_updates_")

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _print_epoch(self, run: Run) -> bool:
        if run.epochs % self.verbose == 0:
            print(f"epoch {run.epochs:,}: {run.updates:,} updates so far")
        return False

    def _ending(self, run: Run, given: Rows) -> str:
        """The warning that a fit did not end with a clean cycle, and why."""
        if run.converged:
            return _SCORES_DIFFER if self.scale is None else _ROUNDED_RULE
        name, periods = type(self).__name__, [period for period in run.periods if period]
        if periods:
            none, n = verdict_clause("inseparable", "hyperplane"), len(run.periods)
            clause = cycle_clause(none, periods)
            if n > 1:  # a wrong rule may be outvoted
                whose = f"the weights of {len(periods)} of {n} rules"
                clause = cycle_clause(f"for these rules {none}", periods, whose)
            return (
                f"The {name} cycles, proved: {clause}. More epochs would not change that. "
                "novikoff.Pocket finds rules with few mistakes."
            )
        stops = sorted({stop for stop in run.stops if stop is not None and stop is not Stop.CLEAN})
        limits = " and ".join(LIMITS_BY_STOP[stop] for stop in stops if stop in LIMITS_BY_STOP)
        named = f" ({limits})" if limits else ""
        return (
            f"{name}: no clean cycle before {' and '.join(stops)}{named}.\n{self._unclean(given)}"
        )

    def _unclean(self, given: Rows) -> str:
        """The second line of this warning: what to do."""
        offered = self.get_params(deep=False)
        scalable = "scale" in offered and self.scale is None
        if scalable and Scaling.of(given.X, centre=self.fit_intercept).is_far_from_standard:
            return "Try scale='standard'; novikoff.separate decides whether the data is separable."
        return "novikoff.separate decides whether the data is separable, or use novikoff.Pocket."


def learn_example(
    learner: OnlineLearner, x: Example, y: Hashable, classes: Sequence[Hashable] | None = None
) -> tuple[Vector, int]:
    """Learn one example; return its scores before the update, and the code of its class.

    The first example begins a stream. ``classes`` are all labels that the stream will have; if it
    is None, new classes may appear.
    """
    if learner._learned is not None:
        return learner._step(learner._learned, x, y)
    with learner._all_or_nothing():
        vector = example_vector([] if isinstance(x, Mapping) else x)
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise ValueError("x must be a dict or a vector of finite numbers.")
        check_parameters(learner)
        known = np.array([_single_label(y)] if classes is None else list(classes))
        return learner._step(learner._begin(known, len(vector), grows=classes is None), x, y)


def adopt_stream(
    learner: OnlineLearner, model: Model, names: Sequence[object] | None, *, grows: bool
) -> None:
    """Store the model of a stream in a learner; the stream and the learner then share the model.

    ``names`` are the names of the features; None keeps the names that the learner has. If the
    stream ``grows``, `OnlineLearner.learn_one` may add new classes.
    """
    if learner._learned is None or learner._learned.model is not model:
        known_names = learner._names if names is None else names[: model.n_features]
        learner.n_iter_ = 0 if learner._learned is None else learner.n_iter_
        store_model(learner, model, known_names, grows=grows)
    learner._forget_fit()


def accepts_new_classes(learner: OnlineLearner) -> bool:
    """Whether `OnlineLearner.learn_one` may add new classes to a fitted learner."""
    return learner._learned is not None and learner._learned.grows


def check_unchanged(learner: OnlineLearner, model: Model) -> None:
    """Raise ValueError if a parameter of the rules has changed since the model learned."""
    before: dict[str, object] = {
        "fit_intercept": model.fit_intercept,
        "multi_class": model.multi_class,
    }
    now = {name: getattr(learner, name) for name in before}
    if model.averages != bool(learner.average):
        before["average"], now["average"] = model.averages, learner.average
    for name, value in learner._settings(max(1, model.n_features)).items():
        if getattr(learner, name, None) is not None:  # None stands for a default
            before[name], now[name] = model.settings[name], value
    for name, value in now.items():
        if value != before[name]:
            raise ValueError(
                f"{name}={value!r} differs from {name}={before[name]!r}, with which the "
                f"{type(learner).__name__} has learned: set it back, or fit again."
            )


def run_fields(learner: OnlineLearner) -> Body:
    """Return the results of a fit that are not in the model, as JSON values for a model file."""
    grows = accepts_new_classes(learner)
    return write_run(int(learner.n_iter_), converged=learner.converged_, grows=grows)


def restore_run(learner: OnlineLearner, fitted: Body) -> None:
    """Set the attributes that `run_fields` returned; InvalidJsonError if they are invalid."""
    learner.n_iter_, learner.converged_, grows = read_run(learner.model_, fitted)
    learner._learned = Learned(learner.model_, grows)


def _single_label(y: Hashable) -> Hashable:
    """The label as a Python object; ValueError if it is not a single label."""
    label = y.item() if isinstance(y, np.generic) else y
    single = isinstance(label, Hashable) and not isinstance(label, tuple | frozenset)
    if label is None or not single or label != label:
        raise ValueError(f"y must be a label, not {label!r}.")
    return label


def check_resumable(before: Model, blank: Model) -> None:
    """Raise ValueError unless a fit can start from the rules of the last fit."""
    if before.n_features != blank.n_features or not np.array_equal(before.classes, blank.classes):
        raise ValueError(
            "warm_start needs data with the same classes and number of features as in the last "
            f"fit: {before.classes.tolist()} and {before.n_features}."
        )
    if before.scheme != blank.scheme:
        raise ValueError("warm_start needs the same multi_class as the last fit.")
