"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from numpy import ndarray
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from novikoff.core import updates
from novikoff.core.ledger import Run
from novikoff.core.orders import BY_NAME, Cyclic, MaxDistance, MaxResidual, Order, named
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits, Stop
from novikoff.learners.inputs import (
    Example,
    Labels,
    MatrixLike,
    check_reference,
    check_rows_and_labels,
    check_start,
    check_weights,
    code_labels,
    pose_unsigned,
    wants_trace,
)
from novikoff.learners.linear import FLOAT64, UNFIT, LinearLearner
from novikoff.learners.online import Rules, learn_dense
from novikoff.learners.progress import Progress
from novikoff.learners.schemes import scheme_for
from novikoff.learners.training import Plan, Training, train
from novikoff.learners.voting import votes_of

_UNBALANCED = "class_weight='balanced' needs all rows at once: pass the weights as a dict."


@contextmanager
def _all_or_nothing(estimator: Perceptron) -> Iterator[None]:
    """If a fit fails, the estimator is what it was before."""
    shape = {name: estimator.__dict__.get(name) for name in ("n_features_in_", "_feature_names")}
    try:
        yield
    except Exception:
        for name, value in shape.items():
            if value is None:
                estimator.__dict__.pop(name, None)
            else:
                estimator.__dict__[name] = value
        raise


def _streams(perceptron: Perceptron) -> bool:
    if perceptron.average == "voted":
        raise AttributeError(
            "The voted perceptron keeps the rows of all its updates and does not learn from "
            "a stream: use average='averaged'."
        )
    return True


class Perceptron(CallbackSupportMixin, LinearLearner):
    """Rosenblatt's perceptron: on a mistake y·f(x) ≤ δ, w ← w + μ·y·x and b ← b + μ·y.

    On separable data it ends with a clean cycle after at most R²/γ² updates (from zero
    weights with δ = 0), whatever the order of the rows: Novikoff's theorem (SPEC A2, B1).
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
        "margin": [Interval(Real, 0, None, closed="left")],
        "step": [Interval(Real, 0, None, closed="neither")],
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
        X: MatrixLike,
        y: npt.ArrayLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Float32 and float64 arrays in C order and CSR matrices are read in
            place.
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
            On Ctrl-C, within a second; the estimator then holds what it has learned.
        """
        limits = Limits(self.max_epochs, self.max_updates, self.max_seconds)
        with _all_or_nothing(self):
            return self._fit(X, y, coef_init, intercept_init, sample_weight, limits)

    def _fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
        limits: Limits,
    ) -> Self:
        before: Rules | None = self.__dict__.get("_rules") if self.warm_start else None
        old_classes = self.classes_ if before is not None else None
        X, y = check_rows_and_labels(self, X, y, reset=True)
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"y contains one class only, {classes.tolist()[0]!r}: two are needed.")
        codes = np.searchsorted(classes, y)
        scheme = scheme_for(len(classes), self.multi_class)
        rules = Rules(scheme, X.shape[1], self.average == "averaged", self.fit_intercept)
        start = check_start(coef_init, intercept_init, *rules.shape, self.fit_intercept)
        if start is None and before is not None and old_classes is not None:
            start = _resumed(before, old_classes, rules, classes)
            if not self.fit_intercept and start[-1].any():
                raise ValueError("warm_start needs an intercept of zero if fit_intercept=False.")
        weights = check_weights(sample_weight, self.class_weight, X, classes, codes)
        threads = effective_n_jobs(self.n_jobs)
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
        if self.average == "voted":
            rules.plain = False
            begin = np.zeros_like(rules.W) if start is None else start
            self._votes = [
                votes_of(
                    trace,
                    int(training.tally[0, rule]),
                    begin[:, rule],
                    X,
                    rules.sides[codes, rule],
                    self.fit_intercept,
                )
                for rule, trace in enumerate(training.traces)
            ]
        self.n_iter_ = training.epochs
        self.converged_ = training.converged
        counts = training.counts
        self.update_counts_ = counts.toarray()[0] if len(classes) == 2 else counts
        self.__dict__.pop("trace_", None)
        if wants_trace(self.trace):
            self.trace_ = training.traces[0] if len(classes) == 2 else training.traces
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        if limits.interrupted:
            raise KeyboardInterrupt
        if not training.converged:
            _warn(training)
        return self

    @available_if(_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Look at each row once, as the rows stand: a stretch of a stream (A5).

        ``n_mistakes_`` and ``n_updates_`` go on from call to call. On any separable stream
        the mistakes stay below R²/γ² (B4). The limits on a fit do not apply.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, optional
            All labels there will be; needed at the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the steps.

        Returns
        -------
        self
        """
        with _all_or_nothing(self):
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
    ) -> Self:
        first = "_rules" not in self.__dict__
        X, y = check_rows_and_labels(self, X, y, reset=first)
        check_classification_targets(y)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known = np.unique(np.asarray(classes))
            if len(known) < 2:
                raise ValueError("classes must name two classes at least.")
            code_labels(y, known)
            self._begin(known, X.shape[1])
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} differ from those of the first "
                f"call, {self.classes_.tolist()}."
            )
        codes = code_labels(y, self.classes_)
        if isinstance(self.class_weight, str):
            raise ValueError(_UNBALANCED)
        weights = check_weights(sample_weight, self.class_weight, X, self.classes_, codes)
        rules = self._rules
        plan = Plan(
            update=updates.Perceptron(float(self.margin), float(self.step)),
            order=Cyclic(),
            limits=Limits(epochs=1),
            seed=0,
            counts=False,
            average=rules.averages,
            threads=effective_n_jobs(self.n_jobs),
        )
        problem = pose_unsigned(self, X, rules.bias > 0.0, plan.threads)
        training = train(problem, codes, rules.scheme, plan, start=rules.W, weights=weights)
        rules.adopt(training.W, training.lazy, training.tally)
        self._streamed()
        self.n_iter_ += 1
        if plan.limits.interrupted:
            raise KeyboardInterrupt
        return self

    def learn_one(self, x: Example, y: Hashable) -> Self:
        """Look at one example: on a mistake, update (A5).

        The same as `partial_fit` on one row, at a fraction of the overhead. Without an
        earlier fit, classes and the features of dicts are taken in as they appear: their
        weights start from zero.

        Parameters
        ----------
        x : vector, or dict of feature → value
            The example.
        y : label
            Its class.

        Returns
        -------
        self

        Examples
        --------
        >>> import novikoff as nv
        >>> clf = nv.Perceptron()
        >>> clf.learn_one({"wings": 2, "legs": 2}, "bird").predict_one({"legs": 4})
        'bird'
        >>> clf.learn_one({"legs": 4}, "cat").predict_one({"legs": 4})
        'cat'
        """
        try:  # the common case: a float64 vector that fits; all else is sorted out below
            rules = self._rules
            if (
                isinstance(x, ndarray)
                and x.dtype is FLOAT64
                and rules.plain
                and self.class_weight is None
            ):
                code = self._codes[y]
                update = learn_dense(x, code, rules.exact, self.margin, self.step, rules.bias)
                if update == 0:
                    return self
                if update > 0:
                    rules.tally[1, 0] += 1
                    if update == 2:
                        rules.tally[2, 0] += 1
                    self._streamed()
                    return self
        except (*UNFIT, KeyError):
            pass
        self._learn_carefully(x, y)
        return self

    def _learn_carefully(self, x: Example, y: Hashable) -> None:
        label = y.item() if isinstance(y, np.generic) else y
        if label is None or isinstance(label, tuple | frozenset) or label != label:
            raise ValueError(f"y is {label!r}, not a label.")
        if "_rules" not in self.__dict__ or not (self.step > 0.0 and self.margin >= 0.0):
            self._validate_params()
        _streams(self)
        if "_rules" not in self.__dict__:
            vector = np.asarray([] if isinstance(x, Mapping) else x, dtype=np.float64)
            if vector.ndim != 1 or not np.isfinite(vector).all():
                raise ValueError("x must be a dict or a vector of finite numbers.")
            self._begin(np.array([label]), len(vector))
            self._open = True
        if label not in self._codes and not self._open:
            raise ValueError(f"y={label!r} is not one of the classes {self._labels}.")
        columns, values = self._locate(x, grow=True)
        if label not in self._codes:
            self._meet(label)
        step = float(self.step) * self._class_factor(label)
        if not self._rules.learn(
            columns,
            values,
            self._codes[label],
            float(self.margin),
            step,
        ):
            self._refuse(x)
        self._streamed()

    def _begin(self, classes: Labels, n_features: int) -> None:
        """Zero weights for these classes."""
        scheme = scheme_for(len(classes), self.multi_class)
        self._rules = Rules(scheme, n_features, self.average == "averaged", self.fit_intercept)
        self._votes, self._vocabulary, self._open = [], None, False
        self._multi_class = self.multi_class
        self._name_classes(classes)
        self.n_features_in_ = n_features
        self.n_iter_ = 0
        self._streamed()

    def _meet(self, label: Hashable) -> None:
        """A label that was not seen before."""
        try:
            labels = sorted([*self._labels, label])  # type: ignore[type-var]
        except TypeError:
            labels = []
        classes = np.array(labels)
        if not labels or classes.tolist() != labels or label != label:
            raise ValueError(f"y={label!r} cannot be put in order with {self._labels}.")
        scheme = scheme_for(len(labels), self._multi_class)
        self._rules = self._rules.with_class(labels.index(label), scheme)
        self._name_classes(classes)

    def _class_factor(self, label: Hashable) -> float:
        if isinstance(self.class_weight, str):
            raise ValueError(_UNBALANCED)
        return 1.0 if self.class_weight is None else float(self.class_weight.get(label, 1.0))

    def _streamed(self) -> None:
        """What was said of a fit is no longer true."""
        self.converged_ = False
        self._votes = []
        self.__dict__.pop("update_counts_", None)
        self.__dict__.pop("trace_", None)


def _resumed(before: Rules, old_classes: Labels, rules: Rules, classes: Labels) -> Vector:
    if before.shape != rules.shape or not np.array_equal(old_classes, classes):
        raise ValueError(
            "warm_start needs the classes and the number of features of the last fit: "
            f"{old_classes.tolist()} and {before.n_features}."
        )
    return before.decisive()


def _warn(training: Training) -> None:
    reasons = sorted({str(stop) for stop in training.stops if stop is not Stop.CLEAN})
    warnings.warn(
        f"The perceptron ended by {' and '.join(reasons)}, without a clean cycle: the data "
        "may not be linearly separable, or need many more epochs: scaling the features to "
        "unit variance often helps. If no rule is perfect, average='averaged' gives a better "
        "one than the last weights.",
        ConvergenceWarning,
        stacklevel=6,
    )
