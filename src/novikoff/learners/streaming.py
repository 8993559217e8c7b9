"""Learning from a stream: rows as they come, or one example at a time (A5)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager
from typing import Literal, Self, cast

import numpy as np
import numpy.typing as npt
from numpy import ndarray
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from novikoff.core import updates
from novikoff.core.blocks import Blocks
from novikoff.core.orders import Cyclic
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.learners.blockwise import Passes, classes_of, meet, refuse_beside_blocks
from novikoff.learners.inputs import (
    Example,
    Labels,
    MatrixLike,
    as_floats,
    check_rows_and_labels,
    check_weights,
    code_labels,
    pose_unsigned,
)
from novikoff.learners.linear import FLOAT64, MOST, UNFIT, LinearLearner
from novikoff.learners.online import Rules, class_factor, learn_dense
from novikoff.learners.schemes import scheme_for
from novikoff.learners.threads import effective_threads
from novikoff.learners.training import Plan, train

_UNBALANCED = "class_weight='balanced' needs all rows at once: pass the weights as a dict."
# What scikit-learn keeps in an estimator until its callbacks have been told of the end.
_OF_CALLBACKS = {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}


def all_or_nothing(learner: LinearLearner) -> AbstractContextManager[object]:
    """A block of code that either ends or leaves the learner as it was before, Ctrl-C included."""
    return _Undo(learner)


class _Undo(AbstractContextManager[object]):
    """What a learner knew at the beginning.

    Weights that are replaced by others need no copy. Those that are learned in place, by
    `Rules.learn`, are the last thing that is done; and new features are added at the end.
    """

    def __init__(self, learner: LinearLearner) -> None:
        self._now = learner.__dict__
        self._before = self._now.copy()
        rules: Rules | None = self._before.get("_rules")
        self._rules = None if rules is None else (rules.__dict__, rules.__dict__.copy())
        self._n_named = len(self._before.get("_vocabulary") or ())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        _put_back(self._now, self._before)
        if self._rules is not None:
            _put_back(*self._rules)
        vocabulary = self._before.get("_vocabulary") or {}
        while len(vocabulary) > self._n_named:
            vocabulary.popitem()


def _put_back(now: dict[str, object], before: dict[str, object]) -> None:
    for name in now.keys() - before.keys() - _OF_CALLBACKS:
        del now[name]
    now.update(before)


def _streams(perceptron: StreamLearner) -> bool:
    if perceptron.average == "voted":
        raise AttributeError(
            "The voted perceptron keeps the rows of all its updates and does not learn from "
            "a stream: use average='averaged'."
        )
    return True


class StreamLearner(LinearLearner):
    """The half of a perceptron that learns from a stream.

    ``fit_intercept``, ``average`` and ``multi_class`` are those of its first call.
    """

    margin: float
    step: float
    average: Literal[False, "averaged", "voted"]
    multi_class: Literal["ovr", "ovo"]
    class_weight: Mapping[Hashable, float] | Literal["balanced"] | None
    n_iter_: int
    converged_: bool
    _open: bool
    _vouched: bool  # whether what was said of a fit still holds
    _multi_class: str

    @property
    def n_updates_(self) -> int:
        """Updates made, summed over the binary problems."""
        return int(self._fitted("n_updates_").tally[1].sum())

    @property
    def n_mistakes_(self) -> int:
        """Updates made on a row that was on the wrong side, y·f(x) ≤ 0."""
        return int(self._fitted("n_mistakes_").tally[2].sum())

    @available_if(_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: MatrixLike | Blocks,
        y: npt.ArrayLike | None = None,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Look at each row once, as the rows stand: a stretch of a stream (A5).

        ``n_mistakes_`` and ``n_updates_`` go on from call to call. On any separable stream
        the mistakes stay below R²/γ² (B4). The limits on a fit do not apply.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or blocks
            The next rows; of blocks, such as `novikoff.data.blocks` makes, all in turn.
        y : array-like of shape (n_samples,)
            Their labels; blocks have their own.
        classes : array-like, optional
            All labels there will be; needed at the first call, unless blocks know them.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the steps.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, within a second; the estimator then holds what it has learned. As after
            any other exception it is what it was before if the training had not begun.
        """
        with all_or_nothing(self):
            if isinstance(X, Blocks):
                refuse_beside_blocks(y=y, sample_weight=sample_weight)
                limits = self._partial_fit_blocks(X, classes)
            else:
                limits = self._partial_fit(X, y, classes, sample_weight)
            self._streamed()
            self.n_iter_ += 1
        if limits.interrupted:
            raise KeyboardInterrupt
        return self

    def _partial_fit_blocks(self, blocks: Blocks, classes: npt.ArrayLike | None) -> Limits:
        if "_rules" not in self.__dict__:
            known = np.unique(np.asarray(classes)) if classes is not None else classes_of(blocks)
            if len(known) < 2:
                raise ValueError("classes must name two classes at least.")
            self._begin(known, meet(blocks, self))
        elif classes is not None:
            self._check_same(classes)
        if self.class_weight is not None:
            raise ValueError("class_weight is for rows at once, not for blocks.")
        rules = self._rules
        plan = self._pass_plan()
        Passes(blocks, self, self.classes_, rules.scheme, plan).make(rules)
        return plan.limits

    def _pass_plan(self) -> Plan:
        """One look at each row, in turn."""
        return Plan(
            update=updates.Perceptron(float(self.margin), float(self.step)),
            order=Cyclic(),
            limits=Limits(epochs=1),
            seed=0,
            counts=False,
            average=self._rules.averages,
            threads=effective_threads(self.n_jobs),
        )

    def _check_same(self, classes: npt.ArrayLike) -> None:
        if not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes={np.unique(np.asarray(classes)).tolist()} differ from those of the first "
                f"call, {self.classes_.tolist()}."
            )

    def _partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        classes: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
    ) -> Limits:
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
        elif classes is not None:
            self._check_same(classes)
        codes = code_labels(y, self.classes_)
        if isinstance(self.class_weight, str):
            raise ValueError(_UNBALANCED)
        given = sample_weight, self.class_weight
        weights = check_weights(*given, X, self.classes_, codes, idle=True)
        rules = self._rules
        plan = self._pass_plan()
        problem = pose_unsigned(self, X, rules.bias > 0.0, plan.threads)
        if weights is not None and not weights.any():
            return plan.limits  # no row takes part
        training = train(problem, codes, rules.scheme, plan, start=rules.W, weights=weights)
        rules.adopt(training.W, training.lazy, training.tally)
        return plan.limits

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
                    if self._vouched:
                        self._streamed()
                    return self
        except (*UNFIT, KeyError, OverflowError):
            pass
        self._learn_carefully(x, y)
        return self

    def _learn_carefully(self, x: Example, y: Hashable) -> None:
        label = y.item() if isinstance(y, np.generic) else y
        single = isinstance(label, Hashable) and not isinstance(label, tuple | frozenset)
        if label is None or not single or label != label:
            raise ValueError(f"y is {label!r}, not a label.")
        fair = 0.0 < self.step <= MOST and 0.0 <= self.margin <= MOST
        if "_rules" not in self.__dict__ or not fair:
            self._validate_params()
        _streams(self)
        step = float(self.step)
        if self.class_weight is not None:
            if isinstance(self.class_weight, str):
                raise ValueError(_UNBALANCED)
            step *= class_factor(self.class_weight, label)
        found = None
        if "_rules" in self.__dict__ and label in self._codes:
            found = self._find(x) if isinstance(x, Mapping) else self._locate(x, grow=False)
        if found is not None:  # there is nothing new, and so nothing to undo
            self._learn_at(*found, x, label, step)
        else:
            with all_or_nothing(self):
                self._learn_at(*self._take_in(x, label), x, label, step)
        self._streamed()

    def _learn_at(
        self, columns: Indices, values: Vector, x: Example, label: Hashable, step: float
    ) -> None:
        if not self._rules.learn(columns, values, self._codes[label], float(self.margin), step):
            self._refuse(x)

    def _take_in(self, x: Example, label: Hashable) -> tuple[Indices, Vector]:
        """The columns and values of an example, whose features and class are known from now on."""
        if "_rules" not in self.__dict__:
            vector = as_floats([] if isinstance(x, Mapping) else x, "x")
            if vector.ndim != 1 or not np.isfinite(vector).all():
                raise ValueError("x must be a dict or a vector of finite numbers.")
            self._begin(np.array([label]), len(vector))
            self._open = True
        if label not in self._codes and not self._open:
            raise ValueError(f"y={label!r} is not one of the classes {self._labels}.")
        columns, values = self._locate(x, grow=True)
        if label not in self._codes:
            self._meet(label)
        return columns, values

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
            labels: list[Hashable] = [*sorted(cast("list[str]", [*self._labels, label]))]
        except TypeError:
            labels = []
        classes = np.array(labels)
        if not labels or classes.tolist() != labels or label != label:
            raise ValueError(f"y={label!r} cannot be put in order with {self._labels}.")
        scheme = scheme_for(len(labels), self._multi_class)
        self._rules = self._rules.with_class(labels.index(label), scheme)
        self._name_classes(classes)

    def _streamed(self) -> None:
        """What was said of a fit is no longer true."""
        self._vouched = self.converged_ = False
        self._votes = []
        self.__dict__.pop("update_counts_", None)
        self.__dict__.pop("trace_", None)
