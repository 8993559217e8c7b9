"""The rule with the fewest mistakes found, and how much better any rule could be (A6, C5)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from novikoff.core.cores import cores
from novikoff.core.margins import scores
from novikoff.core.pocket import fill_pocket
from novikoff.core.problem import Problem
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.smooth import smooth_starts
from novikoff.core.stops import Limits
from novikoff.core.zero_one import descend
from novikoff.geometry.checker import Dependence
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.packing import Packing
from novikoff.geometry.passes import Data
from novikoff.geometry.table import Label, Matrix, SignedRows, digest
from novikoff.learners.inputs import (
    Labels,
    MatrixLike,
    check_classes,
    check_start,
    check_weights,
    pose_unsigned,
)
from novikoff.learners.linear import LinearLearner
from novikoff.learners.max_margin import sides_of
from novikoff.learners.online import Rules
from novikoff.learners.schemes import scheme_for
from novikoff.learners.streaming import all_or_nothing

# Contradictions that are searched for the lower bound, and the share of the time kept for it.
_MOST_SEARCHES, _SHARE = 100, 0.3


class Pocket(LinearLearner):
    """The linear rule with the fewest mistakes that was found, and a proof of how few there can be.

    If some hyperplane separates the classes, it is found and makes none. If not, the pocket
    algorithm (Gallant 1990) keeps the best weights that a perceptron at random comes across;
    with ``refine`` a descent on the number of mistakes itself follows, from there and from
    logistic regressions. Contradictions without a common row then prove how many mistakes
    every hyperplane must make.

    Parameters
    ----------
    strategy : "ratchet" or "run_length"
        Whether weights enter the pocket when they make fewer mistakes on all rows, or as
        soon as they get more rows right in a row than any before.
    refine : bool
        Whether to go on with a descent on the number of mistakes.
    lower_bound : bool
        Whether to prove a lower bound: up to 100 contradictions are searched for, besides
        identical rows with opposite labels. It is often far below the truth: each one
        takes as many rows as there are weights, and one more.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    max_updates : int
        The number of updates after which the pocket is done, for each rule.
    max_seconds : float, optional
        A limit on the time of a fit.
    multi_class : "ovr" or "ovo"
        With more than two classes: each against the rest, or each against each other.
    class_weight : dict, "balanced" or None
        Factors on the price of a mistake on each class.
    warm_start : bool
        Whether to start from the weights of the last fit.
    random_state : int, RandomState or None
        Where randomness comes from.
    n_jobs : int, optional
        Threads for predicting.

    Attributes
    ----------
    coef_, intercept_, classes_
        The rules and the labels.
    n_errors_ : int or float, or list of them
        The training rows that the rule gets wrong, or the sum of their weights where there
        are weights; one number for each rule with more than two classes.
    errors_lower_bound_ : int or float, or list of them
        No hyperplane gets fewer wrong: proved.
    optimal_ : bool, or list of them
        Whether the two are equal: no hyperplane is better, proved.
    certificate_ : ErrorBound, or list of them
        The proof of the lower bound; for one-vs-one about the rows of the two classes.
    history_ : array of shape (k, 2), or list of them
        The number of updates before, and the pocket's mistakes since.
    n_updates_, n_mistakes_ : int
        The updates of the moving weights, all of them on mistakes.
    converged_ : bool
        Whether every rule gets all rows right.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = nv.Pocket(random_state=0).fit(X, y)
    >>> clf.n_errors_, clf.errors_lower_bound_, clf.optimal_
    (1, 1, True)
    >>> nv.verify(clf.certificate_, X, y)
    """

    n_errors_: float | list[float]
    errors_lower_bound_: float | list[float]
    optimal_: bool | list[bool]
    certificate_: ErrorBound | list[ErrorBound]
    history_: Vector | list[Vector]
    n_updates_: int
    n_mistakes_: int
    converged_: bool

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "strategy": [StrOptions({"ratchet", "run_length"})],
        "refine": ["boolean"],
        "lower_bound": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_updates": [Interval(Integral, 1, None, closed="left")],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        strategy: Literal["ratchet", "run_length"] = "ratchet",
        *,
        refine: bool = True,
        lower_bound: bool = True,
        fit_intercept: bool = True,
        max_updates: int = 10_000,
        max_seconds: float | None = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
        class_weight: Mapping[Hashable, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.strategy = strategy
        self.refine = refine
        self.lower_bound = lower_bound
        self.fit_intercept = fit_intercept
        self.max_updates = max_updates
        self.max_seconds = max_seconds
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Find the rule with the fewest mistakes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        coef_init, intercept_init : array-like, optional
            Weights to start from, for instance those of any other linear model.
        sample_weight : array-like of shape (n_samples,), optional
            The price of a mistake on each row.

        Returns
        -------
        self
        """
        before: Vector | None = None
        if self.warm_start and "_rules" in self.__dict__:
            before = self._rules.decisive()
        limits = Limits(updates=self.max_updates, seconds=self.max_seconds)
        with all_or_nothing(self):
            X, classes, codes = check_classes(self, X, y)
            scheme = scheme_for(len(classes), self.multi_class)
            rules = Rules(scheme, X.shape[1], False, self.fit_intercept)
            start = check_start(coef_init, intercept_init, *rules.shape, self.fit_intercept)
            if start is None and before is not None:
                if before.shape != (X.shape[1] + 1, rules.shape[0]):
                    raise ValueError("warm_start needs the shape of the last fit.")
                start = before
            weights = check_weights(sample_weight, self.class_weight, X, classes, codes)
            if weights is not None and not weights.max() < 1e300:
                raise ValueError("Weights beyond 1e300 cannot be added up: scale them down.")
            problem = pose_unsigned(self, X, self.fit_intercept, cores())
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            found = []
            for rule, sides in enumerate(scheme.sides.T):
                own = None if start is None else start[:, rule]
                labels = sides_of(scheme, classes, rule)
                task = _Task(self, X, problem, sides[codes], weights, own, limits, seed)
                found.append(task.run(labels))
        self._adopt(rules, classes, found)
        if limits.interrupted:
            raise KeyboardInterrupt
        return self

    def _adopt(self, rules: Rules, classes: Labels, found: list[_Found]) -> None:
        W = np.column_stack([rule.w for rule in found])
        tally = np.array([[0, rule.updates, rule.updates] for rule in found]).T
        rules.adopt(W, np.zeros((0, W.shape[1])), tally)
        self._rules, self._votes, self._vocabulary = rules, [], None
        self._name_classes(classes)
        single = len(found) == 1
        self.n_errors_ = found[0].errors if single else [rule.errors for rule in found]
        self.errors_lower_bound_ = found[0].bound if single else [rule.bound for rule in found]
        self.optimal_ = found[0].optimal if single else [rule.optimal for rule in found]
        self.certificate_ = found[0].proof if single else [rule.proof for rule in found]
        self.history_ = found[0].history if single else [rule.history for rule in found]
        self.n_updates_ = self.n_mistakes_ = sum(rule.updates for rule in found)
        self.converged_ = all(rule.errors == 0 for rule in found)


@dataclass
class _Found:
    w: Vector
    errors: float
    bound: float
    proof: ErrorBound
    history: Vector
    updates: int

    @property
    def optimal(self) -> bool:
        return self.errors <= self.bound * (1.0 + 1e-12)


class _Task:
    """One rule: rows of sign 0 take no part, nor do those whose mistakes cost nothing."""

    def __init__(
        self,
        options: Pocket,
        X: Floats | SparseMatrix,
        problem: Problem,
        signs: npt.NDArray[np.int8],
        weights: Vector | None,
        start: Vector | None,
        limits: Limits,
        seed: int,
    ) -> None:
        taking_part = np.flatnonzero(signs if weights is None else signs * (weights > 0.0))
        if len(taking_part) < len(signs):
            self.whole, self.names = (cast(Matrix, X), signs), taking_part
            X, signs = X[taking_part], signs[taking_part]
            weights = None if weights is None else weights[taking_part]
            problem = pose_unsigned(options, X, options.fit_intercept, cores())
        else:
            self.whole, self.names = (cast(Matrix, X), signs), np.arange(len(signs))
        self.options, self.start, self.limits = options, start, limits
        self.problem = problem.resigned(signs)
        self.matrix, self.weights = cast(Matrix, X), weights
        self.prices = np.ones(len(signs)) if weights is None else weights
        self.rng = np.random.default_rng(seed)
        self.data = Data(self.problem, SignedRows(self.matrix, signs, options.fit_intercept))

    def run(self, labels: tuple[Label, Label]) -> _Found:
        try:
            packing = Packing(self.data, self.prices)
            packing.take_twins()
            if not packing.contradictions:
                packing.seek(self.limits)
            if packing.w is not None:
                w, history, updates, sha256 = packing.w, [(0, 0.0)], 0, self._digest()
            else:
                with self._proving(packing):
                    w, history, updates = self._search()
                    sha256 = self._digest()
        finally:
            self.data.close()
        errors = self._errors(w)
        bound = sum((self._least(claim) for claim in packing.contradictions), Fraction(0))
        whole = self.weights is None
        return _Found(
            w=w,
            errors=int(errors) if whole else errors,
            bound=int(bound) if whole else float(bound),
            proof=self._proof(bound, packing, labels, sha256),
            history=np.array(history, dtype=np.float64),
            updates=updates,
        )

    @contextmanager
    def _proving(self, packing: Packing) -> Iterator[None]:
        """Prove the lower bound on another core meanwhile; where time is short, afterwards."""
        if not self.options.lower_bound:
            yield
        elif self.limits.seconds is not None or cores() == 1:
            yield
            self._prove(packing)
        else:
            with ThreadPoolExecutor(1) as pool:
                try:
                    proved = pool.submit(self._prove, packing)
                    yield
                    proved.result()
                except BaseException:
                    self.limits.interrupted = True  # the other thread comes to an end
                    raise

    def _prove(self, packing: Packing) -> None:
        for _ in range(_MOST_SEARCHES):
            if not packing.take_next(self.limits):
                break

    def _search(self) -> tuple[Vector, list[tuple[int, float]], int]:
        """The pocket, then the descent."""
        left = self.limits.left()
        part = None if left is None else left / 4.0 if self.options.refine else left
        brief = Limits(updates=self.limits.updates, seconds=part)
        brief.interrupted = self.limits.interrupted
        kept = fill_pocket(
            self.problem,
            brief,
            self.rng,
            strategy=self.options.strategy,
            start=self.start,
            weights=self.weights,
        )
        self.limits.interrupted = brief.interrupted
        w, history = kept.w, kept.history
        if self.options.refine:
            left = self.limits.left()
            half = None if left is None else left / 2.0  # the other is the descent's
            brief = Limits(seconds=half)
            brief.interrupted = self.limits.interrupted
            smooth = smooth_starts(self.problem, self.prices, brief)
            starts = [w, *smooth.weights, *([] if self.start is None else [self.start])]
            w = min(starts, key=self._errors)
            left = self.limits.left()
            if left is not None and self.options.lower_bound:
                left /= 1.0 + _SHARE  # the rest is for the proof
            brief = Limits(seconds=left)
            brief.interrupted = self.limits.interrupted
            w, errors = descend(self.problem, w, smooth.metric, self.prices, brief, self.rng)
            self.limits.interrupted = brief.interrupted
            history.append((kept.updates, errors))
        return w, history, kept.updates

    def _errors(self, w: Vector) -> float:
        margins = scores(self.problem, w[:, None], cores())[:, 0]
        return float(self.prices[~(margins > 0.0)].sum())

    def _least(self, claim: Dependence) -> Fraction:
        return Fraction(float(self.prices[list(claim.among or ())].min()))

    def _digest(self) -> str:
        """Of all rows; for one-vs-one of those of the two classes."""
        matrix, signs = self.whole
        if signs.all():
            return digest(matrix, signs)
        part = np.flatnonzero(signs)
        return digest(cast(Matrix, cast("Floats", matrix)[part]), signs[part])

    def _proof(
        self, bound: Fraction, packing: Packing, labels: tuple[Label, Label], sha256: str
    ) -> ErrorBound:
        """The proof, about the rows of the digest."""
        matrix, signs = self.whole
        names = np.searchsorted(np.flatnonzero(signs), self.names)
        return ErrorBound(
            bound=bound,
            contradictions=tuple(_renamed(claim, names) for claim in packing.contradictions),
            n=int(np.count_nonzero(signs)),
            d=matrix.shape[1],
            fit_intercept=self.options.fit_intercept,
            positive=labels[0],
            negative=labels[1],
            sha256=sha256,
        )


def _renamed(claim: Dependence, names: Indices) -> Dependence:
    rows, among = names[list(claim.rows)], names[list(claim.among or ())]
    return replace(claim, rows=tuple(rows.tolist()), among=tuple(among.tolist()))
