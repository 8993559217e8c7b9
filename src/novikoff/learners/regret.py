"""Regret: what an online learner loses to the best fixed rule in hindsight (A11)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.model import Labels
from novikoff.core.problem import scores
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.schemes import OneVsRest
from novikoff.core.stops import Limits
from novikoff.core.validation import check_matrix
from novikoff.geometry.error_bound import ErrorBound, add_up_in_turn
from novikoff.geometry.margin import Interval
from novikoff.geometry.packing import best_shares
from novikoff.learners.base import linear
from novikoff.learners.inputs import MatrixLike
from novikoff.learners.pocket import Pocket

# A function of a row, an object with `predict`, or weights as (coef, intercept).
FixedRule: TypeAlias = "Callable[[Vector], Hashable] | tuple[npt.ArrayLike, npt.ArrayLike] | Any"


@dataclass(frozen=True, eq=False)
class Regret:
    """The mistakes of an online run and of fixed rules, after each row.

    Entry t of every array is about the rows 0, …, t.

    Attributes
    ----------
    learner_mistakes : array of shape (n,)
        The rows whose label the learner predicted wrongly, each before it saw the label.
    rule_mistakes : array of shape (n_rules, n)
        The rows that each fixed rule misclassifies: the rules that were given, or the one linear
        rule that was found.
    least_mistakes : array of shape (n,)
        The rows that the best rule for the rows 0, …, t misclassifies. For rules that were given
        this is their minimum. For all linear rules it is a lower bound: proved, no rule
        misclassifies fewer.
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
        """The rows that the best fixed rule known misclassifies."""
        return int(self.rule_mistakes[:, -1].min())

    @property
    def errors_lower_bound(self) -> int:
        """No fixed rule misclassifies fewer rows: proved."""
        return int(self.least_mistakes[-1])

    @property
    def best_rule(self) -> int:
        """The number of the rule with the fewest mistakes on all rows, the first of equals."""
        return int(self.rule_mistakes[:, -1].argmin())

    @property
    def curve(self) -> Indices:
        """The regret after each row, as an array of shape (n, 2): at least, and at most.

        The two columns are equal for rules that were given. They are whole numbers, and they fall
        below 0 where the learner makes fewer mistakes than every fixed rule.
        """
        fewest = self.rule_mistakes.min(axis=0)
        return self.learner_mistakes[:, None] - np.column_stack([fewest, self.least_mistakes])

    @property
    def interval(self) -> Interval:
        """Contains the regret after all rows, guaranteed."""
        least, most = self.curve[-1].tolist()
        return Interval(float(least), float(most))

    def __repr__(self) -> str:
        n, (least, most) = len(self.learner_mistakes), self.curve[-1].tolist()
        between = f"{least}" if least == most else f"{least} to {most}"
        return f"Regret({between} after {n} rows: {self.mistakes} mistakes of the learner)"


def regret(
    X: MatrixLike,
    y: npt.ArrayLike,
    learner: Any,
    rules: Sequence[FixedRule] | None = None,
    *,
    random_state: int | None = 0,
) -> Regret:
    """Show the rows to an online learner in turn, and compare it with the best fixed rule.

    The regret is the number of the learner's mistakes, minus the number of mistakes of the best
    rule of a class that is chosen when all rows are known.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The rows, in the order in which they are shown.
    y : array-like of shape (n,)
        The labels.
    learner : object with ``predict_one`` and ``learn_one``
        It learns from every row once; give a fresh one.
    rules : list, optional
        The fixed rules to compare with. Each is a function of a row that returns a label, a
        fitted estimator with ``predict``, or weights ``(coef, intercept)`` in scikit-learn's shapes
        for the sorted labels of y. Then the regret is exact.

        Without it the learner is compared with all linear rules: for two classes, those that
        predict the second label where ⟨w, x⟩ + b > 0 and the first label elsewhere; for
        several classes, those that predict the class of the largest ⟨w_k, x⟩ + b_k, and the
        first of equals. All b are 0 if the learner has ``fit_intercept=False``. The fewest
        mistakes of these rules are known within bounds only, and so is the regret.
    random_state : int or None
        For the search for the best linear rule, by `Pocket`.

    Returns
    -------
    Regret
        The mistakes and the regret after each row.

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
    >>> found = nv.regret(X, y, nv.Perceptron())
    >>> found.best_errors, found.errors_lower_bound
    (5, 5)
    >>> found.mistakes - 5 in found.interval
    True

    Three rules that were there before: a function, and the weights of two linear rules.

    >>> rules = [lambda x: 1, ([1, 1], -0.5), ([1, 1], -1.5)]
    >>> found = nv.regret(X, y, nv.Perceptron(), rules)
    >>> found.rule_mistakes[:, -1], found.best_rule
    (array([10,  5, 15]), 1)
    >>> found.curve[-1] == found.mistakes - 5
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
        wrong, least = _best_linear_rule(X, labels, bias, random_state)
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
        row = rows[[i]]
        yield (row if isinstance(row, np.ndarray) else row.toarray()).ravel().astype(np.float64)


# All linear rules


def _best_linear_rule(
    X: MatrixLike, labels: Labels, fit_intercept: bool, random_state: int | None
) -> tuple[Indices, Indices]:
    """The mistakes of the best linear rule found, (1, n), and the least that are proved, (n,)."""
    pocket = Pocket(fit_intercept=fit_intercept, multi_class="ovo", random_state=random_state)
    model = linear(pocket.fit(X, labels)._model)
    codes = np.searchsorted(model.classes, labels)
    proofs = pocket.certificate_ if isinstance(pocket.certificate_, list) else [pocket.certificate_]
    least = _proved_mistakes(proofs, model.sides[codes])
    found = [pocket.predict(X)]
    if model.n_rules > 1:  # votes of pairs are no linear rule; the sums of their scores are one
        found = [model.classes[_largest_sum(model, check_matrix(X))]]
        pocket.set_params(multi_class="ovr", lower_bound=False)
        found.append(pocket.fit(X, labels).predict(X))
    wrong = np.array([predicted != labels for predicted in found])
    return np.cumsum(wrong[[wrong.sum(axis=1).argmin()]], axis=1), least


def _largest_sum(model: LinearModel, rows: Matrix) -> Indices:
    """The class whose rules against each other class have the largest sum of scores."""
    f = scores(rows, model.W)
    sizes = np.abs(f).mean(axis=0)
    each = model.W / np.where(sizes > 0.0, sizes, 1.0)
    return OneVsRest(len(model.classes)).choose(scores(rows, each @ model.sides.T))


def _proved_mistakes(proofs: list[ErrorBound], sides: npt.NDArray[np.int8]) -> Indices:
    """What every linear rule misclassifies at least, after each row.

    A linear rule for several classes separates every two of them, a and b, on the rows that it
    classifies correctly: f_b − f_a is positive on those of b and, as the first of equal scores
    wins, at most 0 on those of a. So the contradictions of all pairs hold, each for itself, and
    shares of them add up as in `novikoff.geometry.packing`.
    """
    n = len(sides)
    parts = [
        proof.with_zero_negative({*np.flatnonzero(side > 0).tolist()})
        for proof, side in zip(proofs, sides.T, strict=True)
    ]
    best = max(parts, key=lambda part: part.bound)
    claims, shares = best.contradictions, [*best.each_share()]
    pooled = tuple(claim for part in parts for claim in part.contradictions)
    if len(pooled) > len(claims):
        _, more, bound = best_shares(pooled, n, None, best.bound, Limits())
        if bound > best.bound:
            claims, shares = pooled, more
    return np.array(add_up_in_turn([claim.among or () for claim in claims], shares, n))


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
            told = _predictions(rule, X, rows, labels)
        except ValueError as error:
            raise ValueError(f"Rule {k} of rules: {error}") from error
        if len(told) != len(known):
            raise ValueError(
                f"Rule {k} of rules predicts {len(told)} labels for {len(known)} rows."
            )
        wrong[k] = [one != label for one, label in zip(told, known, strict=True)]
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
    model.W[:-1], model.W[-1] = coef.reshape(model.n_rules, -1).T, intercept.ravel()
    return list(model.predict(rows).tolist())
