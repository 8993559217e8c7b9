"""Learning from a stream: rows as they come, or one example at a time (A5)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from novikoff.core.linear_model import LinearModel
from novikoff.core.one_vs_rest import learn_example, numbers_of
from novikoff.core.rows import Indices, Vector
from novikoff.core.updates import perceptron
from novikoff.learners.base import TOO_LARGE, LinearLearner
from novikoff.learners.inputs import (
    ClassWeight,
    Example,
    MatrixLike,
    Rule,
    as_floats,
    check_parameters,
    check_rows_and_labels,
    check_values,
    check_weights,
    class_factor,
    code_labels,
)


def _streams(learner: StreamLearner) -> bool:
    if learner.average == "voted":
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
    fit_intercept: bool
    average: Literal[False, "averaged", "voted"]
    multi_class: Literal["ovr", "ovo"]
    class_weight: ClassWeight
    n_iter_: int
    converged_: bool
    _rules: ClassVar[Mapping[str, Rule]]
    _open: bool  # whether new classes are taken in
    _checked: tuple[float, float, Vector]  # margin and step of the last single step, its rule

    @property
    def n_updates_(self) -> int:
        """Updates made, summed over the binary problems."""
        return self._fitted("n_updates_").n_updates

    @property
    def n_mistakes_(self) -> int:
        """Updates made on a row that was on the wrong side, y·f(x) ≤ 0."""
        return self._fitted("n_mistakes_").n_mistakes

    @available_if(_streams)
    def partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Look at each row once, as the rows stand: a piece of a stream (A5).

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
            After an exception, Ctrl-C included, it is what it was before.
        """
        with self._all_or_nothing():
            check_parameters(self, self._rules)
            first = "_held" not in self.__dict__
            X, y = check_rows_and_labels(self, X, y, reset=first)
            if first:
                if classes is None:
                    raise ValueError("classes must be passed on the first call to partial_fit.")
                if len(np.unique(np.asarray(classes))) < 2:
                    raise ValueError("classes must name two classes at least.")
                self._begin(classes, X.shape[1])
            elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"classes={np.unique(classes).tolist()} differ from those of the first call, "
                    f"{self.classes_.tolist()}."
                )
            codes = code_labels(y, self.classes_)
            class_factor(self.class_weight, None)  # refuses 'balanced'
            weights = check_weights(sample_weight, self.class_weight, self.classes_, codes)
            self._model.learn(X, codes, perceptron(self.margin, self.step), weights=weights)
            self._streamed()
            self.n_iter_ += 1
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
            After an exception it is what it was before.

        Examples
        --------
        >>> import novikoff as nv
        >>> clf = nv.Perceptron()
        >>> clf.learn_one({"wings": 2, "legs": 2}, "bird").predict_one({"legs": 4})
        'bird'
        >>> clf.learn_one({"legs": 4}, "cat").predict_one({"legs": 4})
        'cat'
        """
        try:  # the common case: nothing about it is new; all else is sorted out below
            model, (margin, step, numbers) = self._held, self._checked
            if margin == self.margin and step == self.step and self.class_weight is None:
                columns, values = self._find(x)
                updates = learn_example(
                    columns, values, model.sides[self._codes[y]], model.W, model.weighted,
                    model.totals, numbers,
                )  # fmt: skip
                if updates >= 0:
                    if self.converged_ and (updates > 0 or model.averages):
                        self._streamed()
                    return self
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            pass
        with self._all_or_nothing():
            self._learn_carefully(x, y)
        return self

    def _learn_carefully(self, x: Example, y: Hashable) -> None:
        """Sort out what is new, and take it in once the example has been learned."""
        label = y.item() if isinstance(y, np.generic) else y
        single = isinstance(label, Hashable) and not isinstance(label, tuple | frozenset)
        if label is None or not single or label != label:
            raise ValueError(f"y is {label!r}, not a label.")
        check_parameters(self, self._rules)
        _streams(self)
        factor = class_factor(self.class_weight, label)
        if "_held" not in self.__dict__:
            vector = as_floats([] if isinstance(x, Mapping) else x, "x")
            if vector.ndim != 1 or not np.isfinite(vector).all():
                raise ValueError("x must be a dict or a vector of finite numbers.")
            self._begin(np.array([label]), len(vector))
            self.n_features_in_, self._open = len(vector), True
        model, columns, values, new = self._place(x)
        if label not in self._codes:
            if not self._open:
                raise ValueError(f"y={label!r} is not one of the classes {self._labels}.")
            model = model.with_class(label)
        rule, code = perceptron(self.margin, self.step), model.classes.tolist().index(label)
        updates = model.learn_one(columns, values, code, rule, factor)
        if updates < 0:
            raise ValueError(TOO_LARGE)
        if model is not self._held:
            self._hold(model, self._vocabulary)
        self._checked = rule.threshold, rule.step, numbers_of(rule, 1.0, model.fit_intercept)
        if new:
            self._features().update(new)
            self.n_features_in_ = len(self._features())
            self.__dict__.pop("_feature_names", None)
        if updates > 0 or model.averages:
            self._streamed()

    def _place(self, x: Example) -> tuple[LinearModel, Indices, Vector, dict[Hashable, int]]:
        """A model with room for an example, its columns and values, and its new features."""
        if not isinstance(x, Mapping):
            return self._model, *self._locate(x), {}
        known, values = self._features(), check_values(x)
        unknown = [feature for feature in x if feature not in known]
        new = {feature: len(known) + k for k, feature in enumerate(unknown)}
        columns = [known[f] if f in known else new[f] for f in x]
        model, width = self._held, len(known) + len(new)
        if width > model.n_features:  # room for as many again
            model = model.with_features(2 * width)
        return model, np.array(columns, dtype=np.int64), values, new

    def _begin(self, classes: npt.ArrayLike, n_features: int) -> None:
        """Zero weights for these classes."""
        model = LinearModel.blank(
            classes, n_features, fit_intercept=self.fit_intercept, multi_class=self.multi_class,
            average=self.average == "averaged",
        )  # fmt: skip
        self._hold(model)
        self._open, self.n_iter_, self.converged_ = False, 0, False

    def _streamed(self) -> None:
        """What was said of a fit is no longer true."""
        self.converged_, self._held.votes = False, []
        for name in ("update_counts_", "trace_"):
            self.__dict__.pop(name, None)
