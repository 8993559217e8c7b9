"""The rule with the fewest mistakes that was found, with a lower bound for all rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import side_labels
from novikoff.core.model import LinearModel
from novikoff.core.pocket import compile_pocket_loop
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.formats.fitted_state import read_pocket, write_pocket
from novikoff.formats.model_record import Body
from novikoff.formats.tensors import Array, Tensors
from novikoff.geometry.fewest_mistakes import FewestMistakes
from novikoff.geometry.scheme_rules import find_rules
from novikoff.learners.arrays import (
    MatrixLike,
    check_remote,
    check_sample_weight,
    check_start,
)
from novikoff.learners.base import (
    Learned,
    LinearLearner,
    check_parameters,
    linear,
    one_or_each,
    store_model,
)
from novikoff.learners.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT,
    MULTI_CLASS,
    RANDOM_STATE,
    SECONDS_OR_NONE,
    Allowed,
    ClassWeight,
    RandomState,
    one_of,
    seed_of,
)
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.exact import rounded_down
from novikoff.proofs.remote import RemoteRows
from novikoff.sentences import html_table, hyperplane, least_cost, no_fewer_mistakes


@dataclass(eq=False, repr=False)
class Pocket(LinearLearner):
    """The linear rule with the fewest mistakes that was found, and a proof of how few there can be.

    The pocket algorithm (Gallant 1990) runs a perceptron on rows drawn at random and keeps the best
    weights of the run. By default the search does more. It finds a rule without mistakes if there
    is such a rule and time allows. It compares the pocket with other cheap rules, and starts a
    descent on the number of mistakes from the best of them. Finally it searches for contradictions
    among the rows, which prove a lower bound on the mistakes of every hyperplane.

    A row whose sign may be wrong by rounding counts as misclassified. If rows differ by about 2⁻⁵⁰
    of their entries, `separate` may find a hyperplane in exact arithmetic where the result makes
    mistakes.

    Parameters
    ----------
    strategy : "ratchet", "run_length" or "textbook"
        The strategy determines when weights enter the pocket, and which weights are returned.

        "textbook" is the algorithm as textbooks print it: take a random row that w misclassifies,
        update w on this row, and put w into the pocket if w makes fewer mistakes on all rows. Every
        update is followed by a comparison, which reads all rows. The result is either the initial
        weights or weights of the run, without any change. If the run starts from zeros and the
        entries of the rows are integers, the weights are integers. Rows may lie on their
        hyperplane.

        "ratchet" and "run_length" are the strategies of Gallant. "ratchet" compares w with the
        pocket on all rows only when w has classified more rows in succession correctly than the
        pocket did. "run_length" does not compare the mistakes: the weights with the longest run
        win. Both return the best of these rules: the pocket, a separating hyperplane if one was
        found, the constant rules, the initial weights and, with ``refine``, the rules named there.
        The hyperplane is then moved off all rows that lie on it. Therefore the result may differ
        from all weights of the run, even with ``refine=False``.
    refine : bool
        Whether to compare the pocket with the averaged perceptron, least squares and logistic
        regression, and to start a descent on the number of mistakes from the best of them.
        "textbook" does not use it.
    lower_bound : bool
        Whether to prove a lower bound on the mistakes. There are three searches, each until
        ``max_seconds`` or, without a limit, for a few seconds:

        - With at most eight weights, of all rules, if this needs at most 2²⁸ operations, or as long
          as ``max_seconds`` allows. It finds a rule with the fewest mistakes, and proves that there
          are no fewer.
        - Of contradictions among the rows; the simplest are identical rows with opposite labels. In
          large data, the rows are searched in disjoint parts, whose bounds add up. In small data,
          contradictions may share rows. The bound is often far below the least possible number of
          mistakes: with p weights, disjoint contradictions of n rows in general position prove at
          most n/(p + 1) mistakes.
        - With ``max_seconds``, in data with at most 2²⁰ entries, of rows that hit all known
          contradictions, by integer programs. They improve rules and bounds.
    fit_intercept : bool
        Whether the hyperplane may have a bias.
    max_updates : int
        The largest number of updates of the pocket, for each rule. Below 10,000 the search for
        contradictions is shorter in proportion.
    max_seconds : float, optional
        A limit on the time of a fit, shared among the rules. The search for a rule uses all its
        time unless it proves that no rule is better. Some work is done even if the limit is very
        short: except with "textbook", each rule is at least as good as a constant rule and, with
        ``refine``, as the averaged perceptron, and X is hashed once. On large data a fit may
        therefore exceed the limit. Without a limit, a search ends when it hardly improves the rule,
        and the amount of work depends on the data and not on the clock.
    multi_class : "ovr" or "ovo"
        With more than two classes: one-vs-rest or one-vs-one. The scores of one-vs-rest rules have
        no common scale, so that "ovo" often misclassifies fewer rows. Except with "textbook", all
        rules are replaced by cheap rules, or by rules that choose the most frequent class, if these
        choose the right class more often together. A single rule may then make more mistakes than a
        constant rule.
    class_weight : dict, "balanced" or None
        A factor for each class, by which the cost of a mistake on its rows is multiplied.
    warm_start : bool
        Whether to start from the weights of the last fit.
    random_state : int, RandomState or None
        Random seed.

    Attributes
    ----------
    coef_, intercept_, classes_
        The rules and the labels.
    n_errors_ : int or float, or list of them
        The number of training rows that the rule misclassifies, or the sum of their weights. With
        more than two classes there is one number for each rule. `predict` misclassifies exactly
        these rows; f(x) = 0 means the negative class.
    errors_lower_bound_ : int or float, or list of them
        A proved lower bound: no hyperplane misclassifies fewer rows. With an intercept, the bound
        also holds for the mistakes of `predict`. Without an intercept, rows on a hyperplane count
        as misclassified, except rows of zeros. If the strategy is "textbook", or if rows lie on the
        hyperplane that was found, rows on a hyperplane count as `predict` classifies them. Sums of
        weights are rounded down.
    optimal_ : bool, or list of them
        Whether ``n_errors_`` equals the lower bound, compared without rounding. If so, it is proved
        that no hyperplane is better.
    wrong_ : array of int, list of them, or None
        The numbers of the training rows that the rule misclassifies, counted from 0. If these rows
        are removed or given the other label, the hyperplane separates the classes, unless rows lie
        on it. No smaller set of rows does the same if ``optimal_``, and if every row has the same
        weight. None after a fit on a cluster.
    certificate_ : ErrorBound, or list of them
        The proof of the lower bound, which `verify` checks against all of X and y. With one-vs-one,
        a proof is about the rows of two classes only.
    history_ : array of shape (k, 2), or list of them
        Pairs of a number of updates and the mistakes of the pocket after these updates. A row on
        the hyperplane counts as a mistake. With "textbook" there is a pair for each update. With
        the other strategies there is a pair for each change of the pocket, and a last pair for the
        rule that is returned.
    n_updates_, n_mistakes_ : int
        The number of updates of the perceptron; every update corrects a mistake.
    converged_ : bool
        Whether every rule classifies all rows correctly.

    See Also
    --------
    separate : Decide whether a rule without mistakes exists.
    ErrorBound : The proof of the lower bound.
    Perceptron : A learner that learns one row at a time.

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
    >>> len(clf.wrong_)
    1
    >>> nv.verify(clf.certificate_, X, y)
    'Every hyperplane with a bias misclassifies at least 1 row, 1 against 0, in 4 rows of 2 \
columns.'

    With "textbook", the weights are a sum of signed rows (x, 1).

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

    n_errors_: float | list[float] = field(init=False)
    errors_lower_bound_: float | list[float] = field(init=False)
    optimal_: bool | list[bool] = field(init=False)
    wrong_: Indices | list[Indices] | None = field(init=False)
    certificate_: ErrorBound | list[ErrorBound] = field(init=False)
    history_: Vector | list[Vector] = field(init=False)
    n_updates_: int = field(init=False)
    n_mistakes_: int = field(init=False)
    converged_: bool = field(init=False)

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "strategy": one_of("ratchet", "run_length", "textbook"),
        "refine": BOOLEAN,
        "lower_bound": BOOLEAN,
        "fit_intercept": BOOLEAN,
        "max_updates": COUNT,
        "max_seconds": SECONDS_OR_NONE,
        "multi_class": MULTI_CLASS,
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOLEAN,
        "random_state": RANDOM_STATE,
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
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. X may be rows of a cluster, which contain their labels: see
            `novikoff.cluster.rows`.
        y : array-like of shape (n_samples,)
            The labels.
        coef_init, intercept_init : array-like, optional
            Weights to start from, for instance the weights of any other linear model.
        sample_weight : array-like of shape (n_samples,), optional
            The cost of a mistake on each row.

        Returns
        -------
        self
            The fitted estimator. After an exception it is unchanged. After Ctrl-C it has the best
            rules found so far, except on a cluster.
        """
        with self._all_or_nothing():
            if isinstance(X, RemoteRows):
                self._fit_remote(X, y, coef_init, intercept_init, sample_weight)
                return self
            limits = self._fit(X, y, (coef_init, intercept_init), sample_weight)
        limits.raise_if_interrupted()
        return self

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The display in notebooks: the diagram of scikit-learn; after `fit`, also the mistakes."""
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in shown and "certificate_" in vars(self):
            shown["text/html"] += html_table(self._table(), ["rule", "mistakes", "lower bound"])
        return shown

    def _table(self) -> Iterator[tuple[str, str, str]]:
        """The mistakes of each rule, and the proved lower bound on those of every hyperplane."""
        columns: list[Any] = [
            self.n_errors_,
            self.errors_lower_bound_,
            self.optimal_,
            self.certificate_,
        ]
        each = [value if isinstance(value, list) else [value] for value in columns]
        for errors, least, optimal, proof in zip(*each, strict=True):
            others = "the rest" if proof.negative is None else repr(proof.negative)
            plane = hyperplane(fit_intercept=self.fit_intercept)
            bound = no_fewer_mistakes(plane) if optimal else least_cost(plane, f"{least:,}")
            bound += ", proved"
            yield f"{proof.positive!r} against {others}", f"{errors:,}", bound

    def _fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None,
        given: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
        sample_weight: npt.ArrayLike | None,
    ) -> Limits:
        """Fit every rule; return the limits, which say whether Ctrl-C was pressed."""
        limits = Limits(updates=self.max_updates, seconds=self.max_seconds)
        learned = self.warm_start and self._learned is not None
        before = self.model_.prediction_weights() if learned else None
        rows, blank, codes = self._prepare(X, y)
        model = linear(blank)
        start = check_start(*given, model.n_rules, model.n_features, self.fit_intercept)
        if start is None and before is not None:
            if before.shape != model.W.shape:
                raise ValueError(
                    "warm_start needs the number of features and of classes of the last fit."
                )
            start = before
        costs = check_sample_weight(sample_weight, self.class_weight, model.classes, codes)
        if costs is not None and not 0.0 < costs.max() < 1e300:
            raise ValueError("Weights must not be all zero, and must be below 1e300: scale them.")
        seed = seed_of(self.random_state)
        if self.strategy != "textbook":
            with limits.paused():
                compile_pocket_loop(rows)
        rules = find_rules(
            rows,
            codes,
            model,
            costs=costs,
            start=start,
            strategy=self.strategy,
            refine=self.refine,
            lower_bound=self.lower_bound,
            limits=limits,
            seed=seed,
        )
        wrong = [rule.wrong for rule in rules.together]
        self._take_found(model, rules.together, wrong, whole=costs is None)
        return limits

    def _fit_remote(self, rows: RemoteRows, *others: object) -> None:
        """Fit every rule on a cluster."""
        check_parameters(self)
        plain = {"class_weight": None, "warm_start": False}
        labels = check_remote(self, rows, plain, *others)
        if len(labels) > 2 and self.multi_class == "ovo":
            raise ValueError("On a cluster multi_class must be 'ovr': each class against the rest.")
        if self.strategy == "textbook":
            raise ValueError("On a cluster strategy must be 'ratchet' or 'run_length'.")
        model = LinearModel(np.array(labels), rows.d, self.fit_intercept)
        rules = rows.fewest_mistakes(
            [side_labels(model.scheme, model.classes, rule) for rule in range(model.n_rules)],
            self.fit_intercept,
            Limits(updates=self.max_updates, seconds=self.max_seconds),
            seed_of(self.random_state),
            strategy=self.strategy,
            refine=self.refine,
            lower_bound=self.lower_bound,
        )
        store_model(self, model, [str(name) for name in rows.names] if rows.named else None)
        model.W[:] = np.column_stack([rule.w for rule in rules])
        model.totals[1:] = [rule.updates for rule in rules]
        self._take_found(model, rules, None, whole=True)

    def _take_found(
        self,
        model: LinearModel,
        rules: list[FewestMistakes],
        wrong: list[Indices] | None,
        *,
        whole: bool,
    ) -> None:
        """Set the attributes of a fit; errors are ``whole`` numbers if every mistake costs 1."""
        self._learned = Learned(model)
        self._describe(
            [int(rule.mistakes) if whole else rule.mistakes for rule in rules],
            [rule.proof for rule in rules],
            [np.array(rule.history, dtype=float) for rule in rules],
            wrong,
        )

    def _describe(
        self,
        errors: Sequence[int | Fraction],
        proofs: list[ErrorBound],
        histories: list[Vector],
        wrong: list[Indices] | None,
    ) -> None:
        """Set the attributes that describe the rules.

        ``errors`` are integers if every mistake costs 1, else exact sums of costs.
        """
        self._errors, proved = errors, list(zip(errors, proofs, strict=True))
        self.n_errors_ = one_or_each([n if isinstance(n, int) else float(n) for n in errors])
        self.errors_lower_bound_ = one_or_each(
            [int(p.bound) if isinstance(n, int) else rounded_down(p.bound) for n, p in proved]
        )
        self.optimal_ = one_or_each([n <= proof.bound for n, proof in proved])
        self.certificate_, self.history_ = one_or_each(proofs), one_or_each(histories)
        self.wrong_ = None if wrong is None else one_or_each(wrong)
        self.n_updates_ = self.n_mistakes_ = self.model_.n_updates
        self.converged_ = not any(errors)


def pocket_fields(pocket: Pocket) -> tuple[Body, dict[str, Array]]:
    """Return the results of a fit that are not in the model, for a model file."""
    proofs, histories, wrong = pocket.certificate_, pocket.history_, pocket.wrong_
    return write_pocket(
        pocket._errors,
        proofs if isinstance(proofs, list) else [proofs],
        histories if isinstance(histories, list) else [histories],
        wrong if wrong is None or isinstance(wrong, list) else [wrong],
    )


def restore_pocket(pocket: Pocket, fitted: Body, tensors: Tensors) -> None:
    """Set the attributes that `pocket_fields` returned; InvalidJsonError if they are invalid."""
    pocket._describe(*read_pocket(pocket.model_, fitted, tensors))
