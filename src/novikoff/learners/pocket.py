"""The rule with the fewest mistakes found, and how much better any rule could be (A6, C5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.pocket import load_kernel
from novikoff.core.rows import Vector
from novikoff.core.schemes import sides_of
from novikoff.core.stops import Limits
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.exact import rounded_down
from novikoff.geometry.fewest_mistakes import FewestMistakes, find_rules
from novikoff.geometry.remote import RemoteRows
from novikoff.learners.base import LinearLearner, linear, one_or_each
from novikoff.learners.inputs import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT,
    JOBS,
    RANDOM_STATE,
    SECONDS,
    Allowed,
    ClassWeight,
    MatrixLike,
    RandomState,
    check_parameters,
    check_remote,
    check_start,
    check_weights,
    seed_of,
    words,
)


@dataclass(eq=False, repr=False)
class Pocket(LinearLearner):
    """The linear rule with the fewest mistakes that was found, and a proof of how few there can be.

    The pocket algorithm (Gallant 1990) runs a perceptron on rows drawn at random and keeps the best
    weights that it meets. By default the search does more: if there is a rule without mistakes
    and time to find it, it is found; other cheap rules compete with the pocket, and a descent on
    the number of mistakes starts from the best of all. Contradictions then prove how many mistakes
    every hyperplane must make.

    Parameters
    ----------
    strategy : "ratchet", "run_length" or "textbook"
        When weights enter the pocket, and which weights are returned.

        "textbook" is the algorithm as it is printed: take a random row that w misclassifies,
        correct w by it, and put w into the pocket if it makes fewer mistakes on all rows. Every
        update is compared, and costs a pass over all rows. The weights returned are the start or a
        w that the run met, unchanged: from zeros, on rows of integers, they are integers. Rows may
        lie on their hyperplane.

        "ratchet" compares w on all rows only when it has classified more rows in succession
        correctly than the pocket, and "run_length" does not compare at all: the longest run wins
        (both are Gallant's). The weights returned are the best of these and of others: a separating
        hyperplane if there is one, the constants, the start and, with ``refine``, all that is named
        there. They are then moved off the rows that lie on their hyperplane. So they need not be
        weights that the run met, not even with ``refine=False``.
    refine : bool
        Whether the averaged perceptron, least squares and logistic regression compete with the
        pocket, and a descent on the number of mistakes goes on from the best. Not used by
        "textbook".
    lower_bound : bool
        Whether to prove a lower bound: contradictions are searched for, besides identical rows
        with opposite labels, as long as ``max_seconds`` allows; without it for some seconds. Those
        within disjoint parts of many rows add up; those of few rows may have rows in common.
        The bound is often far below the truth: of rows in general position a contradiction takes
        as many as there are weights, and one more, so that n of them with p weights prove at most
        n/(p + 1) mistakes.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    max_updates : int
        The number of updates after which the pocket is done, for each rule. Below 10,000 the
        search for contradictions is shorter in proportion.
    max_seconds : float, optional
        A limit on the time of a fit, shared among the rules, and used until a rule is proved to be
        the best. However short it is, each rule found (except by "textbook") is at least as good as
        a constant and, with ``refine``, as an averaged perceptron's, and X is hashed once: on large
        data these may take longer. Without it a search ends when it hardly gains, after an amount
        of work that depends on the data, not on the clock.
    multi_class : "ovr" or "ovo"
        With more than two classes: each against the rest, or each against each other. Rules
        against the rest have no common scale, so "ovo" often makes fewer mistakes together. Except
        with "textbook", cheap rules, or those that choose the most frequent class, take the place
        of those found where they choose the right class more often together; one alone may then err
        more often than a constant.
    class_weight : dict, "balanced" or None
        Factors on the cost of a mistake on each class.
    warm_start : bool
        Whether to start from the weights of the last fit.
    random_state : int, RandomState or None
        The source of randomness.
    n_jobs : int, optional
        Not used: it is there as other estimators have it.

    Attributes
    ----------
    coef_, intercept_, classes_
        The rules and the labels.
    n_errors_ : int or float, or list of them
        The training rows that the rule misclassifies, or the sum of their weights; one number for
        each rule with more than two classes. `predict` errs on exactly these rows; f(x) = 0 is the
        negative class.
    errors_lower_bound_ : int or float, or list of them
        No hyperplane gets fewer wrong: proved. With an intercept this holds for `predict` too.
        Without one, a hyperplane that passes through rows other than zeros gets these wrong here,
        unless the strategy is "textbook", or the rule that was found passes through rows itself:
        then they count as `predict` has them. Sums of weights are rounded down.
    optimal_ : bool, or list of them
        Whether the two are equal, without rounding: no hyperplane is better, proved.
    certificate_ : ErrorBound, or list of them
        The proof of the lower bound, to be checked against all of X and y; for one-vs-one it is
        about the rows of the two classes, and rows of others take no part.
    history_ : array of shape (k, 2), or list of them
        The number of updates, and the mistakes of the pocket after them, where a row on the
        hyperplane is a mistake: after each update with "textbook", else whenever they changed, and
        the rule's at the end.
    n_updates_, n_mistakes_ : int
        The updates of the moving weights, all of them on mistakes.
    converged_ : bool
        Whether every rule gets all rows right.

    References
    ----------
    Gallant, S. I. (1990). Perceptron-based learning algorithms. *IEEE Transactions on Neural
    Networks* 1(2), 179-191.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = nv.Pocket(random_state=0).fit(X, y)
    >>> clf.n_errors_, clf.errors_lower_bound_, clf.optimal_
    (1, 1, True)
    >>> nv.verify(clf.certificate_, X, y)

    The algorithm as it is printed: a sum of signed rows (x, 1).

    >>> clf = nv.Pocket("textbook", max_updates=20, random_state=3).fit(X, y)
    >>> clf.coef_.tolist(), clf.intercept_.tolist(), clf.n_errors_, len(clf.history_)
    ([[-1.0, -1.0]], [-1.0], 2, 21)
    """

    strategy: Literal["ratchet", "run_length", "textbook"] = "ratchet"
    _: KW_ONLY
    refine: bool = True
    lower_bound: bool = True
    fit_intercept: bool = True
    max_updates: int = 10_000
    max_seconds: float | None = None
    multi_class: Literal["ovr", "ovo"] = "ovr"
    class_weight: ClassWeight = None
    warm_start: bool = False
    random_state: RandomState = None
    n_jobs: int | None = None

    n_errors_: float | list[float] = field(init=False)
    errors_lower_bound_: float | list[float] = field(init=False)
    optimal_: bool | list[bool] = field(init=False)
    certificate_: ErrorBound | list[ErrorBound] = field(init=False)
    history_: Vector | list[Vector] = field(init=False)
    n_updates_: int = field(init=False)
    n_mistakes_: int = field(init=False)
    converged_: bool = field(init=False)

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "strategy": words("ratchet", "run_length", "textbook"),
        "refine": BOOLEAN,
        "lower_bound": BOOLEAN,
        "fit_intercept": BOOLEAN,
        "max_updates": COUNT,
        "max_seconds": SECONDS,
        "multi_class": words("ovr", "ovo"),
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOLEAN,
        "random_state": RANDOM_STATE,
        "n_jobs": JOBS,
    }

    def fit(
        self,
        X: MatrixLike | RemoteRows,
        y: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Find the rule with the fewest mistakes.

        Parameters
        ----------
        X, y : array-like or sparse matrix of shape (n_samples, n_features), array-like
            The rows and their labels. X may be rows of a cluster, which have their labels with
            them: see `novikoff.cluster.rows`.
        coef_init, intercept_init : array-like, optional
            Weights to start from, for instance those of any other linear model.
        sample_weight : array-like of shape (n_samples,), optional
            The cost of a mistake on each row.

        Returns
        -------
        self
            After an exception it is what it was before; after Ctrl-C it has the best rules so far,
            except on a cluster.
        """
        with self._all_or_nothing():
            if isinstance(X, RemoteRows):
                self._fit_remote(X, y, coef_init, intercept_init, sample_weight)
                return self
            limits = self._fit(X, y, (coef_init, intercept_init), sample_weight)
        if limits.interrupted:
            raise KeyboardInterrupt
        return self

    def _fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        given: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
        sample_weight: npt.ArrayLike | None,
    ) -> Limits:
        """Fit every rule; the limits know whether Ctrl-C was pressed."""
        limits = Limits(updates=self.max_updates, seconds=self.max_seconds)
        before = self._model.decisive() if self.warm_start and "_held" in vars(self) else None
        problem, blank, codes = self._prepare(X, y)
        model = linear(blank)
        start = check_start(*given, model.n_rules, model.n_features, self.fit_intercept)
        if start is None and before is not None:
            if before.shape != model.W.shape:
                raise ValueError("warm_start needs the shape of the last fit.")
            start = before
        weights = check_weights(sample_weight, self.class_weight, model.classes, codes)
        if weights is not None and not 0.0 < weights.max() < 1e300:
            raise ValueError("Weights must not be all zero, nor beyond 1e300: scale them.")
        seed = seed_of(self.random_state)
        if self.strategy != "textbook":
            with limits.standing_still():
                load_kernel(problem)
        found = find_rules(
            problem,
            codes,
            model,
            costs=weights,
            start=start,
            strategy=self.strategy,
            refine=self.refine,
            lower_bound=self.lower_bound,
            limits=limits,
            seed=seed,
        )
        self._take_found(model, found.together, whole=weights is None)
        return limits

    def _fit_remote(self, rows: RemoteRows, *others: object) -> None:
        """Fit every rule where the rows are."""
        check_parameters(self, self._allowed)
        plain = {"class_weight": None, "warm_start": False}
        labels = check_remote(self, rows, plain, *others)
        if len(labels) > 2 and self.multi_class == "ovo":
            raise ValueError("On a cluster multi_class is 'ovr': each class against the rest.")
        if self.strategy == "textbook":
            raise ValueError("On a cluster strategy is 'ratchet' or 'run_length', not 'textbook'.")
        model = LinearModel(np.array(labels), rows.d, self.fit_intercept)
        found = rows.fewest_mistakes(
            [sides_of(model.scheme, model.classes, rule) for rule in range(model.n_rules)],
            self.fit_intercept,
            Limits(updates=self.max_updates, seconds=self.max_seconds),
            seed_of(self.random_state),
            strategy=self.strategy,
            refine=self.refine,
            lower_bound=self.lower_bound,
        )
        self._take(model, [str(name) for name in rows.names] if rows.named else None)
        model.W[:] = np.column_stack([rule.w for rule in found])
        model.totals[1:] = [rule.updates for rule in found]
        self._take_found(model, found, whole=True)

    def _take_found(self, model: LinearModel, found: list[FewestMistakes], *, whole: bool) -> None:
        """Hold the rules; where mistakes cost 1, their numbers are ``whole``."""
        self._hold(model)
        self._describe(
            [int(rule.errors) if whole else rule.errors for rule in found],
            [rule.proof for rule in found],
            [np.array(rule.history, dtype=float) for rule in found],
        )

    def _describe(
        self, errors: Sequence[int | Fraction], proofs: list[ErrorBound], histories: list[Vector]
    ) -> None:
        """What was found: ``errors`` are whole where mistakes cost 1, else exact sums of costs."""
        self._errors, found = errors, list(zip(errors, proofs, strict=True))
        self.n_errors_ = one_or_each([n if isinstance(n, int) else float(n) for n in errors])
        self.errors_lower_bound_ = one_or_each(
            [int(p.bound) if isinstance(n, int) else rounded_down(p.bound) for n, p in found]
        )
        self.optimal_ = one_or_each([n <= proof.bound for n, proof in found])
        self.certificate_, self.history_ = one_or_each(proofs), one_or_each(histories)
        self.n_updates_ = self.n_mistakes_ = self._model.n_updates
        self.converged_ = not any(errors)
