"""The hyperplane of the largest margin as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from novikoff.core.class_labels import Sides, side_labels
from novikoff.core.model import Model
from novikoff.core.problem import Problem, Rows
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import problems_of
from novikoff.core.stops import Limits
from novikoff.errors import NotSeparableError, OutOfRangeError
from novikoff.formats.fitted_state import read_margins, write_margins
from novikoff.formats.model_record import Body
from novikoff.formats.tensors import Array, Tensors
from novikoff.geometry.margin import Interval, LargestMargin, largest_margin
from novikoff.geometry.separability import find_verdict
from novikoff.geometry.verdict import Verdict
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.base import Learned, LinearLearner, linear, one_or_each
from novikoff.learners.parameters import (
    BOOLEAN,
    MULTI_CLASS,
    SECONDS_OR_NONE,
    Allowed,
    is_real,
    one_of,
)
from novikoff.sentences import kind_in_words, verdict_clause

_WEIGHTS_TOO_LARGE = "The weights are beyond the range of float64: scale the data."


@dataclass(eq=False, repr=False)
class MaxMargin(LinearLearner):
    """The separating hyperplane of the largest margin: the hard-margin SVM.

    With a free bias it maximises min_i y_i(⟨w, x_i⟩ + b)/‖w‖. With ``bias="padded"`` it maximises
    the margin γ of the perceptron's mistake bound, in which the bias counts as a weight:
    min_i y_i(⟨w, x_i⟩ + b)/‖(w, b)‖. The scores of the support vectors are ±1. `novikoff fit` saves
    the same hyperplane for separable data, bit for bit.

    Parameters
    ----------
    bias : "free" or "padded"
        Whether the bias is free, as in an SVM, or counts as a weight.
    fit_intercept : bool
        Whether the hyperplanes have a bias.
    tol : float
        The relative width of the interval that is guaranteed to contain the margin.
    multi_class : "ovr" or "ovo"
        For more than two classes: one rule for each class against the rest, or one rule for each
        pair of classes.
    max_seconds : float, optional
        A limit on the time. If it is reached, the margin may be known less precisely.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (n_rules, n_features) and (n_rules,)
        The hyperplanes.
    classes_ : array
        The labels, sorted. Of two labels, the second is the positive class.
    margin_ : Interval, or list of them
        An interval that is guaranteed to contain the largest margin. With more than two classes,
        one interval for each rule.
    support_ : array of int, or list of them
        The row numbers of the support vectors.
    dual_coef_ : array, or list of them
        α with ``coef_`` = Σ α_i·x_i over the support vectors; α_i is positive for the positive
        class.
    verdict_ : Verdict, or list of them
        The verdict on separability, with its certificate.

    Raises
    ------
    NotSeparableError
        If no hyperplane separates the classes. The exception has the certificate.
    ValueError
        If the weights exceed the range of float64, or if the margin is so narrow that the rounded
        weights misclassify a training row.

    See Also
    --------
    separate : Decide separability; the verdict has the margin and a certificate.
    Perceptron : Find some separating hyperplane, by passes over the rows.

    References
    ----------
    Wolfe, P. (1976). Finding the nearest point in a polytope. *Mathematical Programming* 11,
    128-149.

    Examples
    --------
    >>> import novikoff as nv
    >>> clf = nv.MaxMargin().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> clf.coef_.round(9).tolist(), clf.intercept_.round(9).tolist(), clf.support_.tolist()
    ([[1.0]], [-2.0], [1, 2])
    >>> bool(abs(clf.margin_.lo - 1.0) < 1e-8)
    True
    """

    bias: Literal["free", "padded"] = "free"
    _: KW_ONLY
    fit_intercept: bool = True
    tol: float = 1e-8
    multi_class: Literal["ovr", "ovo"] = "ovr"
    max_seconds: float | None = None

    margin_: Interval | list[Interval] = field(init=False)
    support_: Indices | list[Indices] = field(init=False)
    dual_coef_: Vector | list[Vector] = field(init=False)
    verdict_: Verdict | list[Verdict] = field(init=False)

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "bias": one_of("free", "padded"),
        "fit_intercept": BOOLEAN,
        "tol": Allowed(lambda tol: is_real(tol) and 0 < tol < 1, "a number between 0 and 1"),
        "multi_class": MULTI_CLASS,
        "max_seconds": SECONDS_OR_NONE,
    }

    def fit(self, X: MatrixLike, y: npt.ArrayLike) -> Self:
        """Find the hyperplane of the largest margin.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
            The fitted estimator. After an exception it is unchanged.
        """
        with self._all_or_nothing():
            rows, model, codes = self._prepare(X, y)
            limits = Limits(seconds=self.max_seconds)
            fits = []
            for rule, (part, problem) in enumerate(problems_of(model.scheme, rows, codes)):
                labels = side_labels(model.scheme, model.classes, rule)
                fits.append(self._fit_rule(problem, part, labels, limits))
            planes, supports, duals, verdicts = map(list, zip(*fits, strict=True))
            linear(model).W[:] = np.column_stack([plane.w for plane in planes])
            _check_predictions(model, rows, codes)
            self._learned = Learned(model)
            self.margin_ = one_or_each([plane.margin for plane in planes])
            self.support_ = one_or_each(supports)
            self.dual_coef_, self.verdict_ = one_or_each(duals), one_or_each(verdicts)
        return self

    def _fit_rule(
        self, problem: Problem, part: Indices, labels: Sides, limits: Limits
    ) -> tuple[LargestMargin, Indices, Vector, Verdict]:
        """The hyperplane of one rule, its support vectors, dual variables and verdict."""
        free = self.fit_intercept and self.bias == "free"
        verdict = find_verdict(problem, labels, tol=self.tol, limits=limits)
        limits.raise_if_interrupted()
        if verdict.kind != "separable":
            _raise_not_separable(verdict, labels, part)
        widest = largest_margin(verdict, free_bias=free)
        if widest is None:
            if limits.reached() is None:
                raise OutOfRangeError(_WEIGHTS_TOO_LARGE)
            raise TimeoutError("max_seconds was reached before the margin was known.")
        w, dual = widest.w, widest.dual_coef(problem.signs[widest.support])
        if not (np.isfinite(w).all() and w[:-1].any() and np.isfinite(dual).all()):
            raise OutOfRangeError(_WEIGHTS_TOO_LARGE)
        if widest.margin.relative_width > self.tol:
            warnings.warn(
                f"The margin is known with a relative error of {widest.margin.relative_width:.1e} "
                "only, because max_seconds or the precision of float64 was reached.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return widest, part[widest.support], dual, verdict


def margin_fields(learner: MaxMargin) -> tuple[Body, dict[str, Array]]:
    """Return the results of a fit that are not in the model, for a model file."""
    verdicts, supports, duals = learner.verdict_, learner.support_, learner.dual_coef_
    each = verdicts if isinstance(verdicts, list) else [verdicts]
    proofs = [verdict.certificate for verdict in each]
    return write_margins(
        [proof for proof in proofs if proof is not None],
        supports if isinstance(supports, list) else [supports],
        duals if isinstance(duals, list) else [duals],
    )


def restore_margins(learner: MaxMargin, fitted: Body, tensors: Tensors) -> None:
    """Set the attributes that `margin_fields` returned; InvalidJsonError if they are invalid."""
    proofs, supports, duals = read_margins(learner.model_, fitted, tensors)
    verdicts = [Verdict.from_certificate(proof) for proof in proofs]
    free = learner.fit_intercept and learner.bias == "free"
    margins = [verdict.geometric_margin if free else verdict.margin for verdict in verdicts]
    learner.margin_, learner.support_ = one_or_each(margins), one_or_each(supports)
    learner.dual_coef_, learner.verdict_ = one_or_each(duals), one_or_each(verdicts)


def _check_predictions(model: Model, rows: Rows, codes: Indices) -> None:
    """Raise ValueError unless `predict` classifies every training row correctly."""
    try:
        wrong = np.flatnonzero(model.scheme.choose(model.scores(rows.X)) != codes)
    except ValueError:
        raise OutOfRangeError(_WEIGHTS_TOO_LARGE) from None
    if len(wrong) > 0:
        raise ValueError(
            "The classes are separable, but the margin is too narrow for float64, compared with "
            "the size of the numbers: the rounded weights misclassify row "
            f"{wrong[0]} (counted from 0). Scale the columns, for instance by "
            "sklearn.preprocessing.StandardScaler. novikoff.separate returns the verdict with "
            "exact weights."
        )


def _raise_not_separable(verdict: Verdict, labels: Sides, part: Indices) -> NoReturn:
    """Raise the error that says why there is no margin."""
    positive, negative = labels
    other = "the rest" if negative is None else repr(negative)
    proof = verdict.certificate
    if proof is None or verdict.kind == "undecided":
        raise TimeoutError(
            f"Whether {positive!r} can be separated from {other} is undecided: max_seconds "
            "was reached, or the problem is too large."
        )
    verdict = replace(
        verdict, support=part[verdict.support], separated_rows=part[verdict.separated_rows]
    )
    rows = ", ".join(map(str, verdict.support[:5])) + (", …" if len(verdict.support) > 5 else "")
    clause = verdict_clause(verdict.kind, "hyperplane", f"{positive!r} from {other}")
    raise NotSeparableError(
        f"{clause[0].upper()}{clause[1:]}: the data is {kind_in_words(verdict.kind)}, and rows "
        f"{rows} (counted from 0) contradict each other. The exception's `certificate` is the "
        "proof.",
        verdict,
        proof,
        part,
    )
