"""Regret: how many more mistakes an online learner makes than the best fixed rule."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import Labels, check_labels, code_labels
from novikoff.core.model import LinearModel
from novikoff.core.pocket import compile_pocket_loop
from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Matrix, Vector, as_dense
from novikoff.core.stops import Limits
from novikoff.core.validation import check_matrix
from novikoff.geometry.hitting_sets import best_shares
from novikoff.geometry.margin import Interval
from novikoff.geometry.scheme_rules import FoundRules, find_rules
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.parameters import seed_of
from novikoff.learners.pocket import Pocket
from novikoff.proofs.error_bound import ErrorBound, running_bounds
from novikoff.sentences import counted, html_table

# A function of a row, an object with `predict`, or weights as (coef, intercept).
FixedRule: TypeAlias = "Callable[[Vector], Hashable] | tuple[npt.ArrayLike, npt.ArrayLike] | Any"


@dataclass(frozen=True, eq=False)
class Regret:
    """The mistakes of an online run and of fixed rules, after each row.

    Entry t of every array is the number of mistakes on the rows 0, …, t.

    Attributes
    ----------
    learner_mistakes : array of shape (n,)
        The mistakes of the learner, which predicts each label before it sees the label.
    rule_mistakes : array of shape (n_rules, n)
        The mistakes of each fixed rule: of the rules that were given, or of the one linear rule
        that was found.
    least_mistakes : array of shape (n,)
        The mistakes of the rule that is best on the rows 0, …, t. If rules were given, this is the
        minimum over them. For all linear rules, it is a proved lower bound: no linear rule makes
        fewer mistakes.
    """

    learner_mistakes: Indices
    rule_mistakes: Indices
    least_mistakes: Indices

    @property
    def mistakes(self) -> int:
        """The learner's mistakes on all rows."""
        return int(self.learner_mistakes[-1])

    @property
    def best_errors(self) -> int:
        """The mistakes of the best known fixed rule on all rows."""
        return int(self.rule_mistakes[:, -1].min())

    @property
    def errors_lower_bound(self) -> int:
        """A proved lower bound on the mistakes of every fixed rule on all rows."""
        return int(self.least_mistakes[-1])

    @property
    def best_rule(self) -> int:
        """The number of the rule with the fewest mistakes on all rows; the first if several tie."""
        return int(self.rule_mistakes[:, -1].argmin())

    @property
    def curve(self) -> Indices:
        """A lower and an upper bound on the regret after each row, as an array of shape (n, 2).

        The bounds are equal if rules were given. They are negative if the learner makes fewer
        mistakes than every fixed rule.
        """
        fewest = self.rule_mistakes.min(axis=0)
        return self.learner_mistakes[:, None] - np.column_stack([fewest, self.least_mistakes])

    @property
    def interval(self) -> Interval:
        """An interval that is guaranteed to contain the regret after all rows."""
        least, most = self.curve[-1].tolist()
        return Interval(float(least), float(most))

    def _repr_html_(self) -> str:
        """The mistakes and the regret as a table, for notebooks."""
        least, most = self.curve[-1].tolist()
        return html_table(
            [
                ("rows", f"{len(self.learner_mistakes):,}"),
                ("mistakes of the learner", f"{self.mistakes:,}"),
                ("regret", f"{least:,}" if least == most else f"from {least:,} to {most:,}"),
            ]
        )

    def __repr__(self) -> str:
        least, most = self.curve[-1].tolist()
        between = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rows, mistakes = len(self.learner_mistakes), counted(self.mistakes, "mistake")
        return f"Regret({between} after {counted(rows, 'row')}: {mistakes} of the learner)"


def regret(
    X: MatrixLike,
    y: npt.ArrayLike,
    learner: Any,
    rules: Sequence[FixedRule] | None = None,
    *,
    random_state: int | None = 0,
) -> Regret:
    """Show the rows to an online learner in turn, and compare it with the best fixed rule.

    The regret is the number of the learner's mistakes, minus the number of mistakes of the fixed
    rule that is the best in hindsight.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The rows, in the order in which they are shown.
    y : array-like of shape (n,)
        The labels.
    learner : object with ``predict_one`` and ``learn_one``
        The learner learns from every row once. It should not have learned before.
    rules : list, optional
        The fixed rules to compare with. Each is a function of a row that returns a label, a
        fitted estimator with ``predict``, or weights ``(coef, intercept)`` in scikit-learn's shapes
        for the sorted labels of y. With given rules the regret is exact: the predictions of
        weights are computed without rounding.

        Without given rules the learner is compared with all linear rules. For two classes, a linear
        rule predicts the second label where ⟨w, x⟩ + b > 0 and the first label elsewhere. For
        several classes, it predicts the class with the largest ⟨w_k, x⟩ + b_k; if several are
        equal, the first of them. All b are 0 if the learner has ``fit_intercept=False``. The least
        number of mistakes of all linear rules is known only within bounds, and so is the regret.
    random_state : int or None
        Random seed of the search for the best linear rule, which is the search of `Pocket`.

    Returns
    -------
    Regret
        The mistakes and the regret after each row.

    See Also
    --------
    stream : Learn from a file, row by row.
    Pocket : Few mistakes on all rows at once.

    References
    ----------
    Cesa-Bianchi, N. and Lugosi, G. (2006). *Prediction, Learning, and Games*. Cambridge
    University Press.

    Shalev-Shwartz, S. (2012). Online learning and online convex optimization. *Foundations and
    Trends in Machine Learning* 4(2), 107-194.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> regret = nv.regret(X, y, nv.Perceptron())
    >>> regret.best_errors, regret.errors_lower_bound
    (5, 5)
    >>> regret.mistakes - 5 in regret.interval
    True

    With three given rules: a function, and the weights of two linear rules.

    >>> rules = [lambda x: 1, ([1, 1], -0.5), ([1, 1], -1.5)]
    >>> regret = nv.regret(X, y, nv.Perceptron(), rules)
    >>> regret.rule_mistakes[:, -1], regret.best_rule
    (array([10,  5, 15]), 1)
    >>> regret.curve[-1] == regret.mistakes - 5
    array([ True,  True])
    """
    if isinstance(learner, type) or not hasattr(learner, "learn_one"):
        raise ValueError("learner must be an object with predict_one and learn_one.")
    rows, labels = check_matrix(X), np.asarray(y)
    n = rows.shape[0]
    if labels.shape != (n,):
        raise ValueError(f"X has {n} rows, but y has shape {labels.shape}.")
    if n == 0:
        raise ValueError("X has no rows: there is nothing to predict.")
    if rules is None:
        bias = bool(getattr(learner, "fit_intercept", True))
        wrong, least = _best_linear_rule(rows, labels, bias, seed_of(random_state))
    else:
        wrong = np.cumsum(_mistakes_of(rules, X, rows, labels), axis=1)
        least = wrong.min(axis=0)
    mistakes = np.zeros(n, dtype=np.int64)
    for t, (x, label) in enumerate(zip(_each(rows), labels.tolist(), strict=True)):
        mistakes[t] = learner.predict_one(x) != label
        learner.learn_one(x, label)
    return Regret(mistakes.cumsum(), wrong, least)


def _each(rows: Matrix) -> Iterator[Vector]:
    """The rows as vectors of float64."""
    for i in range(rows.shape[0]):
        yield as_dense(rows[[i]], np.float64).ravel()


# All linear rules


def _best_linear_rule(
    X: Matrix, labels: Labels, fit_intercept: bool, seed: int
) -> tuple[Indices, Indices]:
    """Return the mistakes of the best linear rule found, and a proved lower bound, after each row.

    The shapes are (1, n) and (n,), as in `Regret`.
    """
    rows, (classes, codes) = Rows.of(X, fit_intercept), code_labels(check_labels(labels))
    if len(classes) < 2:
        raise ValueError(
            f"y contains one class only, {classes.tolist()[0]!r}: two classes are needed."
        )
    compile_pocket_loop(rows)
    pairs = _fewest_mistakes(rows, classes, codes, seed, "ovo", lower_bound=True)
    model = pairs.model
    least = _proved_mistakes([rule.proof for rule in pairs.together], model.sides[codes])
    candidates = [model.W]
    if model.n_rules > 1:  # one-vs-one votes are no linear rule, but sums of scores are
        rest = _fewest_mistakes(rows, classes, codes, seed, "ovr", lower_bound=False)
        candidates = [_one_rule_per_class(model, X), rest.model.W]
    finite = [W for W in candidates if np.isfinite(W).all()]
    wrong = np.array([_chosen(X, W) != codes for W in finite])
    return np.cumsum(wrong[[wrong.sum(axis=1).argmin()]], axis=1), least


def _fewest_mistakes(
    rows: Rows, classes: Labels, codes: Indices, seed: int, kind: str, *, lower_bound: bool
) -> FoundRules:
    """Search as `novikoff.Pocket` does with its default parameters."""
    model = LinearModel(classes, rows.d, rows.fit_intercept, multi_class=kind)
    limits = Limits(updates=Pocket.max_updates)
    rules = find_rules(rows, codes, model, lower_bound=lower_bound, limits=limits, seed=seed)
    limits.raise_if_interrupted()
    return rules


def _one_rule_per_class(model: LinearModel, rows: Matrix) -> Vector:
    """The sum of the one-vs-one rules of each class, each divided by its mean size on the rows.

    Numbers beyond the range of float64 are infinite or NaN.
    """
    with np.errstate(all="ignore"):
        sizes = np.abs(scores(rows, model.W)).mean(axis=0)
        return np.asarray((model.W / np.where(sizes > 0.0, sizes, 1.0)) @ model.sides.T)


def _chosen(rows: Matrix, W: Vector) -> Indices:
    """Return the number of the largest score of each row, without rounding; the first of a tie.

    The scores are ⟨x, w_k⟩ + b_k, for the columns (w_k, b_k) of W. A single column is the score of
    the second of two classes, and the score of the first class is 0. Floats decide if the largest
    score exceeds all others by more than the rounding errors; otherwise fractions decide.
    """
    n, d = rows.shape
    W = np.column_stack([np.zeros(d + 1), W]) if W.shape[1] == 1 else W
    sizes: Any = abs(rows)
    f, size = scores(rows, W), scores(sizes, np.abs(W))
    with np.errstate(all="ignore"):
        slip = (d + 3) * 2.0**-52 * size + (d + 2) * 2.0**-1073
        chosen: Indices = np.argmax(f, axis=1)
        others, at = f + slip, (np.arange(n), chosen)
        others[at] = -np.inf
        doubtful = np.flatnonzero(~(f[at] - slip[at] > others.max(axis=1)))
    columns = [[Fraction(value) for value in column] for column in W.T.tolist()]
    for i, x in zip(doubtful.tolist(), _each(rows[doubtful]), strict=True):
        point = [Fraction(value) for value in x.tolist()] + [Fraction(1)]
        exact = [sum(map(operator.mul, point, column)) for column in columns]
        chosen[i] = exact.index(max(exact))
    return chosen


def _proved_mistakes(proofs: list[ErrorBound], sides: npt.NDArray[np.int8]) -> Indices:
    """A lower bound on the mistakes of every linear rule, after each row.

    Consider two classes a and b, and the rows of these classes that a linear rule for several
    classes classifies correctly. The function f_b − f_a is positive on the rows of b and, as the
    first of equal scores wins, at most 0 on the rows of a. So f_b − f_a separates these rows, and
    every contradiction of every pair of classes contains a row that the rule misclassifies. Shares
    of the contradictions add up as in `novikoff.geometry.packing`. A bound that a search of all
    rules proves for a pair of classes holds after the last row.
    """
    n = len(sides)
    parts = [
        proof.with_zero_negative({*np.flatnonzero(side > 0).tolist()})
        for proof, side in zip(proofs, sides.T, strict=True)
    ]
    best = max(parts, key=lambda part: part.total(None))
    claims, shares = best.contradictions, [*best.each_share()]
    pooled = tuple(claim for part in parts for claim in part.contradictions)
    if len(pooled) > len(claims):
        sets = [claim.among or () for claim in pooled]
        _, pooled_shares, bound = best_shares(sets, n, None, best.total(None), Limits())
        if bound > best.total(None):
            claims, shares = pooled, pooled_shares
    least = np.array(running_bounds([claim.among or () for claim in claims], shares, n))
    least[-1] = max(least[-1], *(int(part.bound) for part in parts))
    return least


# Rules that were given


def _mistakes_of(
    rules: Sequence[FixedRule], X: MatrixLike, rows: Matrix, labels: Labels
) -> npt.NDArray[np.bool_]:
    """The rows that each rule misclassifies, as an array of shape (n_rules, n)."""
    if not isinstance(rules, Sequence) or isinstance(rules, str) or len(rules) == 0:
        raise ValueError("rules must be a list of one rule or more.")
    known = labels.tolist()
    wrong = np.empty((len(rules), len(known)), dtype=np.bool_)
    for k, rule in enumerate(rules):
        try:
            predicted = _predictions(rule, X, rows, labels)
        except ValueError as error:
            raise ValueError(f"Rule {k} of rules: {error}") from error
        if len(predicted) != len(known):
            raise ValueError(
                f"Rule {k} of rules predicts {len(predicted)} labels for {len(known)} rows."
            )
        wrong[k] = [one != label for one, label in zip(predicted, known, strict=True)]
    return wrong


def _predictions(rule: Any, X: MatrixLike, rows: Matrix, labels: Labels) -> list[Hashable]:
    """The label that a rule predicts for each row."""
    if hasattr(rule, "predict") and not isinstance(rule, type):
        return list(np.asarray(rule.predict(X)).tolist())
    if callable(rule) and not isinstance(rule, type):
        return [rule(x) for x in _each(rows)]
    if not isinstance(rule, tuple) or len(rule) != 2:
        raise ValueError(
            "it is not a function, an estimator with predict, or a tuple (coef, intercept)."
        )
    model = LinearModel(np.unique(labels), rows.shape[1])
    coef, intercept = (np.asarray(part, dtype=np.float64) for part in rule)
    if coef.size != model.n_rules * model.n_features or intercept.size not in (1, model.n_rules):
        raise ValueError(
            f"coef has shape {coef.shape} and intercept {intercept.shape}; {len(model.classes)} "
            f"classes need ({model.n_rules}, {model.n_features}) and ({model.n_rules},)."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("its weights are not finite.")
    model.W[:-1], model.W[-1] = coef.reshape(model.n_rules, -1).T, intercept.ravel()
    codes = np.minimum(_chosen(rows, model.W), len(model.classes) - 1)  # y may have one class only
    return list(model.classes[codes].tolist())
