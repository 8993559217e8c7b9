"""The hyperplane of the largest margin, for scikit-learn (C4)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval as Range
from sklearn.utils._param_validation import StrOptions

from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.certificate import Certificate
from novikoff.geometry.exact import Signs
from novikoff.geometry.inquiry import Finding
from novikoff.geometry.margin import Interval
from novikoff.geometry.separability import Verdict, decide
from novikoff.geometry.table import Label, as_matrix, plain_label
from novikoff.learners.inputs import Labels, MatrixLike, check_classes
from novikoff.learners.linear import LinearLearner
from novikoff.learners.online import Rules
from novikoff.learners.schemes import OneVsOne, Scheme, scheme_for
from novikoff.learners.streaming import all_or_nothing


class NotSeparableError(ValueError):
    """No hyperplane separates the classes, and here is the proof.

    Attributes
    ----------
    verdict : Verdict
        What was found, the contradicting rows among it.
    certificate : Certificate
        The proof, about the rows below: ``certificate.verify(X[rows], y[rows])``.
    rows : array of int
        The rows of the two classes; all of them, but for one-vs-one.
    """

    def __init__(
        self, message: str, verdict: Verdict, certificate: Certificate, rows: Indices
    ) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.certificate = certificate
        self.rows = rows

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.verdict, self.certificate, self.rows)


class MaxMargin(LinearLearner):
    """The separating hyperplane of the largest margin: the hard-margin SVM (C4).

    It maximises min_i y_i(⟨w, x_i⟩ + b)/‖w‖, where the bias is free, or the margin γ of the
    perceptron's mistake bound, where it counts as a weight: /‖(w, b)‖. Scores are scaled so
    that they are ±1 on the rows nearest to the hyperplane.

    Parameters
    ----------
    bias : "free" or "padded"
        Whether the bias is free, as in an SVM, or a weight among the others.
    fit_intercept : bool
        Whether there is a bias at all.
    tol : float
        The relative width of the interval that is guaranteed to hold the margin.
    multi_class : "ovr" or "ovo"
        With more than two classes: each against the rest, or each against each other.
    max_seconds : float, optional
        When to stop with the margin known less precisely.
    n_jobs : int, optional
        Threads for predicting.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (n_rules, n_features) and (n_rules,)
        The hyperplanes.
    classes_ : array
        The labels; the second is the positive class of two.
    margin_ : Interval, or list of them
        Holds the largest margin, guaranteed; one for each rule with more than two classes.
    support_ : array of int, or list of them
        The rows that carry the margin.
    dual_coef_ : array, or list of them
        α with coef_ = Σ α_i x_i over the support, α_i positive for the positive class.
    verdict_ : Verdict, or list of them
        The verdict of separability, with its certificate.

    Raises
    ------
    NotSeparableError
        By ``fit``, where no hyperplane separates the classes; the certificate is attached.

    Examples
    --------
    >>> import novikoff as nv
    >>> clf = nv.MaxMargin().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> clf.coef_.round(9).tolist(), clf.intercept_.round(9).tolist(), clf.support_.tolist()
    ([[1.0]], [-2.0], [1, 2])
    >>> bool(abs(clf.margin_.lo - 1.0) < 1e-8)
    True
    """

    margin_: Interval | list[Interval]
    support_: Indices | list[Indices]
    dual_coef_: Vector | list[Vector]
    verdict_: Verdict | list[Verdict]

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "bias": [StrOptions({"free", "padded"})],
        "fit_intercept": ["boolean"],
        "tol": [Range(Real, 0, 1, closed="neither")],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "max_seconds": [Range(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        bias: Literal["free", "padded"] = "free",
        *,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        multi_class: Literal["ovr", "ovo"] = "ovr",
        max_seconds: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bias = bias
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.multi_class = multi_class
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
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
        """
        with all_or_nothing(self):
            if getattr(getattr(X, "dtype", None), "kind", "O") in "iuO":
                as_matrix(X)  # refuses numbers that a conversion would round
            X, classes, codes = check_classes(self, X, y)
            scheme = scheme_for(len(classes), self.multi_class)
            limits = Limits(seconds=self.max_seconds)
            found = [
                self._fit_rule(X, sides[codes], sides_of(scheme, classes, rule), limits)
                for rule, sides in enumerate(scheme.sides.T)
            ]
        rules = Rules(scheme, X.shape[1], False, self.fit_intercept)
        W = np.column_stack([rule.w for rule in found])
        rules.adopt(W, np.zeros((0, W.shape[1])), np.zeros((3, W.shape[1]), dtype=np.int64))
        self._rules, self._votes, self._vocabulary = rules, [], None
        self._name_classes(classes)
        single = len(found) == 1
        self.margin_ = found[0].margin if single else [rule.margin for rule in found]
        self.support_ = found[0].support if single else [rule.support for rule in found]
        self.dual_coef_ = found[0].dual if single else [rule.dual for rule in found]
        self.verdict_ = found[0].verdict if single else [rule.verdict for rule in found]
        return self

    def _fit_rule(
        self,
        X: Floats | SparseMatrix,
        signs: Signs,
        labels: tuple[Label, Label],
        limits: Limits,
    ) -> _Rule:
        """One rule, on the rows whose sign is not 0."""
        taking_part = np.flatnonzero(signs)
        if len(taking_part) < len(signs):
            X, signs = X[taking_part], signs[taking_part]
        free = self.fit_intercept and self.bias == "free"
        names = list(self.__dict__.get("_feature_names", [])) or None
        verdict, found = decide(
            as_matrix(X),
            signs,
            labels,
            self.fit_intercept,
            self.tol,
            "gap" if free else "margin",
            limits,
            names=names,
        )
        if limits.interrupted:
            raise KeyboardInterrupt
        if verdict.kind != "separable":
            _refuse(verdict, labels, taking_part)
        rule = _free(found, signs, verdict) if free else _padded(found, signs, verdict)
        if not (np.isfinite(rule.w).all() and rule.w[:-1].any() and np.isfinite(rule.dual).all()):
            raise ValueError("The weights are beyond the range of float64: scale the data.")
        if rule.margin.relative_width > self.tol:
            warnings.warn(
                f"The margin is known to a relative {rule.margin.relative_width:.1e} only: "
                "max_seconds or the precision of float64 was reached.",
                ConvergenceWarning,
                stacklevel=5,
            )
        rule.support = taking_part[rule.support]
        return rule


@dataclass
class _Rule:
    w: Vector  # the bias last
    margin: Interval
    support: Indices
    dual: Vector
    verdict: Verdict


def _free(found: Finding, signs: Signs, verdict: Verdict) -> _Rule:
    """With ‖z‖ the distance of the hulls, w = 2z/‖z‖² has scores ±1 on the support."""
    gap = found.gap
    if gap is None:
        raise TimeoutError("max_seconds was over before the margin was known.")
    order = np.argsort(gap.rows)
    rows = gap.rows[order]
    with np.errstate(all="ignore"):
        dual = signs[rows] * gap.weights[order] * 0.5 / gap.margin.hi / gap.margin.hi  # ‖z‖ = 2·hi
        w = gap.w / _norm(gap.w[:-1]) / gap.margin.hi
    return _Rule(w, gap.margin, rows, dual, verdict)


def _padded(found: Finding, signs: Signs, verdict: Verdict) -> _Rule:
    """With z the nearest point of the hull, w = z/‖z‖² has scores ±1 on the support."""
    weighing = found.weighing
    if weighing is None or verdict.coef is None or verdict.intercept is None:
        raise TimeoutError("max_seconds was over before the margin was known.")
    order = np.argsort(weighing.rows)
    rows = weighing.rows[order]
    w = np.append(verdict.coef, verdict.intercept)
    with np.errstate(all="ignore"):
        dual = weighing.weights[order] / weighing.weights.sum() / found.margin.hi / found.margin.hi
        w = w / _norm(w) / found.margin.hi
    return _Rule(w, found.margin, rows, signs[rows] * dual, verdict)


def _norm(w: Vector) -> float:
    """‖w‖, whatever its size."""
    size = float(np.abs(w).max())
    return size * float(np.linalg.norm(w / size))


def _refuse(verdict: Verdict, labels: tuple[Label, Label], part: Indices) -> NoReturn:
    """Say why there is no margin."""
    positive, negative = labels
    other = "the rest" if negative is None else repr(negative)
    proof = verdict.certificate
    if proof is None or verdict.kind == "undecided":
        raise TimeoutError(
            f"Whether {positive!r} can be separated from {other} is undecided: max_seconds "
            "was over, or the problem is too large."
        )
    verdict = replace(
        verdict, support=part[verdict.support], separated_rows=part[verdict.separated_rows]
    )
    rows = ", ".join(map(str, verdict.support[:5])) + (", …" if len(verdict.support) > 5 else "")
    raise NotSeparableError(
        f"No hyperplane separates {positive!r} from {other}: the data is {verdict.kind}, rows "
        f"{rows} contradict each other. The exception's `certificate` is the proof.",
        verdict,
        proof,
        part,
    )


def sides_of(scheme: Scheme, classes: Labels, rule: int) -> tuple[Label, Label]:
    """The labels of the positive and the negative side; None is the rest."""
    if isinstance(scheme, OneVsOne):
        negative, positive = scheme.pairs[rule]
        return plain_label(classes[positive]), plain_label(classes[negative])
    if len(classes) == 2:
        return plain_label(classes[1]), plain_label(classes[0])
    return plain_label(classes[rule]), None
